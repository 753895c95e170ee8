"""Questions about graphs: parsed against the graph's own words, or answered by a search over its paths."""

from programs.graphs.entity_qa import EntityQA, EntityState, EntityTurn
from programs.graphs.kgqa import KGQA, Aggregation, PathTurn
from programs.graphs.query_parsing import labelled_example
from programs.graphs.query_qa import QueryQA, QueryState, QueryTurn, parse_answer
from programs.graphs.relation_scorer import LMRelationScorer
from programs.graphs.reply_confidence import ReplyConfidence, kind_of_reply, log_odds
from programs.graphs.world import GraphWorld

__all__ = [
    "KGQA",
    "Aggregation",
    "EntityQA",
    "EntityState",
    "EntityTurn",
    "GraphWorld",
    "LMRelationScorer",
    "PathTurn",
    "QueryQA",
    "QueryState",
    "QueryTurn",
    "ReplyConfidence",
    "kind_of_reply",
    "labelled_example",
    "log_odds",
    "parse_answer",
]
