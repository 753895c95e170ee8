"""Metrics of programs that may abstain, on questions whose answer is a number, a word or names, or that have none.

    >>> turns = [AnswerScore(Decimal("0.054"), 0.9, Decimal("0.054")), AnswerScore(None, 0.2, None)]
    >>> figures = abstention_figures(turns)
    >>> figures["answered_share"], figures["accuracy_when_answered"], figures["abstained_right"]
    (0.5, 1.0, 1.0)

Gold answers come from ``annotation.answers`` of a conversation file (:func:`read_gold`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

from kg.errors import DataError
from kg.search import Answer
from optimize.metrics.turns import exact_match, expected_calibration_error


@dataclass(frozen=True)
class AnswerScore:
    """A program's answer to a question, with its gold.

    Attributes:
        answer: The answer; ``None`` if the program abstained.
        confidence: The probability in [0, 1] that the program gave to its best answer.
        gold: The gold answer; ``None`` if the page does not answer the question.
    """

    answer: Answer | None
    confidence: float
    gold: Answer | None

    @property
    def is_right(self) -> bool:
        """Whether there is an answer and it is the gold one."""
        return self.answer is not None and exact_match(self.answer, self.gold)


def read_gold(value: str | float | Decimal | Sequence[str] | None) -> Answer | None:
    """Reads a gold answer of a conversation file.

    Args:
        value: A number, also as text, ``yes`` or ``no``, a list of names, or ``None`` for "the page does not say". The
            number ``5.4%`` is 0.054.

    Raises:
        DataError: The text is neither a number nor ``yes`` or ``no``, or the list is empty.
    """
    if value is None:
        return None
    if isinstance(value, str | int | float | Decimal):
        text = str(value).strip().lower()
        number = _number(text)
        if number is not None:
            return number
        if text in ("yes", "no"):
            return "yes" if text == "yes" else "no"
        raise DataError(f"a gold answer must be a number, yes, no, a list of names or null, got {value!r}")
    if not value:
        raise DataError("a gold answer must name at least one name, got an empty list")
    return tuple(map(str, value))


def abstention_figures(turns: Sequence[AnswerScore]) -> dict[str, float]:
    """Returns the figures of turns, each in [0, 1]; a figure over no turn is left out.

    - ``answered_share``: answered turns of all.
    - ``accuracy_when_answered``: right turns of the answered ones; every answer to an unanswerable question is wrong.
    - ``abstained_right``: abstentions of the unanswerable turns.
    - ``abstained_wrong``: abstentions of the answerable turns.
    - ``name_accuracy``: right turns of those whose gold answer is names.
    - ``expected_calibration_error``: of the confidences of the answered turns.
    """
    answered = [turn for turn in turns if turn.answer is not None]
    figures = {
        "answered_share": _share([turn.answer is not None for turn in turns]),
        "accuracy_when_answered": _share([turn.is_right for turn in answered]),
        "abstained_right": _share([turn.answer is None for turn in turns if turn.gold is None]),
        "abstained_wrong": _share([turn.answer is None for turn in turns if turn.gold is not None]),
        "name_accuracy": _share([turn.is_right for turn in turns if isinstance(turn.gold, tuple)]),
        "expected_calibration_error": expected_calibration_error(
            [turn.confidence for turn in answered], [turn.is_right for turn in answered]
        )
        if answered
        else None,
    }
    return {name: figure for name, figure in figures.items() if figure is not None}


def risk_coverage(turns: Sequence[AnswerScore]) -> list[dict[str, float]]:
    """Returns the risk-coverage curve: a point for each confidence of an answered turn, from the highest down.

    Each has ``threshold`` (the confidence from which turns are answered), ``coverage`` (the share of all turns that are
    answered, in (0, 1]) and ``risk`` (the share of these that are wrong, in [0, 1]). Turns without an answer are never
    covered. The list is empty if no turn has an answer.
    """
    answered = sorted((turn for turn in turns if turn.answer is not None), key=lambda turn: -turn.confidence)
    points: list[dict[str, float]] = []
    wrong = 0
    for count, turn in enumerate(answered, start=1):
        wrong += not turn.is_right
        if count == len(answered) or answered[count].confidence < turn.confidence:
            points.append({"threshold": turn.confidence, "coverage": count / len(turns), "risk": wrong / count})
    return points


def _share(values: Sequence[bool]) -> float | None:
    return sum(values) / len(values) if values else None


def _number(text: str) -> Decimal | None:
    digits = re.sub(r"[\s,$]", "", text)
    try:
        number = Decimal(digits.removesuffix("%"))
    except InvalidOperation:
        return None
    return (number / 100 if digits.endswith("%") else number) if number.is_finite() else None
