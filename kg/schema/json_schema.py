"""The subset of JSON Schema that types may use: no references, little depth, patterns that match in bounded time.

>>> check_schema("Company", {"type": "object", "properties": {"code": {"type": "string", "pattern": "^[A-Z]{2}$"}}})
>>> check_schema("Company", {"type": "object", "properties": {"code": {"type": "string", "pattern": "^(a+)+$"}}})
kg.errors.SchemaError: ... pattern '^(a+)+$' repeats a repetition

Types come from language models too. Python's ``re`` can take exponential time for a short text.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from jsonschema import Draft202012Validator, FormatChecker, ValidationError
from jsonschema.exceptions import SchemaError as InvalidJsonSchema
from jsonschema.validators import extend

from kg.errors import SchemaError

KEYWORDS = frozenset(
    {
        "type",
        "title",
        "description",
        "default",
        "examples",
        "x-labels",
        "x-value-labels",
        "enum",
        "const",
        "format",
        "pattern",
        "minLength",
        "maxLength",
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "multipleOf",
        "items",
        "minItems",
        "maxItems",
        "uniqueItems",
        "properties",
        "required",
        "additionalProperties",
        "anyOf",
        "minProperties",
        "maxProperties",
        "$schema",
        "$comment",
    }
)
"""The keywords of JSON Schema that a type may use."""

DEEPEST = 6
"""Levels of rules inside rules."""

LONGEST_MATCHED = 2_000
"""Characters that a text with a pattern may have."""

MOST_STEPS = 20_000_000
"""Steps that matching a text of this length may take at the most, by the pattern's repetitions."""

_MOST_REPEATS = 1_000


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
        raise SchemaError(
            f"{where}: the keyword {unknown[0]!r} is not allowed; known are {', '.join(sorted(KEYWORDS))}"
        )
    if "pattern" in rule:
        problem = pattern_problem(rule["pattern"])
        if problem is not None:
            raise SchemaError(f"{where}: the pattern {rule['pattern']!r} {problem}")
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


def pattern_problem(pattern: object) -> str | None:
    """Returns why a pattern may not be used, ``None`` where it may."""
    return _problem(pattern) if isinstance(pattern, str) else "is no text"


@cache
def _problem(pattern: str) -> str | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            parsed = re._parser.parse(pattern)  # type: ignore[attr-defined]
    except (re.error, RecursionError, OverflowError, Warning) as error:
        return f"is no regular expression: {error}"
    try:
        steps = _steps(parsed, inside=False)
    except SchemaError as error:
        return str(error)
    anchored = len(parsed) > 0 and str(parsed[0][0]) == "AT" and str(parsed[0][1]).startswith("AT_BEGINNING")
    if steps * (1 if anchored else LONGEST_MATCHED) > MOST_STEPS:
        return "could take too long: it has too many repetitions of variable length"
    return None


def _steps(parsed: Any, *, inside: bool) -> int:
    """Returns a bound on the ways in which a text can be divided among a pattern's repetitions.

    Raises:
        SchemaError: A repetition is repeated, or the pattern looks ahead, behind or back.
    """
    steps = 1
    for operation, argument in parsed:
        name = str(operation)
        if name in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
            least, most, body = argument
            varies = int(most) != least
            if inside and varies:
                raise SchemaError("repeats a repetition")
            most = min(int(most), LONGEST_MATCHED)
            if most > _MOST_REPEATS and least > _MOST_REPEATS:
                raise SchemaError("repeats too often")
            steps *= (most - least + 1 if varies else 1) * _steps(body, inside=inside or most > 1)
        elif name == "SUBPATTERN":
            steps *= _steps(argument[-1], inside=inside)
        elif name == "BRANCH":
            if inside:
                raise SchemaError("repeats a choice")
            steps *= sum(_steps(branch, inside=inside) for branch in argument[1])
        elif name in ("ASSERT", "ASSERT_NOT", "GROUPREF", "GROUPREF_EXISTS", "ATOMIC_GROUP"):
            raise SchemaError("looks ahead, behind or back, which is not allowed")
    return steps


def _matches(_: Any, pattern: object, value: object, __: Any) -> Iterator[ValidationError]:
    """The check of a pattern, in bounded time also for types of earlier versions."""
    if not isinstance(value, str):
        return
    problem = pattern_problem(pattern)
    if problem is not None:
        yield ValidationError(f"the pattern {pattern!r} {problem}; give the type a new version")
    elif len(value) > LONGEST_MATCHED:
        yield ValidationError(f"a text with a pattern may have {LONGEST_MATCHED} characters, got {len(value)}")
    elif not re.search(str(pattern), value):
        yield ValidationError(f"{value!r} does not match {pattern!r}")


_BoundedValidator = extend(Draft202012Validator, {"pattern": _matches})


def validator(schema: Mapping[str, Any], formats: FormatChecker) -> Any:
    """Returns a validator whose patterns match in bounded time."""
    return _BoundedValidator(dict(schema), format_checker=formats)


def repaired(schema: object) -> dict[str, Any]:
    """Returns a stored JSON Schema in which every property has a rule that is an object.

    Earlier versions took ``true`` for a rule, which means the same as an empty one.
    """
    known = dict(schema) if isinstance(schema, Mapping) else {"type": "object"}
    named = known.get("properties", {})
    properties = named if isinstance(named, Mapping) else {}
    if named or "properties" in known:
        known["properties"] = {name: rule if isinstance(rule, Mapping) else {} for name, rule in properties.items()}
    return known
