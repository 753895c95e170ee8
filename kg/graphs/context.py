"""Graph context: what a store knows of the entities that a conversation is about.

    >>> retriever = GraphContextRetriever(store)
    >>> turns = [TurnEntities(question=(GERMANY,), results=(FRANCE, POLAND))]
    >>> context = retriever.for_turns(turns, asked=[CAPITAL])
    >>> context.entities[0].label, context.entities[0].properties[0]
    ('Germany', ('https://w3id.org/finpath/geography#area', '357022'))

Of each entity: its types, its literal properties and its neighbours in both directions. Salience says which entities:
those of the latest question, then of its results, then of earlier turns, whose weight decays; an entity that has a
property that is asked for weighs more. What was fetched once is not fetched again. An entity that cannot be fetched
is left out and counted: the context is smaller then, and the conversation goes on.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rdflib.namespace import OWL, PROV, RDF, RDFS

from kg.errors import ConfigError, DataError, QueryError
from kg.graphs.namespaces import OA, QB
from kg.graphs.naming import local_name
from kg.graphs.stores import Edge, GraphStore

RESULT_WEIGHT = 0.8
"""What an entity of a turn's results weighs, beside 1 for one of its question."""

ASKED_WEIGHT = 3.0
"""How much more an entity weighs that has a property which is asked for."""

KEPT_ENTITIES = 4096
_BOOKKEEPING = frozenset(
    str(term)
    for term in (
        RDF.type,
        RDFS.label,
        PROV.wasQuotedFrom,
        PROV.wasDerivedFrom,
        QB.dataSet,
        QB.DataSet,
        OA.start,
        OA.end,
    )
)
_SCHEMA = frozenset(str(term) for term in (OWL.Class, OWL.DatatypeProperty, OWL.ObjectProperty))


@dataclass(frozen=True)
class ContextConfig:
    """How much context a turn gets.

    Attributes:
        max_entities: Entities with their neighbourhood, 3 to 5.
        radius: 1 for the entities' own edges, 2 for those of their neighbours too.
        decay: What an earlier turn's entities weigh beside those of the turn after it, between 0 and 1.
        max_neighbours: Neighbours of an entity that are kept, at least 1; more are cut off and the entity says so.
    """

    max_entities: int = 5
    radius: int = 1
    decay: float = 0.5
    max_neighbours: int = 50

    def __post_init__(self) -> None:
        if not 3 <= self.max_entities <= 5:
            raise ConfigError(f"max_entities must be from 3 to 5, got {self.max_entities}")
        if self.radius not in (1, 2):
            raise ConfigError(f"radius must be 1 or 2, got {self.radius}")
        if not 0 < self.decay < 1:
            raise ConfigError(f"decay must be between 0 and 1, got {self.decay}")
        if self.max_neighbours < 1:
            raise ConfigError(f"max_neighbours must be at least 1, got {self.max_neighbours}")


@dataclass(frozen=True)
class Neighbour:
    """An edge of an entity to another.

    Attributes:
        relation: The predicate's IRI.
        node: The other entity's IRI.
        label: Its label, or its local name.
        outgoing: Whether the entity is the subject.
    """

    relation: str
    node: str
    label: str
    outgoing: bool


@dataclass(frozen=True)
class EntityContext:
    """What the store knows of one entity.

    Attributes:
        node: Its IRI.
        label: Its label, or its local name.
        types: The IRIs of its classes.
        properties: Its literal properties: predicates' IRIs and values, sorted; no types, no label.
        neighbours: Its edges to other entities, sorted.
        cut: Whether there are more edges than were read.
    """

    node: str
    label: str
    types: tuple[str, ...]
    properties: tuple[tuple[str, str], ...]
    neighbours: tuple[Neighbour, ...]
    cut: bool = False

    def has(self, predicate: str) -> bool:
        """Whether the entity has a value of a property: a literal, or an entity that it points to."""
        return any(name == predicate for name, _ in self.properties) or any(
            neighbour.relation == predicate and neighbour.outgoing for neighbour in self.neighbours
        )

    def to_dict(self) -> dict[str, Any]:
        """The entity with local names, as JSON knows it."""
        return {
            "label": self.label,
            "type": [local_name(kind) for kind in self.types],
            "properties": [{"prop": local_name(name), "value": value} for name, value in self.properties],
            "neighbors": [
                {
                    "rel": local_name(one.relation),
                    "target": one.label,
                    "direction": "out" if one.outgoing else "in",
                }
                for one in self.neighbours
            ],
        }


@dataclass(frozen=True)
class ContextFailure:
    """An entity that could not be fetched, and why."""

    node: str
    reason: str


@dataclass(frozen=True)
class GraphContext:
    """The context of a turn.

    Attributes:
        entities: The most salient first.
        around: With a radius of 2, their neighbours with their own edges.
        failures: The entities that could not be fetched.
        fetched: How many entities were read from the store for this turn.
        reused: How many were known from earlier turns.
    """

    entities: tuple[EntityContext, ...] = ()
    around: tuple[EntityContext, ...] = ()
    failures: tuple[ContextFailure, ...] = ()
    fetched: int = 0
    reused: int = 0

    @property
    def names(self) -> frozenset[str]:
        """The labels of all entities in the context, neighbours included."""
        entities = (*self.entities, *self.around)
        return frozenset(
            {one.label for one in entities} | {other.label for one in entities for other in one.neighbours}
        )

    def to_dict(self) -> dict[str, Any]:
        """The entities by their local name, as JSON knows them."""
        return {local_name(one.node): one.to_dict() for one in (*self.entities, *self.around)}

    def to_text(self) -> str:
        """One line an entity, for a prompt: label, types, properties, neighbours; ``none`` without entities."""
        return "\n".join(map(_line, (*self.entities, *self.around))) or "none"


def _line(entity: EntityContext) -> str:
    kinds = ", ".join(local_name(kind) for kind in entity.types) or "unknown"
    properties = "; ".join(f"{local_name(name)} {value}" for name, value in entity.properties)
    grouped: dict[str, list[str]] = {}
    for one in entity.neighbours:
        name = local_name(one.relation) if one.outgoing else f"{local_name(one.relation)} of"
        grouped.setdefault(name, []).append(one.label)
    edges = "; ".join(f"{name}: {', '.join(labels)}" for name, labels in grouped.items())
    return " | ".join(part for part in (f"{entity.label} ({kinds})", properties, edges) if part)


@dataclass(frozen=True)
class TurnEntities:
    """The entities of a turn: those that its question names or refers to, and those of its results."""

    question: tuple[str, ...] = ()
    results: tuple[str, ...] = ()


def salience(turns: Sequence[TurnEntities], decay: float = 0.5) -> dict[str, float]:
    """What each entity of a conversation weighs, the most salient first; ties keep the order of mention.

    An entity of the latest question weighs 1, one of its results :data:`RESULT_WEIGHT`, and both are multiplied by
    ``decay`` for every turn since. An entity takes the largest weight that it has anywhere.
    """
    weights: dict[str, float] = {}
    factor = 1.0
    for turn in reversed(turns):
        for nodes, weight in ((turn.question, factor), (turn.results, RESULT_WEIGHT * factor)):
            for node in nodes:
                weights.setdefault(node, weight)
                weights[node] = max(weights[node], weight)
        factor *= decay
    return dict(sorted(weights.items(), key=lambda pair: -pair[1]))


class GraphContextRetriever:
    """Fetches the context of the entities in play, once each.

    Args:
        store: Any of the stores; what it holds must not change while the retriever is used.
        config: How much a turn gets.
    """

    def __init__(self, store: GraphStore, config: ContextConfig | None = None) -> None:
        self.store = store
        self.config = config if config is not None else ContextConfig()
        self._known: OrderedDict[str, EntityContext] = OrderedDict()
        self._names: dict[str, str] = {}
        self.failed = 0
        """How many times an entity could not be fetched, over all turns."""

    def for_turns(
        self, turns: Sequence[TurnEntities], asked: Collection[str] = (), radius: int | None = None
    ) -> GraphContext:
        """The context of a conversation's most salient entities.

        Args:
            turns: The conversation, the latest turn last; the last may be the question that is being asked.
            asked: Predicates' IRIs that are asked for: an entity that has one of them weighs more.
            radius: 1 or 2 in place of the configuration's.
        """
        weights = salience(turns, self.config.decay)
        pool = list(weights)[: self.config.max_entities * (4 if asked else 1)]
        found, failures, fetched = self._fetch_all(pool)
        for node, entity in found.items():
            if any(entity.has(predicate) for predicate in asked):
                weights[node] *= ASKED_WEIGHT
        best = sorted(found, key=lambda node: -weights[node])[: self.config.max_entities]
        return self._complete([found[node] for node in best], failures, fetched, len(pool), radius)

    def retrieve(self, nodes: Sequence[str], radius: int | None = None) -> GraphContext:
        """The context of given entities: the first ``max_entities`` of them.

        Args:
            nodes: IRIs, the most salient first.
            radius: 1 or 2 in place of the configuration's.
        """
        pool = list(dict.fromkeys(nodes))[: self.config.max_entities]
        found, failures, fetched = self._fetch_all(pool)
        return self._complete(list(found.values()), failures, fetched, len(pool), radius)

    def _complete(
        self,
        entities: Sequence[EntityContext],
        failures: list[ContextFailure],
        fetched: int,
        wanted: int,
        radius: int | None,
    ) -> GraphContext:
        around: list[EntityContext] = []
        if (self.config.radius if radius is None else ContextConfig(radius=radius).radius) == 2:
            inside = {entity.node for entity in entities}
            near = [one.node for entity in entities for one in entity.neighbours if one.node not in inside]
            near = list(dict.fromkeys(near))[: self.config.max_neighbours]
            found, more, count = self._fetch_all(near)
            around, fetched, wanted = list(found.values()), fetched + count, wanted + len(near)
            failures = [*failures, *more]
        self.failed += len(failures)
        reused = wanted - fetched - len(failures)
        return GraphContext(tuple(entities), tuple(around), tuple(failures), fetched, reused)

    def _fetch_all(self, nodes: Sequence[str]) -> tuple[dict[str, EntityContext], list[ContextFailure], int]:
        """The entities that could be had, why others could not, and how many were read from the store."""
        failures: list[ContextFailure] = []
        edges: dict[str, list[Edge]] = {}
        for node in nodes:
            if node in self._known:
                self._known.move_to_end(node)
                continue
            try:
                edges[node] = self.store.edges(node, self._limit)
            except (QueryError, DataError) as error:
                failures.append(ContextFailure(node, str(error)))
                continue
            if not edges[node]:
                failures.append(ContextFailure(node, "it is not in the graph"))
                del edges[node]
        self._name(edges)
        for node, found in edges.items():
            self._known[node] = self._entity(node, found)
        result = {node: self._known[node] for node in nodes if node in self._known}
        while len(self._known) > max(KEPT_ENTITIES, len(nodes)):
            self._known.popitem(last=False)
        return result, failures, len(edges)

    @property
    def _limit(self) -> int:
        return self.config.max_neighbours + 50  # room for literal properties and bookkeeping

    def _name(self, edges: Mapping[str, Sequence[Edge]]) -> None:
        """Fetches the labels of all nodes at the end of edges; without labels they go by their local names."""
        nodes = {
            end
            for found in edges.values()
            for edge in found
            if not edge.literal and edge.predicate not in _BOOKKEEPING
            for end in (edge.subject, edge.value)
        }
        missing = sorted(nodes - self._names.keys())
        if not missing:
            return
        try:
            labels = self.store.labels(missing)
        except (QueryError, DataError):
            self.failed += 1  # less context: names instead of labels, and they are asked for again
            return
        self._names.update({node: labels.get(node, local_name(node)) for node in missing})

    def _entity(self, node: str, edges: Sequence[Edge]) -> EntityContext:
        types: list[str] = []
        properties: list[tuple[str, str]] = []
        neighbours: list[Neighbour] = []
        labels: list[str] = []
        for edge in edges:
            if edge.predicate == str(RDF.type) and edge.subject == node:
                types.append(edge.value)
            elif edge.predicate == str(RDFS.label) and edge.subject == node:
                labels.append(edge.value)
            elif edge.predicate in _BOOKKEEPING or edge.value in _SCHEMA:
                continue
            elif edge.literal:
                properties.append((edge.predicate, edge.value))
            else:
                outgoing = edge.subject == node
                other = edge.value if outgoing else edge.subject
                name = self._names.get(other, local_name(other))
                neighbours.append(Neighbour(edge.predicate, other, name, outgoing))
        neighbours.sort(key=lambda one: (not one.outgoing, one.relation, one.label, one.node))
        return EntityContext(
            node,
            min(labels, default=local_name(node)),
            tuple(sorted(types)),
            tuple(sorted(properties)),
            tuple(neighbours[: self.config.max_neighbours]),
            cut=len(neighbours) > self.config.max_neighbours or len(edges) >= self._limit,
        )
