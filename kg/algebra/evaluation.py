"""Evaluation of queries: each operation over a set of nodes gives the next set.

>>> evaluator = Evaluator(graph)
>>> evaluator.follow(NamedNodes((line,)), operated_by).nodes
(17,)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from decimal import Decimal

from kg.algebra.queries import (
    Both,
    Compared,
    Comparison,
    Complement,
    Either,
    Extreme,
    Follow,
    Having,
    Key,
    Lacking,
    Matched,
    Members,
    NamedNodes,
    OfClass,
    Query,
    Without,
    compares,
    count_compares,
    order_key,
    values_compare,
)
from kg.graphs import FactGraph
from kg.text import Period

MOST_NODES = 20_000
"""Nodes of a set that are followed; the rest is left out."""


class Evaluator:
    """The operations of the algebra over one graph.

    Args:
        graph: The graph.
    """

    def __init__(self, graph: FactGraph) -> None:
        self.graph = graph

    def members(self, *kinds: int) -> Members:
        """The members of a class, or of several."""
        nodes = dict.fromkeys(node for kind in kinds for node in self.graph.classes[kind].members)
        return Members(tuple(nodes), kinds)

    def follow(self, source: Query, relation: int, *, inverse: bool = False) -> Follow:
        """The nodes that a relation leads to from any node of a set."""
        found = (
            other for node in source.nodes[:MOST_NODES] for other in self.graph.follow(node, relation, inverse=inverse)
        )
        return Follow(source, tuple(dict.fromkeys(found)), relation, inverse)

    def of_class(self, source: Query, kind: int) -> OfClass:
        """The nodes of a class."""
        return OfClass(source, tuple(node for node in source.nodes if kind in self.graph.types[node]), kind)

    def having(self, source: Query, relation: int, target: Query, *, inverse: bool, negated: bool = False) -> Having:
        """The nodes whose relation leads to a node of the target; with ``negated``, those for which it does not."""
        wanted = set(target.nodes)
        nodes = tuple(
            node
            for node in source.nodes[:MOST_NODES]
            if negated != any(other in wanted for other in self.graph.follow(node, relation, inverse=inverse))
        )
        return Having(source, nodes, relation, inverse, target, negated)

    def lacking(self, source: Query, relation: int, *, inverse: bool = False, present: bool = False) -> Lacking:
        """The nodes that have no fact of a relation; with ``present``, those that have one."""
        nodes = tuple(
            node for node in source.nodes if present == bool(self.graph.follow(node, relation, inverse=inverse))
        )
        return Lacking(source, nodes, relation, inverse, present)

    def compared(
        self,
        source: Query,
        relation: int,
        comparison: Comparison,
        bound: Decimal | Period,
        standard: int | None = None,
    ) -> Compared:
        """The nodes with a number or date that compares with a bound; ``standard`` itself is left out."""
        nodes = tuple(
            node
            for node in source.nodes[:MOST_NODES]
            if node != standard
            and any(compares(self.graph, value, comparison, bound) for value in self.graph.follow(node, relation))
        )
        return Compared(source, nodes, relation, comparison, bound, standard)

    def counted(
        self, source: Query, relation: int, comparison: Comparison, bound: Decimal, *, inverse: bool
    ) -> Compared:
        """The nodes that have so many values of a relation: "more than one speaker"."""
        nodes = tuple(
            node
            for node in source.nodes[:MOST_NODES]
            if count_compares(len(self.graph.follow(node, relation, inverse=inverse)), comparison, bound)
        )
        return Compared(source, nodes, relation, comparison, bound, counted=True, inverse=inverse)

    def matched(self, source: Query, relation: int, comparison: Comparison, other: int) -> Matched:
        """The nodes with a value of one relation that compares with one of another; an entity is equal to itself."""
        nodes = tuple(
            node
            for node in source.nodes[:MOST_NODES]
            if any(
                values_compare(self.graph, first, comparison, second)
                for first in self.graph.follow(node, relation)
                for second in self.graph.follow(node, other)
            )
        )
        return Matched(source, nodes, relation, comparison, other)

    def keys(self, nodes: Iterable[int], relation: int, sign: int = 1) -> dict[int, Key]:
        """The number or day of each node that has one; of several the one that ``sign`` prefers."""
        found: dict[int, Key] = {}
        for node in nodes:
            keys = [
                key for value in self.graph.follow(node, relation) if (key := order_key(self.graph, value)) is not None
            ]
            if keys:
                found[node] = max(keys) if sign > 0 else min(keys)
        return found

    def extreme(
        self, source: Query, relation: int, sign: int, *, counted: bool = False, inverse: bool = False, rank: int = 1
    ) -> Extreme:
        """The nodes with the largest (``sign`` 1) or smallest value, or count of values; ``rank`` 2 is the second."""
        nodes = source.nodes[:MOST_NODES]
        keys: dict[int, Key]
        if counted:
            keys = {node: len(self.graph.follow(node, relation, inverse=inverse)) for node in nodes}
        else:
            keys = self.keys(nodes, relation, sign)
        ordered = sorted(set(keys.values()), reverse=sign > 0)
        best = ordered[rank - 1] if len(ordered) >= rank else None
        found = tuple(node for node, key in keys.items() if key == best)
        return Extreme(source, found, relation, sign, counted, inverse, rank)

    def without(self, source: Query, others: Iterable[int]) -> Without:
        """A set without some nodes."""
        left_out = tuple(others)
        return Without(source, tuple(node for node in source.nodes if node not in left_out), left_out)

    def either(self, source: Query, first: Query, second: Query) -> Either:
        """The nodes of one of two queries or of both; those of the first come first.

        Args:
            source: The set that both are built from, or ``NamedNodes(())``.
            first: A query, which may be empty.
            second: Another.
        """
        return Either(source, tuple(dict.fromkeys((*first.nodes, *second.nodes))), first, second)

    def both(self, source: Query, other: Query) -> Both:
        """The nodes of a query that another one has, too."""
        inside = set(other.nodes)
        return Both(source, tuple(node for node in source.nodes if node in inside), other)

    def rebuilt(self, query: Query, changed: Callable[[Query], Query | None]) -> Query:
        """A query with some of its parts replaced, evaluated again.

        Args:
            query: The query.
            changed: Returns the part that takes a part's place, or ``None`` if that stays; its source is not rebuilt.
        """
        new = changed(query)
        if new is not None:
            return new
        if isinstance(query, NamedNodes | Members):
            return query
        source = self.rebuilt(query.source, changed)
        if isinstance(query, Follow):
            return self.follow(source, query.relation, inverse=query.inverse)
        if isinstance(query, OfClass):
            return self.of_class(source, query.kind)
        if isinstance(query, Having):
            target = self.rebuilt(query.target, changed)
            return self.having(source, query.relation, target, inverse=query.inverse, negated=query.negated)
        if isinstance(query, Lacking):
            return self.lacking(source, query.relation, inverse=query.inverse, present=query.present)
        if isinstance(query, Compared) and query.counted and isinstance(query.bound, Decimal):
            return self.counted(source, query.relation, query.comparison, query.bound, inverse=query.inverse)
        if isinstance(query, Compared):
            return self.compared(source, query.relation, query.comparison, query.bound, query.standard)
        if isinstance(query, Extreme):
            return self.extreme(
                source, query.relation, query.sign, counted=query.counted, inverse=query.inverse, rank=query.rank
            )
        if isinstance(query, Without):
            return self.without(source, query.others)
        if isinstance(query, Either):
            return self.either(source, self.rebuilt(query.first, changed), self.rebuilt(query.second, changed))
        if isinstance(query, Matched):
            return self.matched(source, query.relation, query.comparison, query.other)
        if isinstance(query, Both):
            return self.both(source, self.rebuilt(query.other, changed))
        return self.complement(self.rebuilt(query.whole, changed), source)

    def complement(self, whole: Query, part: Query) -> Complement:
        """The nodes of a set that are not in a part of it."""
        inside = set(part.nodes)
        return Complement(part, tuple(node for node in whole.nodes if node not in inside), whole)
