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
of :data:`~kg.search.steps.NAMED_OPERATIONS` compare labelled figures, and their result is a label::

    >>> Derivation.parse('argmax("2008"=181001, "2009"=206588)').execute()
    ('2009',)
    >>> Derivation.parse('argmin_change("east"=(12, 10), "west"=(11, 10))').execute()
    ('west',)

A constant before the labelled figures says how many labels are asked for, in order: ``argmax(const_3, "a"=1, …)``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Context, DivisionByZero, InvalidOperation, Overflow, localcontext

from kg.errors import UndefinedResult
from kg.search.steps import (
    Answer,
    Constant,
    Labelled,
    Number,
    Operand,
    Step,
    StepResult,
    execute_step,
    parse_steps,
)

_CONTEXT = Context(prec=34, traps=[DivisionByZero, InvalidOperation, Overflow])


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
        return cls(parse_steps(program))

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
        return (step.operation, *map(self._leaf, step.operands))

    def _leaf(self, operand: Operand) -> object:
        if isinstance(operand, StepResult):
            return self.tree(operand.index)
        if isinstance(operand, Labelled) and any(isinstance(one, StepResult) for one in operand.numbers):
            return (operand.label, *map(self._leaf, operand.numbers))
        return str(operand)

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
                    results.append(execute_step(step, results, table))
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
