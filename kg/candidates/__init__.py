"""Candidates for a question: the search space of derivations, its search, and the ranking of answers."""

from kg.candidates.aggregating import aggregate_answers, may_aggregate
from kg.candidates.candidate import Candidate, considered_figures
from kg.candidates.confidence_features import confidence_features
from kg.candidates.conversions import with_conversions
from kg.candidates.naming import named_answers
from kg.candidates.ranking import as_float, features_of, pool
from kg.candidates.search import MEMORY, START, DerivationConfig, TurnSearch, fixed_history, search_turn
from kg.candidates.space import DerivationSpace, WeightedHistory

__all__ = [
    "MEMORY",
    "START",
    "Candidate",
    "DerivationConfig",
    "DerivationSpace",
    "TurnSearch",
    "WeightedHistory",
    "aggregate_answers",
    "as_float",
    "confidence_features",
    "considered_figures",
    "features_of",
    "fixed_history",
    "may_aggregate",
    "named_answers",
    "pool",
    "search_turn",
    "with_conversions",
]
