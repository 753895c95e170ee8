"""Labels of training questions for the Understand predictor, from gold programs.

For "what was the change?" after the cash provided in 2009 and in 2008, with ``subtract(206588, 181001)`` as the gold
program, the label is::

    {"description": "cash provided by operations in 2009 minus cash provided by operations in 2008",
     "entity_type": "CashFlow", "properties": ["cash provided by operations"], "periods": ["2009", "2008"],
     "operation": "subtract", "operands": ["answer 1", "answer 2"], "requires_calculation": True}

Of several places of a figure, the label takes the one that shares most words with the question.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kg.derivations import Constant, Derivation, Number, PastTurn, Reference, TurnOperation, collapse
from kg.errors import ProgramError
from kg.figures import ReportIndex
from kg.text import content_tokens
from signatures.page import PageReading

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
class GoldFigure:
    """The place of a figure of a gold program.

    Attributes:
        label: The line item, or the beginning of the sentence.
        period: The period, if it has one.
        kind: The kind of statement or note that it belongs to.
        in_table: Whether it is a cell.
    """

    label: str
    period: str | None
    kind: str = ""
    in_table: bool = True

    @property
    def written(self) -> str:
        """The line item in its period, in words."""
        return f"{self.label} in {self.period}" if self.period is not None else self.label

    @property
    def operand(self) -> str:
        """The line item with its period, as an Understanding writes an operand."""
        return f"{self.label} @ {self.period}" if self.period is not None else self.label


@dataclass(frozen=True)
class GoldUnderstanding:
    """The label of a question, by its gold program.

    Attributes:
        description: The question, with its references spelled out.
        entity_type: The kind of statement or note that holds the figures, if there is only one.
        properties: Line items of the figures that are looked up, or else of the turns referred to.
        periods: Their periods.
        operation: The operation on the operands, as :mod:`kg.derivations.history` names it.
        operands: The operands in order: ``line item @ period``, ``answer 1`` or a number.
        calculates: Whether anything is calculated.
        is_clear: Whether the label is clear enough for a demonstration: every figure is a cell (the words around
            a figure in a sentence do not name it), and no two operands read the same.
    """

    description: str
    entity_type: str
    properties: tuple[str, ...]
    periods: tuple[str, ...]
    operation: str
    operands: tuple[str, ...]
    calculates: bool
    is_clear: bool


def gold_understanding(
    index: ReportIndex, question: str, program: str, past: Sequence[PastTurn]
) -> GoldUnderstanding | None:
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
    operands = _operands(index, question, collapsed, past)
    if operands is None:
        return None
    figures = [figure for one in operands for figure in one.figures]
    words = [one.words for one in operands]
    kinds = list(dict.fromkeys(figure.kind for figure in figures))
    return GoldUnderstanding(
        description=_WRITTEN.get(collapsed.operation, "{0}").format(*words, *words),
        entity_type=kinds[0] if len(kinds) == 1 else "none",
        properties=tuple(dict.fromkeys(figure.label for figure in figures)),
        periods=tuple(dict.fromkeys(figure.period for figure in figures if figure.period is not None)),
        operation=collapsed.operation,
        operands=tuple(one.written for one in operands),
        calculates=collapsed.operation != "select",
        is_clear=all(figure.in_table for figure in figures) and len(set(words)) == len(words),
    )


@dataclass(frozen=True)
class _Operand:
    """Returns an operand in words, as an Understanding writes it, and its figures."""

    words: str
    written: str
    figures: tuple[GoldFigure, ...] = ()


def _operands(
    index: ReportIndex, question: str, collapsed: TurnOperation, past: Sequence[PastTurn]
) -> list[_Operand] | None:
    found: list[_Operand] = []
    for operand in collapsed.operands:
        if isinstance(operand, Constant):
            number = f"{operand.value:f}"
            found.append(_Operand(number, number))
        elif isinstance(operand, Number):
            figure = _figure(index, operand, question)
            if figure is None:
                return None
            found.append(_Operand(figure.written, figure.operand, (figure,)))
        else:
            found.append(_referred(index, operand, past))
    return found


def _referred(index: ReportIndex, reference: Reference, past: Sequence[PastTurn]) -> _Operand:
    """Returns an earlier answer in words: the figure itself if it was a look-up, else its turn."""
    turn = past[reference.turn]
    numbers = turn.derivation.numbers if turn.derivation is not None else ()
    figures = [figure for one in numbers if (figure := _figure(index, one, turn.question)) is not None]
    words = figures[0].written if len(figures) == 1 else f"the answer to Q{reference.turn + 1}"
    return _Operand(words, f"answer {reference.turn + 1}", tuple(figures))


def _figure(index: ReportIndex, number: Number, question: str) -> GoldFigure | None:
    """Returns the place of a figure; of several the one that shares most words with the question."""
    words = set(content_tokens(question))
    best: tuple[tuple[int, int], GoldFigure] | None = None
    for item, text in enumerate(index.texts):
        if text != number.text:
            continue
        observation = index.observations[index.base[item]]
        label = observation.label if len(observation.label) <= _LONGEST else f"{observation.label[: _LONGEST - 1]}…"
        figure = GoldFigure(label, observation.period, observation.entity_type, bool(index.row[index.base[item]] >= 0))
        shared = len(words & set(content_tokens(observation.label)))
        shared += observation.period is not None and observation.period in question
        # Cells before sentences, then the first in the report.
        rank = (int(figure.in_table), shared)
        if best is None or rank > best[0]:
            best = (rank, figure)
    return best[1] if best is not None else None


def label_fields(gold: GoldUnderstanding, fields: Mapping[str, Any]) -> dict[str, Any] | None:
    """Returns the label in the fields of an Understanding; ``None`` if the gold does not give one of them."""
    known: dict[str, Any] = {
        "description": gold.description,
        "entity_type": gold.entity_type,
        "properties": list(gold.properties),
        "periods": list(gold.periods),
        "operation": gold.operation,
        "operands": list(gold.operands),
        "requires_calculation": gold.calculates,
    }
    lacking = [name for name, info in fields.items() if name not in known and info.is_required()]
    return None if lacking else {name: known[name] for name in fields if name in known}


def misunderstandings(understanding: Any, gold: GoldUnderstanding | None) -> list[str]:
    """Returns the differences of an Understanding from its label, in words.

    Args:
        understanding: The result of the Understand predictor, or of a reading of the page; ``None`` if neither ran.
        gold: The label, if there is one.
    """
    if isinstance(understanding, PageReading):
        refused = [f"a calculation was refused: {reason}" for reason in understanding.refused]
        return [*refused, *(["the page was said not to answer"] if understanding.says_none else [])]
    if understanding is None or gold is None:
        return []
    found = []
    if understanding.operation != gold.operation:
        found.append(f"the operation was understood as {understanding.operation}, but it is {gold.operation}")
    if lacking := [period for period in gold.periods if period not in _joined(understanding.periods)]:
        understood = ", ".join(understanding.periods) or "none"
        found.append(f"the period was understood as {understood}, but it is {', '.join(lacking)}")
    words = set(content_tokens(_joined(understanding.properties)))
    for label in gold.properties:
        tokens = set(content_tokens(label))
        if tokens and not tokens & words:
            found.append(f"the line item {label!r} was not named")
    return found


def field_accuracies(pairs: Sequence[tuple[Any, GoldUnderstanding | None]]) -> dict[str, float]:
    """Returns the accuracy of each field of the Understandings, in [0, 1].

    Args:
        pairs: The result of the Understand predictor (``None`` if it failed) and the label of the same turn; turns
            whose label is not clear are not counted.

    Returns:
        ``operation``, ``periods``, ``properties`` and ``all``, with ``turns``; empty where nothing is counted.
    """
    clear = [
        (understanding, gold)
        for understanding, gold in pairs
        if gold is not None and gold.is_clear and not isinstance(understanding, PageReading)
    ]
    if not clear or all(understanding is None for understanding, _ in clear):
        return {}
    right = [
        {
            "operation": understanding is not None and understanding.operation == gold.operation,
            "periods": understanding is not None and set(understanding.periods) == set(gold.periods),
            "properties": understanding is not None and set(understanding.properties) == set(gold.properties),
        }
        for understanding, gold in clear
    ]
    found = {name: sum(one[name] for one in right) / len(right) for name in right[0]}
    return {**found, "all": sum(all(one.values()) for one in right) / len(right), "turns": float(len(right))}


def _joined(texts: Sequence[str]) -> str:
    return " | ".join(texts)
