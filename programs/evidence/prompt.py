"""Derivations as replies of a small language model, and the prompt before them.

A prompt of a scorer of given replies (:mod:`programs.evidence.likelihood`), with one demonstration::

    system: Write the calculation that answers the last question. [row, column] is a table cell, a quoted text is its
            *marked* number, ans1 is the answer to Q1.
    user:   Q1: what was the cash from operations in 2008?
    reply:  [net cash from operations, 2008]
    user:   Q1: what was the net income in 2009?
            ans1 = [net income, 2009] = 10
            Q2: and the change from 2008?
    reply:  ans1 - [net income, 2008]
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kg.calculations import ReportIndex
from kg.search import Constant, Derivation, Labelled, Number, Operand, PastTurn, StepResult
from programs.evidence.naming import figure_names
from programs.wording import written_number

INSTRUCTIONS = (
    "Write the calculation that answers the last question. [row, column] is a table cell, "
    "a quoted text is its *marked* number, ans1 is the answer to Q1."
)
"""The instruction before the demonstrations."""

_SIGNS = {"add": "+", "subtract": "-", "multiply": "*", "divide": "/", "greater": ">", "exp": "^"}


@dataclass(frozen=True)
class Demonstration:
    """A question of a training conversation as the model reads it, and the calculation that answers it.

    Attributes:
        asked: The conversation up to the question, as :func:`written_conversation` writes it.
        reply: The calculation, as :func:`written_derivation` writes it.
    """

    asked: str
    reply: str


def written_derivation(derivation: Derivation, past: Sequence[PastTurn], index: ReportIndex) -> str:
    """A derivation over rows and columns, with what earlier turns calculated as ``ans1``, ``ans2``….

    >>> written_derivation(derivation, past, index)
    'ans1 - [net income, 2008]'
    """
    return _DerivationWriter(past, index).write(derivation)


def written_conversation(past: Sequence[PastTurn], question: str, index: ReportIndex, *, derivations: bool) -> str:
    """The conversation up to a question.

    Args:
        past: The turns before it as they were answered.
        question: The question.
        index: The report's index.
        derivations: Whether each answer is shown with the calculation that it comes from.
    """
    lines: list[str] = []
    for number, turn in enumerate(past, start=1):
        answer = written_number(turn.answer) if turn.answer is not None else "unknown"
        calculated = ""
        if derivations and turn.derivation is not None:
            calculated = f"{written_derivation(turn.derivation, past[: number - 1], index)} = "
        lines += [f"Q{number}: {turn.question}", f"ans{number} = {calculated}{answer}"]
    return "\n".join([*lines, f"Q{len(past) + 1}: {question}"])


def likelihood_prompt(demonstrations: Sequence[Demonstration], asked: str) -> list[dict[str, str]]:
    """The messages whose reply is scored; all that comes before ``asked`` is the same for every question."""
    messages = [{"role": "system", "content": INSTRUCTIONS}]
    for one in demonstrations:
        messages += [{"role": "user", "content": one.asked}, {"role": "assistant", "content": one.reply}]
    return [*messages, {"role": "user", "content": asked}]


class _DerivationWriter:
    """Writes derivations of one turn."""

    def __init__(self, past: Sequence[PastTurn], index: ReportIndex) -> None:
        trees = [None if turn.derivation is None else turn.derivation.tree() for turn in past]
        self.turn_of = {calculated: number for number, calculated in enumerate(trees, start=1) if calculated}
        self.names = figure_names(index)

    def write(self, derivation: Derivation) -> str:
        if derivation.steps[-1].operation == "select":  # a look-up stays one, even of a figure that was looked up
            return self._leaf(derivation.steps[-1].operands[0])
        return self._step(derivation, len(derivation.steps) - 1, outermost=True)

    def _step(self, derivation: Derivation, place: int, *, outermost: bool = False) -> str:
        known = self.turn_of.get(derivation.tree(place))
        if known is not None:
            return f"ans{known}"
        step = derivation.steps[place]
        if step.operation == "select":
            return self._operand(derivation, step.operands[0])
        parts = [self._operand(derivation, operand) for operand in step.operands]
        sign = _SIGNS.get(step.operation)
        if sign is None:
            return f"{step.operation}({', '.join(parts)})"
        written = f" {sign} ".join(parts)
        return written if outermost else f"({written})"

    def _operand(self, derivation: Derivation, operand: Operand) -> str:
        if isinstance(operand, StepResult):
            return self._step(derivation, operand.index)
        if isinstance(operand, Labelled):
            return " : ".join(self._operand(derivation, one) for one in operand.numbers)
        if isinstance(operand, Number) and (known := self.turn_of.get(("select", str(operand)))) is not None:
            return f"ans{known}"
        return self._leaf(operand)

    def _leaf(self, operand: Operand) -> str:
        if isinstance(operand, Constant):
            return written_number(operand.value)
        name = self.names.get(operand.source or "") if isinstance(operand, Number) else None
        return str(operand) if name is None else name
