"""The steps of derivations: their operands, their operations, and the syntax in which they are written.

    >>> [str(step) for step in parse_steps("subtract(5, 3), divide(#0, 3)")]
    ['subtract(5, 3)', 'divide(#0, 3)']

:mod:`kg.search.derivation` describes the language.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Decimal
from typing import Literal

from kg.errors import ProgramError
from kg.text import find_quantities

Names = tuple[str, ...]
"""The labels of rows, columns or years, in the order asked for."""

_ROUNDED = Decimal("0.00001")

Answer = Decimal | Literal["yes", "no"] | Names
"""The result of a derivation: a number, ``yes``/``no`` for ``greater``, or names for labelled figures."""


def merge_key(answer: Decimal | str | Names) -> Decimal | str | Names:
    """A key that is equal for answers equal to five decimal places, the precision of the official metric."""
    if isinstance(answer, str):
        return answer
    if isinstance(answer, tuple):
        return tuple(" ".join(name.lower().split()) for name in answer)
    if answer.adjusted() > 20:  # the default decimal context cannot round it exactly
        return answer.normalize()
    return answer.quantize(_ROUNDED, rounding=ROUND_HALF_EVEN) + 0


@dataclass(frozen=True)
class Number:
    """A figure, as the program language writes it.

    Attributes:
        text: The figure without currency signs and thousands separators, such as ``-913``, ``4.00`` or ``4.02%``.
        path: The path through the graph that ends in the figure, if it was looked up there.
        source: The identifier of the cell or span in the report graph, if it was looked up there.
    """

    text: str
    path: str | None = None
    source: str | None = None

    @property
    def value(self) -> Decimal:
        """The number; ``N%`` means N/100."""
        digits = self.text.removesuffix("%")
        number = Decimal(digits)
        return number / 100 if digits != self.text else number

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Constant:
    """A constant of the language: ``const_100``, or ``const_m1`` for -1."""

    name: str

    @property
    def value(self) -> Decimal:
        """The number."""
        digits = self.name.removeprefix("const_")
        return -Decimal(digits[1:]) if digits.startswith("m") else Decimal(digits)

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class StepResult:
    """``#index``: the result of an earlier step of the same derivation."""

    index: int

    def __str__(self) -> str:
        return f"#{self.index}"


@dataclass(frozen=True)
class RowLabel:
    """The label of a table row, the first argument of a ``table_*`` operation."""

    label: str

    def __str__(self) -> str:
        return self.label


@dataclass(frozen=True)
class Labelled:
    """A label with its figure, or with its later and its earlier figure: ``"2009"=206588``, ``"east"=(12, 10)``.

    The result of an earlier step may stand in place of a figure: ``"2009"=#0``.
    """

    label: str
    numbers: tuple[Number | StepResult, ...]

    def __str__(self) -> str:
        figures = ", ".join(map(str, self.numbers))
        return f"{json.dumps(self.label, ensure_ascii=False)}={figures if len(self.numbers) == 1 else f'({figures})'}"


Operand = Number | Constant | StepResult | RowLabel | Labelled


@dataclass(frozen=True)
class Step:
    """One operation over its operands; ``select`` (a look-up) has one, ``table_*`` has a row, all others have two."""

    operation: str
    operands: tuple[Operand, ...]

    def __str__(self) -> str:
        if self.operation == "select":
            return str(self.operands[0])
        padding = ["none"] if self.operation.startswith("table_") else []
        return f"{self.operation}({', '.join([*map(str, self.operands), *padding])})"


BINARY_OPERATIONS: dict[str, Callable[[Decimal, Decimal], Answer]] = {
    "add": lambda first, second: first + second,
    "subtract": lambda first, second: first - second,
    "multiply": lambda first, second: first * second,
    "divide": lambda first, second: first / second,
    "exp": lambda first, second: first**second,
    "greater": lambda first, second: "yes" if first > second else "no",
}

LONG_OPERATIONS: dict[str, Callable[[Sequence[Decimal]], Decimal]] = {
    "sum": lambda numbers: sum(numbers, Decimal(0)),
    "average": lambda numbers: sum(numbers, Decimal(0)) / len(numbers),
    "max": max,
    "min": min,
}
"""Operations over one or more numbers."""

TABLE_OPERATIONS = {f"table_{name}": operation for name, operation in LONG_OPERATIONS.items()}
"""The same over a row of the table."""

_MEASURES: dict[str, tuple[int, Callable[..., Decimal]]] = {
    "": (1, lambda value: value),
    "_difference": (2, lambda later, earlier: later - earlier),
    "_change": (2, lambda later, earlier: (later - earlier) / abs(earlier)),
}
NAMED_OPERATIONS = {
    f"{name}{suffix}": measure for suffix, measure in _MEASURES.items() for name in ("argmax", "argmin")
}
"""Operations over labelled figures, by name: how many figures a label has, and the measure that is compared."""

_NUMBER = re.compile(r"-?(?:\d+(?:\.\d+)?|\.\d+)%?")
_FIGURE = rf"(?:{_NUMBER.pattern}|#\d+)"
_FIGURES = rf"{_FIGURE}(?:\s*,\s*{_FIGURE})*"
_LABELLED = re.compile(rf'\s*("(?:[^"\\]|\\.)*")\s*=\s*(?:({_FIGURE})|\(\s*({_FIGURES})\s*\))\s*(,|\))')
_CONSTANT = re.compile(r"const_m?\d+(?:\.\d+)?")
_NAMED_STEP = re.compile(rf"\s*({'|'.join(NAMED_OPERATIONS)})\(\s*((?:{_CONSTANT.pattern}\s*,\s*)*)")
_STEP = re.compile(r"\s*([a-z_]+)\(([^()]*(?:\([^()]*\)[^()]*)*)\)\s*(?:,|$)")


def _parse_operand(text: str, place: int, program: str) -> Number | Constant | StepResult:
    if _NUMBER.fullmatch(text):
        return Number(text)
    if _CONSTANT.fullmatch(text):
        return Constant(text)
    if re.fullmatch(r"#\d+", text):
        index = int(text[1:])
        if index >= place:
            raise ProgramError(f"{program!r}: step {place} refers to {text}, which is not an earlier step")
        return StepResult(index)
    raise ProgramError(f"{program!r}: {text!r} is neither a number, a constant nor a step")


def _parse_step(operation: str, arguments: str, place: int, program: str) -> Step:
    if operation in TABLE_OPERATIONS:
        label, _, rest = arguments.rpartition(",")
        if rest.strip() != "none":
            raise ProgramError(f"{program!r}: {operation} takes a row label and 'none', got {arguments!r}")
        return Step(operation, (RowLabel(label.strip()),))
    if operation not in BINARY_OPERATIONS and operation not in LONG_OPERATIONS:
        known = ", ".join([*BINARY_OPERATIONS, *LONG_OPERATIONS, *TABLE_OPERATIONS, *NAMED_OPERATIONS])
        raise ProgramError(f"{program!r}: unknown operation {operation!r}; the operations are {known}")
    parts = [part.strip() for part in arguments.split(",")]
    if operation in BINARY_OPERATIONS and len(parts) != 2:
        raise ProgramError(f"{program!r}: {operation} takes 2 arguments, got {len(parts)}")
    return Step(operation, tuple(_parse_operand(part, place, program) for part in parts))


def _named_step(match: re.Match[str], place: int, program: str) -> tuple[Step, int]:
    """The step over labelled figures that begins at a match, and the position after it."""
    operation, position = match[1], match.end()
    operands: list[Operand] = [Constant(name) for name in _CONSTANT.findall(match[2])]
    if len(operands) > 1:
        raise ProgramError(f"{program!r}: {operation} takes one constant at most before its labelled figures")
    closing = ","
    while closing == ",":
        one = _LABELLED.match(program, position)
        if one is None:
            raise ProgramError(f"{program!r}: {operation} takes labelled figures, got {program[position:]!r}")
        texts = [text.strip() for text in (one[2] or one[3]).split(",")]
        wanted = NAMED_OPERATIONS[operation][0]
        if len(texts) != wanted:
            raise ProgramError(f"{program!r}: {operation} takes {wanted} figures a label, got {len(texts)}")
        figures = [_parse_operand(text, place, program) for text in texts]
        operands.append(Labelled(json.loads(one[1]), tuple(f for f in figures if not isinstance(f, Constant))))
        position, closing = one.end(), one[4]
    following = re.compile(r"\s*(?:,|$)").match(program, position)
    if following is None:
        raise ProgramError(f"{program!r}: no step can be read from {program[position:]!r}")
    return Step(operation, tuple(operands)), following.end()


def parse_steps(program: str) -> tuple[Step, ...]:
    """Reads the steps of a program; a number or constant alone is one ``select`` step.

    Raises:
        ProgramError: It is not of the language.
    """
    text = program.strip()
    if _NUMBER.fullmatch(text):
        return (Step("select", (Number(text),)),)
    if _CONSTANT.fullmatch(text):
        return (Step("select", (Constant(text),)),)
    steps: list[Step] = []
    position = 0
    while position < len(text):
        named = _NAMED_STEP.match(text, position)
        if named is not None:
            step, position = _named_step(named, len(steps), text)
            steps.append(step)
            continue
        match = _STEP.match(text, position)
        if match is None:
            raise ProgramError(f"{program!r}: no step can be read from {text[position:]!r}")
        steps.append(_parse_step(match[1], match[2], len(steps), program))
        position = match.end()
    if not steps:
        raise ProgramError("the program is empty")
    if text.endswith(","):
        raise ProgramError(f"{program!r}: no step follows the last comma")
    return tuple(steps)


def execute_step(step: Step, results: Sequence[Answer], table: Sequence[Sequence[str]]) -> Answer:
    """The result of a step after ``results``, those of the steps before it.

    Raises:
        ProgramError: It uses ``yes``/``no`` as a number, or a row that the table does not have.
    """
    if step.operation in TABLE_OPERATIONS:
        return TABLE_OPERATIONS[step.operation](_row_values(str(step.operands[0]), table))
    if step.operation in NAMED_OPERATIONS:
        return _names(step, results)
    values = [_number(operand, results) for operand in step.operands]
    if step.operation == "select":
        return values[0]
    if step.operation in LONG_OPERATIONS:
        return LONG_OPERATIONS[step.operation](values)
    return BINARY_OPERATIONS[step.operation](values[0], values[1])


def _names(step: Step, results: Sequence[Answer]) -> Names:
    """The labels that a comparison selects, in their order; labels with equal measures share a rank."""
    measure = NAMED_OPERATIONS[step.operation][1]
    labelled = [operand for operand in step.operands if isinstance(operand, Labelled)]
    constants = [operand.value for operand in step.operands if isinstance(operand, Constant)]
    values = [measure(*(_number(figure, results) for figure in one.numbers)) for one in labelled]
    rank = int(constants[0]) if constants else 1
    sign = -1 if "argmax" in step.operation else 1
    ranked = sorted((sign * value, one.label) for value, one in zip(values, labelled, strict=True))
    last = ranked[min(rank, len(ranked)) - 1][0]
    return tuple(label for value, label in ranked if value <= last)


def _number(operand: Operand, results: Sequence[Answer]) -> Decimal:
    """The value of an operand as a number."""
    if isinstance(operand, Number | Constant):
        return operand.value
    value = results[operand.index] if isinstance(operand, StepResult) else str(operand)
    if not isinstance(value, Decimal):
        raise ProgramError(f"{operand} is {value!r}, not a number")
    return value


def _row_values(label: str, table: Sequence[Sequence[str]]) -> list[Decimal]:
    for row in table:
        if row and row[0].strip().lower() == label.lower():
            values = [figures[0].value for figures in map(find_quantities, row[1:]) if len(figures) == 1]
            if values:
                return values
    raise ProgramError(f"the table has no row {label!r} with numbers")
