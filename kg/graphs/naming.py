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

CLAIM = "http://wikiba.se/ontology#directClaim"
"""From the entity of Wikidata that describes a property, and has its labels, to the property of statements."""

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


def local_name(iri: str) -> str:
    """The end of an IRI (``directed_by`` of ``http://x/y#directed_by``); a blank node as is.

    It begins after the last ``#`` or ``/``, in a URN after the last ``:``. Percent signs are decoded. A version keeps
    the part before it, as in ``zero/1.0``.
    """
    if iri.startswith("_:"):
        return iri
    parts = _BEFORE_LOCAL_NAME.split(iri.rstrip("#/"))
    is_version = "." in parts[-1] and parts[-1].replace(".", "").isdigit()
    return plain_name(unquote("/".join(parts[-2:] if is_version else parts[-1:]))) or iri


def plain_name(text: str) -> str:
    """A text on one line, without the arrow of paths."""
    return _SPACES.sub(" ", text).replace(" -> ", " → ").strip()


def labels_of(triples: Sequence[Triple], properties: Sequence[str]) -> dict[str, list[tuple[int, str]]]:
    """The names of each IRI, each with the place of its property: English or without a language before others."""
    order = {iri: place for place, iri in enumerate(properties)}
    ranked: dict[str, list[tuple[int, bool, str]]] = {}
    for one in triples:
        if one.relation in order and one.is_literal and (text := plain_name(one.value)):
            foreign = one.language not in ("", "en") and not one.language.startswith("en-")
            ranked.setdefault(one.subject, []).append((order[one.relation], foreign, text))
    ranked |= {one.value: ranked[one.subject] for one in triples if one.relation == CLAIM and one.subject in ranked}
    return {node: [(rank, text) for rank, _, text in sorted(names)] for node, names in ranked.items()}
