"""The space of a question's derivations, which the beam of :mod:`kg.search` searches.

A derivation begins at a name, a reference or a class, and each step applies one operation of the algebra::

    depth 0   NamedNodes(Cold Pass)
    depth 1   Follow(^calls at)                 "which line goes there"
    depth 2   Follow(operated by)

:mod:`kg.parsing.derivation` gives the cost of each state.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from decimal import Decimal

import numpy as np

from kg.algebra import Evaluator, Follow, NamedNodes, OfClass, Query
from kg.parsing.analysis import Analysis
from kg.parsing.derivation import IMPLIED, STEP, UNUSUAL, Costs, QueryDerivation
from kg.parsing.selections import EQUAL, LIKE, ORDERED, Selections
from kg.parsing.vocabulary import Vocabulary
from kg.parsing.words import PEOPLE
from kg.search import Action, Expansion, Frontier

_FAR, _NEAR = 0.3, 0.65
"""Cosines of a question with a relation that count as no support and as full support."""

_LEXICAL, _TEMPERATURE = 5.0, 0.05
"""The weight of a word that names a relation, and the temperature of the cosines, in its log-probability."""


class QuerySpace:
    """A search space of :mod:`kg.search` for one question.

    Args:
        vocabulary: The names of the graph.
        analysis: The question.
        spoken: Nodes that "other" leaves out: what the conversation just spoke of.
    """

    def __init__(self, vocabulary: Vocabulary, analysis: Analysis, spoken: tuple[int, ...] = ()) -> None:
        self.vocabulary = vocabulary
        self.graph = vocabulary.graph
        self.analysis = analysis
        self.spoken = spoken
        self.costs = Costs(self.graph, analysis)
        self.evaluator = Evaluator(self.graph)
        self.selections = Selections(vocabulary, analysis, self.costs)
        self.states: list[QueryDerivation] = []
        self.totals: list[float] = []
        self._seen: dict[object, float] = {}
        self._shares: dict[tuple[tuple[int, ...], str], dict[tuple[int, bool], float]] = {}
        self.most = float(analysis.weights.sum()) + 1.0

    # The interface of kg.search

    def roots(self) -> Frontier:
        """The states of depth 0."""
        kept = [place for state in self._roots() if (place := self._add(state)) is not None]
        scores = np.array([-self.totals[place] for place in kept], dtype=np.float32)
        return Frontier(np.array(kept, dtype=np.int64).reshape(-1, 1), scores)

    def expand(self, frontier: Frontier) -> Expansion:
        """All steps from all states; each state may also be an answer."""
        steps: list[tuple[int, int, float, int]] = []
        for row in range(len(frontier)):
            place = int(frontier.choices[row, -1])
            steps.append((row, place, 0.0, int(Action.ANSWER)))
            for state in self._steps(self.states[place]):
                added = self._add(state)
                if added is not None:
                    # One constant a step keeps the score at most 0: a step explains no more words than there are.
                    score = self.totals[place] - self.totals[added] - self.most
                    steps.append((row, added, score, int(Action.CONTINUE)))
        parents, choices, scores, actions = zip(*steps, strict=True) if steps else ((), (), (), ())
        return Expansion(
            np.array(parents, dtype=np.int64),
            np.array(choices, dtype=np.int64),
            np.array(scores, dtype=np.float32),
            np.array(actions, dtype=np.int64),
        )

    def _add(self, state: QueryDerivation) -> int | None:
        """The number of a new state; ``None`` if it is empty or as good a one is there."""
        if not state.query.nodes:
            return None
        total = self.costs.total(state)
        # What is calculated from the last relation depends on its source, which other queries with these nodes lack.
        source = frozenset(state.query.source.nodes) if isinstance(state.query, Follow) else None
        key = (frozenset(state.query.nodes), source, state.words, frozenset(state.items), state.final)
        if self._seen.get(key, np.inf) <= total:
            return None
        self._seen[key] = total
        self.states.append(state)
        self.totals.append(total)
        return len(self.states) - 1

    # Roots

    def _roots(self) -> Iterator[QueryDerivation]:
        for mention in (*self.analysis.mentions, *self.analysis.references):
            yield QueryDerivation(NamedNodes(mention.nodes), mention.words, cost=mention.cost, mentions=(mention,))
        yield from self._of_kinds()
        for kind in range(len(self.graph.classes)):
            item = self.vocabulary.class_item(kind)
            if self.costs.likeness(item) >= LIKE:
                yield QueryDerivation(self.evaluator.members(kind), 0, (item,), (item,), implied=(0.0,))
            elif self.analysis.negations:
                yield from self._denied(kind, item)
        yield from self._people()
        for relation, one in enumerate(self.graph.relations):
            is_total = one.kind == "number" and bool(self.analysis.totals | self.analysis.means)
            if (one.kind in ("entity", "text") or is_total) and self.costs.likeness(relation) >= LIKE:
                whole = self.evaluator.follow(NamedNodes(self.graph.subjects(relation)), relation)
                yield QueryDerivation(whole, 0, (relation,), (relation,), STEP, implied=(0.0,))
        yield from self._of_values()

    def _denied(self, kind: int, item: int) -> Iterator[QueryDerivation]:
        """The members of a class that no word names, without a fact that words say: "what was never sold?"."""
        whole = QueryDerivation(self.evaluator.members(kind), 0, (item,), (item,), implied=(0.0,))
        for state in (*self.selections.lacking(whole), *self.selections.conditions(whole)):
            if state.words & self.analysis.negations:
                yield state

    def _people(self) -> Iterator[QueryDerivation]:
        """All people, of whom "who" or "anybody" may ask."""
        kinds = sorted(self.vocabulary.people)
        places = [place for place, word in enumerate(self.analysis.words) if word.low in PEOPLE]
        if kinds and (self.analysis.asks == "who" or places):
            for some in dict.fromkeys(((kind,) for kind in kinds), None) | {tuple(kinds): None}:
                yield QueryDerivation(self.evaluator.members(*some), sum(1 << one for one in places), cost=UNUSUAL)

    def _of_kinds(self) -> Iterator[QueryDerivation]:
        """All nodes of a kind that a value names: "how many dramas" for the films whose genre is drama."""
        for mention in self.analysis.mentions:
            if not mention.is_kind:
                continue
            named = NamedNodes(mention.nodes)
            steps = dict.fromkeys(step for node in mention.nodes for step in self.graph.steps(node) if step[1])
            for relation, inverse in steps:
                query = self.evaluator.follow(named, relation, inverse=inverse)
                if not self._is_joint(query.nodes):
                    yield QueryDerivation(
                        query, mention.words, (relation,), (), mention.cost + STEP, (mention,), (1 / len(steps) ** 0.5,)
                    )

    def _of_values(self) -> Iterator[QueryDerivation]:
        """All nodes with a value that an adjective or a bound compares, or that is true: "anything under 20 euros"."""
        for relation, one in enumerate(self.graph.relations):
            whole = QueryDerivation(NamedNodes(self.graph.subjects(relation)), cost=UNUSUAL)
            if one.kind == "boolean" and self.costs.likeness(relation) >= LIKE:
                yield from self.selections.true(whole)
            if one.kind not in ORDERED:
                continue
            if any(one.kind == ("date" if mention.degree.of_dates else "number") for mention in self.analysis.degrees):
                yield whole
            for bound in self.analysis.bounds:
                if one.kind == ("number" if isinstance(bound.value, Decimal) else "date"):
                    yield from self.selections.bounded_by(whole, bound, [relation])

    # Steps

    def _steps(self, state: QueryDerivation) -> Iterator[QueryDerivation]:
        steps = self.graph.steps_of(state.query.nodes)
        is_value = isinstance(state.query, Follow) and self.graph.relations[state.query.relation].kind in EQUAL
        for relation, inverse in steps:
            if not (inverse and is_value) and not self.selections.turns_back(state, relation, inverse=inverse):
                yield from self._followed(state, relation, inverse=inverse, steps=steps)
        for kind in range(len(self.graph.classes)):
            item = self.vocabulary.class_item(kind)
            if item not in state.items and self.costs.likeness(item) >= LIKE:
                members = self.evaluator.of_class(state.query, kind)
                yield state.extended(members, (item,), final=(*state.final, item))
        yield from self.selections.of(state)
        if self.analysis.others & ~state.words and set(self.spoken) & set(state.query.nodes):
            query = self.evaluator.without(state.query, self.spoken)
            yield state.extended(query, words=self.analysis.others)

    def _followed(
        self, state: QueryDerivation, relation: int, *, inverse: bool, steps: Iterable[tuple[int, bool]]
    ) -> Iterator[QueryDerivation]:
        """A step over a relation; ``steps`` are all from the same nodes."""
        query = self.evaluator.follow(state.query, relation, inverse=inverse)
        implied = self._implied(state.query.nodes, query, steps)
        if self._is_joint(query.nodes) or self.vocabulary.share_of_events(query.nodes) == 1:
            implied = max(implied, IMPLIED)
        cost = self.costs.repeated(relation, state.items)
        followed = state.extended(query, (relation,), final=(relation,), cost=cost, implied=implied)
        common = self._in_common(state, relation, inverse=inverse)
        if common is not None:
            yield replace(followed, query=common)
        if common is None or (not state.mentions[0].both and not inverse):
            yield followed
            yield from self._to_said_class(state, query, implied)

    def _to_said_class(self, state: QueryDerivation, query: Follow, implied: float) -> Iterator[QueryDerivation]:
        """A step to things of a class that a word says, in place of the relation: "checked" for inspections."""
        if not query.nodes:
            return
        kinds = set.intersection(*(set(self.graph.types[node]) for node in query.nodes[:50]))
        items = [item for kind in sorted(kinds) if (item := self.vocabulary.class_item(kind)) not in state.items]
        best = max(items, key=self.costs.likeness, default=None)
        if best is not None and self.costs.likeness(best) > max(LIKE, self.costs.likeness(query.relation)):
            yield state.extended(query, (best,), final=(query.relation, best), implied=implied)

    def _in_common(self, state: QueryDerivation, relation: int, *, inverse: bool) -> Query | None:
        """The nodes that a relation leads to from each name that "and" joins; ``None`` where there are none."""
        parts = state.mentions[0].all_of if len(state.mentions) == 1 else ()
        whole = NamedNodes(state.mentions[0].nodes) if parts else None
        if len(parts) < 2 or not self._leads_from(state.query, whole):
            return None
        if not inverse and not state.mentions[0].both:
            return None
        # What joins two names by two steps, such as a person with two posts, is known after the second step alone.
        starts = [
            self.evaluator.rebuilt(state.query, lambda old, part=part: NamedNodes(part) if old == whole else None)  # type: ignore[misc]
            for part in parts
        ]
        query: Query = self.evaluator.follow(starts[0], relation, inverse=inverse)
        for start in starts[1:]:
            query = self.evaluator.having(query, relation, start, inverse=not inverse)
        return query if query.nodes else None

    @staticmethod
    def _leads_from(query: Query, whole: NamedNodes | None) -> bool:
        """Whether a query only follows relations from some names."""
        while isinstance(query, Follow | OfClass):
            query = query.source
        return query == whole

    def _is_joint(self, nodes: tuple[int, ...]) -> bool:
        """Whether nodes only join others; no question names the way to them."""
        return bool(nodes) and all(self.graph.is_nameless(node) for node in nodes)

    def _category(self, nodes: tuple[int, ...]) -> str:
        """The kind of answer that some nodes are, as far as a question word says it."""
        kinds = {self.graph.values[node].kind for node in nodes[:50]}
        asks = self.analysis.asks
        if kinds <= {"number"}:
            return "amount" if asks == "count" or (asks == "amount" and not self.analysis.is_price) else "value"
        if kinds <= {"date"}:
            return "when" if asks == "when" else "value"
        for name, wanted in (("who", self.vocabulary.people), ("where", self.vocabulary.places)):
            if asks == name and kinds != {"boolean"}:
                return name if any(self.vocabulary.is_of(node, wanted) for node in nodes[:50]) else "value"
        return "value" if kinds == {"boolean"} else "set"

    def _implied(self, before: tuple[int, ...], query: Follow, steps: Iterable[tuple[int, bool]]) -> float:
        """The support of a step by what else is possible from there: by the kind of answer, and by the whole sense.

        "Who made it" leaves few steps to a person; of these, the one that is most like the whole question is likely.
        """
        asks = self.analysis.asks
        key = (before, "amount" if asks == "count" else asks)
        if key not in self._shares:
            self._shares[key] = self._shares_of(*key, list(steps))
        return self._shares[key].get((query.relation, query.inverse), 0.0)

    def _shares_of(
        self, before: tuple[int, ...], wanted: str, every: list[tuple[int, bool]]
    ) -> dict[tuple[int, bool], float]:
        """The support of each step from some nodes."""
        rivals = [
            step
            for step in every
            if wanted in ("who", "when", "where", "amount")
            and self._category(self.evaluator.follow(NamedNodes(before), step[0], inverse=step[1]).nodes) == wanted
        ]
        if not self.analysis.senses.any():
            return {step: IMPLIED / len(rivals) for step in rivals}
        relations = list(dict.fromkeys(relation for relation, _ in rivals or every))
        cosines = self.analysis.senses[relations]
        said = np.array([self.costs.likeness(relation) for relation in relations])
        evidence = cosines / _TEMPERATURE + _LEXICAL * said
        scores = np.exp(evidence - evidence.max())
        least = IMPLIED if rivals else 0.0
        strength = least + (IMPLIED + 0.1 - least) * np.clip((cosines - _FAR) / (_NEAR - _FAR), 0.0, 1.0)
        shares = dict(zip(relations, (strength * scores / scores.sum()).tolist(), strict=True))
        return {step: shares[step[0]] for step in rivals or every}
