"""The graph context of a conversation: its salient entities with their edges.

    >>> retriever = GraphContextRetriever(store)
    >>> turns = [TurnEntities(question=(GERMANY,), results=(FRANCE, POLAND))]
    >>> context = retriever.for_turns(turns, asked=[CAPITAL])
    >>> context.entities[0].label, context.entities[0].properties[0]
    ('Germany', ('https://w3id.org/finpath/geography#area', '357022'))

An entity has its types, its literal properties and its neighbours in both directions. Entities are ranked by salience:
first those of the latest question, then those of its results, then those of earlier turns, with a decay. Entities with
a requested property weigh more. Fetched entities are cached. Entities that cannot be fetched are skipped and counted.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rdflib.namespace import OWL, PROV, RDF, RDFS

from kg.errors import ConfigError, DataError, QueryError
from kg.graphs.namespaces import OA, QB
from kg.graphs.naming import Statement, local_name

if TYPE_CHECKING:
    from kg.graphs.stores import GraphStore

RESULT_WEIGHT = 0.8
"""The weight of an entity in a turn's results; an entity of the question has weight 1."""

ASKED_WEIGHT = 3.0
"""The factor of an entity with a requested property."""

CACHED_ENTITIES = 4096
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
    """The size of a turn's context.

    Attributes:
        max_entities: Entities with their neighbourhood, 3 to 5.
        radius: 1 for the entities' own edges, 2 for their neighbours' edges too.
        decay: The factor of an entity's weight for each later turn, between 0 and 1.
        max_neighbours: The most neighbours of an entity, at least 1; see ``EntityContext.cut``.
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
    """The edges of one entity.

    Attributes:
        node: Its IRI.
        label: Its label, or its local name.
        types: The IRIs of its classes.
        properties: Its literal properties without its label: predicates' IRIs and values, sorted.
        neighbours: Its edges to other entities, sorted.
        cut: Whether edges are missing because of a limit.
    """

    node: str
    label: str
    types: tuple[str, ...]
    properties: tuple[tuple[str, str], ...]
    neighbours: tuple[Neighbour, ...]
    cut: bool = False

    def has(self, predicate: str) -> bool:
        """Whether the entity has a value of a property: a literal or an entity."""
        return any(name == predicate for name, _ in self.properties) or any(
            neighbour.relation == predicate and neighbour.outgoing for neighbour in self.neighbours
        )

    def to_dict(self) -> dict[str, Any]:
        """The entity as a JSON object with local names."""
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
    """An entity that could not be fetched, with the reason."""

    node: str
    reason: str


@dataclass(frozen=True)
class GraphContext:
    """The context of a turn.

    Attributes:
        entities: The entities, the most salient first.
        around: Their neighbours with their own edges, for a radius of 2.
        failures: The entities that could not be fetched.
        fetched: The number of entities read from the store for this turn.
        reused: The number of cached entities.
    """

    entities: tuple[EntityContext, ...] = ()
    around: tuple[EntityContext, ...] = ()
    failures: tuple[ContextFailure, ...] = ()
    fetched: int = 0
    reused: int = 0

    @property
    def names(self) -> frozenset[str]:
        """The labels of all entities in the context and of their neighbours."""
        entities = (*self.entities, *self.around)
        return frozenset(
            {one.label for one in entities} | {other.label for one in entities for other in one.neighbours}
        )

    def to_dict(self) -> dict[str, Any]:
        """The entities by local name, as a JSON object."""
        return {local_name(one.node): one.to_dict() for one in (*self.entities, *self.around)}

    def to_text(self) -> str:
        """One line for each entity (label, types, properties, neighbours), or ``none``."""
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
    """The entities that a turn's question names or refers to, and the entities of its results."""

    question: tuple[str, ...] = ()
    results: tuple[str, ...] = ()


def salience(turns: Sequence[TurnEntities], decay: float = 0.5) -> dict[str, float]:
    """The weights of a conversation's entities, the most salient first; ties are ordered by mention.

    An entity of the question weighs 1, an entity of the results :data:`RESULT_WEIGHT`. Both are multiplied by ``decay``
    for every later turn. The largest weight of an entity counts.
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
    """Retrieves the context of a conversation's entities and caches them.

    Args:
        store: The store; its graphs must not change while the retriever is used.
        config: The size of a context.
    """

    def __init__(self, store: GraphStore, config: ContextConfig | None = None) -> None:
        self.store = store
        self.config = config if config is not None else ContextConfig()
        self._known: OrderedDict[str, EntityContext] = OrderedDict()
        self._names: dict[str, str] = {}
        self.failed = 0
        """The number of failed fetches over all turns."""

    def for_turns(
        self, turns: Sequence[TurnEntities], asked: Collection[str] = (), radius: int | None = None
    ) -> GraphContext:
        """The context of a conversation's most salient entities.

        Args:
            turns: The turns, the latest last; the last may be the current question.
            asked: The IRIs of requested properties, whose entities weigh more.
            radius: 1 or 2, in place of the configured radius.
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
        """The context of the first ``max_entities`` of some entities.

        Args:
            nodes: IRIs, the most salient first.
            radius: 1 or 2, in place of the configured radius.
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
        """The available entities, the failures, and the number of entities read from the store."""
        failures: list[ContextFailure] = []
        edges: dict[str, list[Statement]] = {}
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
        while len(self._known) > max(CACHED_ENTITIES, len(nodes)):
            self._known.popitem(last=False)
        return result, failures, len(edges)

    @property
    def _limit(self) -> int:
        return self.config.max_neighbours + 50  # room for literal properties and bookkeeping

    def _name(self, edges: Mapping[str, Sequence[Statement]]) -> None:
        """Fetches the labels of all nodes of edges; a node without a label gets its local name."""
        nodes = {
            end
            for found in edges.values()
            for edge in found
            if not edge.is_literal and edge.predicate not in _BOOKKEEPING
            for end in (edge.subject, edge.value)
        }
        missing = sorted(nodes - self._names.keys())
        if not missing:
            return
        try:
            labels = self.store.labels(missing)
        except (QueryError, DataError):
            self.failed += 1  # local names replace the labels, which are requested again later
            return
        self._names.update({node: labels.get(node, local_name(node)) for node in missing})

    def _entity(self, node: str, edges: Sequence[Statement]) -> EntityContext:
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
            elif edge.is_literal:
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
