"""The index of a graph of any size, from triples that are read once and never held together as objects.

>>> index, others = named_index(read_file(Path("wikidata.nt"), text))
>>> index.name(0), index.relations[0]
('Alien', 'directed by')
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator

import numpy as np

from kg.graphs.facts import SCHEMA, TYPE_NAMES
from kg.graphs.index import GraphIndex
from kg.graphs.name_table import NameBuilder
from kg.graphs.naming import PROPERTY, Triple, is_iri, local_name, plain_name
from kg.graphs.units import CLASS_RELATIONS, FIRST_NAMES, OTHER_NAMES, entity_name, words_of, writes_camel_case
from kg.graphs.values import read_value

_SOME = 10_000
"""Names that show how all are written."""

_OTHER, _FOREIGN = 100, 1000
"""Ranks of labels: of other names, and of those in foreign languages, which come last."""
_RANKS = {iri: rank for rank, iri in enumerate(FIRST_NAMES)} | {iri: _OTHER + n for n, iri in enumerate(OTHER_NAMES)}


def named_index(triples: Iterable[Triple]) -> tuple[GraphIndex, Iterator[tuple[str, int]]]:
    """The index of triples, whose nodes are called by a label, or else by their local name.

    Of nodes with one name, all but one have their IRI. Classes are nodes too. What an ontology implies is left out.
    In addition to the index, the other labels are returned, each with the number of its entity.
    """
    return _Statements(triples).index()


class _Statements:
    """The statements of a graph as numbers of their terms, which are called by labels, or else by their local names."""

    def __init__(self, triples: Iterable[Triple]) -> None:
        builder, labels, edges = NameBuilder(), [array("i") for _ in range(3)], [array("i") for _ in range(4)]
        relations: dict[str, int] = {}
        for subject, iri, value, is_literal, datatype, language in triples:
            if is_literal and iri in _RANKS:
                is_foreign = language not in ("", "en") and not language.startswith("en-")
                rows, middle, text = labels, _RANKS[iri] + _FOREIGN * is_foreign, plain_name(value)
            elif not (value if iri in CLASS_RELATIONS else iri).startswith(SCHEMA):
                rows, middle = edges, relations.setdefault(iri, len(relations))
                text = read_value(value, datatype).text if datatype else value
                edges[3].append(is_literal)
            else:
                continue
            rows[0].append(builder.number(subject))
            rows[1].append(middle)
            rows[2].append(builder.number(text))
        self.relations = list(relations)
        self.terms, numbers = builder.table()
        owners, ranks, texts, subjects, self.predicates, values, literal = (
            np.array(column, dtype=np.int32) for column in (*labels, *edges)
        )
        self.subjects, self.values = numbers[subjects], numbers[values]
        order = np.lexsort((ranks, numbers[owners]))
        self.owners, self.texts = numbers[owners][order], numbers[texts][order]
        is_kind = np.array([_is_kind(iri) for iri in relations], dtype=np.bool_)[self.predicates]
        self.is_class, self.is_entity = (np.zeros(len(self.terms), dtype=np.bool_) for _ in range(2))
        self.is_class[self.values[is_kind]] = True
        self.is_entity[self.subjects] = self.is_entity[self.values[literal == 0]] = True
        self.label = np.full(len(self.terms), -1, dtype=np.int32)
        self.label[self.owners[::-1]] = self.texts[::-1]  # the first of each counts
        unnamed = np.flatnonzero(self.is_entity & (self.label < 0))[:_SOME].tolist()
        self.is_camel = writes_camel_case(self.terms[number] for number in unnamed)
        named = ((self.terms[number], self.label[number]) for number in np.unique(self.owners))
        self.bare = {local_name(iri): label for iri, label in named if not is_iri(iri) or PROPERTY.search(iri)}

    def _label(self, text: str, number: int | None) -> str:
        """The label of a term, or that of Wikidata's and Freebase's identifier in its place; empty without any."""
        label = self.label[number] if number is not None else -1
        label = self.bare.get(local_name(text), -1) if label < 0 and self.bare else label
        return str(self.terms[label]) if label >= 0 else ""

    def _name(self, number: int) -> str:
        """The name of a term."""
        text: str = self.terms[number]
        if label := self._label(text, number):
            return label
        if self.is_class[number]:
            return words_of(text)
        return entity_name(text, is_camel=self.is_camel) if self.is_entity[number] else plain_name(text)

    def index(self) -> tuple[GraphIndex, Iterator[tuple[str, int]]]:
        """See :func:`named_index`."""
        nodes = np.unique(np.concatenate([self.subjects, self.values]))
        builder = NameBuilder()
        given = np.fromiter((builder.number(self._name(number)) for number in nodes), np.int32, len(nodes))
        entities, numbers = builder.table()
        is_second = np.ones(len(nodes), dtype=np.bool_)
        is_second[np.unique(numbers[given], return_index=True)[1]] = False
        for place in np.flatnonzero(is_second).tolist():
            given[place] = builder.number(f"{entities[numbers[given[place]]]} <{self.terms[nodes[place]]}>")
        if is_second.any():
            entities, numbers = builder.table()
        place_of = np.full(len(self.terms), -1, dtype=np.int32)
        place_of[nodes] = numbers[given]
        written: dict[str, int] = {}
        merged = np.array([written.setdefault(self._written(iri), len(written)) for iri in self.relations], np.int32)
        triples = place_of[self.subjects], merged[self.predicates], place_of[self.values]
        others = zip(self.texts.tolist(), self.owners.tolist(), strict=True)
        also = ((text, int(place_of[owner])) for text, owner in others if text != self.label[owner])
        labels = ((str(self.terms[text]), place) for text, place in also if place >= 0)
        return GraphIndex.from_arrays(entities, written, *triples), labels

    def _written(self, iri: str) -> str:
        name = self._label(iri, self.terms.find(iri))
        return "is a" if _is_kind(iri) else name if name not in ("", words_of(iri)) else local_name(iri)


def _is_kind(relation: str) -> bool:
    return relation in CLASS_RELATIONS or relation.lower() in TYPE_NAMES
