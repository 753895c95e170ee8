"""The subset of JSON Schema that types may use: no references, no conditions, no patterns, little depth.

>>> check_schema("Company", {"type": "object", "properties": {"code": {"type": "string", "maxLength": 2}}})
>>> check_schema("Company", {"type": "object", "properties": {"code": {"type": "string", "pattern": "^(a+)+$"}}})
kg.errors.SchemaError: the JSON Schema of 'Company', code: the keyword 'pattern' is not allowed; known are ...

Types come from language models too, and Python's ``re`` can take exponential time for a short text.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from jsonschema import Draft202012Validator, FormatChecker, ValidationError
from jsonschema.exceptions import SchemaError as InvalidJsonSchema
from jsonschema.validators import extend

from kg.errors import SchemaError

KEYWORDS = frozenset(
    """
    $comment $schema additionalProperties anyOf const default description enum examples exclusiveMaximum
    exclusiveMinimum format items maxItems maxLength maxProperties maximum minItems minLength minProperties minimum
    multipleOf properties required title type uniqueItems x-labels x-value-labels
    """.split()  # noqa: SIM905
)
"""The keywords of JSON Schema that a type may use."""

DEEPEST = 6
"""Levels of rules inside rules."""


def check_schema(name: str, schema: Mapping[str, Any]) -> None:
    """Raises SchemaError unless a type's JSON Schema is valid and keeps to the subset."""
    _check_rule(name, schema, "", 0)
    try:
        Draft202012Validator.check_schema(dict(schema))
    except InvalidJsonSchema as error:
        raise SchemaError(f"the JSON Schema of {name!r} is not valid: {error.message}") from error


def _check_rule(name: str, rule: object, place: str, depth: int) -> None:
    where = f"the JSON Schema of {name!r}" + (f", {place}" if place else "")
    if depth > DEEPEST:
        raise SchemaError(f"{where}: rules are nested more than {DEEPEST} deep")
    if not isinstance(rule, Mapping):
        raise SchemaError(f"{where} must be an object, got {rule!r}")
    unknown = sorted(str(key) for key in rule if key not in KEYWORDS)
    if {"$ref", "$dynamicRef"} & set(unknown):
        raise SchemaError(f"{where} refers to another ($ref), which is not allowed")
    if unknown:
        known = ", ".join(sorted(KEYWORDS))
        raise SchemaError(f"{where}: the keyword {unknown[0]!r} is not allowed; known are {known}")
    if not isinstance(rule.get("additionalProperties", False), bool):
        raise SchemaError(f"{where}: additionalProperties must be true or false")
    for place_of, inner in _inner(rule, where):
        _check_rule(name, inner, f"{place}.{place_of}".strip("."), depth + 1)


def _inner(rule: Mapping[str, Any], where: str) -> Iterator[tuple[str, object]]:
    """Yields the rules inside a rule, each with its place."""
    named = rule.get("properties", {})
    if not isinstance(named, Mapping):
        raise SchemaError(f"{where}: properties must be an object, got {named!r}")
    yield from ((str(key), inner) for key, inner in named.items())
    if "items" in rule:
        yield "items", rule["items"]
    choices = rule.get("anyOf", [])
    if not isinstance(choices, list | tuple):
        raise SchemaError(f"{where}: anyOf must be a list, got {choices!r}")
    yield from ((f"anyOf[{number}]", inner) for number, inner in enumerate(choices))


def _refuse_pattern(_: Any, __: object, value: object, ___: Any) -> Iterator[ValidationError]:
    """Yields an error for a pattern in a stored type: earlier versions took one."""
    if isinstance(value, str):
        yield ValidationError("its rule has a pattern, which is not allowed; give the type a new version")


_Validator = extend(Draft202012Validator, {"pattern": _refuse_pattern})


def validator(schema: Mapping[str, Any], formats: FormatChecker) -> Any:
    """Returns a validator that matches no pattern."""
    return _Validator(dict(schema), format_checker=formats)
