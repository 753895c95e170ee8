"""The turns before a question, and how a derivation builds on them.

Nearly all turns of ConvFinQA need at most one operation once every sub-program that equals an earlier turn's program
is read as a reference to that turn::

    turn 0: 206588                                          select(A)
    turn 1: 181001                                          select(A)
    turn 2: subtract(206588, 181001)                        subtract(R, R)
    turn 3: subtract(206588, 181001), divide(#0, 181001)    divide(R, R)

``A`` is a figure of the report, ``R`` an earlier answer and ``C`` a constant, such as ``C100``. Some calculations of
several steps over two operands count as one operation: :data:`COMPOUNDS`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kg.search.derivation import Derivation
from kg.search.steps import (
    LONG_OPERATIONS,
    NAMED_OPERATIONS,
    Answer,
    Constant,
    Number,
    Operand,
    Step,
    StepResult,
)

COMPOUNDS = {
    "change_ratio": "subtract({0}, {1}), divide(#0, {1})",
    "average": "add({0}, {1}), divide(#0, const_2)",
    "drop_ratio": "subtract({0}, {1}), divide(#0, {0})",
    "share": "add({0}, {1}), divide({0}, #0)",
    "divide_thousands": "multiply({0}, const_1000), divide(#0, {1})",
    "divide_millions": "multiply({0}, const_1000000), divide(#0, {1})",
    "multiply_to_millions": "multiply({0}, {1}), divide(#0, const_1000000)",
}
"""Operations that stand for several steps of the program language over two operands, by name.

A ratio less one is read as ``change_ratio``, too.
"""

_SPELLINGS = (*COMPOUNDS.items(), ("change_ratio", "divide({0}, {1}), subtract(#0, const_1)"))
_TEMPLATES = tuple((name, Derivation.parse(steps.format(0, 1))) for name, steps in _SPELLINGS)

SERIES_OPERATIONS = (
    "sum_of", "average_of", "max_of", "min_of", "argmax_pair", "argmin_pair", *NAMED_OPERATIONS, "compound_growth"
)  # fmt: skip
"""Operations over the series of cells between two figures (:mod:`kg.calculations.series`)."""

OPERATIONS = (
    "select", "add", "subtract", "multiply", "divide", "greater", "exp", *COMPOUNDS, *SERIES_OPERATIONS
)  # fmt: skip
"""The operations of one turn over its operands. Fitted weights depend on the order."""


@dataclass(frozen=True)
class PastTurn:
    """An earlier question with the answer that was given to it; both may be ``None`` for a turn that failed.

    ``confidence`` is the probability in [0, 1] that was given to the answer, where it is known.
    """

    question: str
    derivation: Derivation | None
    answer: Answer | None
    confidence: float | None = None


@dataclass(frozen=True)
class Reference:
    """An operand that is the answer of an earlier turn, counted from 0."""

    turn: int


@dataclass(frozen=True)
class TurnOperation:
    """A derivation as one operation over figures, constants and earlier answers."""

    operation: str
    operands: tuple[Number | Constant | Reference, ...]

    @property
    def form(self) -> str:
        """The operation with the kinds of its operands: ``divide(R, A)``, ``multiply(A, C1000)``."""
        return f"{self.operation}({', '.join(map(_kind, self.operands))})"


def _kind(operand: Number | Constant | Reference) -> str:
    if isinstance(operand, Number):
        return "A"
    return "R" if isinstance(operand, Reference) else operand.name.replace("const_", "C")


def collapse(derivation: Derivation, past: Sequence[Derivation | None]) -> TurnOperation | None:
    """Reads sub-programs that equal an earlier turn's as references to that turn, the latest on a tie.

    A look-up stays a look-up: it is never a reference, even where an earlier turn looked the same figure up.

    Returns:
        ``None`` when more than one operation is left.
    """
    trees = [None if earlier is None else earlier.tree() for earlier in past]
    root = derivation.steps[-1]
    whole = _latest(derivation.tree(), trees)
    if root.operation in LONG_OPERATIONS or root.operation in NAMED_OPERATIONS:
        return None  # an operation over a series
    if root.operation == "select":
        operand = root.operands[0]
        return TurnOperation("select", (operand,)) if isinstance(operand, Number | Constant) else None
    if whole is not None:
        return TurnOperation("select", (Reference(whole),))
    operands = [_operand(derivation, operand, trees) for operand in root.operands]
    if None in operands:
        return _compound(derivation, trees)
    return TurnOperation(root.operation, tuple(operand for operand in operands if operand is not None))


def _compound(derivation: Derivation, trees: Sequence[object]) -> TurnOperation | None:
    """The derivation as one of :data:`COMPOUNDS`, if that is what it is."""
    for name, template in _TEMPLATES:
        bound: dict[str, Number | Constant | Reference] = {}
        if _matches(template, template.steps[-1], derivation, StepResult(len(derivation.steps) - 1), trees, bound):
            return TurnOperation(name, (bound["0"], bound["1"]))
    return None


def _matches(
    template: Derivation,
    step: Step,
    derivation: Derivation,
    found: Operand,
    trees: Sequence[object],
    bound: dict[str, Number | Constant | Reference],
) -> bool:
    """Whether an operand of a derivation is calculated as a template's step says; fills in its operands."""
    if not isinstance(found, StepResult) or derivation.steps[found.index].operation != step.operation:
        return False
    for wanted, own in zip(step.operands, derivation.steps[found.index].operands, strict=True):
        if isinstance(wanted, StepResult):
            if not _matches(template, template.steps[wanted.index], derivation, own, trees, bound):
                return False
        elif isinstance(wanted, Constant):
            if wanted != own:
                return False
        else:
            operand = _operand(derivation, own, trees)
            if operand is None or bound.setdefault(str(wanted), operand) != operand:
                return False
    return True


def _operand(derivation: Derivation, operand: Operand, trees: Sequence[object]) -> Number | Constant | Reference | None:
    if isinstance(operand, Constant):
        return operand
    sought = derivation.tree(operand.index) if isinstance(operand, StepResult) else ("select", str(operand))
    turn = _latest(sought, trees)
    if turn is not None:
        return Reference(turn)
    return operand if isinstance(operand, Number) else None


def _latest(sought: object, trees: Sequence[object]) -> int | None:
    return next((turn for turn in range(len(trees) - 1, -1, -1) if trees[turn] == sought), None)


def expand(collapsed: TurnOperation, past: Sequence[Derivation | None]) -> Derivation | None:
    """The complete derivation; ``None`` when it refers to a turn that has no derivation."""
    own = (past[one.turn] if isinstance(one, Reference) else Derivation.look_up(one) for one in collapsed.operands)
    parts = [one for one in own if one is not None]
    if len(parts) < len(collapsed.operands):
        return None
    if collapsed.operation == "select":
        return parts[0]
    if collapsed.operation in COMPOUNDS:
        return spelled_out(Derivation.parse(COMPOUNDS[collapsed.operation].format(0, 1)), parts)
    return Derivation.combine(collapsed.operation, parts[0], parts[1])


def spelled_out(template: Derivation, parts: Sequence[Derivation], place: int = -1) -> Derivation:
    """A step of a template over the derivations of its operands, which are the numbers in it, from 0."""
    step = template.steps[place]
    operands = [
        spelled_out(template, parts, one.index)
        if isinstance(one, StepResult)
        else Derivation.look_up(one)
        if isinstance(one, Constant)
        else parts[int(str(one))]
        for one in step.operands
    ]
    return Derivation.combine(step.operation, operands[0], operands[1])
