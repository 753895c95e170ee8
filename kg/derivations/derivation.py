"""Derivations: what leads from figures to an answer, and their arithmetic.

Written in ConvFinQA's program language and executed in decimal arithmetic::

    >>> derivation = Derivation.parse("subtract(206588, 181001), divide(#0, 181001)")
    >>> round(derivation.execute(), 5)
    Decimal('0.14136')

A program is either one number or constant (a look-up alone) or a comma-separated list of steps
``operation(argument, argument)``. An argument is a number (``181001``), a percentage (``4.02%``, which means 0.0402),
a constant (``const_100``, ``const_m1``), the result of an earlier step of the same program (``#0``) or, for the
``table_*`` operations, the label of a table row. Source of the language: FinQA (Chen et al., 2021) and ConvFinQA (Chen
et al., 2022).

Two kinds of steps are finpath's own. ``sum``, ``average``, ``max`` and ``min`` take one or more numbers. The operations
of :data:`NAMED_OPERATIONS` compare labelled figures, and their result is a label::

    >>> Derivation.parse('argmax("2008"=181001, "2009"=206588)').execute()
    ('2009',)
    >>> Derivation.parse('argmin_change("east"=(12, 10), "west"=(11, 10))').execute()
    ('west',)

A constant before the labelled figures says how many labels are asked for, in order: ``argmax(const_3, "a"=1, …)``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Context, Decimal, DivisionByZero, InvalidOperation, Overflow, localcontext
from typing import Literal

from kg.errors import ProgramError, UndefinedResult

Names = tuple[str, ...]
"""The labels of rows, columns or years, in the order asked for."""

Answer = Decimal | Literal["yes", "no"] | Names
"""The result of a derivation: a number, ``yes``/``no`` for ``greater``, or names for labelled figures."""

_CONTEXT = Context(prec=34, traps=[DivisionByZero, InvalidOperation, Overflow])


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


def _greater(first: Decimal, second: Decimal) -> Answer:
    return "yes" if first > second else "no"


BINARY_OPERATIONS: dict[str, Callable[[Decimal, Decimal], Answer]] = {
    "add": lambda first, second: first + second,
    "subtract": lambda first, second: first - second,
    "multiply": lambda first, second: first * second,
    "divide": lambda first, second: first / second,
    "exp": lambda first, second: first**second,
    "greater": _greater,
}

TABLE_OPERATIONS: dict[str, Callable[[Sequence[Decimal]], Decimal]] = {
    "table_sum": lambda row: sum(row, Decimal(0)),
    "table_average": lambda row: sum(row, Decimal(0)) / len(row),
    "table_max": max,
    "table_min": min,
}

LONG_OPERATIONS: dict[str, Callable[[Sequence[Decimal]], Decimal]] = {
    name.removeprefix("table_"): operation for name, operation in TABLE_OPERATIONS.items()
}
"""Operations over one or more numbers."""

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
_NAMED_STEP = re.compile(rf"\s*({'|'.join(NAMED_OPERATIONS)})\(\s*(?:(const_\d+)\s*,)?")
_CONSTANT = re.compile(r"const_m?\d+(?:\.\d+)?")
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
    operands: list[Operand] = [] if match[2] is None else [Constant(match[2])]
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


@dataclass(frozen=True)
class Derivation:
    """A sequence of steps, the last of which is the answer. A look-up alone is one ``select`` step."""

    steps: tuple[Step, ...]

    @classmethod
    def parse(cls, program: str) -> Derivation:
        """Reads a program such as ``subtract(5, 3), divide(#0, 3)``, ``206588`` or ``const_100``.

        Raises:
            ProgramError: It is not of the language.
        """
        text = program.strip()
        if _NUMBER.fullmatch(text):
            return cls.look_up(Number(text))
        if _CONSTANT.fullmatch(text):
            return cls.look_up(Constant(text))
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
        return cls(tuple(steps))

    @classmethod
    def look_up(cls, number: Number | Constant) -> Derivation:
        """The derivation of one step that only looks a figure up."""
        return cls((Step("select", (number,)),))

    @classmethod
    def combine(cls, operation: str, first: Derivation, second: Derivation) -> Derivation:
        """``operation`` over the results of two derivations, whose steps come first; equal steps are written once."""
        steps: list[Step] = []
        results = [_append(steps, part) for part in (first, second)]
        steps.append(Step(operation, tuple(results)))
        return cls(tuple(steps))

    def with_calculations(self, parts: Mapping[str, Derivation]) -> Derivation:
        """The derivation with figures replaced by calculations.

        Args:
            parts: The calculation that stands for each figure, by the figure's source.
        """
        if not any(number.source in parts for number in self.numbers):
            return self
        steps: list[Step] = []
        places: list[int] = []

        def moved(operand: Operand) -> Operand:
            if isinstance(operand, StepResult):
                return StepResult(places[operand.index])
            if isinstance(operand, Labelled):
                figures = map(moved, operand.numbers)
                return Labelled(operand.label, tuple(f for f in figures if isinstance(f, Number | StepResult)))
            part = parts.get(operand.source or "") if isinstance(operand, Number) else None
            return operand if part is None else _append(steps, part)

        for step in self.steps:
            operands = tuple(map(moved, step.operands))
            if step.operation != "select" or not isinstance(operands[0], StepResult):
                steps.append(Step(step.operation, operands))
            places.append(len(steps) - 1)
        return Derivation(tuple(steps))

    @property
    def is_look_up(self) -> bool:
        """Whether nothing is calculated."""
        return len(self.steps) == 1 and self.steps[0].operation == "select"

    @property
    def numbers(self) -> tuple[Number, ...]:
        """The figures it looks up, in the order of their use."""
        found: list[Number] = []
        for operand in (operand for step in self.steps for operand in step.operands):
            if isinstance(operand, Number):
                found.append(operand)
            elif isinstance(operand, Labelled):
                found += [number for number in operand.numbers if isinstance(number, Number)]
        return tuple(found)

    @property
    def path(self) -> str:
        """The program with every figure written as its path: ``subtract(CashFlow_2009 -> net_cash -> 206588, …)``."""
        return ", ".join(_written(step) for step in self.steps)

    def tree(self, place: int = -1) -> tuple[object, ...]:
        """A step with its arguments spelled out, equal for equal calculations however their steps are numbered."""
        step = self.steps[place]
        leaves = (self.tree(o.index) if isinstance(o, StepResult) else str(o) for o in step.operands)
        return (step.operation, *leaves)

    def __str__(self) -> str:
        return ", ".join(map(str, self.steps))

    def execute(self, table: Sequence[Sequence[str]] = ()) -> Answer:
        """The answer, exact to 34 digits.

        Args:
            table: Rows of cells, needed by the ``table_*`` operations only.

        Raises:
            UndefinedResult: The arithmetic has no result (division by zero, overflow).
            ProgramError: A step uses ``yes``/``no`` as a number, or a row that the table does not have.
        """
        return self.trace(table)[-1]

    def trace(self, table: Sequence[Sequence[str]] = ()) -> list[Answer]:
        """The result of every step, in order; the last is the answer. Raises as :meth:`execute` does."""
        results: list[Answer] = []
        with localcontext(_CONTEXT):
            for step in self.steps:
                try:
                    results.append(_execute_step(step, results, table))
                except (DivisionByZero, InvalidOperation, Overflow) as error:
                    raise UndefinedResult(f"{self}: {step} has no result") from error
        return results


def _written(step: Step) -> str:
    operands = [_written_operand(operand) for operand in step.operands]
    return operands[0] if step.operation == "select" else f"{step.operation}({', '.join(operands)})"


def _written_operand(operand: Operand) -> str:
    if isinstance(operand, Labelled):
        return ", ".join(map(_written_operand, operand.numbers))
    return operand.path if isinstance(operand, Number) and operand.path is not None else str(operand)


def _append(steps: list[Step], part: Derivation) -> Operand:
    """Appends the steps of ``part`` that are not there yet and returns the operand that stands for its result."""
    places: list[int] = []
    for step in part.steps:
        if step.operation == "select":
            return step.operands[0]
        moved = Step(
            step.operation,
            tuple(StepResult(places[o.index]) if isinstance(o, StepResult) else o for o in step.operands),
        )
        if moved not in steps:
            steps.append(moved)
        places.append(steps.index(moved))
    return StepResult(places[-1])


def _execute_step(step: Step, results: Sequence[Answer], table: Sequence[Sequence[str]]) -> Answer:
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
    """The labels with the largest or smallest measure, in order; labels with equal measures are all named."""
    measure = NAMED_OPERATIONS[step.operation][1]
    labelled = [operand for operand in step.operands if isinstance(operand, Labelled)]
    asked = next((int(operand.value) for operand in step.operands if isinstance(operand, Constant)), 1)
    sign = -1 if step.operation.startswith("argmax") else 1
    values = [[_number(figure, results) for figure in one.numbers] for one in labelled]
    ranked = sorted((sign * measure(*own), one.label) for own, one in zip(values, labelled, strict=True))
    last = ranked[min(asked, len(ranked)) - 1][0]
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
    from kg.text import parse_quantity

    for row in table:
        if row and row[0].strip().lower() == label.lower():
            quantities = [parse_quantity(cell) for cell in row[1:]]
            values = [quantity.value for quantity in quantities if quantity is not None]
            if values:
                return values
    raise ProgramError(f"the table has no row {label!r} with numbers")
