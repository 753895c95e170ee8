"""A small typed algebra of queries over a graph of facts; each query holds the nodes that it denotes.

>>> query = Follow(NamedNodes((line,), (line,)), (operator,), operated_by)
>>> write(query, graph)
'Valley Line -> operated by'

A query is a set of nodes. ``Follow`` takes a relation forward or against its direction; ``Having``, ``Compared`` and
``Extreme`` and ``Matched`` select from a set; ``Without``, ``Either`` and ``Both`` are set operations.
:func:`facts_of` lists the triples that a query rests on.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from itertools import product
from typing import Literal

from kg.graphs import FactGraph
from kg.text import Period

Comparison = Literal["<", "<=", "=", ">=", ">"]
Key = Decimal | int
"""A number, or a day as its ordinal: what values are ordered by."""


@dataclass(frozen=True)
class NamedNodes:
    """Nodes that the question names or refers to."""

    nodes: tuple[int, ...]


@dataclass(frozen=True)
class Members:
    """The members of a class, or of several."""

    nodes: tuple[int, ...]
    kinds: tuple[int, ...]


@dataclass(frozen=True)
class Follow:
    """The nodes that a relation leads to."""

    source: Query
    nodes: tuple[int, ...]
    relation: int
    inverse: bool = False


@dataclass(frozen=True)
class OfClass:
    """The nodes of a class."""

    source: Query
    nodes: tuple[int, ...]
    kind: int


@dataclass(frozen=True)
class Having:
    """The nodes whose relation leads to a target, or those for which it does not."""

    source: Query
    nodes: tuple[int, ...]
    relation: int
    inverse: bool
    target: Query
    negated: bool = False


@dataclass(frozen=True)
class Lacking:
    """The nodes that have no fact of a relation, or those that have one."""

    source: Query
    nodes: tuple[int, ...]
    relation: int
    inverse: bool
    present: bool = False


@dataclass(frozen=True)
class Compared:
    """The nodes whose number or date, or whose count of a relation's values, compares with a bound."""

    source: Query
    nodes: tuple[int, ...]
    relation: int
    comparison: Comparison
    bound: Decimal | Period
    standard: int | None = None
    counted: bool = False
    inverse: bool = False


@dataclass(frozen=True)
class Extreme:
    """The nodes with the largest or smallest number, date, or count of a relation's values."""

    source: Query
    nodes: tuple[int, ...]
    relation: int
    sign: int
    counted: bool = False
    inverse: bool = False
    rank: int = 1


@dataclass(frozen=True)
class Without:
    """A set without some nodes that the conversation spoke of."""

    source: Query
    nodes: tuple[int, ...]
    others: tuple[int, ...]


@dataclass(frozen=True)
class Complement:
    """The members of an earlier set that are not in its later selection."""

    source: Query
    nodes: tuple[int, ...]
    whole: Query


@dataclass(frozen=True)
class Either:
    """The nodes of one of two queries or of both; each is built from the source, which may be no nodes at all."""

    source: Query
    nodes: tuple[int, ...]
    first: Query
    second: Query


@dataclass(frozen=True)
class Both:
    """The nodes of a query that another query has, too."""

    source: Query
    nodes: tuple[int, ...]
    other: Query


@dataclass(frozen=True)
class Matched:
    """The nodes whose values of two relations compare: that are led by their owner, or earned more than they cost."""

    source: Query
    nodes: tuple[int, ...]
    relation: int
    comparison: Comparison
    other: int


Query = (
    NamedNodes | Members | Follow | OfClass | Having | Lacking | Compared | Extreme | Without | Complement | Either
    | Both | Matched
)  # fmt: skip


def order_key(graph: FactGraph, node: int, *, last: bool = False) -> Key | None:
    """A number, or the first (or last) day of a date as an ordinal; ``None`` for other values."""
    value = graph.values[node]
    if value.number is not None:
        return value.number
    if value.period is not None:
        return (value.period.last if last else value.period.first).toordinal()
    return None


def bounds(bound: Decimal | Period) -> tuple[Key, Key]:
    """The least and the largest key of a bound."""
    if isinstance(bound, Decimal):
        return bound, bound
    return bound.first.toordinal(), bound.last.toordinal()


def compares(graph: FactGraph, node: int, comparison: Comparison, bound: Decimal | Period) -> bool:
    """Whether a value of the bound's type compares with it; a date within the days of a bound is equal to it."""
    first, last = order_key(graph, node), order_key(graph, node, last=True)
    is_date = graph.values[node].period is not None
    if first is None or last is None or is_date != isinstance(bound, Period):
        return False
    return _within(first, last, comparison, bounds(bound))


def _within(first: Key, last: Key, comparison: Comparison, limits: tuple[Key, Key]) -> bool:
    low, high = limits
    return {
        "<": last < low,
        "<=": last <= high,
        "=": low <= first and last <= high,
        ">=": first >= low,
        ">": first > high,
    }[comparison]


def values_compare(graph: FactGraph, node: int, comparison: Comparison, other: int) -> bool:
    """Whether a node is another one, or its number or date compares with the other's."""
    if node == other:
        return "=" in comparison
    value = graph.values[other]
    bound = value.number if value.number is not None else value.period
    return bound is not None and compares(graph, node, comparison, bound)


def count_compares(count: int, comparison: Comparison, bound: Decimal) -> bool:
    """Whether a count compares with a bound."""
    return _within(count, count, comparison, (bound, bound))


def sources(query: Query, until: Query | None = None) -> Iterator[Query]:
    """A query and the queries that it is built from, the outermost first.

    Args:
        query: The query.
        until: A query that it is built from, which is left out with its own sources.
    """
    if query == until:
        return
    yield query
    if isinstance(query, Having):
        yield from sources(query.target)
    if isinstance(query, Both):
        yield from sources(query.other)
    if isinstance(query, Either):
        yield from sources(query.first, query.source)
        yield from sources(query.second, query.source)
    if not isinstance(query, NamedNodes | Members):
        yield from sources(query.source, until)


def relations_of(query: Query) -> set[int]:
    """The relations that a query uses."""
    found = set()
    for part in sources(query):
        if isinstance(part, Follow | Having | Lacking | Compared | Extreme | Matched):
            found.add(part.relation)
        if isinstance(part, Matched):
            found.add(part.other)
    return found


def written_bound(bound: Decimal | Period) -> str:
    """A number or days as they are shown."""
    return f"{bound:f}" if isinstance(bound, Decimal) else str(bound)


def write(query: Query, graph: FactGraph) -> str:
    """A query as a path of names and operations."""
    if isinstance(query, NamedNodes):
        return " | ".join(graph.name(node) for node in query.nodes[:5]) + (" | …" if len(query.nodes) > 5 else "")
    if isinstance(query, Members):
        return f"{' | '.join(graph.classes[kind].names[0] for kind in query.kinds)}(*)"
    before = write(query.source, graph)
    if isinstance(query, OfClass):
        return f"{before} [{graph.classes[query.kind].names[0]}]"
    if isinstance(query, Without):
        return f"{before} without {', '.join(graph.name(node) for node in query.others)}"
    if isinstance(query, Complement):
        return f"{write(query.whole, graph)} without ({before})"
    if isinstance(query, Either):
        sides = (write(side, graph).removeprefix(before).strip() for side in (query.first, query.second))
        return f"{before} ({' or '.join(sides)})".lstrip()
    if isinstance(query, Both):
        return f"({before} and {write(query.other, graph)})"
    name = (
        "^" if isinstance(query, Follow | Having | Lacking | Compared | Extreme) and query.inverse else ""
    ) + graph.relations[query.relation].names[0]
    if isinstance(query, Follow):
        return f"{before} -> {name}"
    if isinstance(query, Lacking):
        return f"{before} [{'any' if query.present else 'no'} {name}]"
    if isinstance(query, Matched):
        return f"{before} [{name} {query.comparison} {graph.relations[query.other].names[0]}]"
    if isinstance(query, Having):
        return f"{before} [{'not ' if query.negated else ''}{name} = {write(query.target, graph)}]"
    if isinstance(query, Compared):
        bound = graph.name(query.standard) if query.standard is not None else written_bound(query.bound)
        name = f"count({name})" if query.counted else name
        return f"{before} [{name} {query.comparison} {bound}]"
    measure = f"count({name})" if query.counted else name
    rank = f", {query.rank}" if query.rank > 1 else ""
    return f"{'max' if query.sign > 0 else 'min'}({before}, {measure}{rank})"


def facts_of(query: Query, graph: FactGraph, nodes: Iterable[int], most: int = 50) -> list[str]:
    """The triples that lead to some of the nodes of a query, as paths; at most ``most``."""
    found: dict[str, None] = {}
    for fact in _facts(query, graph, tuple(nodes)):
        found[fact] = None
        if len(found) >= most:
            break
    return list(found)


def _facts(query: Query, graph: FactGraph, nodes: tuple[int, ...]) -> Iterator[str]:
    if isinstance(query, NamedNodes):
        return
    if isinstance(query, Members):
        for node in nodes:
            own = next(kind for kind in query.kinds if kind in graph.types[node])
            link = "has the relations of a" if node in graph.untyped else "is a"
            yield f"{graph.name(node)} -> {link} -> {graph.classes[own].names[0]}"
        return
    if isinstance(query, Follow):
        yield from _facts_followed(query, graph, nodes)
        return
    if isinstance(query, Complement | Either):
        sides = (query.whole,) if isinstance(query, Complement) else (query.first, query.second)
        for side in sides:
            yield from _facts(side, graph, tuple(node for node in nodes if node in side.nodes))
        return
    if isinstance(query, Having) and not query.negated:
        for node in nodes:
            for other in graph.follow(node, query.relation, inverse=query.inverse):
                if other in query.target.nodes:
                    yield _fact(graph, query.relation, node, other, inverse=query.inverse)
        yield from _facts(query.target, graph, query.target.nodes)
    if isinstance(query, Both):
        yield from _facts(query.other, graph, nodes)
    if isinstance(query, Compared | Extreme | Matched):
        inverse = not isinstance(query, Matched) and query.inverse
        relations = (query.relation, query.other) if isinstance(query, Matched) else (query.relation,)
        for node, relation in product(nodes, relations):
            for other in graph.follow(node, relation, inverse=inverse):
                yield _fact(graph, relation, node, other, inverse=inverse)
    yield from _facts(query.source, graph, nodes)


def _facts_followed(query: Follow, graph: FactGraph, nodes: tuple[int, ...]) -> Iterator[str]:
    starts: dict[int, None] = {}
    for node in query.source.nodes:
        for other in graph.follow(node, query.relation, inverse=query.inverse):
            if other in nodes:
                starts[node] = None
                yield _fact(graph, query.relation, node, other, inverse=query.inverse)
    yield from _facts(query.source, graph, tuple(starts))


def _fact(graph: FactGraph, relation: int, node: int, other: int, *, inverse: bool) -> str:
    first, second = (other, node) if inverse else (node, other)
    return f"{graph.name(first)} -> {graph.relations[relation].names[0]} -> {graph.name(second)}"
