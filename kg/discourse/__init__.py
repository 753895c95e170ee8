"""Discourse: what a conversation spoke of and later questions refer to, and the agreement of pronouns with it."""

from typing import TYPE_CHECKING

from kg.lazy import lazy_exports

if TYPE_CHECKING:
    from kg.discourse.agreement import NEUTRAL, PERSONAL, PLURAL, Traits, disagreement
    from kg.discourse.turns import LEAD, Discourse, Spoken
else:
    __getattr__ = lazy_exports(__name__, __file__)

__all__ = ["LEAD", "NEUTRAL", "PERSONAL", "PLURAL", "Discourse", "Spoken", "Traits", "disagreement"]
