"""The space of a question's derivations, which the beam of :mod:`kg.search` searches.

A derivation begins at a name, a reference or a class, and each step applies one operation of the algebra::

    depth 0   NamedNodes(Cold Pass)
    depth 1   Follow(^calls at)                 "which line goes there"
    depth 2   Follow(operated by)

:mod:`kg.parsing.costs` gives the cost of each state.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from decimal import Decimal

import numpy as np

from kg.algebra import Evaluator, Follow, NamedNodes, OfClass, Query
from kg.analysis import Analysis
from kg.facts import FactGraph
from kg.parsing.alternatives import Alternatives
from kg.parsing.costs import Costs
from kg.parsing.derivation import DerivationCosts, QueryDerivation
from kg.parsing.presence import Presence
from kg.parsing.selections import CLASS_LIKENESS, Selections
from kg.search import Action, Expansion, Frontier
from kg.vocabulary import GENDERED, PEOPLE, Vocabulary

_RANGE_LIKENESS = 0.7
_FAR, _NEAR = 0.3, 0.65
"""Cosines of a question with a relation that count as no support and as full support."""

_LEXICAL = 5.0
"""What a word that names a relation adds to its log-probability, times the likeness."""

_TEMPERATURE = 0.05
"""Of the cosines of a question with relations, as probabilities; fitted on questions of one step."""

_ORDERED = ("number", "date")
_EQUAL = ("number", "date", "boolean")
"""Kinds of values that are equal by chance: no question goes from a length of 5 to all that weighs 5."""


class QuerySpace:
    """A search space of :mod:`kg.search` for one question.

    Args:
        vocabulary: The names of the graph.
        analysis: The question.
        spoken: Nodes that "other" leaves out: what the conversation just spoke of.
        weights: The costs.
    """

    def __init__(
        self,
        vocabulary: Vocabulary,
        analysis: Analysis,
        spoken: tuple[int, ...] = (),
        weights: DerivationCosts | None = None,
    ) -> None:
        self.vocabulary = vocabulary
        self.graph: FactGraph = vocabulary.graph
        self.analysis = analysis
        self.spoken = spoken
        self.weights = weights if weights is not None else DerivationCosts()
        self.costs = Costs(self.graph, analysis, self.weights)
        self.evaluator = Evaluator(self.graph)
        self.selections = Selections(vocabulary, analysis, self.weights, self.costs)
        self.presence = Presence(self.selections)
        self.alternatives = Alternatives(self.selections)
        self.states: list[QueryDerivation] = []
        self.totals: list[float] = []
        self._seen: dict[object, float] = {}
        self._shares: dict[tuple[tuple[int, ...], str], dict[tuple[int, bool], float]] = {}
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

    # Steps

    def _roots(self) -> Iterator[QueryDerivation]:
        for mention in (*self.analysis.mentions, *self.analysis.references):
            if not self.analysis.denies(mention):
                yield QueryDerivation(NamedNodes(mention.nodes), mention.words, (), (), mention.cost, (mention,))
        yield from self._of_kinds()
        for kind in range(len(self.graph.classes)):
            item = self.vocabulary.class_item(kind)
            members = self.evaluator.members(kind)
            if self.costs.likeness(item) >= CLASS_LIKENESS:
                yield QueryDerivation(members, 0, (item,), (item,), implied=(0.0,))
            elif self.analysis.asks == "who" and kind in self.vocabulary.people:
                yield QueryDerivation(members, 0, (), (item,), self.weights.everyone)
        is_total = bool(self.analysis.totals | self.analysis.means)
        for relation, one in enumerate(self.graph.relations):
            likeness = self.costs.likeness(relation)
            if one.kind in ("entity", "text") and likeness >= _RANGE_LIKENESS:
                yield from self._ranges(relation)
            if one.kind == "number" and is_total and likeness >= CLASS_LIKENESS:
                yield from self._ranges(relation)
        yield from self._measured_roots()
        yield from self._bounded_roots()
        yield from self._true_roots()
        yield from self._lacking_roots()
        yield from self._general_roots()
        yield from self.alternatives.classes()

    def _general_roots(self) -> Iterator[QueryDerivation]:
        """The members of several classes that one noun is more general than: "animals" for dogs and cats."""
        people = [kinds for kinds in self.vocabulary.siblings if self.vocabulary.people.issuperset(kinds)]
        if self.analysis.asks == "who":
            yield from (QueryDerivation(self.evaluator.members(*kinds), cost=self.weights.everyone) for kinds in people)
        for place, word in enumerate(self.analysis.words):
            if self.vocabulary.names_class(word.low) or not self.analysis.weights[place]:
                continue
            like = self.vocabulary.class_columns(self.analysis.items)[place] >= CLASS_LIKENESS
            groups = [kinds for kinds in self.vocabulary.siblings if like[list(kinds)].any()]
            if self.analysis.weights[place] == 1:
                groups.append(tuple(self.vocabulary.kinds_of(word.low)))
            for kinds in dict.fromkeys(people if word.low in PEOPLE else groups):
                if len(kinds) > 1:
                    yield QueryDerivation(self.evaluator.members(*kinds), 1 << place, cost=self.weights.general)

    def _of_kinds(self) -> Iterator[QueryDerivation]:
        """All nodes of a kind that a value names: "how many dramas" for the films whose genre is drama."""
        for mention in self.analysis.mentions:
            if not mention.is_kind or self.analysis.denies(mention):
                continue
            named = NamedNodes(mention.nodes)
            steps = dict.fromkeys(step for node in mention.nodes for step in self.graph.steps(node) if step[1])
            for relation, inverse in steps:
                found = self.evaluator.follow(named, relation, inverse=inverse)
                if self._is_joint(found.nodes):
                    continue
                yield QueryDerivation(
                    found, mention.words, (relation,), (), mention.cost + self.weights.step, (mention,),
                    (self.weights.kind / len(steps) ** 0.5,),
                )  # fmt: skip

    def _measured_roots(self) -> Iterator[QueryDerivation]:
        """All nodes with a number or date that an adjective measures: "the most expensive one"."""
        ordered = [one for one, described in enumerate(self.graph.relations) if described.kind in _ORDERED]
        for one in self.analysis.degrees:
            places = [place for place in range(len(self.analysis.words)) if one.words >> place & 1]
            measured = [
                relation
                for relation in ordered
                if self.analysis.measured[places][:, relation].max() >= CLASS_LIKENESS
                or (not one.degree.measures and self.costs.likeness(relation) >= CLASS_LIKENESS)
            ]
            kind = "date" if one.degree.of_dates else "number"
            likely = [relation for relation in ordered if self.graph.relations[relation].kind == kind]
            cost = self.weights.everyone if measured else self.weights.unmeasured
            for nodes in dict.fromkeys(self.graph.subjects(relation) for relation in measured or likely):
                yield QueryDerivation(NamedNodes(nodes), cost=cost, pending=self.weights.measured)

    def _bounded_roots(self) -> Iterator[QueryDerivation]:
        """All nodes whose number or date fits a bound: "anything under 20 euros", where no word names their class."""
        for bound in self.analysis.bounds:
            wanted = "number" if isinstance(bound.value, Decimal) else "date"
            for relation, described in enumerate(self.graph.relations):
                if described.kind == wanted:
                    whole = QueryDerivation(NamedNodes(self.graph.subjects(relation)), cost=self.weights.everyone)
                    yield from self.selections.bounded_by(whole, bound, [relation])

    def _true_roots(self) -> Iterator[QueryDerivation]:
        """All nodes of which something is true or false: "which ones are poisonous?"."""
        for relation, described in enumerate(self.graph.relations):
            if described.kind == "boolean" and self.costs.likeness(relation) >= CLASS_LIKENESS:
                whole = QueryDerivation(NamedNodes(self.graph.subjects(relation)), cost=self.weights.everyone)
                yield from self.presence.true(whole)

    def _lacking_roots(self) -> Iterator[QueryDerivation]:
        """The members of a class that no word names, without a fact that words say: "what was never sold?"."""
        for kind in range(len(self.graph.classes)) if self.analysis.negations else ():
            item = self.vocabulary.class_item(kind)
            if self.costs.likeness(item) >= CLASS_LIKENESS:
                continue
            whole = QueryDerivation(self.evaluator.members(kind), 0, (item,), (item,), implied=(0.0,))
            yield from self.presence.lacking(whole)
            for state in self.selections.conditions(whole):
                if state.words & self.analysis.negations:
                    yield state

    def _ranges(self, relation: int) -> Iterator[QueryDerivation]:
        """All nodes that a relation leads to ("maintainers" for ``maintained by``), or that have it ("children")."""
        whole = NamedNodes(self.graph.subjects(relation))
        column = self.analysis.items[:, relation]
        place = int(column.argmax())
        is_turned = self.analysis.turned[place, relation] >= column[place]
        found = whole if is_turned else self._of_gender(self.evaluator.follow(whole, relation), relation, 0)
        yield QueryDerivation(found, 0, (relation,), (relation,), self.weights.step, implied=(0.0,))

    def _steps(self, state: QueryDerivation) -> Iterator[QueryDerivation]:
        """Each step from a state, and the unions of two of them."""
        yield from self._single_steps(state)
        yield from self.alternatives.of(state, self._single_steps)

    def _single_steps(self, state: QueryDerivation) -> Iterator[QueryDerivation]:
        steps = self.graph.steps_of(state.query.nodes)
        is_value = isinstance(state.query, Follow) and self.graph.relations[state.query.relation].kind in _EQUAL
        for relation, inverse in steps:
            if not (inverse and is_value) and not self.selections.turns_back(state, relation, inverse=inverse):
                yield from self._followed(state, relation, inverse=inverse, steps=steps)
        for kind in range(len(self.graph.classes)):
            item = self.vocabulary.class_item(kind)
            if item not in state.items and self.costs.likeness(item) >= CLASS_LIKENESS:
                members = self.evaluator.of_class(state.query, kind)
                yield self.selections.extended(state, members, (item,), final=(*state.final, item))
        yield from self.selections.conditions(state)
        yield from self.selections.bounded(state)
        yield from self.presence.of(state)
        yield from self.selections.extremes(state)
        yield from self.selections.standards(state)
        if self.analysis.others & ~state.words and set(self.spoken) & set(state.query.nodes):
            query = self.evaluator.without(state.query, self.spoken)
            yield self.selections.extended(state, query, (), words=self.analysis.others, final=state.final)

    def _followed(
        self, state: QueryDerivation, relation: int, *, inverse: bool, steps: Iterable[tuple[int, bool]]
    ) -> Iterator[QueryDerivation]:
        """A step over a relation; ``steps`` are all from the same nodes."""
        followed = self.evaluator.follow(state.query, relation, inverse=inverse)
        query = self._of_gender(followed, relation, state.items.count(relation))
        implied = self._implied(state.query.nodes, followed, steps)
        if self._is_joint(query.nodes):
            implied = max(implied, self.weights.joint)
        elif self.vocabulary.share_of_events(query.nodes) == 1:
            implied = max(implied, self.weights.event)
        cost = self._step_cost(state, relation, inverse=inverse)
        found = self.selections.extended(state, query, (relation,), final=(relation,), cost=cost, implied=implied)
        common = self._in_common(state, relation, inverse=inverse)
        if common is not None:
            yield replace(found, query=common)
        if common is None or (not state.mentions[0].both and not inverse):
            yield found
            yield from self._to_said_class(state, query, implied)

    def _step_cost(self, state: QueryDerivation, relation: int, *, inverse: bool) -> float:
        """The cost of a relation that is repeated, against the order of the words, or one that a name lacks."""
        cost = self.costs.repeated(relation, state.items)
        if len(state.mentions) > 1:
            return cost
        named = state.mentions[0] if state.mentions and isinstance(state.query, NamedNodes) else None
        cost += self.costs.against(relation, named, is_subject=not inverse)
        return cost + (self.selections.apart(named, relation, inverse=inverse) if named is not None else 0.0)

    def _to_said_class(self, state: QueryDerivation, query: Query, implied: float) -> Iterator[QueryDerivation]:
        """A step to things of a class that a word says, in place of the relation: "checked" for inspections."""
        if not isinstance(query, Follow) or not query.nodes:
            return
        kinds = set(self.graph.types[query.nodes[0]]).intersection(
            *(self.graph.types[node] for node in query.nodes[:50])
        )
        items = [item for kind in sorted(kinds) if (item := self.vocabulary.class_item(kind)) not in state.items]
        best = max(items, key=self.costs.likeness, default=None)
        if best is not None and self.costs.likeness(best) > max(CLASS_LIKENESS, self.costs.likeness(query.relation)):
            yield self.selections.extended(state, query, (best,), final=(query.relation, best), implied=implied)

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

    def _of_gender(self, query: Query, relation: int, times: int) -> Query:
        """The nodes of the gender that a relation's word says: "mother" for ``parent``, which was used ``times``."""
        if not self.vocabulary.genders:
            return query
        groups = self.costs.phrases(relation)
        name = self.graph.relations[relation].names[0].lower().split()
        words = [self.analysis.words[place].low for place in groups[min(times, len(groups) - 1)]] if groups else []
        gender = next((GENDERED[word] for word in words if word in GENDERED), None)
        if gender is None or gender not in self.vocabulary.genders or set(name) & set(GENDERED):
            return query
        own, values = self.vocabulary.genders[gender]
        return self.evaluator.having(query, own, NamedNodes(values), inverse=False)

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
        if kinds <= {"boolean"}:
            return "value"
        for name, wanted in (("who", self.vocabulary.people), ("where", self.vocabulary.places)):
            if asks == name:
                return name if any(self.vocabulary.is_of(node, wanted) for node in nodes[:50]) else "value"
        return "set"

    def _implied(self, before: tuple[int, ...], query: Follow, steps: Iterable[tuple[int, bool]]) -> float:
        """The support of a step by what else is possible from there: by the kind of answer, and by the whole sense.

        "Who made it" leaves few steps to a person; of these, the one that is most like the whole question is likely.
        """
        asks = self.analysis.asks
        wanted = "amount" if asks == "count" else asks
        key = (before, wanted)
        if key not in self._shares:
            self._shares[key] = self._shares_of(before, wanted, steps)
        return self._shares[key].get((query.relation, query.inverse), 0.0)

    def _shares_of(
        self, before: tuple[int, ...], wanted: str, steps: Iterable[tuple[int, bool]]
    ) -> dict[tuple[int, bool], float]:
        """The support of each step from some nodes."""
        every = list(steps)
        typed = wanted in ("who", "when", "where", "amount")
        rivals = [
            step
            for step in every
            if typed
            and self._category(self.evaluator.follow(NamedNodes(before), step[0], inverse=step[1]).nodes) == wanted
        ]
        most = self.weights.implied
        otherwise = {step: self.weights.otherwise if step[0] in self.analysis.otherwise else 1.0 for step in every}
        if not self.analysis.senses.any():
            return {step: otherwise[step] * most / len(rivals) for step in rivals}
        least, most = (self.weights.implied, self.weights.sensed) if rivals else (0.0, self.weights.sensed_untyped)
        relations = list(dict.fromkeys(relation for relation, _ in rivals or every))
        cosines = self.analysis.senses[relations]
        said = np.array([self.costs.likeness(relation) for relation in relations])
        evidence = cosines / _TEMPERATURE + _LEXICAL * said
        scores = np.exp(evidence - evidence.max())
        strength = least + (most - least) * np.clip((cosines - _FAR) / (_NEAR - _FAR), 0.0, 1.0)
        shares = dict(zip(relations, (strength * scores / scores.sum()).tolist(), strict=True))
        return {step: otherwise[step] * shares[step[0]] for step in rivals or every}
