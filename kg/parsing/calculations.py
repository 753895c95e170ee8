"""Calculations with the numbers and dates of a derivation: totals, means, differences, and years between dates.

>>> [(one.operation, one.number) for one in Calculations(space, today).of(state)]
[('sum', Decimal('7'))]
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from decimal import Decimal

from kg.algebra import DAYS_OF, Follow, NamedNodes, difference, numbers_of, plain, rounded, time_between
from kg.parsing.derivation import QueryDerivation
from kg.parsing.forms import Form
from kg.parsing.space import QuerySpace
from kg.vocabulary import joined_masks

_UNSAID_TOTAL = 0.5
"""The cost of a total that no word asks for: "how much did the visits of May cost?"."""

_UNSAID_END = 0.3
"""The cost of the end of a time that no word names."""

_STILL = frozenset(("has", "have", "been", "since"))
"""Words of what lasts until today: "how long has she been chair?"."""


class Calculations:
    """The calculations that one question may ask for.

    Args:
        space: The space of its derivations.
        today: The day to which "how long has it been open?" counts.
    """

    def __init__(self, space: QuerySpace, today: date) -> None:
        self.space = space
        self.today = today
        self.graph = space.graph

    def of(self, state: QueryDerivation) -> Iterator[Form]:
        """The forms of answers that are calculated from the values of a derivation's last relation."""
        query = state.query
        if not isinstance(query, Follow) or query.inverse:
            return
        kind = self.graph.relations[query.relation].kind
        if kind == "number":
            yield from self._totals(query)
        if kind in ("number", "date") and self.space.analysis.differing:
            yield from self._differences(state, query)
        if kind == "number" and self.space.analysis.differing | self.space.analysis.lasting:
            yield from self._gaps(query)
        if kind == "date":
            yield from self._spans(query)

    def _totals(self, query: Follow) -> Iterator[Form]:
        """Sums and means over all nodes, each of which counts once."""
        analysis = self.space.analysis
        values = numbers_of(query, self.graph)
        if len(values) < 2:
            return
        total = sum(values, Decimal(0))
        counting = analysis.counting
        if analysis.totals:
            yield Form(query.nodes, plain(total), words=analysis.totals | counting, operation="sum")
        if analysis.means:
            mean = rounded(total / len(values))
            yield Form(query.nodes, mean, words=analysis.means | analysis.totals | counting, operation="mean")
        if analysis.totals | analysis.means:
            return
        if analysis.asks in ("count", "amount") and len(query.source.nodes) > 1:
            yield Form(query.nodes, plain(total), _UNSAID_TOTAL, words=counting, operation="sum")

    def _differences(self, state: QueryDerivation, query: Follow) -> Iterator[Form]:
        """Differences of the values of two nodes: those of a set of two, or one and another that the question names."""
        analysis = self.space.analysis
        words = analysis.differing | analysis.counting | joined_masks(one.words for one in analysis.degrees)
        source = query.source
        if len(source.nodes) == 2:
            yield from self._difference(query, source.nodes[0], source.nodes[1], words)
        if len(source.nodes) != 1 or not isinstance(source, NamedNodes):
            return
        for mention in (*analysis.mentions, *analysis.references):
            if len(mention.nodes) == 1 and not mention.words & state.words and mention.nodes != source.nodes:
                yield from self._difference(
                    query, source.nodes[0], mention.nodes[0], words | mention.words, mention.cost
                )

    def _difference(self, query: Follow, one: int, other: int, words: int, cost: float = 0.0) -> Iterator[Form]:
        first, second = (self.graph.follow(node, query.relation) for node in (one, other))
        if len(first) != 1 or len(second) != 1:
            return
        number = difference(first[0], second[0], self.graph)
        if number is not None:
            yield Form((*first, *second), number, cost, 0.0, words, "difference")

    def _gaps(self, query: Follow) -> Iterator[Form]:
        """The differences of two numbers of one node: "how many seats are free?", from its seats and its guests."""
        analysis = self.space.analysis
        if len(query.source.nodes) != 1 or len(query.nodes) != 1:
            return
        first = self.graph.values[query.nodes[0]].number
        unit = self.graph.relations[query.relation].unit
        for relation in self.space.selections.ordered(query.source.nodes):
            described = self.graph.relations[relation]
            others = self.graph.follow(query.source.nodes[0], relation)
            second = self.graph.values[others[0]].number if len(others) == 1 else None
            if relation == query.relation or described.unit != unit or first is None or second is None:
                continue
            words, likeness = self._said(relation)
            words |= analysis.differing | analysis.lasting | analysis.counting
            cost = _UNSAID_END * (1 - likeness)
            yield Form((*query.nodes, *others), plain(abs(first - second)), cost, 0.0, words, "difference")

    def _said(self, relation: int) -> tuple[int, float]:
        """The words that say the second relation of a calculation, and their likeness with it."""
        said = self.space.analysis.items[:, relation]
        likeness = float(said.max(initial=0.0))
        inside = (place for place in range(len(said)) if likeness >= _UNSAID_END and said[place] == likeness)
        return sum(1 << place for place in inside), likeness

    def _spans(self, query: Follow) -> Iterator[Form]:
        """The years or days from one date of a node to another: "how many years did it run?"."""
        analysis = self.space.analysis
        if not analysis.lasting or len(query.source.nodes) != 1 or len(query.nodes) != 1:
            return
        begin = self.graph.values[query.nodes[0]].period
        unit = next((word.low for word in analysis.words if word.low in DAYS_OF), "years")
        lasts = sum(1 << place for place, word in enumerate(analysis.words) if word.low in _STILL)
        if lasts and begin is not None and begin.first <= self.today:
            length = time_between(begin.first, self.today, unit)
            yield Form(query.nodes, length, 0.0, 0.0, lasts | analysis.lasting | analysis.counting, unit)
        for relation, inverse in self.graph.steps(query.source.nodes[0]):
            if inverse or relation == query.relation or self.graph.relations[relation].kind != "date":
                continue
            ends = self.graph.follow(query.source.nodes[0], relation)
            end = self.graph.values[ends[0]].period
            if begin is None or end is None or len(ends) > 1 or end.first <= begin.first:
                continue
            words, likeness = self._said(relation)
            words |= analysis.lasting | analysis.counting
            length = time_between(begin.first, end.first, unit)
            yield Form((*query.nodes, *ends), length, _UNSAID_END * (1 - likeness), 0.0, words, unit)
