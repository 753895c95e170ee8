"""The language of named calculations: its tokens, its constants and its steps.

>>> [token.text for token in read_tokens("([r3c2] − [r3c1]) / 1,000")]
['(', 'r3c2', '-', 'r3c1', ')', '/', '1,000']
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from kg.search import Labelled, Operand, Step, StepResult
from programs.worlds.page.figures import CalculationError

_LARGEST_COUNT = 100
_CALENDAR = (360, 365, 366)
_TOKEN = re.compile(
    r'\s*(?:(?P<text>"(?:[^"\\]|\\.)*")|\[\s*(?P<mark>[a-z]+\d+[a-z\d]*)\s*\]|#(?P<step>\d+)'
    r"|(?P<constant>const_m?\d+(?:\.\d+)?)|(?P<answer>answer\s+\d+)|(?P<word>[a-z_]+\d*[a-z_\d]*)"
    r"|\$?\s?(?P<number>\d{1,3}(?:,\d{3})+(?!\d)(?:\.\d+)?|\d+(?:\.\d+)?|\.\d+)(?P<percent>\s?%)?|(?P<sign>[-+*/^>(),;=]))",
    re.IGNORECASE,
)
_SPELLINGS = {"−": "-", "–": "-", "×": "*", "·": "*", "÷": "/", "“": '"', "”": '"', "\n": "; "}


@dataclass(frozen=True)
class Token:
    """A token of a calculation: its kind, and its text."""

    kind: str
    text: str


SEPARATORS = (Token("sign", ","), Token("sign", ";"))


def read_tokens(text: str) -> list[Token]:
    """The tokens of a calculation.

    Raises:
        CalculationError: A part of the text is no token.
    """
    for written, meant in _SPELLINGS.items():
        text = text.replace(written, meant)
    found: list[Token] = []
    position = 0
    text = text.strip().rstrip(".;, ")
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None or match.lastgroup is None:
            raise CalculationError(f"{text[position : position + 20]!r} is not of the language of calculations")
        kind = "number" if match["number"] else match.lastgroup
        value = match[kind]
        if kind == "number" and match["percent"]:
            value += "%"
        found.append(Token(kind, value))
        position = match.end()
    return found


def is_constant(value: Decimal) -> bool:
    """Whether a number is one of calculation rather than a figure."""
    if value != value.to_integral_value():
        return False
    whole = int(value)
    is_power_of_ten = str(whole).rstrip("0") == "1"
    return whole <= _LARGEST_COUNT or whole in _CALENDAR or is_power_of_ten


def constant_name(value: Decimal) -> str:
    """The name of a constant: ``const_100``, ``const_m1``."""
    digits = format(abs(value).normalize(), "f")
    return f"const_{'m' if value < 0 else ''}{digits}"


def pruned(steps: Sequence[Step], last: int) -> tuple[Step, ...]:
    """The steps that a step uses, itself last, renumbered."""
    used = {last}
    for place in range(last, -1, -1):
        if place in used:
            used |= {found for one in steps[place].operands for found in results_in(one)}
    places = {place: number for number, place in enumerate(sorted(used))}
    return tuple(
        replace(steps[place], operands=tuple(_renumbered(one, places) for one in steps[place].operands))
        for place in sorted(used)
    )


def results_in(operand: Operand) -> list[int]:
    """The earlier steps whose results an operand holds."""
    parts = operand.numbers if isinstance(operand, Labelled) else (operand,)
    return [one.index for one in parts if isinstance(one, StepResult)]


def _renumbered(operand: Operand, places: Mapping[int, int]) -> Operand:
    if isinstance(operand, StepResult):
        return StepResult(places[operand.index])
    if isinstance(operand, Labelled):
        moved = (StepResult(places[one.index]) if isinstance(one, StepResult) else one for one in operand.numbers)
        return replace(operand, numbers=tuple(moved))
    return operand
