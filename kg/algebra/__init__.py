"""A typed algebra of queries over any graph: its operations, their evaluation, and the measures that they compare."""

from typing import TYPE_CHECKING

from kg.lazy import lazy_exports

if TYPE_CHECKING:
    from kg.algebra.amounts import (
        DAYS_OF,
        difference,
        numbers_of,
        plain,
        rounded,
        time_between,
        values_of,
        years_between,
    )
    from kg.algebra.evaluation import Evaluator
    from kg.algebra.measures import Bound, DegreeMention, bounds_of, degrees_of, read_bound, sign_of
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
else:
    __getattr__ = lazy_exports(__name__, __file__)

__all__ = [
    "DAYS_OF",
    "Both",
    "Bound",
    "Compared",
    "Comparison",
    "Complement",
    "DegreeMention",
    "Either",
    "Evaluator",
    "Extreme",
    "Follow",
    "Having",
    "Lacking",
    "Matched",
    "Members",
    "Named",
    "OfClass",
    "Query",
    "Without",
    "bounds",
    "bounds_of",
    "degrees_of",
    "difference",
    "facts_of",
    "kind_of",
    "kind_of_values",
    "numbers_of",
    "order_key",
    "plain",
    "read_bound",
    "relations_of",
    "rounded",
    "sign_of",
    "sources",
    "tell",
    "time_between",
    "values_of",
    "write",
    "years_between",
]
