"""Questions for yes or no: what is said of a subject, and whether the graph has it; what it lacks counts as false.

>>> [(check.holds, write(check.query, graph)) for check in checks(space, state)]
[(False, 'CardioTrace 12 [weight > 640]')]
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

from kg.algebra import NamedNodes, Query
from kg.parsing.derivation import STEP, UNSAID, UNUSUAL, QueryDerivation
from kg.parsing.selections import LIKE
from kg.parsing.space import QuerySpace

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
    """

    query: Query
    holds: bool
    words: int = 0
    items: tuple[int, ...] = ()
    cost: float = 0.0


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
        holds = len(query.nodes) == len(self.query.nodes)
        return Check(query, holds != bool(self.negations), words | self.negations, items, cost)

    def related(self) -> Iterator[Check]:
        """Answers "does X depend on Y?": by any relation that leads from nodes like X to nodes like Y, or by two."""
        for mention in self.space.selections.unused(self.state):
            target = NamedNodes(mention.nodes)
            for relation, inverse in self.steps:
                if self._may_reach(target, relation, inverse=inverse):
                    query = self.evaluator.having(self.query, relation, target, inverse=inverse)
                    yield self._check(query, (relation,), mention.words, mention.cost)
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
