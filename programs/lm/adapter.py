"""An adapter for small local models: short prompts, and replies of one ``name: value`` line a field.

Prompt tokens cost time on a few cores, and a small model can follow a layout with few marks. The prompt of
``Understand`` with one demonstration is::

    system: Say what the last question of a conversation about a financial report asks for.
            Reply with the lines description, properties, operation.
            - description is the question spelled out
            - properties is line items it asks about; several with ; between them, or none
            - operation is one of select, add, subtract
    user:   history: none
            question: what were revenues in 2008?
    reply:  description: the revenues in 2008
            properties: revenues
            operation: select

A field that holds a pydantic model is written as that model's own fields. Where the language model can be held to a
grammar (:class:`programs.lm.engine.EmbeddedEngine`), decoding is constrained to the fields' types. Any other model is
asked for the same layout, and its reply is parsed as far as possible.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import dspy
from dspy.adapters.utils import format_field_value, serialize_for_json
from dspy.utils.exceptions import AdapterParseError
from pydantic import BaseModel, TypeAdapter, ValidationError

from programs.lm.grammar import LINES, NONE, Kind, choices, line_kind, resolve, written_choice

_LONGEST_CHOICES = 240
_HINTS = {
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "list": f"several with ; between them, or {NONE}",
    "json": "JSON",
}
ALL_CHOICES = "x-all-choices"
"""A key of a choice's schema: the alternatives that the prompt shows, where those that it is held to change from
call to call. The prompts then begin alike, and what they share is read once."""


@dataclass(frozen=True)
class Line:
    """One line of a reply.

    Attributes:
        name: The text before the colon.
        field: The signature's output field that it belongs to.
        part: The field of that field's pydantic model, where it is one.
        schema: The JSON schema of its value.
        description: Its description in the prompt.
        required: Whether a reply must have it; a pydantic model's field with a default may be left out.
        kind: The notation of its value.
    """

    name: str
    field: str
    part: str | None
    schema: Mapping[str, Any]
    description: str
    required: bool
    kind: Kind = "json"


@dataclass(frozen=True)
class Layout:
    """The lines of a reply, and the schema that a grammar is made from."""

    lines: tuple[Line, ...]
    schema: Mapping[str, Any]


class ShortPromptAdapter(dspy.Adapter):
    """Writes short prompts, and reads replies of ``name: value`` lines."""

    def __init__(self, callbacks: list[Any] | None = None) -> None:
        super().__init__(callbacks=callbacks, use_native_function_calling=False)

    def __call__(self, lm: Any, lm_kwargs: dict[str, Any], signature: Any, *given: Any, **named: Any) -> Any:
        """Asks the model, held to the fields' types where it can be."""
        return super().__call__(lm, _constrained(lm, lm_kwargs, signature), signature, *given, **named)

    async def acall(self, lm: Any, lm_kwargs: dict[str, Any], signature: Any, *given: Any, **named: Any) -> Any:
        """Asks the model asynchronously."""
        return await super().acall(lm, _constrained(lm, lm_kwargs, signature), signature, *given, **named)

    def format_system_message(self, signature: Any) -> str:
        """The instructions, and the lines to reply with."""
        lines = layout_of(signature).lines
        # Not "name: description": a small model takes that for the reply and copies it.
        explained = [f"- {line.name} is {text}" for line in lines if (text := _explained(line))]
        names = ", ".join(line.name for line in lines)
        return "\n".join([signature.instructions.strip(), f"Reply with the lines {names}.", *explained])

    def format_user_message_content(
        self,
        signature: Any,
        inputs: dict[str, Any],
        prefix: str = "",
        suffix: str = "",
        main_request: bool = False,  # noqa: ARG002 - DSPy's interface
    ) -> str:
        """One ``name: value`` line an input; a value of several lines begins on a line of its own."""
        lines = [prefix] if prefix else []
        for name, field in signature.input_fields.items():
            if name in inputs:
                value = str(format_field_value(field_info=field, value=inputs[name]))
                lines.append(f"{name}:\n{value}" if "\n" in value else f"{name}: {value}")
        return "\n".join([*lines, suffix] if suffix else lines)

    def format_assistant_message_content(
        self, signature: Any, outputs: dict[str, Any], missing_field_message: str | None = None
    ) -> str:
        """A reply as the model should have written it."""
        written = []
        for line in layout_of(signature).lines:
            value = outputs.get(line.field)
            if value is not None and line.part is not None:
                value = value.get(line.part) if isinstance(value, Mapping) else getattr(value, line.part, None)
            missing = value is None and line.kind != "json"
            absent = missing_field_message if missing_field_message is not None else NONE
            text = absent if missing else _written(value, line.kind)
            written.append(f"{line.name}: {text}")
        return "\n".join(written)

    def parse(self, signature: Any, completion: str) -> dict[str, Any]:
        """The typed values of a reply.

        Raises:
            AdapterParseError: A line is missing, or a value is not of its field's type.
        """
        layout = layout_of(signature)
        texts = _texts(layout, completion)
        values: dict[str, Any] = {}
        try:
            for line in layout.lines:
                if line.name not in texts:
                    if not line.required:
                        continue
                    raise ValueError(f"the reply has no line {line.name!r}")
                value = _read(texts[line.name], line, layout.schema)
                if line.part is None:
                    values[line.field] = value
                else:
                    values.setdefault(line.field, {})[line.part] = value
            if missing := [name for name in signature.output_fields if name not in values]:
                raise ValueError(f"the reply has no line of {missing[0]!r}")
            return {
                name: TypeAdapter(field.annotation).validate_python(values[name])
                for name, field in signature.output_fields.items()
            }
        except (ValueError, ValidationError) as error:
            raise AdapterParseError(
                adapter_name="ShortPromptAdapter",
                signature=signature,
                lm_response=completion,
                message=str(error),
                parsed_result=values,
            ) from error


def _constrained(lm: Any, lm_kwargs: dict[str, Any], signature: Any) -> dict[str, Any]:
    """A call's settings, with the schema of the reply where the model can be held to it."""
    if not is_embedded(lm):
        return lm_kwargs
    schema = {"name": LINES, "schema": dict(layout_of(signature).schema)}
    return {**lm_kwargs, "response_format": {"type": "json_schema", "json_schema": schema}}


def suited_adapter(lm: Any) -> dspy.Adapter | None:
    """Returns the adapter for a language model.

    It is finpath's for a model that can be held to lines, and JSON for a user's own server. For all others it is
    ``None``, DSPy's default.
    """
    if is_embedded(lm):
        return ShortPromptAdapter()
    return dspy.JSONAdapter() if getattr(lm, "own_server", False) else None


@lru_cache(maxsize=256)
def layout_of(signature: Any) -> Layout:
    """The lines of a signature's reply."""
    fields: list[tuple[str, str | None, Any, str, bool]] = []
    for name, field in signature.output_fields.items():
        description = str((field.json_schema_extra or {}).get("desc") or "").replace(f"${{{name}}}", "")
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
            fields += [
                (name, part, info.rebuild_annotation(), info.description or "", info.is_required())
                for part, info in field.annotation.model_fields.items()
            ]
        else:
            fields.append((name, None, field.rebuild_annotation(), description, True))
    names = [part if part is not None else name for name, part, *_ in fields]
    definitions: dict[str, Any] = {}
    lines: list[Line] = []
    for (field_name, part, annotation, description, required), name in zip(fields, names, strict=True):
        unique = name if names.count(name) == 1 else f"{field_name}.{name}"
        schema = TypeAdapter(annotation).json_schema()
        definitions |= schema.pop("$defs", {})
        lines.append(Line(unique, field_name, part, schema, description, required))
    root = {"type": "object", "properties": {line.name: line.schema for line in lines}, "$defs": definitions}
    return Layout(tuple(replace(line, kind=line_kind(line.schema, root)) for line in lines), root)


def _explained(line: Line) -> str:
    """The prompt's text about a line's value: its description, and the values that are allowed."""
    if line.kind == "choice":
        named = line.schema.get(ALL_CHOICES) or (choices(line.schema) if {"enum", "const"} & set(line.schema) else ())
        listed = ", ".join(map(written_choice, named))
        # Long choices, such as the names in a report, change from call to call and would break the common beginning.
        hint = f"one of {listed}" if listed and len(listed) <= _LONGEST_CHOICES else "one of the names given"
        return f"{hint} ({line.description})" if line.description else hint
    if line.kind in ("integer", "number") and line.description:
        return line.description
    return "; ".join(text for text in (line.description, _HINTS.get(line.kind)) if text)


def _written(value: Any, kind: Kind) -> str:
    plain = serialize_for_json(value)
    if kind == "list":
        return "; ".join(_one_line(item) for item in plain) if plain else NONE
    return json.dumps(plain, ensure_ascii=False) if kind == "json" else _one_line(plain)


def _one_line(value: Any) -> str:
    return " ".join(written_choice(value).split())


def _texts(layout: Layout, completion: str) -> dict[str, str]:
    """The value of each line; a line that starts with no name continues the one before it."""
    names = {line.name for line in layout.lines}
    texts: dict[str, str] = {}
    current: str | None = None
    for row in completion.strip().splitlines():
        match = re.match(r"\s*([A-Za-z_][\w.]*)\s*:\s?(.*)", row)
        if match and match[1] in names and match[1] not in texts:
            current = match[1]
            texts[current] = match[2]
        elif current is not None:
            texts[current] += f"\n{row}"
    return {name: text.strip() for name, text in texts.items()}


def _read(text: str, line: Line, root: Mapping[str, Any]) -> Any:
    """Returns the value of a line's text, which pydantic then validates."""
    if line.kind == "json":
        return json.loads(text)
    schema = resolve(line.schema, root)
    if line.kind == "list":
        items = [item.strip() for item in text.split(";")]
        present = [item for item in items if item and item.lower() != NONE]
        item_schema = resolve(schema.get("items", {}), root)
        return [_scalar(item, line_kind(item_schema, root), item_schema) for item in present]
    return _scalar(text, line.kind, schema)


def _scalar(text: str, kind: Kind, schema: Mapping[str, Any]) -> Any:
    if kind == "choice":
        by_text = {written_choice(choice): choice for choice in choices(schema)}
        if text not in by_text:
            raise ValueError(f"{text!r} is not one of {', '.join(by_text)}")
        return by_text[text]
    if kind == "boolean":
        if text.lower() not in ("true", "false"):
            raise ValueError(f"{text!r} is neither true nor false")
        return text.lower() == "true"
    return text


class SuitedAdapter(dspy.Adapter):
    """Hands every call to the adapter of :func:`suited_adapter`, or DSPy's default."""

    def __call__(self, lm: Any, *given: Any, **named: Any) -> Any:
        """Asks the model."""
        return (suited_adapter(lm) or dspy.ChatAdapter())(lm, *given, **named)

    async def acall(self, lm: Any, *given: Any, **named: Any) -> Any:
        """Asks the model asynchronously."""
        return await (suited_adapter(lm) or dspy.ChatAdapter()).acall(lm, *given, **named)


def is_embedded(lm: Any) -> bool:
    """Whether a language model runs in this process: it reads lines, and can be held to a grammar."""
    return bool(getattr(getattr(lm, "engine", None), "reads_lines", False))
