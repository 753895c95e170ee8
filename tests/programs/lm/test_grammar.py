from __future__ import annotations

from enum import Enum
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field

from kg.errors import ConfigError
from programs.lm.grammar import HELD, json_grammar, line_kind, lines_grammar, resolve, written_choice


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


class Item(BaseModel):
    label: str
    amount: float


class Tree(BaseModel):
    name: str
    children: list[Tree] = []


def rules(grammar: str) -> dict[str, str]:
    return dict(line.split(" ::= ", 1) for line in grammar.splitlines())


def fields(**annotations: Any) -> dict[str, Any]:
    model = type("Fields", (BaseModel,), {"__annotations__": annotations})
    return model.model_json_schema()  # type: ignore[attr-defined,no-any-return]


def test_one_line_a_field() -> None:
    grammar = rules(lines_grammar(fields(operation=Literal["add", "divide"], count=int, periods=list[int], sure=bool)))
    assert grammar["root"] == (
        '"operation: " ("add" | "divide") "\\n" "count: " integer "\\n" '
        '"periods: " ("none" | integer ("; " integer){0,5}) "\\n" "sure: " boolean'
    )
    assert set(grammar) == {"root", "integer", "boolean"}


def test_json_has_every_property_in_order() -> None:
    grammar = rules(json_grammar(fields(label=str, amount=float)))
    assert grammar["root"] == '"{" "\\"label\\": " string ", " "\\"amount\\": " number "}"'
    assert grammar["string"] == '"\\"" character{0,320} "\\""'


def test_a_probability_is_between_0_and_1() -> None:
    grammar = rules(lines_grammar(fields(confidence=Annotated[float, Field(ge=0, le=1)])))
    assert grammar["root"] == '"confidence: " unit'
    assert grammar["unit"] == '"0" ("." [0-9]{1,4})? | "1"'


def test_lengths_of_the_schema_are_kept() -> None:
    schema = fields(code=Annotated[str, Field(min_length=2, max_length=3)])
    assert "character{2,3}" in json_grammar(schema)
    some = fields(codes=Annotated[list[int], Field(min_length=1, max_length=2)])
    assert rules(lines_grammar(some))["root"] == '"codes: " integer ("; " integer){0,1}'


def test_types_may_hold_themselves() -> None:
    grammar = rules(json_grammar(Tree.model_json_schema()))
    assert grammar["root"] == "type0-tree"
    assert "type0-tree" in grammar["type0-tree"]


def test_objects_unions_and_free_values_are_json_on_a_line() -> None:
    schema = fields(item=Item, either=int | None, anything=dict[str, Any], colour=Colour)
    kinds = {name: line_kind(field, schema) for name, field in schema["properties"].items()}
    assert kinds == {"item": "json", "either": "json", "anything": "json", "colour": "choice"}
    grammar = rules(lines_grammar(schema))
    assert '"either: " (integer | null)' in grammar["root"]
    assert '"anything: " any-object' in grammar["root"]
    assert {"any", "any-list", "any-object", "string", "number", "null"} <= set(grammar)


def test_names_are_quoted() -> None:
    grammar = rules(lines_grammar({"properties": {"x": {"enum": ['a "b" \\ c', 2, True]}}}))
    assert grammar["root"] == '"x: " ("a \\"b\\" \\\\ c" | "2" | "true")'


@pytest.mark.parametrize("value", ["", "  ", "a\nb"])
def test_a_choice_that_does_not_fit_on_a_line_is_refused(value: str) -> None:
    with pytest.raises(ConfigError, match="a choice must be some text on one line"):
        lines_grammar({"properties": {"x": {"enum": ["fine", value]}}})


def test_a_schema_without_fields_is_refused() -> None:
    with pytest.raises(ConfigError, match="needs a schema with properties"):
        lines_grammar({"type": "string"})


def test_a_reference_to_nothing_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"refers to '#/\$defs/Gone'"):
        resolve({"$ref": "#/$defs/Gone"}, {})


def test_choices_are_written_as_they_are_or_as_json() -> None:
    assert [written_choice(value) for value in ("text", 2, True, None)] == ["text", "2", "true", "null"]


def test_a_text_may_be_held_to_rules_of_its_own() -> None:
    held = {"type": "string", HELD: {"start": "total", "rules": {"total": '"a" | part', "part": '"b"'}}}
    root = {"properties": {"meaning": {"type": "string"}, "total": held}}
    grammar = rules(lines_grammar(root))
    assert grammar["root"].endswith('"\\n" "total: " total')
    assert (grammar["total"], grammar["part"]) == ('"a" | part', '"b"')
    assert line_kind(held, root) == "text", "the reply's value is read as any other text"
