"""The forms of a derivation's answer: its nodes, their number, an age, a total; each says how far its type fits.

>>> [(one.operation, one.number) for one in Forms(space, today).of(state)]
[('count', Decimal('3'))]

A question for yes or no says something of a subject; what the graph lacks counts as false.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal

from kg.algebra import (
    Follow,
    NamedNodes,
    Query,
    difference,
    numbers_of,
    plain,
    rounded,
    sources,
    years_between,
)
from kg.parsing.derivation import STEP, UNSAID, UNUSUAL, QueryDerivation
from kg.parsing.names import joined_masks, places
from kg.parsing.selections import LIKE
from kg.parsing.space import QuerySpace

MISMATCH, _UNKNOWN = 1.5, 0.1
"""The costs of an answer of another type than the question asks for, and of one whose type is not known."""

_BIRTH = ("birth date", "born", "founded", "built", "opened", "created", "completed", "established", "released")


@dataclass(frozen=True)
class Form:
    """The form of a derivation's answer.

    Attributes:
        nodes: The nodes of the answer, or those that it counts.
        number: A count, an age or a total.
        mismatch: The cost of an answer of another type than the question asks for.
        head: The cost of an answer that is not what the question calls it.
        words: The words that the form explains, as a bit mask.
        operation: As of :class:`kg.parsing.parser.Parse`.
        holds: Whether a statement holds; ``None`` for other questions.
    """

    nodes: tuple[int, ...]
    number: Decimal | None = None
    mismatch: float = 0.0
    head: float = 0.0
    words: int = 0
    operation: str = ""
    holds: bool | None = None


class Forms:
    """The forms of the answers to one question.

    Args:
        space: The space of its derivations.
        today: The day from which ages are counted.
    """

    def __init__(self, space: QuerySpace, today: date) -> None:
        self.space = space
        self.vocabulary = space.vocabulary
        self.graph = space.graph
        self.today = today

    def of(self, state: QueryDerivation) -> Iterator[Form]:
        """The forms that a derivation may give an answer."""
        analysis, nodes = self.space.analysis, state.query.nodes
        if analysis.asks == "age":
            yield from self._ages(state)
            return
        yield from self._calculated(state)
        kinds: set[str] = {self.graph.values[node].kind for node in nodes}
        head, counting = self._head_cost(state), analysis.counting
        if analysis.asks == "count":
            if kinds == {"number"}:
                yield Form(nodes, self.graph.values[nodes[0]].number if len(nodes) == 1 else None, words=counting)
            elif kinds <= {"entity", "text"}:
                yield Form(nodes, Decimal(len(nodes)), 0.0, head, counting, "count")
            return
        mismatch = self._mismatch(nodes, kinds)
        yield Form(nodes, None, mismatch, head, counting)

    def _mismatch(self, nodes: Sequence[int], kinds: set[str]) -> float:
        """The cost of an answer of another type than the word asks for: "who", "where", "when"."""
        asks, vocabulary = self.space.analysis.asks, self.vocabulary
        if asks in ("amount", "when"):
            fits = kinds == {"number" if asks == "amount" else "date"}
            return 0.0 if fits else UNUSUAL if asks == "when" and kinds == {"text"} else MISMATCH
        if asks not in ("who", "where"):
            return 0.0
        if not kinds <= {"entity", "text"}:
            return MISMATCH
        typed = [node for node in nodes if self.graph.types[node]]
        if asks == "who":
            if all(vocabulary.is_of(node, "person") for node in nodes):
                return 0.0
            if not typed or not vocabulary.kinds["person"]:
                return _UNKNOWN
            return UNUSUAL if all(vocabulary.is_of(node, "group") for node in typed) else UNSAID
        if any(vocabulary.is_of(node, "person") for node in typed):
            return UNSAID
        if not typed or not vocabulary.kinds["place"]:
            return _UNKNOWN
        return 0.0 if all(vocabulary.is_of(node, "place") for node in typed) else UNUSUAL

    def _head_cost(self, state: QueryDerivation) -> float:
        """The cost of "which *country*" where the country is not what the derivation ends at."""
        analysis = self.space.analysis
        words = [place for place in places(analysis.head & ~state.words) if analysis.weights[place] > 0]
        if not words:
            return 0.0
        rows = analysis.items[words]
        place = int(rows.max(axis=1).argmax())
        best = float(rows[place].max(initial=0.0))
        last = next((part for part in sources(state.query) if isinstance(part, Follow)), None)
        # Those that have an "actor" are no actors.
        ends = [item for item in state.final if last is None or last.relation != item or not last.inverse]
        own = max((float(rows[place][end]) for end in ends), default=0.0)
        return UNSAID * max(0.0, 1 - own / best) if best >= LIKE else 0.0

    # Ages and calculations

    def _ages(self, state: QueryDerivation) -> Iterator[Form]:
        """Ages today, counted from birth or the like."""
        query, counting = state.query, self.space.analysis.counting
        if len(query.nodes) != 1 or not isinstance(query, Follow) or query.inverse or len(query.source.nodes) != 1:
            return
        value, begins = self.graph.values[query.nodes[0]], self.vocabulary.likeness(_BIRTH).max(axis=0)
        if value.kind == "number" and self.vocabulary.likeness(["age"])[0][query.relation] >= LIKE:
            yield Form(query.nodes, value.number, words=counting)
        start = query.source.nodes[0]
        dates = [one for one, back in self.graph.steps(start) if not back and self.graph.relations[one].kind == "date"]
        if value.period is None or begins[query.relation] < max(begins[dates]):
            return
        begin = value.period.first
        # The adjective itself says that the birth is asked for.
        said = UNUSUAL * (begins[query.relation] < LIKE) - UNSAID * (1 - self._last_said(state))
        yield Form(query.nodes, years_between(begin, self.today), said, 0.0, counting, f"age on {self.today}")

    def _last_said(self, state: QueryDerivation) -> float:
        own, _ = self.space.costs.supports(state)
        return float(own[-1]) if len(own) else 1.0

    def _calculated(self, state: QueryDerivation) -> Iterator[Form]:
        """The answers that are calculated from the numbers or dates of a derivation's last relation."""
        query, analysis = state.query, self.space.analysis
        if not isinstance(query, Follow) or query.inverse:
            return
        kind = self.graph.relations[query.relation].kind
        values = numbers_of(query, self.graph) if kind == "number" else []
        total, counting = sum(values, Decimal(0)), analysis.counting
        if len(values) > 1 and analysis.totals:
            yield Form(query.nodes, plain(total), words=analysis.totals | counting, operation="sum")
        if len(values) > 1 and analysis.means:
            words = analysis.means | analysis.totals | counting
            yield Form(query.nodes, rounded(total / len(values)), words=words, operation="mean")
        is_amount = analysis.asks in ("count", "amount") and len(query.source.nodes) > 1
        if len(values) > 1 and is_amount and not analysis.totals | analysis.means:
            yield Form(query.nodes, plain(total), UNUSUAL, words=counting, operation="sum")
        if kind in ("number", "date") and (analysis.differing or state.operation == "difference"):
            yield from self._differences(state, query)

    def _differences(self, state: QueryDerivation, query: Follow) -> Iterator[Form]:
        """Differences of the values of two nodes: those of a set of two, or one and another that the question names."""
        analysis, nodes = self.space.analysis, query.source.nodes
        words = analysis.differing | analysis.counting | joined_masks(one.words for one in analysis.degrees)
        pairs = [(nodes[0], nodes[1], 0, 0.0)] if len(nodes) == 2 else []
        if len(nodes) == 1 and isinstance(query.source, NamedNodes):
            # "How much longer is that one?" compares what it refers to with what else it might refer to.
            others = [one for one in analysis.references if one.words & state.words]
            pairs += [
                (nodes[0], mention.nodes[0], mention.words, mention.cost)
                for mention in (*self.space.selections.unused(state), *others)
                if len(mention.nodes) == 1 and mention.nodes != nodes
            ]
        for one, other, more, cost in pairs:
            first, second = (self.graph.follow(node, query.relation) for node in (one, other))
            number = difference(first[0], second[0], self.graph) if len(first) == len(second) == 1 else None
            if number is not None:
                yield Form((*first, *second), number, cost, 0.0, words | more, "difference")


_HAVING_TEXT = "have has had any a an anyone anybody anything someone somebody something"
_HAVING = frozenset(_HAVING_TEXT.split())
_EXISTING = _HAVING - {"have", "has", "had"} | {"there", "ever", "some"}
"""Words of a question whether there is something."""

_MOST_BETWEEN = 200
"""Nodes between the two of a question for yes or no."""


@dataclass(frozen=True)
class Check:
    """A statement about a subject.

    Attributes:
        query: The subject, with the condition.
        holds: Whether the graph has it.
        words: The words that it explains fully, as a bit mask.
        items: The relations and classes that it uses.
        cost: Its costs besides those of words and items.
        choice: The alternatives of the question that hold; ``None`` where it names none or none holds.
    """

    query: Query
    holds: bool
    words: int = 0
    items: tuple[int, ...] = ()
    cost: float = 0.0
    choice: Query | None = None


def checks(space: QuerySpace, state: QueryDerivation) -> Iterator[Check]:
    """The statements that a question may make about the nodes of a derivation."""
    if isinstance(state.query, NamedNodes):
        yield from _Checks(space, state).every()
    elif state.words and _EXISTING & {word.low for word in space.analysis.words}:
        yield Check(state.query, holds=bool(state.query.nodes))


class _Checks:
    def __init__(self, space: QuerySpace, state: QueryDerivation) -> None:
        self.space, self.state, self.query = space, state, state.query
        self.graph, self.analysis, self.evaluator = space.graph, space.analysis, space.evaluator
        self.negations = space.analysis.negations
        self.is_choice = any(mention.either for mention in state.mentions)
        kinds = {kind for node in self.query.nodes for kind in self.graph.types[node]}
        # What may be said of nodes of the subject's classes may be asked of the subject.
        alike = [node for kind in kinds for node in self.graph.classes[kind].members[:300]] or self.query.nodes
        self.steps = list(dict.fromkeys(step for node in alike for step in self.graph.steps(node)))

    def every(self) -> Iterator[Check]:
        """All statements about the subject."""
        yield from self.related()
        yield from self.exists()
        yield from self.compared()
        for kind in range(len(self.graph.classes)):  # "is X a nurse?"
            item = self.space.vocabulary.class_item(kind)
            if self.space.costs.likeness(item) >= LIKE:
                yield self._check(self.evaluator.of_class(self.query, kind), (item,))
        yes = tuple(node for node, value in enumerate(self.graph.values) if value == self._truth("yes"))
        for relation, inverse in self.steps:  # "is X electrified?"
            is_truth = not inverse and self.graph.relations[relation].kind == "boolean"
            if is_truth and any(self.graph.follow(node, relation) for node in self.query.nodes):
                query = self.evaluator.having(self.query, relation, NamedNodes(yes), inverse=False)
                yield self._check(query, (relation,))

    def _truth(self, text: str) -> object:
        return next((value for value in self.graph.values if value.kind == "boolean" and value.text == text), None)

    def _check(self, query: Query, items: tuple[int, ...], words: int = 0, cost: float = 0.0) -> Check:
        choice = query if self.is_choice and query.nodes and not self.negations else None
        holds = choice is not None or len(query.nodes) == len(self.query.nodes)
        return Check(query, holds != bool(self.negations), words | self.negations, items, cost, choice)

    def related(self) -> Iterator[Check]:
        """Answers "does X depend on Y?": by any relation that leads from nodes like X to nodes like Y, or by two."""
        for mention in self.space.selections.unused(self.state):
            target = NamedNodes(mention.nodes)
            for relation, inverse in self.steps:
                if self._may_reach(target, relation, inverse=inverse):
                    query = self.evaluator.having(self.query, relation, target, inverse=inverse)
                    check = self._check(query, (relation,), mention.words, mention.cost)
                    if mention.either and check.holds and not (check.choice or self.negations):  # "is it dry or sweet?"
                        values = self.evaluator.follow(self.query, relation, inverse=inverse)
                        check = replace(check, choice=self.evaluator.both(values, target))
                    yield check
            for first, back in self.graph.steps_of(self.query.nodes):  # "did X fly to Y?" by the missions of X
                middle = self.evaluator.follow(self.query, first, inverse=back)
                if set(middle.nodes) & set(target.nodes) or len(middle.nodes) > _MOST_BETWEEN:
                    continue
                for relation, inverse in self.graph.steps_of(middle.nodes):
                    further = self.evaluator.having(middle, relation, target, inverse=inverse)
                    if further.nodes:
                        words, cost = mention.words | self.negations, mention.cost + STEP
                        yield Check(further, not self.negations, words, (first, relation), cost)

    def _may_reach(self, target: NamedNodes, relation: int, *, inverse: bool) -> bool:
        """Whether a relation, seen from its other end, occurs at the target or at nodes of its classes."""
        kinds = {kind for node in target.nodes for kind in self.graph.types[node]}
        ends = [*target.nodes, *(node for kind in kinds for node in self.graph.classes[kind].members[:100])]
        return any(self.graph.follow(node, relation, inverse=not inverse) for node in ends)

    def exists(self) -> Iterator[Check]:
        """Answers "does she have children?" and "is she married?": whether there is any fact of a relation."""
        is_said = bool(_HAVING & {word.low for word in self.analysis.words})
        for relation in dict.fromkeys(relation for relation, inverse in self.steps if not inverse):
            if self.space.costs.likeness(relation) >= LIKE:
                query = self.evaluator.follow(self.query, relation)
                holds = bool(query.nodes) != bool(self.negations)
                yield Check(query, holds, self.negations, (relation,), 0.0 if is_said else UNUSUAL)

    def compared(self) -> Iterator[Check]:
        """Answers "was X built before 1900?" and "is X heavier than Y?"."""
        for relation in dict.fromkeys(relation for relation, inverse in self.steps if not inverse):
            kind = self.graph.relations[relation].kind
            if not all(self.graph.follow(node, relation) for node in self.query.nodes):
                continue
            for bound in self.analysis.bounds:
                value = self.space.selections.in_unit_of(relation, bound)
                if value is not None and kind == ("number" if isinstance(bound.value, Decimal) else "date"):
                    query = self.evaluator.compared(self.query, relation, bound.comparison, value)
                    yield self._check(query, (relation,), bound.words)
            if kind in ("number", "date"):
                yield from self._beyond(relation)

    def _beyond(self, relation: int) -> Iterator[Check]:
        for one in self.analysis.degrees:
            for mention in self.space.selections.unused(self.state) if one.degree.level == 1 else ():
                if len(mention.nodes) != 1 or mention.nodes[0] in self.query.nodes:
                    continue
                if self.state.words > mention.words > 0:
                    continue  # the subject is named before the standard
                query = self.space.selections.beyond(self.query, one, mention.nodes[0], relation)
                own, words = self.space.selections.measured(one, relation), mention.words | one.words
                if query is not None and own >= self.space.costs.likeness(relation):
                    yield self._check(query, (), words, mention.cost + UNSAID * (1 - own))
                elif query is not None:
                    yield self._check(query, (relation,), words, mention.cost)
