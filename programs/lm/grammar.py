r"""Grammars that constrain a language model's replies to typed fields.

A JSON schema becomes a grammar in GBNF (the notation of llama.cpp). The layout is JSON, or one ``name: value`` line a
field, which costs a small model fewer tokens and errors.

    >>> schema = {"properties": {"operation": {"enum": ["add", "divide"]}, "periods": {"type": "array",
    ...     "items": {"type": "integer"}}}}
    >>> print(lines_grammar(schema))
    root ::= "operation: " ("add" | "divide") "\n" "periods: " ("none" | integer ("; " integer){0,5})
    integer ::= "-"? ("0" | [1-9] [0-9]{0,14})

Texts and lists are bounded, because a small model may otherwise repeat itself until its tokens run out. Patterns and
ranges of a schema are not in the grammar; the reader of a reply must check them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from kg.errors import ConfigError

LINES = "finpath_lines"
"""The name of a response format whose schema is meant as ``name: value`` lines in place of JSON."""

GBNF = "finpath_gbnf"
"""The name of a response format whose schema holds a grammar as it is: ``{"grammar": "root ::= ..."}``."""

HELD = "x-grammar"
"""A key of a text's schema: rules that the text is held to on its line: ``{"start": NAME, "rules": {NAME: ...}}``."""

Kind = Literal["text", "choice", "integer", "number", "boolean", "list", "json"]
"""The form of a field's value on its line."""

NONE = "none"
"""The form of an empty list on a line."""

MAX_TEXT, MAX_ITEMS = 320, 6
"""The characters of the longest text and the items of the longest list, where the schema has no limit."""

Schema = Mapping[str, Any]

_BASE = {
    "integer": r'"-"? ("0" | [1-9] [0-9]{0,14})',
    "number": r'"-"? ("0" | [1-9] [0-9]{0,14}) ("." [0-9]{1,9})?',
    "unit": '"0" ("." [0-9]{1,4})? | "1"',
    "boolean": '"true" | "false"',
    "null": '"null"',
    "character": r'[^"\\\x00-\x1F\x7F] | "\\" (["\\/bfnrt] | "u" [0-9a-fA-F]{4})',
    "any": "string | number | boolean | null | any-list | any-object",
    "any-list": f'"[" (any (", " any){{0,{MAX_ITEMS - 1}}})? "]"',
    "any-object": f'"{{" (string ": " any (", " string ": " any){{0,{MAX_ITEMS - 1}}})? "}}"',
    "string": f'"\\"" character{{0,{MAX_TEXT}}} "\\""',
}
_NEEDS = {
    "any": ("string", "number", "boolean", "null", "any-list", "any-object"),
    "any-list": ("any",),
    "any-object": ("any", "string"),
    "string": ("character",),
}


def json_grammar(schema: Schema) -> str:
    """Returns the grammar of a schema's JSON texts, with all properties in the schema's order.

    Raises:
        ConfigError: The schema refers to an undefined name.
    """
    rules = _Rules(schema)
    return rules.text(rules.value(schema))


def lines_grammar(schema: Schema) -> str:
    """The grammar of replies with one ``name: value`` line for each property of an object's schema.

    Raises:
        ConfigError: The schema has no properties, or a choice that does not fit on a line.
    """
    properties = schema.get("properties")
    if not properties:
        raise ConfigError("a grammar of lines needs a schema with properties, got none")
    rules = _Rules(schema)
    lines = [f"{quoted(f'{name}: ')} {rules.line(field)}" for name, field in properties.items()]
    return rules.text(' "\\n" '.join(lines))


def line_kind(field: Schema, root: Schema) -> Kind:
    """The format of a field on a line: lists of lists, objects and unions are written as JSON."""
    field = resolve(field, root)
    if "enum" in field or "const" in field:
        return "choice"
    kinds: dict[str, Kind] = {"string": "text", "integer": "integer", "number": "number", "boolean": "boolean"}
    if field.get("type") == "array":
        item = line_kind(field.get("items", {}), root)
        return "json" if item in ("list", "json") else "list"
    return kinds.get(str(field.get("type")), "json")


def choices(field: Schema) -> list[Any]:
    """The values that a field of kind ``choice`` can have."""
    return list(field["enum"]) if "enum" in field else [field["const"]]


def resolve(field: Schema, root: Schema) -> Schema:
    """The field itself, or what it refers to inside ``root``.

    Raises:
        ConfigError: It refers to an undefined name.
    """
    while "$ref" in field or len(field.get("allOf", ())) == 1:
        if "$ref" not in field:
            field = field["allOf"][0]
            continue
        name = str(field["$ref"]).removeprefix("#/$defs/")
        if name not in root.get("$defs", {}):
            raise ConfigError(f"the schema refers to {field['$ref']!r}, which it does not define")
        field = root["$defs"][name]
    return field


class _Rules:
    """The rules of one grammar, collected while its schema is read."""

    def __init__(self, root: Schema) -> None:
        self.root = root
        self.rules: dict[str, str] = {}
        self.names: dict[str, str] = {}

    def text(self, start: str) -> str:
        return "\n".join([f"root ::= {start}", *(f"{name} ::= {body}" for name, body in self.rules.items())])

    def base(self, name: str) -> str:
        if name not in self.rules:
            self.rules[name] = _BASE[name]
            for needed in _NEEDS.get(name, ()):
                self.base(needed)
        return name

    def value(self, field: Schema) -> str:
        """The expression for a value in JSON."""
        if "$ref" in field:
            return self._reference(field)
        field = resolve(field, self.root)
        if "enum" in field or "const" in field:
            return _alternatives([quoted(json.dumps(value, ensure_ascii=False)) for value in choices(field)])
        if options := field.get("anyOf", field.get("oneOf")):
            return _alternatives([self.value(option) for option in options])
        kind = field.get("type")
        if isinstance(kind, list):
            return _alternatives([self.value({**field, "type": one}) for one in kind])
        if kind == "string" and {"maxLength", "minLength"} & set(field):
            least, most = int(field.get("minLength", 0)), int(field.get("maxLength", MAX_TEXT))
            return f'"\\"" {self.base("character")}{{{least},{max(least, most)}}} "\\""'
        if kind == "array":
            return f'"[" {_repeated(self.value(field.get("items", {})), ", ", field)} "]"'
        if kind == "object":
            return self._object(field)
        # Only the bounds of a probability become part of the grammar.
        if kind == "number" and (field.get("minimum"), field.get("maximum")) == (0, 1):
            return self.base("unit")
        return self.base(str(kind) if kind in ("boolean", "null", "string", "integer", "number") else "any")

    def _reference(self, field: Schema) -> str:
        """Returns a separate rule, for types that contain themselves."""
        reference = str(field["$ref"])
        if reference not in self.names:
            plain = re.sub(r"[^a-zA-Z0-9]+", "-", reference.removeprefix("#/$defs/")).strip("-").lower()
            self.names[reference] = name = f"type{len(self.names)}-{plain}"
            self.rules[name] = ""
            self.rules[name] = self.value(resolve(field, self.root))
        return self.names[reference]

    def _object(self, field: Schema) -> str:
        if properties := field.get("properties"):
            pairs = [f"{quoted(f'{json.dumps(name)}: ')} {self.value(value)}" for name, value in properties.items()]
            return '"{" ' + ' ", " '.join(pairs) + ' "}"'
        more = field.get("additionalProperties")
        if not isinstance(more, Mapping) or not more:
            return self.base("any-object") if more is not False else '"{}"'
        pair = f'{self.base("string")} ": " {self.value(more)}'
        return f'"{{" {_repeated(pair, ", ", {})} "}}"'

    def line(self, field: Schema) -> str:
        """The expression for a value on a line."""
        field = resolve(field, self.root)
        if (held := field.get(HELD)) is not None:
            self.rules |= held["rules"]
            return str(held["start"])
        kind = line_kind(field, self.root)
        if kind == "text":
            most = min(int(field.get("maxLength", MAX_TEXT)), MAX_TEXT * 4)
            return f"[^ \\n] [^\\n]{{0,{max(most - 1, 0)}}}"
        if kind == "list":
            item = resolve(field.get("items", {}), self.root)
            expression = "[^ ;\\n] [^;\\n]{0,59}" if line_kind(item, self.root) == "text" else self.line(item)
            least = int(field.get("minItems", 0))
            some = _repeated(expression, "; ", {**field, "minItems": max(least, 1)})
            return some if least else f"({quoted(NONE)} | {some})"
        if kind == "choice":
            texts = list(map(written_choice, choices(field)))
            for text in texts:
                if not text.strip() or "\n" in text or "\r" in text:
                    raise ConfigError(f"a choice must be some text on one line, got {text!r}")
            return _alternatives(list(map(quoted, texts)))
        return self.base("boolean") if kind == "boolean" else self.value(field)


def written_choice(value: Any) -> str:
    """Returns a choice in the notation of a line: texts as they are, everything else as in JSON."""
    return value if isinstance(value, str) else json.dumps(value)


def _repeated(item: str, separator: str, field: Schema) -> str:
    least = int(field.get("minItems", 0))
    most = max(int(field.get("maxItems", MAX_ITEMS)), least, 1)
    wrapped = item if re.fullmatch(r"[a-zA-Z0-9-]+", item) else f"({item})"
    rest = f"{wrapped} ({quoted(separator)} {wrapped}){{{max(least - 1, 0)},{most - 1}}}"
    return rest if least else f"({rest})?"


def _alternatives(options: Sequence[str]) -> str:
    return f"({' | '.join(options)})" if len(options) > 1 else options[0]


def quoted(text: str) -> str:
    """Returns a text as a literal of a grammar."""
    escapes = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"}
    return '"' + "".join(escapes.get(character, character) for character in text) + '"'
