"""Discourse: what a conversation spoke of and later questions refer to, and the agreement of pronouns with it."""

from kg.discourse.agreement import NEUTRAL, PERSONAL, PLURAL, Traits, disagreement
from kg.discourse.turns import LEAD, Discourse, Spoken

__all__ = ["LEAD", "NEUTRAL", "PERSONAL", "PLURAL", "Discourse", "Spoken", "Traits", "disagreement"]
