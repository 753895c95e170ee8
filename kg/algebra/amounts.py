"""Amounts that are calculated from the values of a query: totals, differences, and the time between two days.

>>> time_between(date(1990, 5, 1), date(2020, 4, 30), "years")
Decimal('29')
"""

from __future__ import annotations

from datetime import date
from decimal import Context, Decimal

from kg.algebra.queries import Either, Follow, Query
from kg.graphs import FactGraph

DAYS_OF = {"days": 1, "weeks": 7, "months": 30}
"""The units of time besides years; months are those of the calendar."""

_FINEST, _WIDE = Decimal("0.0001"), Context(prec=100)


def values_of(query: Query, graph: FactGraph) -> list[int]:
    """The values of a query, each as often as a node has it: two of one height have it twice."""
    if isinstance(query, Follow):
        return [
            other for node in query.source.nodes for other in graph.follow(node, query.relation, inverse=query.inverse)
        ]
    if isinstance(query, Either):
        return values_of(query.first, graph) + values_of(query.second, graph)
    return list(query.nodes)


def numbers_of(query: Query, graph: FactGraph) -> list[Decimal]:
    """The numbers of a query, each as often as a node has it."""
    return [value for node in values_of(query, graph) if (value := graph.values[node].number) is not None]


def difference(one: int, other: int, graph: FactGraph) -> Decimal | None:
    """The difference of two numbers, or the years between two dates; ``None`` for other values."""
    first, second = graph.values[one], graph.values[other]
    if first.number is not None and second.number is not None:
        return plain(abs(first.number - second.number))
    if first.period is not None and second.period is not None:
        return years_between(*sorted((first.period.first, second.period.first)))
    return None


def years_between(begin: date, end: date) -> Decimal:
    """The full years from one day to another."""
    return Decimal(end.year - begin.year - ((end.month, end.day) < (begin.month, begin.day)))


def time_between(begin: date, end: date, unit: str) -> Decimal:
    """The full years, months, weeks or days from one day to another."""
    if unit == "months":
        return Decimal(12 * (end.year - begin.year) + end.month - begin.month - (end.day < begin.day))
    return Decimal((end - begin).days // DAYS_OF[unit]) if unit in DAYS_OF else years_between(begin, end)


def rounded(number: Decimal) -> Decimal:
    """A number with at most four decimals."""
    return plain(number.quantize(_FINEST, context=_WIDE))


def plain(number: Decimal) -> Decimal:
    """A number without zeros at its end."""
    return number.normalize() if number != number.to_integral_value() else number.quantize(Decimal(1), context=_WIDE)
