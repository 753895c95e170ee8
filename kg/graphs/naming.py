"""Names of IRIs: labels, and local names.

    >>> local_name("http://x/y#directed_by")
    'directed_by'

A label is an ``rdfs:label`` or ``skos:prefLabel``, preferably English or without a language.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple
from urllib.parse import unquote

LABEL = "http://www.w3.org/2000/01/rdf-schema#label"

PROPERTY = re.compile(r"/P\d+$")
"""A property of Wikidata, of which there are several IRIs."""

_SPACES = re.compile(r"\s+")
_SCHEME = re.compile(r"[a-z][a-z\d+.-]*://|(?:urn|mailto|tel):")
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


def local_name(iri: str) -> str:
    """The end of an IRI (``directed_by`` of ``http://x/y#directed_by``); a blank node as is.

    It begins after the last ``#`` or ``/``, in a URN after the last ``:``. Percent signs are decoded. Of one that ends
    in a version, as licenses do, the whole IRI is the name.
    """
    own = _BEFORE_LOCAL_NAME.split(iri.rstrip("#/"))[-1]
    is_version = "." in own and own.replace(".", "").isdigit()
    return iri if is_version or iri.startswith("_:") else plain_name(unquote(own)) or iri


def is_iri(name: str) -> bool:
    """Whether a name has a scheme; a name of a table mostly has none, and ``AC/DC`` is one name."""
    return _SCHEME.match(name) is not None


def plain_name(text: str) -> str:
    """A text on one line, without the arrow of paths."""
    return _SPACES.sub(" ", text).replace(" -> ", " → ").strip() if "->" in text else " ".join(text.split())


def labels_of(triples: Sequence[Triple], properties: Sequence[str]) -> dict[str, list[tuple[bool, str]]]:
    """The names of each IRI, each with whether it is in a foreign language, which come last.

    Names are in the order of their properties. All IRIs of a property of Wikidata have the names of one of them, and
    an IRI has those of its local name in a table.
    """
    order = {iri: place for place, iri in enumerate(properties)}
    ranked: dict[str, list[tuple[bool, int, str]]] = {}
    for one in triples:
        if one.relation in order and one.is_literal and (text := plain_name(one.value)):
            foreign = one.language not in ("", "en") and not one.language.startswith("en-")
            ranked.setdefault(one.subject, []).append((foreign, order[one.relation], text))
    keys = {local_name(iri): own for iri, own in ranked.items() if not is_iri(iri) or PROPERTY.search(iri)}
    for one in triples if keys else ():
        for node in (one.subject, one.relation, *(() if one.is_literal else (one.value,))):
            if node not in ranked and local_name(node) in keys:
                ranked[node] = keys[local_name(node)]
    return {node: [(foreign, text) for foreign, _, text in sorted(names)] for node, names in ranked.items()}
