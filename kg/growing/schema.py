"""The evolvable schema of a graph that grows: node and edge types, which an agent may add to.

    >>> schema = investment_schema()
    >>> schema.check_node("Company", {"name": "Foundry AG", "country": "Germany"})
    >>> schema.check_edge("affects", "MarketEvent", "Company", {"direction": "positive", "magnitude": 0.7})
    >>> schema = schema.with_type(NodeType("Regulation", "A rule that ...", {...}, {"name": "Rule 10b-5"}, "agent"))

Properties are described by JSON Schema (draft 2020-12, formats checked). Types and edges carry labels, the words by
which people call them; a property's are its ``title`` and ``x-labels``. A schema is a value: a change makes a new one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from decimal import Decimal
from functools import cache
from typing import Any, Literal, TypeVar

from jsonschema import Draft202012Validator, FormatChecker
from jsonschema.exceptions import SchemaError as InvalidJsonSchema

from kg.errors import SchemaError
from kg.graphs import read_date
from kg.text import nearest, stem

CreatedBy = Literal["system", "agent", "user"]
"""Who made a type."""

LONGEST = 8_000
"""Characters that a type's JSON Schema and example may have each, written as JSON."""

LABELS = "x-labels"
"""The keyword of a property's JSON Schema that lists its labels."""

MOST_LABELS, LONGEST_LABEL = 20, 60

KEYWORDS = frozenset(
    """
    $comment $schema additionalProperties anyOf const default description enum examples exclusiveMaximum
    exclusiveMinimum format items maxItems maxLength maxProperties maximum minItems minLength minProperties minimum
    multipleOf properties required title type uniqueItems x-labels
    """.split()  # noqa: SIM905
)
"""The keywords of JSON Schema that a type may use."""

DEEPEST = 6
"""Levels of rules inside rules."""

_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_NODE_NAME, _EDGE_NAME = r"[A-Z][A-Za-z0-9]{1,59}", r"[a-z][a-z0-9]*(_[a-z0-9]+)*"
_PROPERTY_NAME = r"^[A-Za-z_][A-Za-z0-9_]{0,59}\Z"


@dataclass(frozen=True)
class NodeType:
    """A kind of node.

    Attributes:
        name: In PascalCase.
        description: When to use it, in words that a language model is shown.
        properties_schema: JSON Schema of an object.
        example: Properties that a node of the type could have.
        created_by: Who made it.
        justification: Why the types that were there did not suffice.
        labels: Further words for it: "event" for ``MarketEvent``.
    """

    name: str
    description: str
    properties_schema: Mapping[str, Any]
    example: Mapping[str, Any] = field(default_factory=dict)
    created_by: CreatedBy = "user"
    justification: str = ""
    labels: tuple[str, ...] = ()

    def labels_of(self, name: str) -> tuple[str, ...]:
        """Returns the words for a property in addition to its name: its title and its labels."""
        rule = self.properties_schema.get("properties", {}).get(name, {})
        title = (rule["title"],) if "title" in rule else ()
        return (*title, *rule.get(LABELS, ()))

    @property
    def required(self) -> tuple[str, ...]:
        """Properties that every node must have."""
        return tuple(self.properties_schema.get("required", ()))

    @property
    def properties(self) -> tuple[str, ...]:
        """Properties that the schema names."""
        return tuple(self.properties_schema.get("properties", {}))


@dataclass(frozen=True)
class EdgeType(NodeType):
    """A kind of edge; its name is in snake_case.

    Attributes:
        source_types: Node types that it may start from; empty for any.
        target_types: Node types that it may lead to; empty for any.
        symmetric: Whether it holds both ways.
        inverse_labels: Words for it from target to source: "issued" for ``issued_by``.
    """

    source_types: tuple[str, ...] = ()
    target_types: tuple[str, ...] = ()
    symmetric: bool = False
    inverse_labels: tuple[str, ...] = ()


_Kind = TypeVar("_Kind", NodeType, EdgeType)


@dataclass(frozen=True)
class Schema:
    """All types of a graph.

    Args:
        types: The types, in the order in which they were made.
    """

    types: tuple[NodeType | EdgeType, ...] = ()

    def node_types(self) -> tuple[NodeType, ...]:
        """The node types."""
        return tuple(self._current(NodeType).values())

    def edge_types(self) -> tuple[EdgeType, ...]:
        """The edge types."""
        return tuple(self._current(EdgeType).values())

    def node_type(self, name: str) -> NodeType:
        """A node type by its name.

        Raises:
            SchemaError: There is none; the message offers the nearest names.
        """
        return self._named(NodeType, name)

    def edge_type(self, name: str) -> EdgeType:
        """An edge type by its name.

        Raises:
            SchemaError: There is none; the message offers the nearest names.
        """
        return self._named(EdgeType, name)

    def _current(self, made: type[_Kind]) -> dict[str, _Kind]:
        """Returns the node types, or the edge types, by name; of two of a name the last one."""
        return {kind.name: kind for kind in self.types if type(kind) is made}

    def _named(self, made: type[_Kind], name: str) -> _Kind:
        current = self._current(made)
        if name not in current:
            what = "edge type" if made is EdgeType else "node type"
            raise SchemaError(f"there is no {what} {name!r}; {nearest(name, current)}")
        return current[name]

    def check_node(self, name: str, properties: Mapping[str, Any]) -> None:
        """Raises SchemaError unless a node of this type may have exactly these properties."""
        _check_properties(self.node_type(name), properties)

    def check_edge(
        self, name: str, source_type: str, target_type: str, properties: Mapping[str, Any] | None = None
    ) -> None:
        """Raises SchemaError unless an edge of this type may join nodes of these types with these properties."""
        kind = self.edge_type(name)
        ends = [(source_type, target_type)] + ([(target_type, source_type)] if kind.symmetric else [])
        sources, targets = kind.source_types, kind.target_types
        if not any((not sources or one in sources) and (not targets or other in targets) for one, other in ends):
            raise SchemaError(
                f"edge {name!r} leads from {'|'.join(sources) or 'any node'} to {'|'.join(targets) or 'any node'}, "
                f"not from {source_type} to {target_type}"
            )
        _check_properties(kind, properties or {})

    def with_type(self, new: NodeType | EdgeType) -> Schema:
        """This schema with one more type.

        Raises:
            SchemaError: The type is not well-formed, its name is taken, or it says what another says already.
        """
        self._check(new)
        taken = next((kind for kind in (*self.edge_types(), *self.node_types()) if kind.name == new.name), None)
        if taken is not None:
            raise SchemaError(f"the name {new.name!r} is taken: {taken.description}")
        twin = next((kind for kind in self._current(type(new)).values() if alike(new, kind)), None)
        if twin is not None:
            raise SchemaError(
                f"{new.name!r} says what {twin.name!r} says already ({twin.description}): use {twin.name!r}"
            )
        return replace(self, types=(*self.types, new))

    def with_changed(self, changed: NodeType | EdgeType) -> Schema:
        """This schema with another content of a type.

        Raises:
            SchemaError: There is no such type to change, or the new content is not well-formed.
        """
        self._named(type(changed), changed.name)
        self._check(changed)
        return Schema(tuple(changed if kind.name == changed.name else kind for kind in self.types))

    def _check(self, new: NodeType | EdgeType) -> None:
        """Raises SchemaError unless a type is well-formed and its ends are node types."""
        check_type(new)
        for name in (*new.source_types, *new.target_types) if isinstance(new, EdgeType) else ():
            self.node_type(name)


def alike(new: NodeType, existing: NodeType) -> bool:
    """Whether two types have one name, by the stems of its words; a label of a node type is a name too."""
    is_edge = isinstance(new, EdgeType)  # labels of edges are shared by several
    names = [{_name_stems(name) for name in (kind.name, *(() if is_edge else kind.labels))} for kind in (new, existing)]
    return bool(names[0] & names[1])


def spelled(name: str) -> str:
    """Returns a type's name as words: "credit rating" for ``CreditRating`` and ``credit_rating``."""
    return " ".join(_WORDS.findall(name)).lower()


def _name_stems(name: str) -> frozenset[str]:
    return frozenset(map(stem, spelled(name).split()))


def check_type(new: NodeType | EdgeType) -> None:
    """Raises SchemaError unless a type is well-formed: its name, description, labels, JSON Schema and example."""
    wanted, style = (_EDGE_NAME, "snake_case") if isinstance(new, EdgeType) else (_NODE_NAME, "PascalCase")
    if not re.fullmatch(wanted, new.name):
        raise SchemaError(f"a type's name must be {style}, got {new.name!r}")
    if new.created_by == "agent" and not str(new.justification).strip():
        raise SchemaError(f"{new.name!r} needs a justification: why do the existing types not suffice?")
    for what, content in (("JSON Schema", new.properties_schema), ("example", new.example)):
        if len(_as_json(new.name, what, content)) > LONGEST:
            raise SchemaError(f"the {what} of {new.name!r} is longer than {LONGEST} characters")
    record = json.loads(_as_json(new.name, "type", vars(new)))
    broken = _broken(Draft202012Validator(_TYPE), record)
    if broken:
        known = f"a type's JSON Schema may be {DEEPEST} rules deep and have the keywords {', '.join(sorted(KEYWORDS))}"
        raise SchemaError(f"{new.name!r} is not well-formed: {'; '.join(broken)}; {known}")
    try:
        Draft202012Validator.check_schema(record["properties_schema"])
    except InvalidJsonSchema as error:
        raise SchemaError(f"the JSON Schema of {new.name!r} is not valid: {error.message}") from error
    unknown = set(new.required) - set(new.properties)
    if unknown:
        raise SchemaError(f"{new.name!r} requires {', '.join(sorted(unknown))}, which its properties do not describe")
    _check_properties(new, new.example, "the example of ")


def _rule(levels: int) -> dict[str, Any]:
    """Returns the JSON Schema of a rule for a value: itself a JSON Schema, with this many levels of rules inside."""
    inner = _rule(levels - 1) if levels else False
    own = {
        LABELS: _LABELS,
        "title": {"type": "string"},
        "items": inner,
        "anyOf": {"type": "array", "items": inner},
        "properties": {"type": "object", "additionalProperties": inner},
        "additionalProperties": {"type": "boolean"},
    }
    return {"type": "object", "properties": {**dict.fromkeys(KEYWORDS, True), **own}, "additionalProperties": False}


_LABELS = {
    "type": "array",
    "maxItems": MOST_LABELS,
    "items": {"type": "string", "pattern": r"\S", "maxLength": LONGEST_LABEL},
}
_OBJECT_RULE = {
    **_rule(DEEPEST),
    "required": ["type"],
    "allOf": [
        {"properties": {"type": {"const": "object"}, "properties": {"propertyNames": {"pattern": _PROPERTY_NAME}}}}
    ],
}
_TYPE = {
    "properties": {
        "description": {"type": "string", "pattern": r"\S"},
        "labels": _LABELS,
        "inverse_labels": _LABELS,
        "properties_schema": _OBJECT_RULE,
        "example": {"type": "object"},
    }
}
"""The JSON Schema of a type. A type's own JSON Schema has no references, conditions and patterns, and little depth."""


def _as_json(name: str, what: str, content: object) -> str:
    try:
        text = json.dumps(content, ensure_ascii=False, allow_nan=False)
        text.encode("utf-8")  # half of a pair of characters cannot be stored
        return text
    except (TypeError, ValueError, RecursionError) as error:
        raise SchemaError(f"the {what} of {name!r} is not JSON: {error}") from error


def _broken(validator: Any, record: object) -> list[str]:
    """Returns every rule that a record breaks, each with its place."""
    errors = sorted(validator.iter_errors(record), key=lambda error: list(map(str, error.path)))
    return [f"{'.'.join(map(str, error.absolute_path)) or 'properties'}: {error.message}" for error in errors]


def _check_properties(kind: NodeType | EdgeType, properties: Mapping[str, Any], owner: str = "") -> None:
    """Raises SchemaError with every rule that the properties break."""
    if not isinstance(properties, Mapping):
        raise SchemaError(f"{owner}{kind.name}: properties must be an object, got {type(properties).__name__}")
    # stored figures are decimals, which JSON does not know
    plain = {name: float(value) if isinstance(value, Decimal) else value for name, value in properties.items()}
    _as_json(kind.name, "properties", plain)
    try:
        broken = _broken(_validator(json.dumps(dict(kind.properties_schema), sort_keys=True)), plain)
    except OverflowError as error:
        raise SchemaError(f"{owner}{kind.name}: a number is too large: {error}") from error
    unknown = sorted(set(properties) - set(kind.properties))
    if unknown:
        broken.append(f"{', '.join(unknown)}: not a property of the type; {nearest(unknown[0], kind.properties)}")
    if broken:
        raise SchemaError(f"{owner}{kind.name}: {'; '.join(broken)}")


@cache
def _validator(schema: str) -> Any:
    return Draft202012Validator(json.loads(schema), format_checker=_FORMATS)


_FORMATS = FormatChecker(formats=())
for _format, _read in (
    ("date", date.fromisoformat),
    ("date-time", lambda text: read_date(text) or datetime.fromisoformat(text)),  # also a day, a month, a year
):
    _FORMATS.checks(_format, raises=ValueError)(
        lambda value, read=_read: not isinstance(value, str) or bool(read(value))
    )
