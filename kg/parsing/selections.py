"""Selections from the nodes of a derivation: by names, numbers, dates, missing facts, extremes and comparisons.

>>> [write(one.query, graph) for one in selections.bounded(QueryDerivation(Members(devices, kind)))]
['device(*) [bought on < 2013]', 'device(*) [installed on < 2013]']
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from decimal import Decimal
from itertools import product

from kg.algebra import (
    Bound,
    Compared,
    DegreeMention,
    Evaluator,
    Extreme,
    Follow,
    NamedNodes,
    Query,
    bounds,
    order_key,
    relations_of,
    sign_of,
    sources,
)
from kg.analysis import DATED_BY, Analysis
from kg.facts import FactGraph, converted
from kg.parsing.costs import Costs
from kg.parsing.derivation import DerivationCosts, QueryDerivation
from kg.text import Period
from kg.vocabulary import NEITHER, NodeMention, Vocabulary

CLASS_LIKENESS = 0.5
"""The likeness of a word with a class from which the class may be used."""

CLASS_NAMED = 0.9
"""The likeness of a noun with a class from which it names that alone."""

_NEAR = 0.2
"""The share by which a bound may exceed the values that it is compared with."""

_ORDERED = ("number", "date")
_EQUAL = ("number", "date", "boolean")


class Selections:
    """The selections of one question.

    Args:
        vocabulary: The names of the graph.
        analysis: The question.
        weights: The costs of each kind.
        costs: The costs of the question's derivations.
    """

    def __init__(self, vocabulary: Vocabulary, analysis: Analysis, weights: DerivationCosts, costs: Costs) -> None:
        self.vocabulary = vocabulary
        self.graph: FactGraph = vocabulary.graph
        self.analysis = analysis
        self.weights = weights
        self.costs = costs
        self.evaluator = Evaluator(self.graph)

    def turns_back(self, state: QueryDerivation, relation: int, *, inverse: bool) -> bool:
        """Whether a step goes back over the relation before it."""
        before = state.query
        back = isinstance(before, Follow) and before.relation == relation and before.inverse != inverse
        return back and not self.analysis.others

    def extended(
        self,
        state: QueryDerivation,
        query: Query,
        items: tuple[int, ...],
        *,
        final: tuple[int, ...],
        words: int = 0,
        cost: float = 0.0,
        mention: NodeMention | None = None,
        implied: float = 0.0,
    ) -> QueryDerivation:
        """A state with one more operation; ``implied`` is the support of its items by what else could be meant."""
        return QueryDerivation(
            query,
            state.words | words,
            (*state.items, *items),
            final,
            state.cost + self.weights.step + cost,
            state.mentions if mention is None else (*state.mentions, mention),
            (*state.implied, *(implied for _ in items)),
            0.0 if isinstance(query, Extreme) else state.pending,
        )

    def conditions(self, state: QueryDerivation) -> Iterator[QueryDerivation]:
        """Selections by a name or reference that is not used yet: in one step, or else in two."""
        inside = set(state.query.nodes)
        for mention in (*self.analysis.mentions, *self.analysis.references):
            if mention.words & state.words or mention in state.mentions or set(mention.nodes) == inside:
                continue
            near = self._links(NamedNodes(mention.nodes), inside)
            yield from self._one_step(state, mention, near, inside)
            if not near and len(inside) > 1:
                yield from self._two_steps(state, mention, inside)

    def _one_step(
        self, state: QueryDerivation, mention: NodeMention, near: Sequence[tuple[int, bool]], inside: set[int]
    ) -> Iterator[QueryDerivation]:
        """Selections by a name that some nodes are joined with: "films by Lee"."""
        target = NamedNodes(mention.nodes)
        shares = self._shares(target, near, inside)
        for (relation, inverse), share in zip(near, shares, strict=True):
            if not self.turns_back(state, relation, inverse=inverse):
                implied = share * (self.weights.condition if mention.cost == 0 else self.weights.implied)
                yield from self._having(state, mention, target, relation, inverse=inverse, implied=implied)

    def _two_steps(self, state: QueryDerivation, mention: NodeMention, inside: set[int]) -> Iterator[QueryDerivation]:
        """Selections by a name of what some nodes are joined with: "films by a Danish director"."""
        target = NamedNodes(mention.nodes)
        negations = self.negation(state)
        ways = [*([] if self.analysis.denies(mention) else [False]), *([True] if negations else [])]
        for first, other in self._around(target):
            if not other and self.graph.relations[first].kind in _EQUAL:
                continue
            links = self._links(self.evaluator.follow(target, first, inverse=other), inside)
            cost = mention.cost + self.weights.hidden + self.apart(mention, first, inverse=other)
            steps = [(relation, inverse) for relation, inverse in links if relation != first or inverse == other]
            for (relation, inverse), negated in product(steps, ways):
                query: Query = state.query
                for part in (mention.all_of if mention.both and not negated else ()) or (mention.nodes,):
                    middle = self.evaluator.follow(NamedNodes(part), first, inverse=other)
                    query = self.evaluator.having(query, relation, middle, inverse=inverse, negated=negated)
                yield self.extended(
                    state, query, (first, relation), final=state.final,
                    words=mention.words | (negations if negated else 0), cost=cost, mention=mention,
                    implied=self.weights.implied / len(links),
                )  # fmt: skip

    def _shares(self, target: Query, near: Sequence[tuple[int, bool]], inside: set[int]) -> list[float]:
        """The share of the set that each relation joins with the target, of all that some relation joins with it."""
        joined = [
            sum(
                any(other in target.nodes for other in self.graph.follow(node, relation, inverse=inverse))
                for node in inside
            )
            for relation, inverse in near
        ]
        return [count / max(sum(joined), 1) for count in joined]

    def _around(self, query: Query) -> list[tuple[int, bool]]:
        return list(dict.fromkeys(step for node in query.nodes[:50] for step in self.graph.steps(node)))

    def _links(self, target: Query, inside: set[int]) -> list[tuple[int, bool]]:
        """The relations, as seen from the set, that lead from some of its nodes to the target."""
        found: dict[tuple[int, bool], None] = {}
        for node in target.nodes[:200]:
            for relation, inverse in self.graph.steps(node):
                if any(other in inside for other in self.graph.follow(node, relation, inverse=inverse)):
                    found[relation, not inverse] = None
        return list(found)

    def _having(
        self,
        state: QueryDerivation,
        mention: NodeMention,
        target: Query,
        relation: int,
        *,
        inverse: bool,
        implied: float,
    ) -> Iterator[QueryDerivation]:
        final = state.final
        apart = self.apart(mention, relation, inverse=not inverse)
        cost = mention.cost + apart + self.costs.against(relation, mention, is_subject=inverse)
        if not inverse and set(state.query.nodes) == set(self.graph.subjects(relation)) and relation in state.items:
            cost += self.weights.unsaid  # "children" are those who have a parent, so "whose parent is X" is said again
        cost += self.costs.repeated(relation, state.items)
        query: Query = self.evaluator.having(state.query, relation, target, inverse=inverse)
        for part in mention.all_of if mention.both else ():
            query = self.evaluator.having(query, relation, NamedNodes(part), inverse=inverse)
        if not self.analysis.denies(mention):
            yield self.extended(
                state, query, (relation,), final=final, words=mention.words, cost=cost, mention=mention, implied=implied
            )
        if negation := self.negation(state):
            query = self.evaluator.having(state.query, relation, target, inverse=inverse, negated=True)
            words = mention.words | negation
            yield self.extended(
                state, query, (relation,), final=final, words=words, cost=mention.cost + apart, mention=mention,
                implied=implied,
            )  # fmt: skip

    def apart(self, mention: NodeMention, relation: int, *, inverse: bool) -> float:
        """The cost of a relation that some of several joined names do not have: "neither a drama nor by Lee"."""
        alone = sum(
            not any(self.graph.follow(node, relation, inverse=inverse) for node in part) for part in mention.parts
        )
        return self.weights.unsaid * alone

    def negation(self, state: QueryDerivation) -> int:
        """The next words of negation that a derivation may use: one by one, but "neither ... nor" at once.

        "Neither ... nor" denies several conditions, so the same words serve each.
        """
        left = self.analysis.negations & ~state.words
        is_pair = NEITHER & {word.low for word in self.analysis.words}
        return self.analysis.negations if is_pair else left & -left

    def ordered(self, nodes: tuple[int, ...]) -> list[int]:
        """The relations of numbers and dates at some nodes."""
        steps = self.graph.steps_of(nodes)
        return [one for one, inverse in steps if not inverse and self.graph.relations[one].kind in _ORDERED]

    def bounded(self, state: QueryDerivation) -> Iterator[QueryDerivation]:
        """Selections by numbers and dates: "before 1985"."""
        for bound in self.analysis.bounds:
            if bound.words & state.words:
                continue
            kind = "number" if isinstance(bound.value, Decimal) else "date"
            relations = [one for one in self.ordered(state.query.nodes) if self.graph.relations[one].kind == kind]
            yield from self.bounded_by(state, bound, relations)

    def bounded_by(self, state: QueryDerivation, bound: Bound, relations: Sequence[int]) -> Iterator[QueryDerivation]:
        """Selections by a bound of some relations."""
        values = {one: self._in_unit_of(one, bound) for one in relations}
        near = [one for one in relations if self._reaches(state.query, one, values[one])]
        near = [one for one in near if bound.unit and self.graph.relations[one].unit] or near
        for relation in relations:
            value = values[relation]
            if value is None:
                continue
            query = self.evaluator.compared(state.query, relation, bound.comparison, value)
            has_unit = bound.unit and self.graph.relations[relation].unit
            most = self.weights.condition if has_unit else self.weights.implied
            implied = most / len(near) if relation in near else 0.0
            again = (
                0.0 if self._fits_bounds(state.query, relation, near) else self.costs.repeated(relation, state.items)
            )
            yield self.extended(
                state, query, (relation,), final=state.final, words=bound.words, implied=implied, cost=again
            )

    def _fits_bounds(self, query: Query, relation: int, near: Sequence[int]) -> bool:
        """Whether a bound and those before it are near a relation's values: "over 100 pages, before 1990" are not."""
        parts = [part for part in sources(query) if isinstance(part, Compared) and part.relation == relation]
        return relation in near and all(self._reaches(part.source, relation, part.bound) for part in parts)

    def _in_unit_of(self, relation: int, bound: Bound) -> Decimal | Period | None:
        """A bound in the unit of a relation; ``None`` if its own unit measures something else."""
        unit = self.graph.relations[relation].unit
        if isinstance(bound.value, Period) or not unit:
            return bound.value
        return converted(bound.value, bound.unit, unit)

    def _reaches(self, query: Query, relation: int, bound: Decimal | Period | None) -> bool:
        """Whether a bound is in or near the range of a relation's values."""
        if bound is None:
            return False
        keys = [float(key) for key in self.evaluator.keys(query.nodes[:500], relation).values()]
        low, high = (float(key) for key in bounds(bound))
        return min(keys) <= high * (1 + _NEAR) and low <= max(keys) * (1 + _NEAR)

    def extremes(self, state: QueryDerivation) -> Iterator[QueryDerivation]:
        """Selections by an adjective of degree: "the second largest"."""
        nodes = state.query.nodes
        if len(nodes) < 2:
            return
        for one in self.analysis.degrees:
            if one.words & state.words:
                continue
            is_of_two = bool(state.mentions) or len(nodes) == 2  # "which club is older?" of two clubs
            if one.degree.level == 1 and (self._has_standard(one) or not is_of_two):
                continue
            used = relations_of(state.query)
            for relation in self._bounding(state.query):
                if one.degree.of_dates == (self.graph.relations[relation].kind == "date"):
                    query = self.evaluator.extreme(state.query, relation, self.sign(one, relation), rank=one.rank)
                    yield self.extended(state, query, (), final=state.final, words=one.words)
            for relation in (place for place in self.ordered(nodes) if place not in used):
                sign = self.sign(one, relation)
                query = self.evaluator.extreme(state.query, relation, sign, rank=one.rank)
                if len(query.nodes) < len(nodes):
                    yield self._by_degree(state, query, relation, one)
            if not one.degree.measures:
                for relation, inverse in self.graph.steps_of(nodes):
                    counted = self.evaluator.extreme(
                        state.query, relation, one.degree.sign, counted=True, inverse=inverse, rank=one.rank
                    )
                    if len(counted.nodes) < len(nodes) and self.graph.relations[relation].kind in ("entity", "text"):
                        yield self._by_degree(state, counted, relation, one)

    def _bounding(self, query: Query) -> list[int]:
        """The relations of bounds: "the first one after 1980" is the first by the date that is after 1980."""
        parts = (part for part in sources(query) if isinstance(part, Compared) and not part.counted)
        return list(dict.fromkeys(part.relation for part in parts))

    def _by_degree(self, state: QueryDerivation, query: Query, relation: int, one: DegreeMention) -> QueryDerivation:
        """A selection by a degree; its relation is supported by the degree's own words or by others."""
        column = self.analysis.measured[:, relation]
        own = max(float(column[place]) for place in range(len(column)) if one.words >> place & 1)
        other = self.costs.likeness(relation, ~(one.words | state.words))
        if own > other:
            cost, items = self.weights.unsaid * (1 - own), tuple[int, ...]()
        else:
            cost, items = (self.weights.measure * (1 - own) if one.degree.measures else 0.0), (relation,)
        return self.extended(state, query, items, final=state.final, words=one.words, cost=cost)

    def sign(self, one: DegreeMention, relation: int) -> int:
        """The sign of a degree for a relation."""
        return sign_of(one.degree, self.graph.relations[relation])

    def _has_standard(self, one: DegreeMention) -> bool:
        after = one.words.bit_length()
        is_dated = self.analysis.words[after - 1].low in DATED_BY
        return is_dated or any(word.low == "than" for word in self.analysis.words[after : after + 2])

    def standards(self, state: QueryDerivation) -> Iterator[QueryDerivation]:
        """Selections by comparison with a node: "heavier than X", or "which are bigger?" after X."""
        for one in self.analysis.degrees:
            if one.words & state.words or one.degree.level != 1:
                continue
            for mention in (*self.analysis.mentions, *self.analysis.references):
                if mention.words & state.words or mention in state.mentions or len(mention.nodes) != 1:
                    continue
                standard = mention.nodes[0]
                for relation in self.ordered((standard,)):
                    yield from self._beyond(state, one, mention, standard, relation)

    def _beyond(
        self, state: QueryDerivation, one: DegreeMention, mention: NodeMention, standard: int, relation: int
    ) -> Iterator[QueryDerivation]:
        sign = self.sign(one, relation)
        for node in self.graph.follow(standard, relation)[:1]:
            value = self.graph.values[node]
            bound = value.number if value.number is not None else value.period
            if bound is None or order_key(self.graph, node) is None:
                continue
            query = self.evaluator.compared(state.query, relation, ">" if sign > 0 else "<", bound, standard)
            found = self._by_degree(state, query, relation, one)
            yield replace(
                found,
                words=found.words | mention.words,
                cost=found.cost + mention.cost * (0.5 if not mention.words else 1.0),
                mentions=(*state.mentions, mention),
            )
