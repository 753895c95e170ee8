"""Features of an operand in its conversation: earlier turns and earlier answers.

What depends on the questions alone is in :mod:`kg.calculations.question_features`; here is what depends on earlier
answers, computed once for every history that is kept::

    rows, observations = operand_rows(QuestionFeatures(index, questions), read_history(index, past))
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

import numpy as np

from kg.arrays import FloatArray, IntArray
from kg.calculations.forms import past_turn
from kg.calculations.question_features import FigureRelations, QuestionFeatures
from kg.calculations.report_index import ReportIndex
from kg.calculations.series import SeriesReader
from kg.encoders import TurnOperands
from kg.search import OPERATIONS, Derivation, PastTurn, collapse
from kg.text import content_tokens, years

MAX_DISTANCE = 4


@dataclass(frozen=True)
class HistoryTurn(TurnOperands):
    """An earlier turn as the features see it: its form, the turns it used, and its own figures.

    Attributes:
        derivation: How it was answered, complete; ``None`` for a turn that failed.
        value: Its answer as a float, or ``nan``.
        all_figures: The observations of its complete derivation.
    """

    derivation: Derivation | None = None
    value: float = float("nan")
    all_figures: tuple[int, ...] = ()


FAILED = HistoryTurn("?", (), ())
"""An earlier turn without an answer."""


def read_history(index: ReportIndex, past: Sequence[PastTurn]) -> tuple[HistoryTurn, ...]:
    """Earlier turns as the features see them, figures matched to the report's observations."""
    turns: tuple[HistoryTurn, ...] = ()
    for turn in past:
        turns = (*turns, extend_history(index, turns, turn))
    return turns


def extend_history(index: ReportIndex, earlier: Sequence[HistoryTurn], turn: PastTurn) -> HistoryTurn:
    """One more turn after ``earlier``."""
    if turn.derivation is None:
        return FAILED
    value = float(turn.answer) if isinstance(turn.answer, Decimal) else float("nan")
    collapsed = collapse(turn.derivation, [one.derivation for one in earlier])
    if collapsed is None and len(index):
        collapsed = SeriesReader(index).collapse(turn.derivation)
    form = past_turn(collapsed)
    every = index.align(turn.derivation, turn.question)
    inherited = {figure for used in form.used for figure in earlier[used].all_figures}
    own = tuple(figure for figure in every if figure not in inherited) if form.used else every
    return HistoryTurn(form.template, form.used, own, turn.derivation, value, every)


def history_item_features(relations: FigureRelations, history: Sequence[HistoryTurn]) -> FloatArray:
    """The relation of each item to the figures of earlier turns; shape ``(items, features)``."""
    index = relations.index
    last = history[-1] if history else None
    before = history[-2] if len(history) > 1 else None
    spoken_of = (
        last.figures if last else (),
        last.all_figures if last else (),
        before.all_figures if before else (),
        tuple(sorted({figure for turn in history for figure in turn.all_figures})),
    )
    anchor = last.all_figures if last else ()
    blocks = [relations.to_any(figures) for figures in spoken_of]
    blocks += [relations.around(*anchor[:1]), relations.around(*anchor[1:2])]
    features = np.concatenate(blocks, axis=1)[index.base]
    flags = np.zeros((len(index), 2), dtype=np.float32)
    flags[:, 0] = float(bool(last and last.template.startswith("select")))
    flags[:, 1] = float(bool(last and last.template.startswith("?")))
    return np.concatenate([features, flags], axis=1)


def reference_features(question: QuestionFeatures, history: Sequence[HistoryTurn]) -> FloatArray:
    """Features of each earlier answer as an operand; shape ``(len(history), features)``."""
    used = [turn for record in history for turn in record.used]
    words = set(question.words)
    result = np.zeros((len(history), MAX_DISTANCE + len(OPERATIONS) + 10), dtype=np.float32)
    for turn, record in enumerate(history):
        distance = min(len(history) - turn, MAX_DISTANCE)
        operation = record.template.partition("(")[0]
        result[turn, distance - 1] = 1
        if operation in OPERATIONS:
            result[turn, MAX_DISTANCE + OPERATIONS.index(operation)] = 1
        earlier = question.questions[turn]
        own = set(content_tokens(earlier))
        shared = sum(question.index.idf(word) for word in words & own)
        size = abs(record.value) if np.isfinite(record.value) else 0.0
        result[turn, -10:] = [
            float(turn in used),
            float(used.count(turn) > 1),
            shared / question.mass,
            float(bool(set(years(earlier)) & set(question.years))),
            float(turn == 0),
            float(size < 1),
            float(not np.isfinite(record.value)),
            float(len(record.all_figures) > 1),
            float(all(later in used for later in range(turn + 1, len(history)))),
            float(turn not in used and turn == max((t for t in range(len(history)) if t not in used), default=-1)),
        ]
    return result


def operand_rows(question: QuestionFeatures, history: Sequence[HistoryTurn]) -> tuple[dict[str, FloatArray], IntArray]:
    """The features of every possible operand.

    Args:
        question: The question.
        history: The earlier turns.

    Returns:
        The features of the report's items (``A``) and of the earlier answers (``R``), which have those of their first
        figure too; a row each. The observation of each item and then of each answer, -1 for one without figures.
    """
    index = question.index
    items = np.concatenate([question.items, history_item_features(question.relations, history)], axis=1)
    figures = np.array([turn.all_figures[0] if turn.all_figures else -1 for turn in history], dtype=np.int64)
    of_figures = np.zeros((len(history), items.shape[1]), dtype=np.float32)
    known = np.flatnonzero(figures >= 0)
    of_figures[known] = items[[index.first_item[figure] for figure in figures[known].tolist()]]
    always = np.ones((len(history), 1), dtype=np.float32)
    answers = np.concatenate([of_figures, reference_features(question, history), always], axis=1)
    return {"A": items, "R": answers}, np.concatenate([index.base, figures])


JOINT_NAMES = (
    "score", "history", "form", "behind_best", "support", "near_words", "all_words", "years_used", "every_year_used",
    "first_in_years", "second_in_years", "years_carried", "scale_fits", "scale_differs", "whole_units", "portion_fits",
    "portion_differs", "direction_fits", "direction_differs", "negative", "same_operands", "repeats_answer",
    "zero_or_one",
)  # fmt: skip
"""The features of a complete candidate before its operation and its pair of figures.

:mod:`kg.calculations.candidate_features` computes them. Fitted weights depend on the order.
"""
