"""What a conversation has spoken of, of any world: sets, pairs and subjects that later questions refer to."""

from kg.discourse.turns import LEAD, Discourse, Spoken

__all__ = ["LEAD", "Discourse", "Spoken"]
