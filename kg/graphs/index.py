"""An index of any graph as arrays.

>>> index = GraphIndex.from_triples([("Alien", "directed_by", "Scott"), ("Blade Runner", "directed_by", "Scott")])
>>> films = index.follow(index.ids(["Scott"]), index.relation("^directed_by"))
>>> [index.name(film) for film in films]
['Alien', 'Blade Runner']

Entities and relations are numbered with 32 bits. Every triple is an edge from its subject to its object and an inverse
edge, whose relation begins with ``^`` as in SPARQL's property paths. Edges are stored as two layers of compressed rows.
The first leads from an entity to its *slots*, one for each relation, the second from a slot to its targets. The
relations of entities are thus found without reading their edges.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from kg.errors import DataError, QueryError
from kg.graphs.name_table import Ids, NameBuilder, NameTable
from kg.text import nearest

INVERSE = "^"
"""The prefix of an inverse relation."""

MOST_EDGES = 50_000
"""Edges of several entities along their relations that are read together; of an entity with more, the first."""

_OFFERED = 100_000


class Edges(NamedTuple):
    """Edges of several entities.

    Attributes:
        place: The index of the edge's source among the given entities.
        relation: The edge's relation.
        target: The edge's target.
    """

    place: Ids
    relation: Ids
    target: Ids


class GraphIndex:
    """A graph as arrays; create it by :meth:`from_triples`.

    Attributes:
        entities: Names of the entities.
        relations: Names of the relations of the triples, then their inverses in the same order.
        rows: The arrays of the edges, as the class is created from them.
    """

    def __init__(self, entities: NameTable, relations: Sequence[str], *rows: Ids) -> None:
        self.entities, self.relations, self.rows = entities, tuple(relations), rows
        self._slots, self._slot_relations, self._starts, self._targets = rows

    @classmethod
    def from_triples(cls, triples: Iterable[tuple[str, str, str]]) -> Self:
        """The index of triples, which are read once; duplicates are dropped.

        Raises:
            DataError: A relation's name begins with ``^``.
        """
        names, relations = NameBuilder(), dict[str, int]()
        columns = (array("i"), array("i"), array("i"))
        for subject, relation, value in triples:
            columns[0].append(names.number(subject))
            columns[1].append(relations.setdefault(relation, len(relations)))
            columns[2].append(names.number(value))
        entities, numbers = names.table()
        subjects, predicates, values = (np.frombuffer(column, dtype=np.int32) for column in columns)
        return cls.from_arrays(entities, relations, numbers[subjects], predicates, numbers[values])

    @classmethod
    def from_arrays(
        cls, entities: NameTable, relations: Iterable[str], subjects: Ids, predicates: Ids, values: Ids
    ) -> Self:
        """The index of triples as three arrays of numbers: of entities, relations and entities.

        Raises:
            DataError: A relation's name begins with ``^``.
        """
        relations = list(relations)
        for relation in relations:
            if relation.startswith(INVERSE):
                raise DataError(f"a relation's name must not begin with {INVERSE!r}, got {relation!r}")
        heads, edge_relations, targets = _sorted_edges(subjects, predicates, values, len(relations))
        new_slot = np.ones(len(heads), dtype=np.bool_)
        new_slot[1:] = (heads[1:] != heads[:-1]) | (edge_relations[1:] != edge_relations[:-1])
        starts = np.append(np.flatnonzero(new_slot), len(heads)).astype(np.int32)
        slot_heads, slot_relations = heads[starts[:-1]], edge_relations[starts[:-1]].astype(np.int32)
        slots = np.searchsorted(slot_heads, np.arange(len(entities) + 1, dtype=slot_heads.dtype)).astype(np.int32)
        names = [*relations, *(INVERSE + relation for relation in relations)]
        return cls(entities, names, slots, slot_relations, starts, targets.astype(np.int32, copy=False))

    def __len__(self) -> int:
        """The number of distinct triples."""
        return len(self._targets) // 2

    @cached_property
    def _relation_numbers(self) -> dict[str, int]:
        return {name: number for number, name in enumerate(self.relations)}

    def name(self, entity: int) -> str:
        """The name of an entity."""
        name: str = self.entities[entity]
        return name

    def find(self, name: str) -> int | None:
        """The number of the entity with a name, or ``None``."""
        return self.entities.find(name)

    def ids(self, names: Iterable[str]) -> Ids:
        """The distinct numbers of entities, sorted.

        Raises:
            QueryError: A name is not in the graph.
        """
        found = []
        for name in names:
            number = self.entities.find(name)
            if number is None:
                raise QueryError(f"entity {name!r} is not in the graph; {self._nearest(name)}")
            found.append(number)
        return np.unique(np.array(found, dtype=np.int32))

    def relation(self, name: str) -> int:
        """The number of a relation, or of an inverse relation (``^name``).

        Raises:
            QueryError: The relation is not in the graph.
        """
        if name not in self._relation_numbers:
            raise QueryError(f"relation {name!r} is not in the graph; {nearest(name, self.relations)}")
        return self._relation_numbers[name]

    def inverse(self, relation: int) -> int:
        """The inverse of a relation."""
        half = len(self.relations) // 2
        return relation - half if relation >= half else relation + half

    def edges(self, ids: Ids, relation: int | None = None) -> Edges:
        """The edges of several entities, all or those along one relation, ordered by entity, relation and target."""
        slots, owner = _gather(self._slots, ids)
        if relation is not None:
            fitting = self._slot_relations[slots] == relation
            slots, owner = slots[fitting], owner[fitting]
        targets, place = _gather(self._starts, slots, MOST_EDGES)
        return Edges(owner[place], self._slot_relations[slots][place], self._targets[targets])

    def sources(self, ids: Ids, relation: int) -> Ids:
        """The places of those of several entities that have a relation."""
        slots, owner = _gather(self._slots, ids)
        places: Ids = owner[self._slot_relations[slots] == relation]
        return places

    def count(self, slots: Ids, relation: int) -> int:
        """The number of edges of several slots along a relation."""
        fitting = slots[self._slot_relations[slots] == relation]
        return int((self._starts[fitting + 1] - self._starts[fitting]).sum())

    def facts(self, entity: int) -> Iterator[tuple[int, Ids]]:
        """The relations of an entity, each with its targets, sorted; none of these is read before it is used."""
        for slot in range(self._slots[entity], self._slots[entity + 1]):
            yield int(self._slot_relations[slot]), self._targets[self._starts[slot] : self._starts[slot + 1]]

    def slots_of(self, ids: Ids) -> Ids:
        """The slots of several entities, for :meth:`offered_at` and :meth:`follow_slots`."""
        return _gather(self._slots, ids)[0]

    def offered_at(self, slots: Ids) -> NDArray[np.bool_]:
        """Whether at least one slot has each relation; shape ``(relations,)``."""
        offered = np.zeros(len(self.relations), dtype=np.bool_)
        offered[self._slot_relations[slots]] = True
        return offered

    def follow_slots(self, slots: Ids, relation: int) -> Ids:
        """The distinct targets of the slots with a relation, sorted."""
        fitting = slots[self._slot_relations[slots] == relation]
        if len(fitting) == 1:
            return self._targets[self._starts[fitting[0]] : self._starts[fitting[0] + 1]]
        return self._distinct(self._targets[_gather(self._starts, fitting, MOST_EDGES)[0]])

    def relations_of(self, ids: Ids) -> Ids:
        """The relations of at least one entity, sorted."""
        return np.flatnonzero(self.offered_at(self.slots_of(ids))).astype(np.int32)

    def follow(self, ids: Ids, relation: int) -> Ids:
        """The distinct targets of a relation from several entities, sorted."""
        return self.follow_slots(self.slots_of(ids), relation)

    def _distinct(self, targets: Ids) -> Ids:
        """The distinct targets, sorted; many targets are marked in an array, which is faster than sorting."""
        if len(targets) * 32 < len(self.entities):
            return np.unique(targets)
        marked = np.zeros(len(self.entities), dtype=np.bool_)
        marked[targets] = True
        return np.flatnonzero(marked).astype(np.int32)

    def _nearest(self, name: str) -> str:
        if len(self.entities) > _OFFERED:
            return f"it has {len(self.entities)} entities"
        return nearest(name, self.entities)


def _gather(starts: Ids, rows: Ids, most: int | None = None) -> tuple[Ids, Ids]:
    """The indices of the entries of several compressed rows, up to about ``most`` of them, and the row of each."""
    if len(rows) == 1:
        entries = np.arange(starts[rows[0]], starts[rows[0] + 1], dtype=np.int32)[:most]
        return entries, np.zeros(len(entries), dtype=np.int32)
    begin = starts[rows]
    counts = starts[rows + 1] - begin
    if most is not None and counts.sum(dtype=np.int64) > most:
        counts = np.minimum(counts, most)
        counts = counts[: counts.cumsum(dtype=np.int64).searchsorted(most) + 1]
        begin = begin[: len(counts)]
    ends = counts.cumsum()
    total = int(ends[-1]) if len(ends) else 0
    entries = np.arange(total, dtype=np.int32) + np.repeat(begin - (ends - counts).astype(np.int32), counts)
    return entries, np.repeat(np.arange(len(counts), dtype=np.int32), counts)


def _sorted_edges(subjects: Ids, predicates: Ids, values: Ids, relations: int) -> tuple[Ids, Ids, Ids]:
    """Heads, relations and targets of the distinct edges in both directions, sorted."""
    heads, targets = np.concatenate([subjects, values]), np.concatenate([values, subjects])
    edge_relations = np.concatenate([predicates, predicates + np.int32(relations)])
    order = np.lexsort((targets, edge_relations, heads))
    heads, edge_relations, targets = heads[order], edge_relations[order], targets[order]
    keep = np.ones(len(heads), dtype=np.bool_)
    keep[1:] = (np.diff(heads) != 0) | (np.diff(edge_relations) != 0) | (np.diff(targets) != 0)
    return heads[keep], edge_relations[keep], targets[keep]
