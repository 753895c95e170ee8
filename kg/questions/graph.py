"""A graph of entities as questions need it: members of classes, values, neighbours, quotients.

>>> graph = EntityGraph(store, "https://w3id.org/finpath/geography")
>>> [graph.lexicon.label(node) for node in graph.follow([GERMANY], CAPITAL)]
['Berlin']

Each entity's edges are read from the store once. Sets of entities are lists in the order of their labels.
"""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from collections.abc import Iterable, Sequence
from decimal import Decimal, DivisionByZero, InvalidOperation, localcontext

from rdflib.namespace import RDF

from kg.graphs import GraphStore, Statement
from kg.questions.lexicon import GraphLexicon

MOST_EDGES = 100_000
KEPT_ENTITIES = 100_000


class EntityGraph:
    """One graph of a store, with its words.

    Args:
        store: Any of the stores; the graph must not change while it is asked.
        name: The graph's IRI.

    Raises:
        QueryError: The name is no IRI.
        DataError: The store cannot be reached or read.
    """

    def __init__(self, store: GraphStore, name: str) -> None:
        self.store = store
        self.name = name
        self.lexicon = GraphLexicon.read(store, name)
        self._known: OrderedDict[str, list[Statement]] = OrderedDict()
        self._members: dict[str, list[str]] = {}
        self._owners: dict[str, frozenset[str]] = {}
        self._ends: dict[str, frozenset[tuple[str, str]]] | None = None

    def edges(self, node: str) -> list[Statement]:
        """The triples in which an entity stands."""
        if node in self._known:
            self._known.move_to_end(node)
            return self._known[node]
        found = self._known[node] = self.store.edges(node, MOST_EDGES)
        while len(self._known) > KEPT_ENTITIES:
            self._known.popitem(last=False)
        return found

    def members(self, kind: str) -> list[str]:
        """The entities of a class."""
        if kind not in self._members:
            query = f"SELECT DISTINCT ?s WHERE {{ GRAPH <{self.name}> {{ ?s <{RDF.type}> <{kind}> }} }}"
            self._members[kind] = self.ordered(str(row[0]) for row in self.store.texts(query))
        return self._members[kind]

    def owners(self, prop: str) -> frozenset[str]:
        """The classes whose entities have a property."""
        if prop not in self._owners:
            query = f"SELECT DISTINCT ?t WHERE {{ GRAPH <{self.name}> {{ ?s <{prop}> ?o ; <{RDF.type}> ?t }} }}"
            self._owners[prop] = frozenset(str(row[0]) for row in self.store.texts(query))
        return self._owners[prop]

    def ends(self) -> dict[str, frozenset[tuple[str, str]]]:
        """For each relation the pairs of classes whose entities it joins, from subject to object."""
        if self._ends is None:
            found: defaultdict[str, set[tuple[str, str]]] = defaultdict(set)
            query = (
                f"SELECT DISTINCT ?p ?a ?b WHERE {{ GRAPH <{self.name}> "
                f"{{ ?s ?p ?o . ?s <{RDF.type}> ?a . ?o <{RDF.type}> ?b }} }}"
            )
            for row in self.store.texts(query):
                relation, first, second = map(str, row)
                if relation in self.lexicon.properties:
                    found[relation].add((first, second))
            self._ends = {relation: frozenset(pairs) for relation, pairs in found.items()}
        return self._ends

    def is_a(self, node: str, kind: str) -> bool:
        """Whether an entity is of a class."""
        return kind in self.lexicon.types.get(node, ())

    def ordered(self, nodes: Iterable[str]) -> list[str]:
        """Entities without repetition, by label."""
        return sorted(set(nodes), key=lambda node: (self.lexicon.label(node), node))

    def follow(self, nodes: Sequence[str], relation: str, kind: str | None = None) -> list[str]:
        """The entities that a relation leads to from any of ``nodes``; against its direction where none is.

        Args:
            nodes: Where to start.
            relation: The property.
            kind: Only entities of this class.
        """
        for inverse in (False, True):
            found = [
                other
                for node in nodes
                for edge in self.edges(node)
                if edge.predicate == relation and not edge.is_literal
                for here, other in [(edge.value, edge.subject) if inverse else (edge.subject, edge.value)]
                if here == node and (kind is None or self.is_a(other, kind))
            ]
            if found:
                return self.ordered(found)
        return []

    def linked(self, node: str, kind: str) -> tuple[str | None, list[str]]:
        """The entities of a class that one relation connects with an entity: the relation that connects most."""
        by_relation: defaultdict[str, set[str]] = defaultdict(set)
        for edge in self.edges(node):
            other = edge.value if edge.subject == node else edge.subject
            if not edge.is_literal and self.is_a(other, kind):
                by_relation[edge.predicate].add(other)
        if not by_relation:
            return None, []
        relation = max(sorted(by_relation), key=lambda one: len(by_relation[one]))
        return relation, self.ordered(by_relation[relation])

    def has(self, node: str, prop: str) -> bool:
        """Whether an entity has a value of a property, or both values of a quotient."""
        words = self.lexicon.properties.get(prop)
        if words is not None and words.ratio is not None:
            return all(self.has(node, part) for part in words.ratio)
        return any(edge.predicate == prop and edge.subject == node for edge in self.edges(node))

    def is_value(self, node: str, prop: str) -> bool:
        """Whether another entity has this one as its value of a property."""
        return any(edge.predicate == prop and edge.value == node and not edge.is_literal for edge in self.edges(node))

    def value(self, node: str, prop: str) -> Decimal | None:
        """An entity's number of a property; of several the first in order; of a relation how many it leads to."""
        words = self.lexicon.properties.get(prop)
        if words is None:
            return None
        if words.ratio is not None:
            return self._quotient(node, *words.ratio)
        if not words.literal:
            return Decimal(len(self.follow([node], prop)))
        numbers = [_decimal(text) for text in self.texts(node, prop)]
        return next((number for number in numbers if number is not None), None)

    def _quotient(self, node: str, over: str, under: str) -> Decimal | None:
        first, second = self.value(node, over), self.value(node, under)
        if first is None or second is None:
            return None
        with localcontext() as context:
            context.traps[DivisionByZero] = context.traps[InvalidOperation] = True
            try:
                return first / second
            except (DivisionByZero, InvalidOperation):
                return None

    def texts(self, node: str, prop: str) -> list[str]:
        """An entity's literal values of a property, sorted."""
        return sorted(
            edge.value
            for edge in self.edges(node)
            if edge.predicate == prop and edge.subject == node and edge.is_literal
        )


def _decimal(text: str) -> Decimal | None:
    try:
        number = Decimal(text)
    except InvalidOperation:
        return None
    return number if number.is_finite() else None
