"""A growing graph's nodes, edges and types as RDF: names, values, and the way back.

One node, one edge and what is known of them, as Turtle::

    node:Company/helixon%20inc. a type:Company ; rdfs:label "Helixon Inc." ; prop:country "USA" ;
        prov:wasDerivedFrom <source> ; edge:in_sector node:Sector/semiconductors .
    edge:… a kg:Edge ; kg:edgeType edge:in_sector ; kg:from … ; kg:to … .

The direct triple is what queries follow; the edge's own resource holds its properties and where it comes from.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from pyoxigraph import Literal, NamedNode

if TYPE_CHECKING:
    from kg.growing.schema import NodeType


@dataclass(frozen=True)
class NodeKey:
    """The identity of a node: its type and its name, without regard to case and spacing."""

    type: str
    name: str

    def __str__(self) -> str:
        return f"{self.type}({self.name})"


BASE = "https://w3id.org/finpath/"
KNOWLEDGE, SCHEMA, PROPOSED, HISTORY = (
    NamedNode(BASE + name) for name in ("knowledge", "schema", "proposed-types", "history")
)
NODE, EDGE, TYPE, PROPERTY, SOURCE = (f"{BASE}{name}/" for name in ("node", "edge", "type", "property", "source"))
KG = BASE + "ontology#"
RDF_TYPE = NamedNode("http://www.w3.org/1999/02/22-rdf-syntax-ns#type")
LABEL = NamedNode("http://www.w3.org/2000/01/rdf-schema#label")
DERIVED = NamedNode("http://www.w3.org/ns/prov#wasDerivedFrom")
EDGE_CLASS, BATCH_CLASS, EDGE_TYPE, FROM, TO, VERSION, ADDED = (
    NamedNode(KG + name) for name in ("Edge", "Batch", "edgeType", "from", "to", "typeVersion", "addedAt")
)
PREFIXES = {
    "type": TYPE,
    "prop": PROPERTY,
    "edge": EDGE,
    "kg": KG,
    "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
    "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
    "prov": "http://www.w3.org/ns/prov#",
    "xsd": "http://www.w3.org/2001/XMLSchema#",
}
"""The prefixes that every query may use without declaring them."""

NOTES = (VERSION, ADDED)
"""Properties that earlier versions wrote of a node or an edge; they go with it."""

JSON = NamedNode(PREFIXES["rdf"] + "JSON")
_XSD = PREFIXES["xsd"]
_STRING, _BOOLEAN, _INTEGER, _DECIMAL = (NamedNode(_XSD + name) for name in ("string", "boolean", "integer", "decimal"))
_TIMES = {"date": NamedNode(_XSD + "date"), "date-time": NamedNode(_XSD + "dateTime")}
_PARTS = {4: NamedNode(_XSD + "gYear"), 7: NamedNode(_XSD + "gYearMonth")}
"""The types of a year and of a month, by their lengths."""


def text_of(term: object) -> str:
    """Returns the text of an IRI or a literal."""
    return str(getattr(term, "value"))  # noqa: B009 - pyoxigraph's types name triples too, which are never stored


def node_term(key: NodeKey) -> NamedNode:
    """A node's name: its type, and its own name without case and superfluous spaces."""
    return NamedNode(f"{NODE}{key.type}/{quote(' '.join(key.name.split()).casefold(), safe='')}")


def spelling_order(name: str) -> tuple[bool, int, str]:
    """The key by which the first of several spellings names a node: one that is not all in capitals, the shortest."""
    return name.isupper(), len(name), name


def type_term(name: str) -> NamedNode:
    """The class of a node type."""
    return NamedNode(TYPE + name)


def edge_type_term(name: str) -> NamedNode:
    """The property of an edge type."""
    return NamedNode(EDGE + name)


def property_term(name: str) -> NamedNode:
    """The property of a node's or an edge's property."""
    return NamedNode(PROPERTY + name)


def edge_term(kind: str, source: NodeKey, target: NodeKey) -> NamedNode:
    """An edge's own resource: one for each type and pair of nodes."""
    written = f"{kind}\n{node_term(source).value}\n{node_term(target).value}"
    return NamedNode(f"{EDGE}{kind}/{hashlib.sha256(written.encode()).hexdigest()[:24]}")


def type_record_term(name: str) -> NamedNode:
    """The resource of a type's content."""
    return NamedNode(f"{BASE}type-record/{quote(name, safe='')}")


def source_term(document: str) -> NamedNode:
    """A document that facts come from."""
    return NamedNode(SOURCE + quote(document, safe=""))


def batch_term(batch: str) -> NamedNode:
    """Returns the name of updates that were applied together."""
    return NamedNode(f"{BASE}batch/{quote(batch, safe='')}")


def value_term(value: Any, rule: Mapping[str, Any]) -> Literal:
    """A JSON value as a literal; dates are typed by the format that their rule gives, so that queries can compare them.

    Args:
        value: Valid under ``rule``, not ``None``.
        rule: The property's JSON Schema.
    """
    if isinstance(value, int):  # also true and false
        return Literal(value)
    if isinstance(value, float | Decimal):
        return Literal(format(Decimal(str(value)), "f"), datatype=_DECIMAL)
    if isinstance(value, str):
        return _text_term(value, rule.get("format"))
    return Literal(json.dumps(value, ensure_ascii=False, sort_keys=True), datatype=JSON)


def _text_term(value: str, written_as: str | None) -> Literal:
    if written_as == "date":
        return Literal(date.fromisoformat(value).isoformat(), datatype=_TIMES["date"])
    if written_as == "date-time" and len(value) in _PARTS:
        return Literal(value, datatype=_PARTS[len(value)])
    if written_as == "date-time":
        when = datetime.fromisoformat(value)
        text = when.isoformat() + ("Z" if when.tzinfo is None else "")
        return Literal(text.replace("+00:00", "Z"), datatype=_TIMES["date-time"])
    return Literal(value)


def json_value(term: Literal) -> Any:
    """The JSON value that a literal was made of; moments come back with their time zone, figures as ``Decimal``."""
    if term.datatype == _BOOLEAN:
        return term.value == "true"
    if term.datatype == _INTEGER:
        return int(term.value)
    if term.datatype == _DECIMAL:
        return Decimal(term.value)
    return json.loads(term.value) if term.datatype == JSON else term.value


def property_terms(kind: NodeType, properties: Mapping[str, Any]) -> dict[str, Literal]:
    """The literals of a node's or an edge's properties; those without a value are left out."""
    rules = kind.properties_schema.get("properties", {})
    return {name: value_term(value, rules.get(name, {})) for name, value in properties.items() if value is not None}


def properties_of(about: Mapping[NamedNode, Sequence[Any]]) -> dict[str, Literal]:
    """The literals of the properties among the values of a resource, sorted by name."""
    named = {
        term.value.removeprefix(PROPERTY): own[0] for term, own in about.items() if term.value.startswith(PROPERTY)
    }
    return dict(sorted(named.items()))
