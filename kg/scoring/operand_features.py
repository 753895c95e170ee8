"""Features of an operand in its conversation: earlier turns, earlier answers, and pairs of operands.

What depends on the questions alone is in :mod:`kg.scoring.question_features`; here is what depends on earlier
answers, computed once for every history that is kept::

    features, observations = candidate_items(QuestionFeatures(index, questions), read_history(index, past))
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from kg.arrays import BoolArray, FloatArray, IntArray
from kg.derivations import OPERATIONS, Derivation, PastTurn, collapse
from kg.figures import ReportIndex, SeriesReader
from kg.scoring.forms import PastForm
from kg.scoring.question_features import ITEM_GROUPS, QuestionFeatures
from kg.text import content_tokens, years

MAX_DISTANCE = 4


@dataclass(frozen=True)
class HistoryTurn:
    """An earlier turn as the features see it.

    Attributes:
        derivation: How it was answered, complete.
        value: Its answer as a float, or ``nan``.
        form: Its form and the turns it used.
        figures: The observations of its own operands (not of those of the turns it used), in order.
        all_figures: The observations of its complete derivation.
    """

    derivation: Derivation | None
    value: float
    form: PastForm
    figures: tuple[int, ...]
    all_figures: tuple[int, ...]


def read_history(index: ReportIndex, past: Sequence[PastTurn]) -> tuple[HistoryTurn, ...]:
    """Earlier turns as the features see them, figures matched to the report's observations."""
    turns: tuple[HistoryTurn, ...] = ()
    for turn in past:
        turns = (*turns, extend_history(index, turns, turn))
    return turns


def extend_history(index: ReportIndex, earlier: Sequence[HistoryTurn], turn: PastTurn) -> HistoryTurn:
    """One more turn after ``earlier``."""
    if turn.derivation is None:
        return HistoryTurn(None, float("nan"), PastForm.of(None), (), ())
    value = float(turn.answer) if turn.answer is not None and not isinstance(turn.answer, str | tuple) else float("nan")
    derived = index.derived_place(turn.derivation)
    if derived is not None:
        return HistoryTurn(turn.derivation, value, PastForm("select(A)", ()), (derived,), (derived,))
    collapsed = collapse(turn.derivation, [one.derivation for one in earlier])
    if collapsed is None and len(index):
        collapsed = SeriesReader(index).collapse(turn.derivation)
    form = PastForm.of(collapsed)
    every = index.align(turn.derivation, turn.question)
    inherited = {figure for used in form.used for figure in earlier[used].all_figures}
    own = tuple(figure for figure in every if figure not in inherited) if form.used else every
    return HistoryTurn(turn.derivation, value, form, own, every)


def history_item_features(index: ReportIndex, history: Sequence[HistoryTurn]) -> FloatArray:
    """The relation of each item to the figures of earlier turns; shape ``(items, features)``."""
    last = history[-1] if history else None
    before = history[-2] if len(history) > 1 else None
    spoken_of = (
        last.figures if last else (),
        last.all_figures if last else (),
        before.all_figures if before else (),
        tuple({figure for turn in history for figure in turn.all_figures}),
    )
    anchor = last.all_figures if last else ()
    blocks = [_relation_to_any(index, figures) for figures in spoken_of]
    blocks += [_relative(index, anchor[:1]), _relative(index, anchor[1:2])]
    features = np.concatenate(blocks, axis=1)[index.base]
    flags = np.zeros((len(index), 2), dtype=np.float32)
    flags[:, 0] = float(bool(last and last.form.form.startswith("select")))
    flags[:, 1] = float(bool(last and last.form.form.startswith("?")))
    return np.concatenate([features, flags], axis=1)


def _relation_to_any(index: ReportIndex, figures: Sequence[int]) -> FloatArray:
    """Same row, same column, same sentence, and the same figure, as any of ``figures``."""
    chosen = np.array(figures, dtype=np.int64)
    rows, columns, sentences = index.row[chosen], index.column[chosen], index.sentence[chosen]
    same_row = np.isin(index.row, rows[rows >= 0])
    same_column = np.isin(index.column, columns[columns >= 0])
    same_sentence = np.isin(index.sentence, sentences[sentences >= 0])
    same = np.isin(np.arange(len(index.row)), chosen)
    return np.stack([same_row, same_column, same_sentence, same, same_row & ~same_column], axis=1).astype(np.float32)


def _relative(index: ReportIndex, figures: Sequence[int]) -> FloatArray:
    """Position and period of each observation relative to one figure; zeros when there is none."""
    result = np.zeros((len(index.row), 11), dtype=np.float32)
    if not figures:
        return result
    anchor = figures[0]
    in_table = index.row[anchor] >= 0
    down = index.row - index.row[anchor]
    across = index.column - index.column[anchor]
    apart = index.sentence - index.sentence[anchor]
    cells = (index.row >= 0) & in_table
    later = np.where((index.period >= 0) & (index.period[anchor] >= 0), index.period - index.period[anchor], 99)
    after = index.ordinal - index.ordinal[anchor]
    texts = (index.sentence >= 0) & (not in_table)
    parts = [
        cells & (down == 1) & (across == 0),
        cells & (down == -1) & (across == 0),
        cells & (down == 0) & (across == 1),
        cells & (down == 0) & (across == -1),
        later == 1,
        later == -1,
        later == 0,
        texts & (apart == 0) & (after == 1),
        texts & (np.abs(apart) == 1),
        (index.row >= 0) != in_table,
        np.arange(len(index.row)) == anchor,
    ]
    return np.stack(parts, axis=1).astype(np.float32)


REFERENCE_WIDTH = MAX_DISTANCE + len(OPERATIONS) + 10


def reference_features(question: QuestionFeatures, history: Sequence[HistoryTurn]) -> FloatArray:
    """Features of each earlier answer as an operand; shape ``(len(history), REFERENCE_WIDTH)``."""
    used = [turn for record in history for turn in record.form.used]
    words = set(question.words)
    result = np.zeros((len(history), REFERENCE_WIDTH), dtype=np.float32)
    for turn, record in enumerate(history):
        distance = min(len(history) - turn, MAX_DISTANCE)
        operation = record.form.form.partition("(")[0]
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


def candidate_items(question: QuestionFeatures, history: Sequence[HistoryTurn]) -> tuple[FloatArray, IntArray]:
    """The features of every possible operand: the report's items, then the earlier answers.

    An earlier answer also carries the features of the first figure it was made of.

    Returns:
        The features, shape ``(items + len(history), width)``, and each operand's observation (-1 for an earlier
        answer without one).
    """
    index = question.index
    shared = np.concatenate([question.items, history_item_features(index, history)], axis=1)
    own = np.concatenate([shared, np.zeros((len(index), REFERENCE_WIDTH + 1), dtype=np.float32)], axis=1)
    if not history:
        return own, index.base
    first_item = {int(base): place for place, base in reversed(list(enumerate(index.base)))}
    figures = np.array([turn.all_figures[0] if turn.all_figures else -1 for turn in history], dtype=np.int64)
    of_figure = np.zeros((len(history), shared.shape[1]), dtype=np.float32)
    for turn, figure in enumerate(figures):
        if figure >= 0:
            of_figure[turn] = shared[first_item[int(figure)]]
    references = np.concatenate(
        [of_figure, reference_features(question, history), np.ones((len(history), 1), dtype=np.float32)], axis=1
    )
    return np.concatenate([own, references]), np.concatenate([index.base, figures])


class _Pair:
    """Two operands, as arrays of observations: what :data:`_PAIRS` compares.

    Args:
        index: The report.
        first: Observations, -1 for none.
        second: Observations, -1 for none.
    """

    def __init__(self, index: ReportIndex, first: IntArray, second: IntArray) -> None:
        self.known = (first >= 0) & (second >= 0)
        self.same = self.known & (first == second)
        self.across = index.column[second] - index.column[first]
        self.down = index.row[second] - index.row[first]
        self.apart = index.sentence[second] - index.sentence[first]
        self.later = index.period[first] - index.period[second]
        in_table = index.row[first] >= 0, index.row[second] >= 0
        self.cells = self.known & in_table[0] & in_table[1]
        self.mixed = self.known & (in_table[0] != in_table[1])
        self.dated = self.known & (index.period[first] >= 0) & (index.period[second] >= 0)
        self.texts = self.known & (index.sentence[first] >= 0) & (index.sentence[second] >= 0)
        self.row, self.column = self.cells & (self.down == 0), self.cells & (self.across == 0)
        self.unit = index.unit[first] == index.unit[second]
        self.scale = index.scale[first] == index.scale[second]
        self.amount = index.amounts[first] == index.amounts[second]


_PAIRS: dict[str, Callable[[_Pair], BoolArray]] = {
    "same_figure": lambda pair: pair.same,
    "same_row": lambda pair: pair.row,
    "same_column": lambda pair: pair.column,
    "next_column": lambda pair: pair.row & (pair.across == 1),
    "previous_column": lambda pair: pair.row & (pair.across == -1),
    "next_row": lambda pair: pair.column & (pair.down == 1),
    "previous_row": lambda pair: pair.column & (pair.down == -1),
    "other_row_and_column": lambda pair: pair.cells & ~pair.row & ~pair.column,
    "same_sentence": lambda pair: pair.texts & (pair.apart == 0),
    "neighbouring_sentence": lambda pair: pair.texts & (np.abs(pair.apart) == 1),
    "table_and_text": lambda pair: pair.mixed,
    "same_year": lambda pair: pair.dated & (pair.later == 0),
    "one_year_later": lambda pair: pair.dated & (pair.later == 1),
    "later": lambda pair: pair.dated & (pair.later > 0),
    "earlier": lambda pair: pair.dated & (pair.later < 0),
    "unknown": lambda pair: ~pair.known,
    "same_unit": lambda pair: pair.known & pair.unit,
    "other_unit": lambda pair: pair.known & ~pair.unit,
    "other_scale": lambda pair: pair.known & ~pair.scale,
    "same_amount": lambda pair: pair.known & pair.amount,
}
"""The relations of a second operand to the first one, in the order on which fitted weights depend."""

PAIR_FEATURES = len(_PAIRS)


def pair_features(index: ReportIndex, first: IntArray, second: IntArray) -> FloatArray:
    """The relations of second operands to first ones.

    Args:
        index: The report.
        first: Observations (-1 for none), broadcast against ``second``.
        second: Observations.

    Returns:
        Shape ``(*broadcast shape, PAIR_FEATURES)``.
    """
    pair = _Pair(index, first, second)
    return np.stack([feature(pair) for feature in _PAIRS.values()], axis=-1).astype(np.float32)


OPERAND_GROUPS = {
    **ITEM_GROUPS,
    "earlier_figures": "how a figure lies to the figures of earlier turns",
    "earlier_answers": "what an earlier answer was, how far back it lies, and whether it was used already",
    "pairs": "how the second operand lies to the first",
}
"""The groups of an operand's features, and what they say."""


def operand_groups(question: QuestionFeatures) -> tuple[str, ...]:
    """The group of each column that :func:`candidate_items` gives."""
    earlier = history_item_features(question.index, ()).shape[1]
    return (*question.groups, *("earlier_figures",) * earlier, *("earlier_answers",) * (REFERENCE_WIDTH + 1))


JOINT_FEATURES = {
    "score": "search",
    "history": "search",
    "form": "form",
    "behind_best": "search",
    "support": "support",
    "near_words": "explained_words",
    "all_words": "explained_words",
    "years_used": "explained_years",
    "every_year_used": "explained_years",
    "first_in_years": "explained_years",
    "second_in_years": "explained_years",
    "years_carried": "explained_years",
    "scale_fits": "scale",
    "scale_differs": "scale",
    "whole_units": "scale",
    "portion_fits": "portion",
    "portion_differs": "portion",
    "direction_fits": "direction",
    "direction_differs": "direction",
    "negative": "direction",
    "same_operands": "repetition",
    "repeats_answer": "repetition",
    "zero_or_one": "repetition",
}
"""The features of a complete candidate before its ``operation`` and its ``pairs``, each with its group.

:mod:`kg.candidates.candidate_features` computes them. Fitted weights depend on the order.
"""

JOINT_NAMES = tuple(JOINT_FEATURES)
