"""Denotations of the phrases of a question: sets of entities and values of a graph, with the facts they rest on.

    >>> sets = PhraseSets(graph)
    >>> owned = sets.followed(sets.entities((HLXN,)), SetStep(ISSUED_BY))
    >>> owned.members
    {'…/node/Company/helixon%20inc.': ('HLXN -> issued by -> Helixon Inc.',)}

Which entities a relation may join is taken from the graph: a step that no two classes allow is no reading at all, and
where only one direction is possible the classes decide it; else the words do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal

from kg.questions.answer import PropertyValue, plain
from kg.questions.graph import EntityGraph
from kg.text import Period

Support = tuple[str, ...]

TURNED = 1
"""The cost of following a relation against the direction of its word."""

UNSAID = 2
"""The cost of a relation that the question does not name."""


@dataclass(frozen=True)
class SetStep:
    """A relation as a question follows it: from subject to object, or ``inverse``."""

    relation: str
    inverse: bool = False

    def turned(self) -> SetStep:
        """The same the other way round."""
        return SetStep(self.relation, not self.inverse)


@dataclass(frozen=True)
class Denotation:
    """The denotation of a phrase.

    Attributes:
        members: Entities, each with the facts by which it belongs here.
        kinds: Classes that the members are of, known where there are none too.
        values: Values with their facts; a phrase stands for entities or for values.
        properties: Properties and relations that were used.
        bare: Whether it is a class of which nothing is said.
        named: Whether it is the entities that the question names, as they are.
        parts: What "and" joins in it: what leads to it may lead to one of them, or to each.
        lacking: What the graph would have to say for it to be more than nothing.
        cost: How much of it was not said.
        each: Whether "both" asks for all of ``parts``.
        basis: Support of the set as a whole: the values that a superlative compared.
        result: The number calculated from the values, with the calculation.
    """

    members: Mapping[str, Support] = field(default_factory=dict)
    kinds: frozenset[str] = frozenset()
    values: tuple[tuple[PropertyValue, Support], ...] = ()
    properties: tuple[str, ...] = ()
    bare: bool = False
    named: bool = False
    cost: int = 0
    lacking: str = ""
    parts: tuple[Denotation, ...] = ()
    each: bool = False
    basis: Support = ()
    result: tuple[Decimal, str] | None = None

    def of(self, members: Mapping[str, Support], *used: str, cost: int = 0) -> Denotation:
        """These members of it, by properties and relations used besides."""
        kept = dict.fromkeys((*self.properties, *used))
        return replace(
            self,
            members=members,
            properties=tuple(kept),
            bare=False,
            named=False,
            cost=self.cost + cost,
            values=(),
            parts=(),
            each=False,
            result=None,
        )

    def without(self, nodes: Iterable[str]) -> Denotation:
        """It without some entities."""
        gone = set(nodes)
        return self.of({node: facts for node, facts in self.members.items() if node not in gone})


class PhraseSets:
    """Makes and narrows the sets of one graph.

    Args:
        graph: The graph.
    """

    def __init__(self, graph: EntityGraph) -> None:
        self.graph = graph

    # What a name stands for

    def entities(self, nodes: Iterable[str]) -> Denotation:
        """Entities that are named."""
        members: dict[str, Support] = dict.fromkeys(nodes, ())
        return Denotation(members, self._kinds_of(members), named=True)

    def kind(self, kind: str) -> Denotation:
        """All entities of a class."""
        return Denotation(dict.fromkeys(self.graph.members(kind), ()), frozenset((kind,)), bare=True)

    def with_value(self, prop: str, texts: Iterable[str]) -> Denotation:
        """The entities that have one of some texts as their value."""
        wanted = sorted(set(texts))
        every = dict.fromkeys(node for kind in self.owners(prop) for node in self.graph.members(kind))
        return self.having(Denotation(dict.fromkeys(every, ()), self.owners(prop)), prop, wanted)

    def union(self, first: Denotation, second: Denotation, *, both: bool = False) -> Denotation:
        """Returns the union of two sets; ``both`` for sets that "and" joins."""
        shared = first.kinds & second.kinds
        if first.named and second.named and shared:  # of several entities of one name those of the kind of the others
            first, second = self._of_kinds(first, shared), self._of_kinds(second, shared)
        parts = (*(first.parts or (first,)), *(second.parts or (second,))) if both else ()
        return Denotation(
            {**first.members, **second.members},
            first.kinds | second.kinds,
            (*first.values, *second.values),
            tuple(dict.fromkeys((*first.properties, *second.properties))),
            named=first.named and second.named,
            cost=first.cost + second.cost,
            parts=parts,
        )

    def _of_kinds(self, found: Denotation, kinds: frozenset[str]) -> Denotation:
        members = {node: facts for node, facts in found.members.items() if self._kinds_of([node]) & kinds}
        parts = tuple(self._of_kinds(part, kinds) for part in found.parts)
        return replace(found, members=members, kinds=self._kinds_of(members), parts=parts)

    # What is said of a set

    def followed(self, start: Denotation, step: SetStep) -> Denotation | None:
        """Where a relation leads from a set; ``None`` if it leads from none of its classes."""
        oriented = self._oriented(step, start.kinds, None)
        if oriented is None:
            return None
        step, cost = oriented
        members: dict[str, Support] = {}
        for node, facts in start.members.items():
            for other, fact in self._along(node, step):
                members.setdefault(other, (*facts, fact))
        ends = self._pairs(step)
        kinds = frozenset(second for first, second in ends if first in start.kinds)
        return Denotation(members, kinds, properties=start.properties, cost=start.cost).of(
            members, step.relation, cost=cost
        )

    def linked(self, subject: Denotation, step: SetStep, other: Denotation) -> Denotation | None:
        """The members of ``subject`` from which a relation leads to a member of ``other``."""
        oriented = self._oriented(step, subject.kinds, other.kinds)
        if oriented is None:
            return None
        step, cost = oriented
        members: dict[str, Support] = {}
        if len(other.members) < len(subject.members):  # the shorter way: from the few to the many
            for end, known in other.members.items():
                for node, fact in self._along(end, step.turned()):
                    if node in subject.members:
                        members.setdefault(node, (*subject.members[node], fact, *known))
        else:
            for node, facts in subject.members.items():
                reached = [(fact, other.members[end]) for end, fact in self._along(node, step) if end in other.members]
                if reached:
                    members[node] = (*facts, reached[0][0], *reached[0][1])
        return subject.of(members, *other.properties, step.relation, cost=other.cost + cost)

    def all_linked(self, subject: Denotation, step: SetStep, other: Denotation) -> list[Denotation]:
        """The same; where "and" joins the others, also the members that lead to each of them."""
        found = [] if other.each else [self.linked(subject, step, other)]
        if other.parts:
            each = self.linked(subject, step, other.parts[0])
            for part in other.parts[1:]:
                each = self.linked(each, step, part) if each is not None else None
            found.append(each)
        return [one for one in found if one is not None]

    def joined(self, subject: Denotation, other: Denotation, preposition: str = "") -> list[Denotation]:
        """The same by each relation that may join the two, where none is said but a preposition at the most.

        A relation of which a name ends with the preposition ("located in") is nearer to what is said than others.
        """
        steps = {
            step
            for relation in self.graph.ends()
            for step in (SetStep(relation), SetStep(relation, inverse=True))
            if any(first in subject.kinds and second in other.kinds for first, second in self._pairs(step))
        }
        ordered = sorted(steps, key=lambda step: (step.inverse, step.relation))
        seen: dict[str, Denotation] = {}
        for step in ordered:  # one way for each relation: the first that finds something
            found = self.linked(subject, step, other)
            if found is not None and (step.relation not in seen or not seen[step.relation].members):
                names = self.graph.lexicon.properties[step.relation].names
                near = bool(preposition) and any(name.split()[-1] == preposition for name in names)
                seen[step.relation] = replace(found, cost=found.cost + UNSAID - near)
        return list(seen.values())

    def shared(self, first: Denotation, second: Denotation) -> Denotation | None:
        """The members of both; ``None`` if their classes have nothing in common."""
        if not first.kinds & second.kinds:
            return None
        members = {
            node: (*facts, *second.members[node]) for node, facts in first.members.items() if node in second.members
        }
        found = first.of(members, *second.properties, cost=second.cost)
        return replace(found, kinds=first.kinds & second.kinds)

    def having(self, subject: Denotation, prop: str, texts: Iterable[str]) -> Denotation:
        """The members of a set that have one of some texts as their value of a property."""
        wanted = set(texts)
        return self._by_value(subject, prop, lambda text: text in wanted)

    def dated(self, subject: Denotation, prop: str, fits: Callable[[str], bool]) -> Denotation:
        """The members of a set whose date of a property fits; dates are compared as they are written, by day."""
        return self._by_value(subject, prop, lambda text: fits(text[:10]))

    def latest(self, subject: Denotation, prop: str, sign: int, count: int = 1) -> Denotation:
        """The members of a set with the latest dates of a property, or the earliest for a negative ``sign``."""
        known = {node: self.graph.texts(node, prop)[:1] for node in subject.members}
        moments = sorted({text for texts in known.values() for text in texts}, reverse=sign > 0)[:count]
        return self._by_value(subject, prop, lambda text: text in moments)

    def values(self, subject: Denotation, prop: str) -> Denotation | None:
        """The values of a set's members; ``None`` if none of its classes has the property."""
        if not subject.kinds & self.owners(prop):
            return None
        found: list[tuple[PropertyValue, Support]] = []
        for node, facts in subject.members.items():
            number = self.graph.value(node, prop)
            texts = self.graph.texts(node, prop)
            if number is None and not texts:
                continue
            value = number if number is not None else texts[0]
            found.append((PropertyValue(node, prop, value), (*facts, *self.stated(node, prop))))
        used = tuple(dict.fromkeys((*subject.properties, prop)))
        names = ", ".join(self.graph.lexicon.label(node) for node in list(subject.members)[:3]) or "nothing"
        lacking = f"{self.graph.lexicon.label(prop)} of {names}"
        return Denotation(values=tuple(found), properties=used, cost=subject.cost, lacking=lacking)

    def stated(self, node: str, prop: str) -> Support:
        """Returns an entity's value of a property as a fact, after the facts that a quotient is calculated from."""
        words, number = self.graph.lexicon.properties[prop], self.graph.value(node, prop)
        parts = [fact for part in words.ratio or () for fact in self.stated(node, part)]
        texts = self.graph.texts(node, prop)
        return (*parts, self._fact(node, prop, texts[0] if texts else plain(number)))

    # What the graph allows

    def owners(self, prop: str) -> frozenset[str]:
        """The classes whose entities have a literal property."""
        over, under = self.graph.lexicon.properties[prop].ratio or (prop, prop)
        return self.graph.owners(over) & self.graph.owners(under)

    def times_of(self, found: Denotation) -> list[str]:
        """The properties that say when the members of a set were."""
        words = self.graph.lexicon.properties
        return [prop for prop in sorted(words) if words[prop].temporal and found.kinds & self.owners(prop)]

    def _oriented(
        self, step: SetStep, first: frozenset[str], second: frozenset[str] | None
    ) -> tuple[SetStep, int] | None:
        """The step, or turned where only that joins the classes, and what it costs; ``None`` if neither does."""
        words = self.graph.lexicon.properties.get(step.relation)
        # Where the graph names both directions, a word is meant in its own.
        turned = [] if words is not None and words.directed else [(step.turned(), TURNED)]
        for one, cost in ((step, 0), *turned):
            if any(a in first and (second is None or b in second) for a, b in self._pairs(one)):
                return one, cost
        return None

    def _pairs(self, step: SetStep) -> frozenset[tuple[str, str]]:
        """The pairs of classes that a step leads from and to."""
        ends = self.graph.ends().get(step.relation, frozenset())
        turned = frozenset((second, first) for first, second in ends)
        words = self.graph.lexicon.properties.get(step.relation)
        if words is not None and words.symmetric:
            return ends | turned
        return turned if step.inverse else ends

    def _along(self, node: str, step: SetStep) -> list[tuple[str, str]]:
        """The entities that a step leads to, each with the fact, in the order of their names."""
        words = self.graph.lexicon.properties[step.relation]
        found: dict[str, str] = {}
        for edge in self.graph.edges(node):
            if edge.predicate != step.relation or edge.is_literal:
                continue
            inverse = edge.subject != node
            if inverse != step.inverse and not words.symmetric:
                continue
            other = edge.subject if inverse else edge.value
            label = self.graph.lexicon.label
            found[other] = f"{label(edge.subject)} -> {words.label} -> {label(edge.value)}"
        return [(other, found[other]) for other in self.graph.ordered(found)]

    def _by_value(self, subject: Denotation, prop: str, fits: Callable[[str], bool]) -> Denotation:
        members: dict[str, Support] = {}
        for node, facts in subject.members.items():
            fitting = [text for text in self.graph.texts(node, prop) if fits(text)]
            if fitting:
                members[node] = (*facts, self._fact(node, prop, fitting[0]))
        kinds = subject.kinds & (self._kinds_of(members) or self.owners(prop))
        return replace(subject.of(members, prop), kinds=kinds or subject.kinds)

    def _fact(self, node: str, prop: str, value: str) -> str:
        return f"{self.graph.lexicon.label(node)} -> {self.graph.lexicon.label(prop)} -> {value}"

    def _kinds_of(self, nodes: Iterable[str]) -> frozenset[str]:
        return frozenset(kind for node in nodes for kind in self.graph.lexicon.types.get(node, ()))


def fitting(comparator: str, period: Period, until: Period | None = None) -> Callable[[str], bool]:
    """Whether a day, written ``2026-11-10``, is since, after, before, until, in or between periods."""
    first, last = period.first.isoformat(), (until or period).last.isoformat()
    tests: dict[str, Callable[[str], bool]] = {
        "since": lambda day: day >= first,
        "after": lambda day: day > last,
        "before": lambda day: day < first,
        "until": lambda day: day <= last,
        "in": lambda day: first <= day <= last,
    }
    return tests[comparator]
