"""Signatures narrowed, call by call, to the names of the report's graph: no other can be returned.

>>> narrowed = understand_about(Understand, index)
>>> narrowed.output_fields["understanding"].annotation.model_json_schema()["properties"]["periods"]["items"]["enum"]
['2008', '2009']

A name that differs from one of the graph only by case or spaces is read as that one. Any other name is left out, as no
lookup could use it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, TypeAdapter, WithJsonSchema, create_model

from kg.figures import ReportIndex
from programs.lm import ALL_CHOICES
from programs.wording.reports import line_items, periods_of
from signatures.understanding import Understanding

NO_KIND = "none"
"""The kind of statement of a question that is about none in particular; a choice must be some text."""

MOST_NAMES = 120
"""Names of one field at the most; a report that has more keeps the field open."""


def pick_among(signature: Any, count: int, most: int | None = None) -> Any:
    """A signature with ``choice`` narrowed to 0 (none) and the numbers of ``count`` candidates.

    Args:
        signature: The signature of the choice.
        count: The number of candidates.
        most: The number that a prompt of finpath's own adapter states in place of ``count``. Prompts about fewer
            candidates then begin alike, so instructions and demonstrations are read once.
    """
    if signature.output_fields["choice"].annotation is not int:
        return signature  # an optimizer has given the field a type of its own
    return _picking(signature, count, most)


@lru_cache(maxsize=64)
def _picking(signature: Any, count: int, most: int | None) -> Any:
    among: Any = Literal[tuple(range(count + 1))]
    if most is not None and most >= count:
        listed = {**TypeAdapter(among).json_schema(), ALL_CHOICES: list(range(most + 1))}
        among = Annotated[among, WithJsonSchema(listed)]
    return signature.with_updated_fields("choice", type_=among)


def understand_about(signature: Any, index: ReportIndex) -> Any:
    """A signature whose ``understanding`` names only what a report has.

    Operands stay open: each names a line item and a period together, too many pairs to list, so that
    :mod:`kg.candidates.proposals` looks them up.
    """
    annotation = signature.output_fields["understanding"].annotation
    if annotation is not Understanding:
        return signature
    kinds = dict.fromkeys(one.entity_type for one in index.reported() if not one.in_header)
    narrowed = _understanding(tuple(line_items(index)), tuple(periods_of(index)), tuple(kinds))
    return signature.with_updated_fields("understanding", type_=narrowed)


@lru_cache(maxsize=64)
def _understanding(items: tuple[str, ...], periods: tuple[str, ...], kinds: tuple[str, ...]) -> type[Understanding]:
    fields: dict[str, Any] = {}
    for name, names in (("properties", items), ("periods", periods)):
        if names and len(names) <= MOST_NAMES:
            about = Understanding.model_fields[name].description
            of_graph: Any = list[Literal[names]]  # type: ignore[valid-type]
            fields[name] = (Annotated[of_graph, BeforeValidator(_known(names))], Field(description=about))
    if kinds and len(kinds) <= MOST_NAMES:
        about = Understanding.model_fields["entity_type"].description
        kind: Any = Literal[(NO_KIND, *kinds)]
        read = BeforeValidator(_one(kinds))
        fields["entity_type"] = (Annotated[kind, read], Field(default=NO_KIND, description=about))
    narrowed: type[Understanding] = create_model("Understanding", __base__=_Narrowed, **fields)
    return narrowed


class _Narrowed(Understanding):
    """An understanding of a narrowed type, which pickles as one of the general type."""

    def __reduce__(self) -> Any:
        return Understanding.model_validate, (self.model_dump(),)


def _known(names: Sequence[str]) -> Any:
    """Reads a list of names, leaving out those that are not known."""
    folded = {_folded(name): name for name in names}

    def read(value: Any) -> Any:
        if not isinstance(value, list):
            return value
        return [folded[_folded(item)] for item in value if isinstance(item, str) and _folded(item) in folded]

    return read


def _one(names: Sequence[str]) -> Any:
    """Reads one name, or :data:`NO_KIND` for an unknown one."""
    folded = {_folded(name): name for name in names}

    def read(value: Any) -> Any:
        return folded.get(_folded(value), NO_KIND) if isinstance(value, str) else value

    return read


def _folded(text: str) -> str:
    return " ".join(text.lower().split())
