"""A typed algebra of queries over any graph: its operations, their evaluation, and the measures that they compare."""

from kg.algebra.amounts import DAYS_OF, difference, numbers_of, plain, rounded, time_between, values_of, years_between
from kg.algebra.evaluation import Evaluator
from kg.algebra.queries import (
    Both,
    Compared,
    Comparison,
    Complement,
    Either,
    Extreme,
    Follow,
    Having,
    Lacking,
    Matched,
    Members,
    NamedNodes,
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
