"""The meaning of a training question by its gold program: what Understand should write of it.

For "what was the change?" after the cash provided in 2009 and in 2008, with ``subtract(206588, 181001)`` as the gold
program::

    GoldMeaning("cash provided by operations in 2009 minus cash provided by operations in 2008", "subtract")

Of several places of a figure, the label takes the one that shares most words with the question.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kg.calculations import ReportIndex
from kg.errors import ProgramError
from kg.search import Constant, Derivation, Number, Operand, PastTurn, Reference, collapse
from kg.text import content_tokens

_WRITTEN = {
    "add": "{0} plus {1}",
    "subtract": "{0} minus {1}",
    "multiply": "{0} times {1}",
    "divide": "{0} divided by {1}",
    "greater": "whether {0} is greater than {1}",
    "change_ratio": "the change of {0} from {1}, relative to it",
    "average": "the average of {0} and {1}",
    "drop_ratio": "the excess of {0} over {1}, relative to {0}",
    "share": "{0} divided by {0} plus {1}",
    "divide_thousands": "{0} times 1000 divided by {1}",
    "divide_millions": "{0} times 1000000 divided by {1}",
    "multiply_to_millions": "{0} times {1} divided by 1000000",
}
_LONGEST = 60


@dataclass(frozen=True)
class GoldMeaning:
    """The label of a question.

    Attributes:
        description: The question, with its references spelled out.
        operation: The operation on the operands, as :mod:`kg.search.history` names it.
    """

    description: str
    operation: str


def gold_meaning(index: ReportIndex, question: str, program: str, past: Sequence[PastTurn]) -> GoldMeaning | None:
    """Returns the label of a question.

    Returns:
        ``None`` if the program takes more than one operation over figures and earlier answers, or if a figure is not
        in the report's graph: such a question has no short label.
    """
    try:
        collapsed = collapse(Derivation.parse(program), [turn.derivation for turn in past])
    except ProgramError:
        return None
    if collapsed is None:
        return None
    words = [_words(index, question, operand, past) for operand in collapsed.operands]
    if None in words:
        return None
    return GoldMeaning(_WRITTEN.get(collapsed.operation, "{0}").format(*words, *words), collapsed.operation)


def _words(index: ReportIndex, question: str, operand: Operand | Reference, past: Sequence[PastTurn]) -> str | None:
    """Returns an operand in words: a number, a figure by its line item and period, or an earlier answer."""
    if isinstance(operand, Constant):
        return f"{operand.value:f}"
    if isinstance(operand, Number):
        return _figure(index, operand, question)
    assert isinstance(operand, Reference)
    turn = past[operand.turn]
    numbers = turn.derivation.numbers if turn.derivation is not None else ()
    figures = [figure for one in numbers if (figure := _figure(index, one, turn.question)) is not None]
    return figures[0] if len(figures) == 1 else f"the answer to Q{operand.turn + 1}"


def _figure(index: ReportIndex, number: Number, question: str) -> str | None:
    """Returns the place of a figure in words; of several the one that shares most words with the question."""
    words = set(content_tokens(question))
    best: tuple[tuple[int, int], str] | None = None
    for item, text in enumerate(index.texts):
        if text != number.text:
            continue
        observation = index.observations[index.base[item]]
        label = observation.label if len(observation.label) <= _LONGEST else f"{observation.label[: _LONGEST - 1]}…"
        shared = len(words & set(content_tokens(observation.label)))
        shared += observation.period is not None and observation.period in question
        # Cells before sentences, then the first in the report.
        rank = (int(index.row[index.base[item]] >= 0), shared)
        if best is None or rank > best[0]:
            best = (rank, f"{label} in {observation.period}" if observation.period is not None else label)
    return best[1] if best is not None else None
