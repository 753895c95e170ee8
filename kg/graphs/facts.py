"""Any graph as typed facts: entities and values with names, relations in both directions, classes.

    >>> graph = FactGraph.build(read_file(Path("films.ttl"), text))
    >>> [graph.name(node) for node in graph.follow(alien, directed_by)]
    ['Ridley Scott']

Nodes, relations and classes are numbered. Texts are nodes too, so "which films are in Welsh?" leads from the text to
the films. A node without a name that only carries a number (``schema:value`` with ``schema:unitText``) is that number.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from kg.graphs.naming import Triple, labels_of, local_name
from kg.graphs.ontology import stated
from kg.graphs.units import (
    CLASS_RELATIONS,
    FIRST_NAMES,
    OTHER_NAMES,
    entity_name,
    spelled_out,
    split_unit,
    words_of,
    writes_camel_case,
)
from kg.graphs.values import Value, ValueKind, read_value
from kg.text import year

_RDF, _RDFS = "http://www.w3.org/1999/02/22-rdf-syntax-ns#", "http://www.w3.org/2000/01/rdf-schema#"
TYPE_NAMES = frozenset(("is a", "is an", "isa", "is-a", "a", "type", "rdf:type", "instance of"))
SCHEMA = (_RDFS, "http://www.w3.org/2002/07/owl#", _RDF, "http://wikiba.se/ontology#")
_AMOUNTS = frozenset(
    (f"{_RDF}value", "https://schema.org/value", "http://schema.org/value", "http://qudt.org/schema/qudt/numericValue")
)
_AMOUNT_UNITS = frozenset(("unittext", "unitcode", "unit", "hasunit"))
_TRUTHS = {"yes": "yes", "no": "no", "true": "yes", "false": "no"}
_WEB = ("http://", "https://")
_OWN_NAMING = frozenset(("name", "title", "label", "full name", "has name", "has title"))
_NUMBERED = re.compile(r"(?:^|[/#:])[A-Za-z]{0,3}[-_]?\d+$")
"""An IRI whose local name is a number, with a few letters before it at the most."""

MOST_READ = 500
"""Nodes of a set whose relations are read: the members of a class mostly have the same ones."""

_MOSTLY, _NEARLY_ALL = 0.6, 0.9
_YEARS, _LEAST_LETTERS = range(1000, 2101), 4


@dataclass(frozen=True)
class Relation:
    """A relation.

    Attributes:
        iri: Its IRI, or its name in a table.
        names: Its names without the unit.
        kind: The type of most of its values.
        unit: The unit of its numbers, or empty.
        written: Its label, or else its local name as it is written.
    """

    iri: str
    names: tuple[str, ...]
    kind: ValueKind
    unit: str = ""
    written: str = ""


@dataclass(frozen=True)
class NodeClass:
    """A class with its names and members."""

    iri: str
    names: tuple[str, ...]
    members: tuple[int, ...]


@dataclass
class FactGraph:
    """A graph. Make it with :meth:`build`.

    Attributes:
        values: The nodes.
        names: The names of each node; the first is shown.
        relations: The relations.
        classes: The classes.
        types: The classes of each node.
        triples: The number of facts.
        nameless: The IRIs of nodes that only join others.
        untyped: The nodes whose classes the graph does not state: they have the relations of these classes' members.
    """

    values: list[Value] = field(default_factory=list)
    names: list[tuple[str, ...]] = field(default_factory=list)
    relations: list[Relation] = field(default_factory=list)
    classes: list[NodeClass] = field(default_factory=list)
    types: list[tuple[int, ...]] = field(default_factory=list)
    triples: int = 0
    nameless: frozenset[str] = frozenset()
    untyped: frozenset[int] = frozenset()
    _forward: list[dict[int, tuple[int, ...]]] = field(default_factory=list)
    _backward: list[dict[int, tuple[int, ...]]] = field(default_factory=list)
    _subjects: dict[int, tuple[int, ...]] = field(default_factory=dict)

    @classmethod
    def build(cls, triples: Iterable[Triple]) -> FactGraph:
        """The graph of some triples, which are read once."""
        return _Builder(stated(list(dict.fromkeys(triples)))).graph()

    def name(self, node: int) -> str:
        """The name of an entity, or a value as written."""
        return self.names[node][0]

    def follow(self, node: int, relation: int, *, inverse: bool = False) -> tuple[int, ...]:
        """The nodes that a relation leads to from a node, in the order of the graph."""
        return (self._backward if inverse else self._forward)[node].get(relation, ())

    def subjects(self, relation: int) -> tuple[int, ...]:
        """All nodes with a fact of a relation, in the order of the graph."""
        if relation not in self._subjects:
            self._subjects[relation] = tuple(node for node, facts in enumerate(self._forward) if relation in facts)
        return self._subjects[relation]

    def steps(self, node: int) -> list[tuple[int, bool]]:
        """The relations at a node, each with whether they lead against their direction."""
        return [(one, False) for one in self._forward[node]] + [(one, True) for one in self._backward[node]]

    def steps_of(self, nodes: Sequence[int]) -> list[tuple[int, bool]]:
        """The relations at some nodes, as :meth:`steps` has them; those of a large set's first :data:`MOST_READ`."""
        return list(dict.fromkeys(step for node in nodes[:MOST_READ] for step in self.steps(node)))

    def is_entity(self, node: int) -> bool:
        """Whether a node is no value."""
        return self.values[node].kind == "entity"

    def is_nameless(self, node: int) -> bool:
        """Whether a node only joins others, as a loan joins a book and its borrower: a blank node without a name."""
        return self.values[node].kind == "entity" and self.values[node].text in self.nameless


class _Builder:
    """The construction of one graph."""

    def __init__(self, triples: Sequence[Triple]) -> None:
        subjects = {one.subject for one in triples}
        types = {*CLASS_RELATIONS} | ({one.relation for one in triples if one.relation.lower() in TYPE_NAMES})
        own_naming = _own_naming(triples)
        self.labels, self.others = (
            labels_of(triples, properties) for properties in ((*FIRST_NAMES, *own_naming), OTHER_NAMES)
        )
        self.parents: defaultdict[str, set[str]] = defaultdict(set)
        self.kinds: defaultdict[str, dict[str, None]] = defaultdict(dict)
        self.edges: list[Triple] = []
        spaces = {_space(one) for one in subjects if one.startswith(_WEB)}
        naming = {*FIRST_NAMES, *OTHER_NAMES, *own_naming}
        relations = {one.relation for one in triples}
        for one in triples:
            if one.relation == f"{_RDFS}subClassOf" and not one.is_literal:
                self.parents[one.subject].add(one.value)
            elif one.relation in types:
                self.kinds[one.subject][one.value] = None
            elif one.relation not in naming and not one.relation.startswith(SCHEMA) and one.subject not in relations:
                is_name = one.is_literal and not one.datatype and one.value in subjects
                is_name |= one.is_literal and one.value.startswith(_WEB) and _space(one.value) in spaces
                self.edges.append(one._replace(is_literal=False) if is_name else one)
        self.is_camel = writes_camel_case(subjects - self.labels.keys())
        self._collapse_amounts()
        self.result = FactGraph()
        self.numbers: dict[Value, int] = {}

    def graph(self) -> FactGraph:
        result, forward = self.result, defaultdict[int, dict[int, dict[int, None]]](dict)
        backward = defaultdict[int, dict[int, dict[int, None]]](dict)
        relations: dict[str, int] = {}
        ends: defaultdict[int, list[int]] = defaultdict(list)
        values = self._typed_values()
        for one, value in zip(self.edges, values, strict=True):
            relation = relations.setdefault(one.relation, len(relations))
            start, end = self._node(Value("entity", one.subject)), self._node(value)
            forward[start].setdefault(relation, {})[end] = None
            backward[end].setdefault(relation, {})[start] = None
            ends[relation].append(end)
        for subject in self.kinds:
            if not self._is_schema(subject):
                self._node(Value("entity", subject))
        for iri, place in relations.items():
            result.relations.append(self._relation(iri, ends[place]))
        count = len(result.values)
        result._forward = [{key: tuple(found) for key, found in forward[node].items()} for node in range(count)]
        result._backward = [{key: tuple(found) for key, found in backward[node].items()} for node in range(count)]
        result.triples = len(self.edges)
        result.nameless = self._nameless()
        self._add_classes()
        return result

    def _nameless(self) -> frozenset[str]:
        """Blank nodes without a name, and other subjects without one where most subjects have one.

        Where many facts have nodes of their own, the members of a class without names are these if they have numbers.
        """
        facts = Counter(one.subject for one in self.edges)
        labelled = sum(subject in self.labels for subject in facts)
        most_have = labelled > _MOSTLY * len(facts)
        named = {kind for subject in facts if subject in self.labels for kind in self.kinds[subject]}
        numbered = {
            subject
            for subject in facts
            if named
            and not named & set(self.kinds[subject])
            and _NUMBERED.search(subject)
            and 2 * labelled > len(facts)
        }
        return frozenset(
            subject
            for subject, count in facts.items()
            if subject not in self.labels
            and count > 1
            and (subject.startswith("_:") or most_have or subject in numbered)
        )

    def _typed_values(self) -> list[Value]:
        """The value of each edge; numbers of a relation that has only years are years."""
        values = [
            read_value(one.value, one.datatype) if one.is_literal else Value("entity", one.value) for one in self.edges
        ]
        values = [
            replace(value, unit=self.units.get((one.subject, one.relation, one.value), ""))
            if self.units or value.unit
            else value
            for one, value in zip(self.edges, values, strict=True)
        ]
        by_relation: defaultdict[str, list[Value]] = defaultdict(list)
        for one, value in zip(self.edges, values, strict=True):
            by_relation[one.relation].append(value)
        truths = {
            relation for relation, found in by_relation.items() if all(value.text.lower() in _TRUTHS for value in found)
        }
        years = {
            relation
            for relation, found in by_relation.items()
            if not split_unit(words_of(relation))[1] and all(_may_be_year(value) for value in found)
        }
        return [
            Value("date", value.text, period=year(int(value.text)))
            if one.relation in years and value.kind == "number"
            else Value("boolean", _TRUTHS[value.text.lower()])
            if one.relation in truths
            else value
            for one, value in zip(self.edges, values, strict=True)
        ]

    def _collapse_amounts(self) -> None:
        """Replaces nodes that only carry a number, maybe with its unit, by the number."""
        self.units: dict[tuple[str, str, str], str] = {}
        parts: defaultdict[str, list[Triple]] = defaultdict(list)
        for one in self.edges:
            parts[one.subject].append(one)
        amounts: dict[str, tuple[Triple, str]] = {}
        for subject, found in parts.items():
            numbers = [one for one in found if one.relation in _AMOUNTS and one.is_literal]
            rest = [one for one in found if one.relation not in _AMOUNTS]
            if len(numbers) == 1 and all(local_name(one.relation).lower() in _AMOUNT_UNITS for one in rest):
                amounts[subject] = numbers[0], local_name(rest[0].value) if rest else ""
        edges = []
        for one in self.edges:
            if one.subject in amounts:
                continue
            amount = amounts.get(one.value) if not one.is_literal else None
            if amount is None:
                edges.append(one)
                continue
            number, unit = amount
            edges.append(one._replace(value=number.value, is_literal=True, datatype=number.datatype))
            self.units[one.subject, one.relation, number.value] = unit
        self.edges = edges
        self.kinds = defaultdict(dict, {node: found for node, found in self.kinds.items() if node not in amounts})

    def _is_schema(self, node: str) -> bool:
        return all(kind.startswith(SCHEMA) for kind in self.kinds[node])

    def _node(self, value: Value) -> int:
        place = self.numbers.get(value)
        if place is None:
            place = self.numbers[value] = len(self.result.values)
            self.result.values.append(value)
            is_entity = value.kind == "entity"
            own = entity_name(value.text, is_camel=self.is_camel) if is_entity else value.text
            self.result.names.append(self._names(value.text, own) if is_entity else (own,))
        return place

    def _names(self, iri: str, own: str, *, always: bool = False) -> tuple[str, ...]:
        """The labels of an IRI and its other names.

        Args:
            iri: The IRI.
            own: Its local name in words: its name without a label, and before labels in foreign languages alone.
            always: Whether the local name is a name in addition to labels, as of relations and classes.
        """
        labels = self.labels.get(iri, ())
        is_foreign = all(foreign for foreign, _ in labels) and _is_word(local_name(iri))
        names = [text for _, text in labels]
        names = [own, *names] if is_foreign or not names else [*names, own] if always else names
        return tuple(dict.fromkeys((*names, *(text for _, text in self.others.get(iri, ())))))

    def _relation(self, iri: str, ends: Sequence[int]) -> Relation:
        kinds = [self.result.values[end].kind for end in ends]
        kind = max(sorted(set(kinds)), key=kinds.count)
        names, unit = [], ""
        own = self._names(iri, words_of(iri), always=True)
        for name in own:
            short, found = split_unit(name) if kind == "number" else (name, "")
            names.append(short)
            unit = unit or found
        unit = unit or next((self.result.values[end].unit for end in ends if self.result.values[end].unit), "")
        names += [spelled_out(name) for name in names]
        written = own[0] if own[0] != words_of(iri) else local_name(iri)
        return Relation(iri, tuple(dict.fromkeys(names)), kind, unit, written)

    def _add_classes(self) -> None:
        members: defaultdict[str, dict[int, None]] = defaultdict(dict)
        for subject, kinds in self.kinds.items():
            place = self.numbers.get(Value("entity", subject))
            if place is None:
                continue
            for kind in kinds:
                for one in self._upwards(kind):
                    if not one.startswith(SCHEMA):
                        members[one][place] = None
        self._add_untyped(members)
        self._add_general(members)
        types: defaultdict[int, list[int]] = defaultdict(list)
        for iri, found in members.items():
            number = len(self.result.classes)
            names = self._names(iri, words_of(iri), always=True)
            self.result.classes.append(NodeClass(iri, names, tuple(found)))
            for node in found:
                types[node].append(number)
        self.result.types = [tuple(types[node]) for node in range(len(self.result.values))]

    def _add_untyped(self, members: defaultdict[str, dict[int, None]]) -> None:
        """Adds nodes without any class to those whose members have their relations."""
        added = set()
        for node, kinds in inferred_classes(members, self.result._forward):
            if not self.result.is_nameless(node):
                added.add(node)
                for iri in kinds:
                    members[iri][node] = None
        self.result.untyped = frozenset(added)

    def _add_general(self, members: defaultdict[str, dict[int, None]]) -> None:
        """Adds the class that the last word of several names says: "case" for civil cases and criminal cases."""
        heads: defaultdict[str, list[str]] = defaultdict(list)
        named = {name.lower() for iri in members for name in self._names(iri, words_of(iri), always=True)}
        for iri in members:
            words = self._names(iri, words_of(iri))[0].lower().split()
            if len(words) > 1:
                heads[words[-1]].append(iri)
        for head, own in heads.items():
            if len(own) > 1 and head not in named:
                members[head] = {node: None for iri in own for node in members[iri]}

    def _upwards(self, kind: str) -> Iterable[str]:
        seen: dict[str, None] = {}
        waiting = [kind]
        while waiting:
            one = waiting.pop()
            if one not in seen:
                seen[one] = None
                waiting += sorted(self.parents.get(one, ()))
        return seen


def _is_word(name: str) -> bool:
    return name.isalpha() and len(name) >= _LEAST_LETTERS


def _space(iri: str) -> str:
    """An IRI without its local name: a table's IRIs of one namespace are things, even without a fact of their own."""
    return iri[: max(iri.rfind("/"), iri.rfind("#")) + 1]


def _may_be_year(value: Value) -> bool:
    return value.kind == "date" or (value.kind == "number" and value.text.isdigit() and int(value.text) in _YEARS)


def _own_naming(triples: Sequence[Triple]) -> list[str]:
    """The graph's own relations of names: called so, with a text of its own for each of their subjects."""
    naming = {name for name in {one.relation for one in triples} - {*FIRST_NAMES} if words_of(name) in _OWN_NAMING}
    texts: defaultdict[str, dict[str, str]] = defaultdict(dict)
    for one in triples:
        if one.relation in naming:
            texts[one.relation][one.subject] = one.value if one.is_literal and not one.value.isdigit() else ""
    named = {one.subject for one in triples if one.relation in FIRST_NAMES}
    return [
        relation
        for relation, found in texts.items()
        if all(found.values()) and len(set(found.values())) == len(found) and not named & found.keys()
    ]


def inferred_classes(
    members: Mapping[str, Collection[int]], forward: Sequence[Mapping[int, object]]
) -> Iterator[tuple[int, set[str]]]:
    """The nodes without a class that have two or more relations of the members of some, with these classes.

    A relation tells the classes that nearly all of its first subjects with a class have, of which it has two or more.

    Args:
        members: The members of each class.
        forward: The relations of each node.
    """
    kinds: defaultdict[int, list[str]] = defaultdict(list)
    for kind, nodes in members.items():
        for node in nodes:
            kinds[node].append(kind)
    subjects, classes = Counter[int](), defaultdict[int, Counter[str]](Counter)
    for node, own in kinds.items():
        for relation in forward[node]:
            if subjects[relation] < MOST_READ:
                subjects[relation] += 1
                classes[relation].update(own)
    usual = {
        relation: {kind for kind, times in classes[relation].items() if times >= _NEARLY_ALL * count}
        for relation, count in subjects.items()
        if count > 1
    }
    for node, facts in enumerate(forward):
        known = [usual[relation] for relation in facts if relation in usual]
        common = set.intersection(*known) if node not in kinds and len(known) > 1 else set()
        if common:
            yield node, common
