"""The space of a question's derivations, which the beam of :mod:`kg.search` searches.

A derivation begins at a name, a reference or a class, and each step applies one operation of the algebra::

    depth 0   Named(Cold Pass)
    depth 1   Follow(^calls at)                 "which line goes there"
    depth 2   Follow(operated by)

:mod:`kg.parsing.costs` gives the cost of each state.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from decimal import Decimal

import numpy as np

from kg.facts import FactGraph
from kg.parsing.algebra import (
    Compared,
    Extreme,
    Follow,
    Named,
    Query,
    bounds,
    order_key,
    relations_of,
    sources,
)
from kg.parsing.costs import Costs
from kg.parsing.derivation import State, Weights
from kg.parsing.evaluation import Evaluator
from kg.parsing.measures import Bound, DegreeMention
from kg.parsing.question import Analysis, Mention
from kg.parsing.vocabulary import Vocabulary
from kg.search import Action, Expansion, Frontier

CLASS_LIKENESS = 0.5
"""The likeness of a word with a class from which the class may be used."""

_RANGE_LIKENESS = 0.7
_NEAR = 0.2
"""The share by which a bound may exceed the values that it is compared with."""

_ORDERED = ("number", "date")


class DerivationSpace:
    """A search space of :mod:`kg.search` for one question.

    Args:
        vocabulary: The names of the graph.
        analysis: The question.
        spoken: Nodes that "other" leaves out: what the conversation just spoke of.
        weights: The costs.
    """

    def __init__(
        self, vocabulary: Vocabulary, analysis: Analysis, spoken: tuple[int, ...] = (), weights: Weights | None = None
    ) -> None:
        self.vocabulary = vocabulary
        self.graph: FactGraph = vocabulary.graph
        self.analysis = analysis
        self.spoken = spoken
        self.weights = weights if weights is not None else Weights()
        self.costs = Costs(self.graph, analysis, self.weights)
        self.evaluator = Evaluator(self.graph)
        self.states: list[State] = []
        self.totals: list[float] = []
        self._seen: dict[object, float] = {}
        self._rivals: dict[tuple[tuple[int, ...], str], int] = {}
        self.most = float(analysis.weights.sum()) * self.weights.left + 1.0

    # The interface of kg.search

    def roots(self) -> Frontier:
        """The states of depth 0."""
        first = [self._add(state) for state in self._roots()]
        kept = [place for place in first if place is not None]
        scores = np.array([-self.totals[place] for place in kept], dtype=np.float32)
        return Frontier(np.array(kept, dtype=np.int64).reshape(-1, 1), scores)

    def expand(self, frontier: Frontier) -> Expansion:
        """All steps from all states; each state may also be an answer."""
        parents: list[int] = []
        choices: list[int] = []
        scores: list[float] = []
        actions: list[int] = []
        for row in range(len(frontier)):
            place = int(frontier.choices[row, -1])
            parents.append(row)
            choices.append(place)
            scores.append(0.0)
            actions.append(int(Action.ANSWER))
            for state in self._steps(self.states[place]):
                added = self._add(state)
                if added is not None:
                    parents.append(row)
                    choices.append(added)
                    # One constant a step keeps the score at most 0: a step explains no more words than there are.
                    scores.append(self.totals[place] - self.totals[added] - self.most)
                    actions.append(int(Action.CONTINUE))
        return Expansion(
            np.array(parents, dtype=np.int64),
            np.array(choices, dtype=np.int64),
            np.array(scores, dtype=np.float32),
            np.array(actions, dtype=np.int64),
        )

    def _add(self, state: State) -> int | None:
        """The number of a new state; ``None`` if it is empty or as good a one is there."""
        if not state.query.nodes:
            return None
        total = self.costs.total(state)
        key = (frozenset(state.query.nodes), state.words, frozenset(state.items), state.final)
        if self._seen.get(key, np.inf) <= total:
            return None
        self._seen[key] = total
        self.states.append(state)
        self.totals.append(total)
        return len(self.states) - 1

    # Steps

    def _roots(self) -> Iterator[State]:
        for mention in (*self.analysis.mentions, *self.analysis.references):
            named = Named(mention.nodes)
            yield State(named, mention.words, (), (), mention.cost, (mention,))
        relations = len(self.graph.relations)
        for kind in range(len(self.graph.classes)):
            item = relations + kind
            members = self.evaluator.members(kind)
            if self.costs.likeness(item) >= CLASS_LIKENESS:
                yield State(members, 0, (item,), (item,), implied=(0.0,))
            elif self.analysis.asks == "who" and kind in self.vocabulary.people:
                yield State(members, 0, (), (item,), self.weights.everyone)
        for relation, one in enumerate(self.graph.relations):
            if one.kind in ("entity", "text") and self.costs.likeness(relation) >= _RANGE_LIKENESS:
                yield from self._ranges(relation)
        yield from self._measured_roots()

    def _measured_roots(self) -> Iterator[State]:
        """All nodes with a number or date that an adjective measures: "the most expensive one"."""
        for one in self.analysis.degrees:
            places = [place for place in range(len(self.analysis.words)) if one.words >> place & 1]
            for relation, described in enumerate(self.graph.relations):
                is_measured = self.analysis.measured[places][:, relation].max() >= CLASS_LIKENESS
                is_measured |= not one.degree.measures and self.costs.likeness(relation) >= CLASS_LIKENESS
                if described.kind in _ORDERED and is_measured:
                    nodes = tuple(node for node in range(len(self.graph.values)) if self.graph.follow(node, relation))
                    yield State(Named(nodes), cost=self.weights.everyone, pending=self.weights.measured)

    def _ranges(self, relation: int) -> Iterator[State]:
        """All nodes that a relation leads to: "which maintainers ...", for ``maintained by``."""
        subjects = tuple(node for node in range(len(self.graph.values)) if self.graph.follow(node, relation))
        whole = Named(subjects)
        yield State(
            self.evaluator.follow(whole, relation), 0, (relation,), (relation,), self.weights.step, implied=(0.0,)
        )

    def _steps(self, state: State) -> Iterator[State]:
        nodes = state.query.nodes
        steps = dict.fromkeys(step for node in nodes[:500] for step in self.graph.steps(node))
        for relation, inverse in steps:
            if not self._turns_back(state, relation, inverse=inverse):
                query: Query = self.evaluator.follow(state.query, relation, inverse=inverse)
                again = self.weights.unsaid * (relation in relations_of(state.query))
                implied = self._implied(state.query.nodes, query, steps)
                if self._is_joint(query.nodes) or self._is_joint(nodes):
                    implied = max(implied, self.weights.joint)
                if len(state.mentions) == 1:
                    named = state.mentions[0] if isinstance(state.query, Named) else None
                    again += self.costs.against(relation, named, is_subject=not inverse)
                found = self._with(state, query, (relation,), final=(relation,), cost=again)
                yield replace(found, implied=(*state.implied, implied))
        for kind in range(len(self.graph.classes)):
            item = self.vocabulary.class_item(kind)
            if item not in state.items and self.costs.likeness(item) >= CLASS_LIKENESS:
                yield self._with(state, self.evaluator.of_class(state.query, kind), (item,), final=(*state.final, item))
        yield from self._conditions(state)
        yield from self._bounded(state)
        yield from self._true(state)
        yield from self._lacking(state)
        yield from self._extremes(state)
        yield from self._standards(state)
        if self.analysis.others & ~state.words and set(self.spoken) & set(nodes):
            query = self.evaluator.without(state.query, self.spoken)
            yield self._with(state, query, (), words=self.analysis.others, final=state.final)

    def _is_joint(self, nodes: tuple[int, ...]) -> bool:
        """Whether nodes only join others; no question names the way to them."""
        return bool(nodes) and all(self.graph.is_nameless(node) for node in nodes)

    def _turns_back(self, state: State, relation: int, *, inverse: bool) -> bool:
        before = state.query
        back = isinstance(before, Follow) and before.relation == relation and before.inverse != inverse
        return back and not self.analysis.others

    def _with(
        self,
        state: State,
        query: Query,
        items: tuple[int, ...],
        *,
        final: tuple[int, ...],
        words: int = 0,
        cost: float = 0.0,
        mention: Mention | None = None,
        implied: float = 0.0,
    ) -> State:
        """A state with one more operation; ``implied`` is the support of its items by what else could be meant."""
        return State(
            query,
            state.words | words,
            (*state.items, *items),
            final,
            state.cost + self.weights.step + cost,
            state.mentions if mention is None else (*state.mentions, mention),
            (*state.implied, *(implied for _ in items)),
            0.0 if isinstance(query, Extreme) else state.pending,
        )

    def _category(self, nodes: tuple[int, ...]) -> str:
        """The kind of answer that some nodes are, as far as a question word says it."""
        kinds = {self.graph.values[node].kind for node in nodes[:50]}
        asks = self.analysis.asks
        if kinds <= {"number"}:
            return "amount" if asks == "count" or (asks == "amount" and not self.analysis.is_price) else "value"
        if kinds <= {"date"}:
            return "when" if asks == "when" else "value"
        if kinds <= {"boolean"}:
            return "value"
        for name, wanted in (("who", self.vocabulary.people), ("where", self.vocabulary.places)):
            if asks == name:
                return name if any(self.vocabulary.is_of(node, wanted) for node in nodes[:50]) else "value"
        return "set"

    def _implied(self, before: tuple[int, ...], query: Query, steps: Iterable[tuple[int, bool]]) -> float:
        """The support of a step where the question word leaves few steps: "who made it", with one step to a person."""
        asks = self.analysis.asks
        wanted = "amount" if asks == "count" else asks
        if wanted not in ("who", "when", "where", "amount") or self._category(query.nodes) != wanted:
            return 0.0
        key = (before, wanted)
        if key not in self._rivals:
            self._rivals[key] = sum(
                self._category(self.evaluator.follow(Named(before), relation, inverse=inverse).nodes) == wanted
                for relation, inverse in steps
            )
        return self.weights.implied / max(self._rivals[key], 1)

    def _conditions(self, state: State) -> Iterator[State]:
        """Selections by a name or reference that is not used yet: in one step, or else in two."""
        inside = set(state.query.nodes)
        for mention in (*self.analysis.mentions, *self.analysis.references):
            if mention.words & state.words or mention in state.mentions or set(mention.nodes) == inside:
                continue
            target = Named(mention.nodes)
            near = self._links(target, inside)
            shares = self._shares(target, near, inside)
            for (relation, inverse), share in zip(near, shares, strict=True):
                if self._turns_back(state, relation, inverse=inverse):
                    continue
                implied = self.weights.implied * share
                yield from self._having(state, mention, target, relation, inverse=inverse, implied=implied)
            if near or len(inside) < 2:
                continue
            for first, other in self._around(target):
                middle = self.evaluator.follow(target, first, inverse=other)
                linked = self._links(middle, inside)
                for relation, inverse in linked:
                    if relation == first and inverse != other:
                        continue
                    query = self.evaluator.having(state.query, relation, middle, inverse=inverse)
                    yield self._with(
                        state, query, (first, relation), final=state.final, words=mention.words,
                        cost=mention.cost + self.weights.hidden, mention=mention,
                        implied=self.weights.implied / len(linked),
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
        self, state: State, mention: Mention, target: Query, relation: int, *, inverse: bool, implied: float
    ) -> Iterator[State]:
        final = state.final
        cost = mention.cost + self.costs.against(relation, mention, is_subject=inverse)
        query = self.evaluator.having(state.query, relation, target, inverse=inverse)
        yield self._with(
            state, query, (relation,), final=final, words=mention.words, cost=cost, mention=mention, implied=implied
        )
        if self.analysis.negations & ~state.words:
            query = self.evaluator.having(state.query, relation, target, inverse=inverse, negated=True)
            words = mention.words | self.analysis.negations
            yield self._with(
                state, query, (relation,), final=final, words=words, cost=mention.cost, mention=mention, implied=implied
            )

    def _true(self, state: State) -> Iterator[State]:
        """Selections by a property that is true or false: "which lines are electrified?"."""
        steps = dict.fromkeys(step for node in state.query.nodes[:500] for step in self.graph.steps(node))
        for relation, inverse in steps:
            if inverse or self.graph.relations[relation].kind != "boolean" or relation in relations_of(state.query):
                continue
            if self.costs.likeness(relation) < CLASS_LIKENESS:
                continue
            negated = bool(self.analysis.negations & ~state.words)
            values = dict.fromkeys(value for node in state.query.nodes for value in self.graph.follow(node, relation))
            wanted = tuple(value for value in values if self.graph.values[value].text == ("no" if negated else "yes"))
            query = self.evaluator.having(state.query, relation, Named(wanted), inverse=False)
            words = self.analysis.negations if negated else 0
            yield self._with(state, query, (relation,), final=state.final, words=words)

    def _lacking(self, state: State) -> Iterator[State]:
        """Selections of nodes without a fact: "which are still active?", "which flights had no crew?"."""
        relations = {step[0] for node in state.query.nodes[:500] for step in self.graph.steps(node) if not step[1]}
        for words, relation in self.analysis.lacking:
            if relation in relations and not words & state.words:
                query = self.evaluator.lacking(state.query, relation)
                yield self._with(state, query, (), final=state.final, words=words)
        if not self.analysis.negations & ~state.words or isinstance(state.query, Named):
            return
        for relation in sorted(relations):
            if self.costs.likeness(relation) >= CLASS_LIKENESS:
                query = self.evaluator.lacking(state.query, relation)
                yield self._with(state, query, (relation,), final=state.final, words=self.analysis.negations)

    def ordered(self, nodes: tuple[int, ...]) -> list[int]:
        """The relations of numbers and dates at some nodes."""
        steps = dict.fromkeys(step for node in nodes[:500] for step in self.graph.steps(node))
        return [one for one, inverse in steps if not inverse and self.graph.relations[one].kind in _ORDERED]

    def _bounded(self, state: State) -> Iterator[State]:
        for bound in self.analysis.bounds:
            if bound.words & state.words:
                continue
            kind = "number" if isinstance(bound.value, Decimal) else "date"
            relations = [one for one in self.ordered(state.query.nodes) if self.graph.relations[one].kind == kind]
            near = [one for one in relations if self._reaches(state.query, one, bound)]
            for relation in relations:
                query = self.evaluator.compared(state.query, relation, bound.comparison, bound.value)
                implied = self.weights.implied / len(near) if relation in near else 0.0
                yield self._with(
                    state, query, (relation,), final=state.final, words=bound.words, implied=implied
                )

    def _reaches(self, query: Query, relation: int, bound: Bound) -> bool:
        """Whether a bound is in or near the range of a relation's values."""
        keys = [float(key) for key in self.evaluator.keys(query.nodes[:500], relation).values()]
        low, high = (float(key) for key in bounds(bound.value))
        return min(keys) <= high * (1 + _NEAR) and low <= max(keys) * (1 + _NEAR)

    def _extremes(self, state: State) -> Iterator[State]:
        nodes = state.query.nodes
        if len(nodes) < 2:
            return
        for one in self.analysis.degrees:
            if one.words & state.words:
                continue
            if one.degree.level == 1 and (self._has_standard(one) or not state.mentions):
                continue
            used = relations_of(state.query)
            for relation in self._bounding(state.query):
                if one.degree.of_dates == (self.graph.relations[relation].kind == "date"):
                    query = self.evaluator.extreme(state.query, relation, self.sign(one, relation), rank=one.rank)
                    yield self._with(state, query, (), final=state.final, words=one.words)
            for relation in (place for place in self.ordered(nodes) if place not in used):
                sign = self.sign(one, relation)
                query = self.evaluator.extreme(state.query, relation, sign, rank=one.rank)
                if len(query.nodes) < len(nodes):
                    yield self._by_degree(state, query, relation, one)
            if not one.degree.measures:
                for relation, inverse in dict.fromkeys(step for node in nodes[:500] for step in self.graph.steps(node)):
                    counted = self.evaluator.extreme(
                        state.query, relation, one.degree.sign, counted=True, inverse=inverse, rank=one.rank
                    )
                    if len(counted.nodes) < len(nodes) and self.graph.relations[relation].kind in ("entity", "text"):
                        yield self._by_degree(state, counted, relation, one)

    def _bounding(self, query: Query) -> list[int]:
        """The relations of bounds: "the first one after 1980" is the first by the date that is after 1980."""
        return list(dict.fromkeys(part.relation for part in sources(query) if isinstance(part, Compared)))

    def _by_degree(self, state: State, query: Query, relation: int, one: DegreeMention) -> State:
        """A selection by a degree; its relation is supported by the degree's own words or by others."""
        column = self.analysis.measured[:, relation]
        own = max(float(column[place]) for place in range(len(column)) if one.words >> place & 1)
        other = self.costs.likeness(relation, ~(one.words | state.words))
        if own > other:
            cost, items = self.weights.unsaid * (1 - own), tuple[int, ...]()
        else:
            cost, items = (self.weights.measure * (1 - own) if one.degree.measures else 0.0), (relation,)
        return self._with(state, query, items, final=state.final, words=one.words, cost=cost)

    def sign(self, one: DegreeMention, relation: int) -> int:
        """The sign of a degree for a relation: "old" asks for more of an age and for less of a date."""
        is_number = self.graph.relations[relation].kind == "number"
        return -one.degree.sign if one.degree.of_dates and is_number else one.degree.sign

    def _has_standard(self, one: DegreeMention) -> bool:
        after = one.words.bit_length()
        return any(word.low == "than" for word in self.analysis.words[after : after + 2])

    def _standards(self, state: State) -> Iterator[State]:
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
        self, state: State, one: DegreeMention, mention: Mention, standard: int, relation: int
    ) -> Iterator[State]:
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
