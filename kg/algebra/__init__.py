"""A typed algebra of queries over any graph: its operations, their evaluation, and the measures that they compare."""

from kg.algebra.evaluation import Evaluator
from kg.algebra.measures import Bound, DegreeMention, bounds_of, degrees_of, read_bound, sign_of
from kg.algebra.queries import (
    Compared,
    Either,
    Extreme,
    Follow,
    Having,
    Lacking,
    Members,
    Named,
    OfClass,
    Query,
    Without,
    bounds,
    facts_of,
    order_key,
    relations_of,
    sources,
    write,
)
from kg.algebra.telling import kind_of, kind_of_values, tell

__all__ = [
    "Bound",
    "Compared",
    "DegreeMention",
    "Either",
    "Evaluator",
    "Extreme",
    "Follow",
    "Having",
    "Lacking",
    "Members",
    "Named",
    "OfClass",
    "Query",
    "Without",
    "bounds",
    "bounds_of",
    "degrees_of",
    "facts_of",
    "kind_of",
    "kind_of_values",
    "order_key",
    "read_bound",
    "relations_of",
    "sign_of",
    "sources",
    "tell",
    "write",
]
