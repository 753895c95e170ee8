"""Discourse: the sets, pairs and subjects that a conversation spoke of, and that later questions refer to."""

from kg.discourse.turns import LEAD, Discourse, Spoken

__all__ = ["LEAD", "Discourse", "Spoken"]
