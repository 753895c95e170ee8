"""The package ``programs.graphs``."""

from programs.graphs.dialogue import EntityTurns
from programs.graphs.entity_qa import EntityQA, EntityTurn
from programs.graphs.kgqa import KGQA, NEEDS_LM, Aggregation, KGQAResult
from programs.graphs.relation_scorer import LMRelationScorer

__all__ = [
    "KGQA",
    "NEEDS_LM",
    "Aggregation",
    "EntityQA",
    "EntityTurn",
    "EntityTurns",
    "KGQAResult",
    "LMRelationScorer",
]
