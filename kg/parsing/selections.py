"""Selections from the nodes of a derivation: by names, numbers, dates, missing facts, extremes and comparisons.

>>> [write(one.query, graph) for one in selections.bounded(QueryDerivation(Members(devices, kind)))]
['device(*) [bought on < 2013]', 'device(*) [installed on < 2013]']
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from decimal import Decimal

from kg.algebra import (
    Compared,
    Evaluator,
    NamedNodes,
    Query,
    bounds,
    order_key,
    relations_of,
    sources,
)
from kg.graphs import converted
from kg.parsing.analysis import Analysis
from kg.parsing.derivation import IMPLIED, UNSAID, UNUSUAL, Costs, QueryDerivation
from kg.parsing.measures import Bound, DegreeMention, sign_of
from kg.parsing.names import NodeMention
from kg.parsing.vocabulary import Vocabulary
from kg.text import Period

LIKE = 0.5
"""The likeness of a word with a relation or class from which it may mean that."""

ORDERED, EQUAL = ("number", "date"), ("number", "date", "boolean")
"""Kinds of values that have an order, and that are equal by chance: no question goes from a length to all such."""

_NEAR = 0.2
"""The share by which a bound may exceed the values that it is compared with."""

_MOST_COUNTED, _SOME = 20, 50
"""The largest bound that counts the values of a relation, and the nodes that show what a relation leads to."""

_ANY, _HAVING = frozenset(("a", "an", "any", "some")), frozenset(("have", "has", "had"))


class Selections:
    """The selections of one question.

    Args:
        vocabulary: The names of the graph.
        analysis: The question.
        costs: The costs of the question's derivations.
    """

    def __init__(self, vocabulary: Vocabulary, analysis: Analysis, costs: Costs) -> None:
        self.vocabulary = vocabulary
        self.graph = vocabulary.graph
        self.analysis = analysis
        self.costs = costs
        self.evaluator = Evaluator(self.graph)

    def of(self, state: QueryDerivation) -> Iterator[QueryDerivation]:
        """All selections of a derivation."""
        yield from self.conditions(state)
        yield from self.bounded(state)
        yield from self.true(state)
        yield from self.lacking(state)
        yield from self.having_any(state)
        yield from self.counted(state)
        yield from self.extremes(state)
        yield from self.standards(state)

    # Names

    def conditions(self, state: QueryDerivation) -> Iterator[QueryDerivation]:
        """Selections by a name or reference that is not used yet."""
        inside = set(state.query.nodes)
        for mention in self.unused(state):
            if set(mention.nodes) == inside:
                continue
            target = NamedNodes(mention.nodes)
            near = self._links(target, inside)
            shares = self._shares(target, near, inside)
            for (relation, inverse), share in zip(near, shares, strict=True):
                yield from self._having(state, mention, target, relation, inverse=inverse, implied=IMPLIED * share)

    def unused(self, state: QueryDerivation) -> Iterator[NodeMention]:
        """The names and references whose words a derivation does not use."""
        for mention in (*self.analysis.mentions, *self.analysis.references):
            if not mention.words & state.words and mention not in state.mentions:
                yield mention

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
        cost = mention.cost + self.costs.repeated(relation, state.items)
        query: Query = self.evaluator.having(state.query, relation, target, inverse=inverse)
        for part in mention.parts if mention.both else ():
            query = self.evaluator.having(query, relation, NamedNodes(part), inverse=inverse)
        yield state.extended(query, (relation,), words=mention.words, cost=cost, mention=mention, implied=implied)
        if negation := self.negation(state):
            query = self.evaluator.having(state.query, relation, target, inverse=inverse, negated=True)
            words = mention.words | negation
            yield state.extended(query, (relation,), words=words, cost=cost, mention=mention, implied=implied)

    def _shares(self, target: Query, near: Sequence[tuple[int, bool]], inside: set[int]) -> list[float]:
        """The share of the set that each relation joins with the target, of all that some relation joins with it."""
        ends = set(target.nodes)
        joined = [
            sum(not ends.isdisjoint(self.graph.follow(node, relation, inverse=inverse)) for node in inside)
            for relation, inverse in near
        ]
        return [count / max(sum(joined), 1) for count in joined]

    def _links(self, target: Query, inside: set[int]) -> list[tuple[int, bool]]:
        """The relations, as seen from the set, that lead from some of its nodes to the target."""
        links: dict[tuple[int, bool], None] = {}
        for node in target.nodes[:200]:
            for relation, inverse in self.graph.steps(node):
                if not inside.isdisjoint(self.graph.follow(node, relation, inverse=inverse)):
                    links[relation, not inverse] = None
        return list(links)

    def negation(self, state: QueryDerivation) -> int:
        """The next word of negation that a derivation may use, as a bit mask."""
        left = self.analysis.negations & ~state.words
        return left & -left

    # Numbers and dates

    def ordered(self, nodes: tuple[int, ...]) -> list[int]:
        """The relations of numbers and dates at some nodes."""
        steps = self.graph.steps_of(nodes)
        return [one for one, inverse in steps if not inverse and self.graph.relations[one].kind in ORDERED]

    def bounded(self, state: QueryDerivation) -> Iterator[QueryDerivation]:
        """Selections by numbers and dates: "before 1985"."""
        for bound in self.analysis.bounds:
            if not bound.words & state.words:
                kind = "number" if isinstance(bound.value, Decimal) else "date"
                relations = [one for one in self.ordered(state.query.nodes) if self.graph.relations[one].kind == kind]
                yield from self.bounded_by(state, bound, relations)

    def bounded_by(self, state: QueryDerivation, bound: Bound, relations: Sequence[int]) -> Iterator[QueryDerivation]:
        """Selections by a bound of some relations."""
        values = {one: self.in_unit_of(one, bound) for one in relations}
        near = [one for one in relations if self._reaches(state.query, one, values[one])]
        near = [one for one in near if bound.unit and self.graph.relations[one].unit] or near
        for relation, value in values.items():
            if value is None:
                continue
            query = self.evaluator.compared(state.query, relation, bound.comparison, value)
            is_range = any(isinstance(part, Compared) and part.relation == relation for part in sources(state.query))
            again = 0.0 if is_range and relation in near else self.costs.repeated(relation, state.items)
            implied = IMPLIED / len(near) if relation in near else 0.0
            yield state.extended(query, (relation,), words=bound.words, implied=implied, cost=again)

    def in_unit_of(self, relation: int, bound: Bound) -> Decimal | Period | None:
        """A bound in the unit of a relation; ``None`` if its own unit measures something else."""
        unit = self.graph.relations[relation].unit
        if isinstance(bound.value, Period) or not unit:
            return bound.value
        return converted(bound.value, bound.unit, unit)

    def _reaches(self, query: Query, relation: int, bound: Decimal | Period | None) -> bool:
        """Whether a bound is in or near the range of a relation's values."""
        keys = [float(key) for key in self.evaluator.keys(query.nodes[:500], relation).values()]
        if bound is None or not keys:
            return False
        low, high = (float(key) for key in bounds(bound))
        return min(keys) <= high * (1 + _NEAR) and low <= max(keys) * (1 + _NEAR)

    def extremes(self, state: QueryDerivation) -> Iterator[QueryDerivation]:
        """Selections by an adjective of degree: "the second largest"."""
        nodes = state.query.nodes
        for one in self.analysis.degrees if len(nodes) > 1 else ():
            is_of_two = bool(state.mentions) or len(nodes) == 2  # "which club is older?" of two clubs
            if one.words & state.words or (one.degree.level == 1 and (self._has_standard(one) or not is_of_two)):
                continue
            used = relations_of(state.query)
            for relation in self.ordered(nodes):
                # "The first one after 1980" is the first by the date that is after 1980.
                is_bound = relation in used and one.degree.of_dates == (self.graph.relations[relation].kind == "date")
                if relation not in used or is_bound:
                    query = self.evaluator.extreme(state.query, relation, self.sign(one, relation), rank=one.rank)
                    if len(query.nodes) < len(nodes):
                        yield self._by_degree(state, query, relation, one)
            for relation, inverse in self.graph.steps_of(nodes) if not one.degree.measures else ():
                if self.graph.relations[relation].kind in ("entity", "text"):
                    counted = self.evaluator.extreme(
                        state.query, relation, one.degree.sign, counted=True, inverse=inverse, rank=one.rank
                    )
                    if len(counted.nodes) < len(nodes):
                        yield self._by_degree(state, counted, relation, one)

    def _by_degree(self, state: QueryDerivation, query: Query, relation: int, one: DegreeMention) -> QueryDerivation:
        """A selection by a degree; its relation is supported by the degree's own words or by others."""
        own = self.measured(one, relation)
        if own > self.costs.likeness(relation, ~(one.words | state.words)):
            return state.extended(query, words=one.words, cost=UNSAID * (1 - own))
        cost = UNUSUAL * (1 - own) if one.degree.measures else 0.0
        return state.extended(query, (relation,), words=one.words, cost=cost)

    def measured(self, one: DegreeMention, relation: int) -> float:
        """The likeness of a relation with what a degree measures."""
        column = self.analysis.measured[:, relation]
        return max(float(column[place]) for place in range(len(column)) if one.words >> place & 1)

    def sign(self, one: DegreeMention, relation: int) -> int:
        """The sign of a degree for a relation."""
        return sign_of(one.degree, self.graph.relations[relation])

    def _has_standard(self, one: DegreeMention) -> bool:
        last = one.words.bit_length()
        is_dated = self.analysis.words[last - 1].low in ("before", "after")
        return is_dated or any(word.low == "than" for word in self.analysis.words[last : last + 2])

    def standards(self, state: QueryDerivation) -> Iterator[QueryDerivation]:
        """Selections by comparison with a node: "heavier than X", or "which are bigger?" after X."""
        for one in self.analysis.degrees:
            if one.words & state.words or one.degree.level != 1:
                continue
            for mention in self.unused(state):
                for relation in self.ordered(mention.nodes) if len(mention.nodes) == 1 else ():
                    query = self.beyond(state.query, one, mention.nodes[0], relation)
                    if query is not None:
                        after = self._by_degree(state, query, relation, one)
                        yield replace(
                            after,
                            words=after.words | mention.words,
                            cost=after.cost + mention.cost,
                            mentions=(*state.mentions, mention),
                        )

    def beyond(self, query: Query, one: DegreeMention, standard: int, relation: int) -> Compared | None:
        """The nodes of a query that exceed a standard by a relation; ``None`` if it has no value."""
        for node in self.graph.follow(standard, relation)[:1]:
            value = self.graph.values[node]
            bound = value.number if value.number is not None else value.period
            if bound is not None and order_key(self.graph, node) is not None:
                return self.evaluator.compared(
                    query, relation, ">" if self.sign(one, relation) > 0 else "<", bound, standard
                )
        return None

    # Facts that are there or not

    def true(self, state: QueryDerivation) -> Iterator[QueryDerivation]:
        """Selections by a property that is true or false: "which lines are electrified?"."""
        for relation, inverse in self.graph.steps_of(state.query.nodes):
            if inverse or self.graph.relations[relation].kind != "boolean" or relation in relations_of(state.query):
                continue
            if self.costs.likeness(relation) >= LIKE:
                negated = self.negation(state)
                values = dict.fromkeys(one for node in state.query.nodes for one in self.graph.follow(node, relation))
                wanted = tuple(one for one in values if self.graph.values[one].text == ("no" if negated else "yes"))
                query = self.evaluator.having(state.query, relation, NamedNodes(wanted), inverse=False)
                yield state.extended(query, (relation,), words=negated)

    def lacking(self, state: QueryDerivation) -> Iterator[QueryDerivation]:
        """Selections of nodes without a fact: "which flights had no crew?"."""
        negation = self.negation(state)
        if not negation or isinstance(state.query, NamedNodes):
            return
        for relation, inverse in self.graph.steps_of(state.query.nodes):
            item = self._saying(state.query, relation, inverse=inverse)
            if item is not None:
                query = self.evaluator.lacking(state.query, relation, inverse=inverse)
                yield state.extended(query, (item,), words=negation)

    def _saying(self, query: Query, relation: int, *, inverse: bool) -> int | None:
        """The item by which words say a relation: itself forwards, or the class that it leads to ("a session")."""
        if not inverse and self.costs.likeness(relation) >= LIKE:
            return relation
        ends = {
            self.vocabulary.class_item(kind)
            for node in query.nodes[:_SOME]
            for other in self.graph.follow(node, relation, inverse=inverse)[:1]
            for kind in self.graph.types[other]
        }
        best = max((*sorted(ends), relation), key=self.costs.likeness)
        return best if self.costs.likeness(best) >= LIKE else None

    def having_any(self, state: QueryDerivation) -> Iterator[QueryDerivation]:
        """Selections of nodes with any fact of a relation: "which towns are on a river?", "who has children?"."""
        low = [word.low for word in self.analysis.words]
        if not low or isinstance(state.query, NamedNodes) or len(state.query.nodes) < 2 or self.negation(state):
            return
        for relation, inverse in self.graph.steps_of(state.query.nodes):
            likeness = self.analysis.items[:, relation]
            place = int(likeness.argmax())
            if relation in state.items or inverse or likeness[place] < LIKE or state.words >> place & 1:
                continue
            if _ANY & set(low[max(place - 3, 0) : place]) or _HAVING & set(low[:place]):
                query = self.evaluator.lacking(state.query, relation, present=True)
                if len(query.nodes) < len(state.query.nodes):
                    yield state.extended(query, (relation,))

    def counted(self, state: QueryDerivation) -> Iterator[QueryDerivation]:
        """Selections by the number of a relation's values: "which talks have more than one speaker?"."""
        for bound in self.analysis.bounds if len(state.query.nodes) > 1 else ():
            value = bound.value
            if bound.words & state.words or not isinstance(value, Decimal) or bound.unit or value > _MOST_COUNTED:
                continue
            for relation, inverse in self.graph.steps_of(state.query.nodes):
                if self.graph.relations[relation].kind not in ("entity", "text"):
                    continue
                item = self._saying(state.query, relation, inverse=inverse)
                # "Actors in more than one film" are those whom a film stars, counted by their films.
                if relation in state.items and (not inverse or item in (None, relation)):
                    continue
                query = self.evaluator.counted(state.query, relation, bound.comparison, value, inverse=inverse)
                if len(query.nodes) < len(state.query.nodes):
                    yield state.extended(query, (relation if item is None else item,), words=bound.words)
