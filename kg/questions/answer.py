"""The answer of a question about a graph of entities: entities, values, a number, yes or no.

>>> plain(Decimal("16.905388"))
'16.90539'
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Literal


@dataclass(frozen=True)
class PropertyValue:
    """A literal value of an entity: a number, or the text where it is none."""

    entity: str
    property: str
    value: Decimal | str


@dataclass(frozen=True)
class EntityAnswer:
    """The answer of a question about a graph.

    Attributes:
        entities: The entities that it asks for, or whose values it asks for by a set of its own.
        values: The values that it asks for, or from which ``answer`` is calculated.
        answer: The number, ``yes`` or ``no``, where it asks for one.
        subjects: The entities that the question names.
        properties: The properties that it asks for.
        facts: The triples and comparisons that the answer rests on, as paths.
    """

    entities: tuple[str, ...] = ()
    values: tuple[PropertyValue, ...] = ()
    answer: Decimal | Literal["yes", "no"] | None = None
    subjects: tuple[str, ...] = ()
    properties: tuple[str, ...] = ()
    facts: tuple[str, ...] = ()


def plain(number: Decimal | None) -> str:
    """A number with at most five decimal places and no trailing zeros."""
    if number is None:
        return "none"
    rounded = number.quantize(Decimal("0.00001")) if number.adjusted() < 20 else number
    return format(rounded.normalize() if rounded else Decimal(0), "f")
