"""Questions for yes or no: what is said of a subject, and whether the graph has it; what it lacks counts as false.

>>> [(check.holds, write(check.query, graph)) for check in checks(vocabulary, analysis, state)]
[(False, 'CardioTrace 12 [weight > 640]')]
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

from kg.algebra import DegreeMention, Evaluator, NamedNodes, Query, sign_of
from kg.analysis import Analysis
from kg.facts import converted
from kg.parsing.derivation import QueryDerivation
from kg.vocabulary import NodeMention, Vocabulary

_LIKENESS, _UNSAID, _STEP = 0.4, 0.9, 0.06
_NAMED, _UNSAID_ANY = 0.7, 0.15
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


def checks(vocabulary: Vocabulary, analysis: Analysis, state: QueryDerivation) -> Iterator[Check]:
    """The statements that a question may make about the nodes of a derivation."""
    if isinstance(state.query, NamedNodes):
        found = _Checks(vocabulary, analysis, state)
        yield from found.related()
        yield from found.true()
        yield from found.lacks()
        yield from found.exists()
        yield from found.classes()
        yield from found.bounds()
        yield from found.comparisons()
    elif state.words and _EXISTING & {word.low for word in analysis.words}:
        yield Check(state.query, holds=bool(state.query.nodes))


class _Checks:
    def __init__(self, vocabulary: Vocabulary, analysis: Analysis, state: QueryDerivation) -> None:
        self.vocabulary, self.analysis, self.state = vocabulary, analysis, state
        self.graph = vocabulary.graph
        self.evaluator = Evaluator(self.graph)
        self.query = state.query
        negations = analysis.negations
        self.turned, self.negations = bool(negations), negations

    def _others(self) -> Iterator[NodeMention]:
        for mention in (*self.analysis.mentions, *self.analysis.references):
            if not mention.words & self.state.words and mention not in self.state.mentions:
                yield mention

    def _check(self, query: Query, items: tuple[int, ...], words: int = 0, cost: float = 0.0) -> Check:
        holds = len(query.nodes) == len(self.query.nodes)
        return Check(query, holds != self.turned, words | self.negations, items, cost)

    def _alike(self) -> list[int]:
        """Nodes of the subject's classes: what may be said of them may be asked of the subject."""
        kinds = {kind for node in self.query.nodes for kind in self.graph.types[node]}
        return [node for kind in kinds for node in self.graph.classes[kind].members[:300]] or list(self.query.nodes)

    def _steps(self) -> list[tuple[int, bool]]:
        return list(dict.fromkeys(step for node in self._alike() for step in self.graph.steps(node)))

    def related(self) -> Iterator[Check]:
        """Answers "does X depend on Y?": by any relation that leads from nodes like X to nodes like Y."""
        for mention in self._others():
            target = NamedNodes(mention.nodes)
            for relation, inverse in self._steps():
                if not self._may_reach(target, relation, inverse=inverse):
                    continue
                query = self.evaluator.having(self.query, relation, target, inverse=inverse)
                yield self._check(query, (relation,), mention.words, mention.cost)
            yield from self._far(mention, target)

    def _far(self, mention: NodeMention, target: NamedNodes) -> Iterator[Check]:
        """Relations of two steps that do join the two: "did X fly to Y?" for the missions of X and their targets."""
        middles = [(step, self.evaluator.follow(self.query, step[0], inverse=step[1])) for step in self._own_steps()]
        for (first, _), middle in middles:
            if set(middle.nodes) & set(target.nodes) or len(middle.nodes) > _MOST_BETWEEN:
                continue
            steps = dict.fromkeys(step for node in middle.nodes for step in self.graph.steps(node))
            for relation, inverse in steps:
                query = self.evaluator.having(middle, relation, target, inverse=inverse)
                if query.nodes:
                    yield Check(
                        query,
                        holds=not self.turned,
                        words=mention.words | self.negations,
                        items=(first, relation),
                        cost=mention.cost + _STEP,
                    )

    def _own_steps(self) -> list[tuple[int, bool]]:
        return list(dict.fromkeys(step for node in self.query.nodes for step in self.graph.steps(node)))

    def lacks(self) -> Iterator[Check]:
        """Answers "is she still alive?": whether there is no date of her death."""
        for words, relation in self.analysis.lacking:
            yield self._check(self.evaluator.lacking(self.query, relation), (), words)

    def exists(self) -> Iterator[Check]:
        """Answers "does she have children?" and "is she married?": whether there is any fact of a relation."""
        is_said = bool(_HAVING & {word.low for word in self.analysis.words})
        for relation in dict.fromkeys(relation for relation, _ in self._steps()):
            column = self.analysis.items[:, relation]
            if column.max(initial=0.0) < (_LIKENESS if is_said else _NAMED):
                continue
            place = int(column.argmax())
            if any(one.words >> place & 1 for one in self.analysis.mentions if one.cost == 0):
                continue
            inverse = float(self.analysis.turned[place, relation]) >= float(column[place])
            query = self.evaluator.follow(self.query, relation, inverse=inverse)
            yield Check(
                query, bool(query.nodes) != self.turned, self.negations, (relation,), 0.0 if is_said else _UNSAID_ANY
            )

    def _may_reach(self, target: NamedNodes, relation: int, *, inverse: bool) -> bool:
        """Whether a relation, seen from its other end, occurs at the target or at nodes of its classes."""
        kinds = {kind for node in target.nodes for kind in self.graph.types[node]}
        ends = [*target.nodes, *(node for kind in kinds for node in self.graph.classes[kind].members[:100])]
        return any(self.graph.follow(node, relation, inverse=not inverse) for node in ends)

    def true(self) -> Iterator[Check]:
        """Answers "is X electrified?": a property that is true or false."""
        for relation, inverse in self._steps():
            if inverse or self.graph.relations[relation].kind != "boolean":
                continue
            yes = tuple(node for node in range(len(self.graph.values)) if self.graph.values[node].text == "yes")
            query = self.evaluator.having(self.query, relation, NamedNodes(yes), inverse=False)
            if any(self.graph.follow(node, relation) for node in self.query.nodes):
                yield self._check(query, (relation,))

    def classes(self) -> Iterator[Check]:
        """Answers "is X a nurse?"."""
        for kind in range(len(self.graph.classes)):
            item = self.vocabulary.class_item(kind)
            if self.analysis.items[:, item].max(initial=0.0) >= _LIKENESS:
                yield self._check(self.evaluator.of_class(self.query, kind), (item,))

    def bounds(self) -> Iterator[Check]:
        """Answers "was X built before 1900?"."""
        for bound in self.analysis.bounds:
            for relation, inverse in self._steps():
                wanted = "number" if isinstance(bound.value, Decimal) else "date"
                if inverse or self.graph.relations[relation].kind != wanted:
                    continue
                if all(self.graph.follow(node, relation) for node in self.query.nodes):
                    unit, value = self.graph.relations[relation].unit, bound.value
                    if isinstance(value, Decimal) and unit and bound.unit:
                        in_unit = converted(value, bound.unit, unit)
                        if in_unit is None:
                            continue
                        value = in_unit
                    query = self.evaluator.compared(self.query, relation, bound.comparison, value)
                    yield self._check(query, (relation,), bound.words)

    def comparisons(self) -> Iterator[Check]:
        """Answers "is X heavier than Y?"."""
        for one in self.analysis.degrees:
            for mention in self._others() if one.degree.level == 1 else ():
                if len(mention.nodes) != 1 or mention.nodes[0] in self.query.nodes:
                    continue
                if self.state.words > mention.words > 0:
                    continue  # the subject is named before the standard
                yield from self._beyond(one, mention)

    def _beyond(self, one: DegreeMention, mention: NodeMention) -> Iterator[Check]:
        for relation, inverse in self._steps():
            kind = self.graph.relations[relation].kind
            if inverse or kind not in ("number", "date"):
                continue
            for node in self.graph.follow(mention.nodes[0], relation)[:1]:
                value = self.graph.values[node]
                bound = value.number if value.number is not None else value.period
                if bound is None or not all(self.graph.follow(subject, relation) for subject in self.query.nodes):
                    continue
                sign = sign_of(one.degree, self.graph.relations[relation])
                query = self.evaluator.compared(self.query, relation, ">" if sign > 0 else "<", bound, mention.nodes[0])
                column = self.analysis.measured[:, relation]
                own = max(float(column[place]) for place in range(len(column)) if one.words >> place & 1)
                said = self.analysis.items[:, relation].max(initial=0.0)
                if own >= said:
                    cost = mention.cost + _UNSAID * (1 - own)
                    yield self._check(query, (), mention.words | one.words, cost)
                else:
                    yield self._check(query, (relation,), mention.words | one.words, mention.cost)
