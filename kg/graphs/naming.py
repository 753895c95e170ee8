"""Names in place of IRIs, for readable paths and for entity linking.

    >>> named = name_triples([
    ...     Triple("http://x/E1", "http://www.w3.org/2000/01/rdf-schema#label", "Ridley Scott", is_literal=True),
    ...     Triple("http://x/Alien", "http://x/directed_by", "http://x/E1", is_literal=False)])
    >>> list(named.triples)
    [('Alien', 'directed_by', 'Ridley Scott')]
    >>> named.other_names
    {}

The name of an entity is its label, or else its local name. The label is an ``rdfs:label`` or ``skos:prefLabel``,
preferably English or without a language. Entities with equal names get ``name <IRI>``, and literals equal to an
entity's name get quotes. Labels are no edges of the graph.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple
from urllib.parse import unquote

_RDFS, _SKOS = "http://www.w3.org/2000/01/rdf-schema#", "http://www.w3.org/2004/02/skos/core#"
LABELS = (_RDFS + "label", _SKOS + "prefLabel")
"""The properties of names, in order of preference."""

OTHER_LABELS = (_SKOS + "altLabel",)
"""The properties of other names."""

CLAIM = "http://wikiba.se/ontology#directClaim"
"""From the entity of Wikidata that describes a property, and has its labels, to the property of statements."""

_NAMING = frozenset((*LABELS, *OTHER_LABELS))
_SPACES = re.compile(r"\s+")
_BEFORE_LOCAL_NAME = re.compile(r"^urn:.*:|[#/]")


class Triple(NamedTuple):
    """A triple as text.

    Attributes:
        subject: An IRI, a name in a table, or ``_:name`` for a blank node.
        relation: An IRI, or a name in a table.
        value: An IRI, a blank node, or a literal's text.
        is_literal: Whether the value is a literal.
        datatype: The IRI of the literal's datatype; empty where it is not known.
        language: The literal's language in lower case, or empty.
    """

    subject: str
    relation: str
    value: str
    is_literal: bool
    datatype: str = ""
    language: str = ""


@dataclass(frozen=True)
class NamedTriples:
    """Triples with names in place of IRIs.

    Attributes:
        triples: Names of subjects, relations and values; an iterator.
        other_names: Entities' names by each of their other labels.
        names: The name of each IRI and blank node.
    """

    triples: Iterator[tuple[str, str, str]]
    other_names: Mapping[str, tuple[str, ...]]
    names: Mapping[str, str]


def name_triples(triples: Iterable[Triple]) -> NamedTriples:
    """Names the nodes and relations of a graph.

    Args:
        triples: All triples; read once and held in memory.
    """
    read = list(triples)
    labels = {
        node: list(dict.fromkeys(text for _, text in found))
        for node, found in labels_of(read, (*LABELS, *OTHER_LABELS)).items()
        if found[0][0] < len(LABELS)
    }
    nodes = dict.fromkeys(node for one in read for node in _nodes(one))
    names = _distinct({node: labels[node][0] if node in labels else local_name(node) for node in nodes})
    relations = _distinct(
        {relation: labels[relation][0] if relation in labels else local_name(relation) for relation in _relations(read)}
    )
    taken = set(names.values())
    others: dict[str, list[str]] = {}
    for node, texts in labels.items():
        for text in texts:
            if node in names and text != names[node]:
                others.setdefault(text, []).append(names[node])

    def named() -> Iterator[tuple[str, str, str]]:
        for one in read:
            if one.relation not in _NAMING:
                value = _literal(one.value, taken) if one.is_literal else names[one.value]
                yield names[one.subject], relations[one.relation], value

    return NamedTriples(named(), {text: tuple(sorted(found)) for text, found in others.items()}, names)


def local_name(iri: str) -> str:
    """The end of an IRI (``directed_by`` of ``http://x/y#directed_by``); a blank node as is.

    It begins after the last ``#`` or ``/``, in a URN after the last ``:``. Percent signs are decoded.
    """
    if iri.startswith("_:"):
        return iri
    return _plain(unquote(_BEFORE_LOCAL_NAME.split(iri.rstrip("#/"))[-1])) or iri


def _plain(text: str) -> str:
    """The text on one line, without the arrow of paths."""
    return _SPACES.sub(" ", text).replace(" -> ", " → ").strip()


def labels_of(triples: Sequence[Triple], properties: Sequence[str]) -> dict[str, list[tuple[int, str]]]:
    """The names of each IRI, each with the place of its property: English or without a language before others."""
    order = {iri: place for place, iri in enumerate(properties)}
    ranked: dict[str, list[tuple[int, bool, str]]] = {}
    for one in triples:
        if one.relation in order and one.is_literal and (text := _plain(one.value)):
            foreign = one.language not in ("", "en") and not one.language.startswith("en-")
            ranked.setdefault(one.subject, []).append((order[one.relation], foreign, text))
    ranked |= {one.value: ranked[one.subject] for one in triples if one.relation == CLAIM and one.subject in ranked}
    return {node: [(rank, text) for rank, _, text in sorted(names)] for node, names in ranked.items()}


def _nodes(triple: Triple) -> Iterator[str]:
    if triple.relation not in _NAMING:
        yield triple.subject
        if not triple.is_literal:
            yield triple.value


def _relations(triples: Iterable[Triple]) -> dict[str, None]:
    return dict.fromkeys(one.relation for one in triples if one.relation not in _NAMING)


def _distinct(wanted: Mapping[str, str]) -> dict[str, str]:
    """A distinct name for each IRI; the IRI follows a shared name."""
    count: dict[str, int] = {}
    for name in wanted.values():
        count[name] = count.get(name, 0) + 1
    return {iri: name if count[name] == 1 else f"{name} <{iri}>" for iri, name in wanted.items()}


def _literal(value: str, taken: set[str]) -> str:
    text = _plain(value)
    return f'"{text}"' if text in taken else text
