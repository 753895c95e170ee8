"""The space of a question's derivations, which the beam of :mod:`kg.search` searches.

A derivation begins at a name, a reference or a class, and each step applies one operation of the algebra::

    depth 0   NamedNodes(Cold Pass)
    depth 1   Follow(^calls at)                 "which line goes there"
    depth 2   Follow(operated by)

:mod:`kg.parsing.derivation` gives the cost of each state.
"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

import numpy as np

from kg.algebra import Evaluator, Follow, NamedNodes
from kg.parsing.analysis import Analysis
from kg.parsing.derivation import IMPLIED, STEP, UNUSUAL, Costs, QueryDerivation
from kg.parsing.selections import EQUAL, LIKE, ORDERED, Selections
from kg.parsing.vocabulary import Vocabulary
from kg.search import Action, Expansion, Frontier

_SOME = 50
"""The nodes that show the class of all."""


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
        parents, choices, scores, actions = np.array(steps, dtype=np.float64).reshape(-1, 4).T
        whole = np.array([parents, choices, actions], dtype=np.int64)
        return Expansion(whole[0], whole[1], scores.astype(np.float32), whole[2])

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
        for relation, one in enumerate(self.graph.relations):
            is_total = one.kind == "number" and bool(self.analysis.totals | self.analysis.means)
            if (one.kind in ("entity", "text") or is_total) and self.costs.likeness(relation) >= LIKE:
                whole = self.evaluator.follow(NamedNodes(self.graph.subjects(relation)), relation)
                yield QueryDerivation(whole, 0, (relation,), (relation,), STEP, implied=(0.0,))
        yield from self._of_values()

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
        last = state.query if isinstance(state.query, Follow) else None
        is_value = last is not None and self.graph.relations[last.relation].kind in EQUAL
        back = (last.relation, not last.inverse) if last is not None and not self.analysis.others else None
        for relation, inverse in self.graph.steps_of(state.query.nodes):
            if not (inverse and is_value) and (relation, inverse) != back:
                yield from self._followed(state, relation, inverse=inverse)
        for kind in range(len(self.graph.classes)):
            item = self.vocabulary.class_item(kind)
            if item not in state.items and self.costs.likeness(item) >= LIKE:
                members = self.evaluator.of_class(state.query, kind)
                yield state.extended(members, (item,), final=(*state.final, item))
        yield from self.selections.of(state)
        if self.analysis.others & ~state.words and set(self.spoken) & set(state.query.nodes):
            query = self.evaluator.without(state.query, self.spoken)
            yield state.extended(query, words=self.analysis.others)

    def _followed(self, state: QueryDerivation, relation: int, *, inverse: bool) -> Iterator[QueryDerivation]:
        """A step over a relation, which its own words or the class of its ends say: "checked" for inspections."""
        query = self.evaluator.follow(state.query, relation, inverse=inverse)
        implied = IMPLIED if self._is_joint(query.nodes) else 0.0
        cost = self.costs.repeated(relation, state.items)
        yield state.extended(query, (relation,), final=(relation,), cost=cost, implied=implied)
        kinds = set(self.graph.types[query.nodes[0]]) if query.nodes else set[int]()
        kinds.intersection_update(*(self.graph.types[node] for node in query.nodes[:_SOME]))
        items = [item for kind in sorted(kinds) if (item := self.vocabulary.class_item(kind)) not in state.items]
        best = max(items, key=self.costs.likeness, default=None)
        if best is not None and self.costs.likeness(best) > max(LIKE, self.costs.likeness(relation)):
            yield state.extended(query, (best,), final=(relation, best), implied=implied)

    def _is_joint(self, nodes: tuple[int, ...]) -> bool:
        """Whether nodes only join others; no question names the way to them."""
        return bool(nodes) and all(self.graph.is_nameless(node) for node in nodes)
