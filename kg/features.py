"""What the scorers see of an item, an earlier answer and a pair of operands.

A question is compared with every figure of the report at once. The features that depend on the question alone are
computed once a turn; those that depend on earlier answers once for every history that is kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kg.derivation import Derivation
from kg.forms import PastForm
from kg.history import OPERATIONS, PastTurn, collapse
from kg.report_index import FIELDS, ReportIndex
from kg.text import content_tokens, stem, token_pairs, tokens, years

FloatArray = NDArray[np.float32]

_CUES = {
    "percent": {"percent", "percentage", "rate", "%", "proportion", "portion"},
    "share": {"share", "stock"},
    "total": {"total", "sum", "combined", "overall", "all", "aggregate"},
    "change": {"change", "increase", "decrease", "difference", "growth", "decline", "fluctuation", "variation"},
    "price": {"price", "dollar", "cost", "fair"},
    "million": {"million", "billion", "thousand"},
    "then": {"then"},
    "average": {"average", "mean", "weighted"},
    "this": {"this", "that", "these", "those", "it", "they"},
}
_CUE_NAMES = tuple(_CUES)

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
    collapsed = collapse(turn.derivation, [one.derivation for one in earlier])
    form = PastForm.of(collapsed)
    every = index.align(turn.derivation, turn.question)
    inherited = {figure for used in form.used for figure in earlier[used].all_figures}
    own = tuple(figure for figure in every if figure not in inherited) if form.used else every
    value = float(turn.answer) if turn.answer is not None and not isinstance(turn.answer, str) else float("nan")
    return HistoryTurn(turn.derivation, value, form, own, every)


@dataclass(frozen=True)
class SearchHint:
    """What a language model understood of a question; it conditions the search.

    Attributes:
        properties: Line items that are asked for; their words count as words of the question.
        periods: Years that are asked for; they count where the question names none.
        operation: The calculation that is asked for.
    """

    properties: tuple[str, ...]
    periods: tuple[str, ...]
    operation: str


class QuestionFeatures:
    """The features of every item that depend on the questions alone.

    Args:
        index: The report.
        questions: All questions of the conversation so far; the last is the one asked.
        hint: What a language model understood of it.
    """

    def __init__(self, index: ReportIndex, questions: Sequence[str], hint: SearchHint | None = None) -> None:
        self.index = index
        self.questions = tuple(questions)
        self.words = content_tokens(questions[-1])
        self.years = years(questions[-1])
        if hint is not None:
            self.words = list(dict.fromkeys([*self.words, *content_tokens(" ".join(hint.properties))]))
            self.years = self.years or years(" ".join(hint.periods))
        self.carried_years = next((found for found in map(years, reversed(questions)) if found), ())
        self.cues = _cues(questions[-1])
        self.context = self._context()

    @property
    def mass(self) -> float:
        """Summed idf of the question's content words, at least a little."""
        return max(sum(self.index.idf(word) for word in set(self.words)), 0.5)

    def _context(self) -> FloatArray:
        question = self.questions[-1]
        first = tokens(question)[:1]
        return np.array(
            [
                min(self.mass, 60.0) / 30.0,
                float(len(self.words) <= 2),
                float(len(self.years) == 0),
                float(len(self.years) >= 2),
                float(len(self.questions) == 1),
                float(first == ["and"] or question.startswith("what about")),
                *self.cues,
            ],
            dtype=np.float32,
        )

    @cached_property
    def items(self) -> FloatArray:
        """Shape ``(items, features)``."""
        per_observation = np.concatenate(
            [self._overlaps(), self._periods(), self._static(), self._cue_products()], axis=1
        )
        spread = per_observation[self.index.base]
        variant = np.eye(3, dtype=np.float32)[self.index.variant][:, 1:]
        return np.concatenate([spread, variant], axis=1)

    def _overlaps(self) -> FloatArray:
        index = self.index
        vector = index.vector([*self.words, *token_pairs(content_tokens(self.questions[-1]))])
        columns: list[NDArray[Any]] = []
        for name in FIELDS:
            field = index.fields[name]
            shared = field.overlap(vector)
            of_question = shared / self.mass
            best = max(float(of_question.max(initial=0.0)), 1e-6)
            of_text = shared / np.maximum(field.mass, np.float32(0.5))
            columns += [of_question, of_text, of_question / best]
        similarity = index.label_similarity(self.questions[-1])
        columns += [similarity, similarity / max(float(similarity.max(initial=0.0)), 1e-6)]
        columns += list(index.positions(content_tokens(self.questions[-1])).T)
        for depth in (1, 2):
            before = self.questions[-1 - depth] if len(self.questions) > depth else ""
            columns += self._carried(before)
        columns += self._carried(self.questions[0] if len(self.questions) > 3 else "")
        return np.stack(columns, axis=1)

    def _carried(self, question: str) -> list[FloatArray]:
        """Overlap of an earlier question with label, column and sentence."""
        words = content_tokens(question)
        mass = max(sum(self.index.idf(word) for word in set(words)), 0.5)
        vector = self.index.vector(words)
        return [self.index.fields[name].overlap(vector) / mass for name in ("label", "column", "sentence")]

    def _periods(self) -> FloatArray:
        index = self.index
        period = index.period
        columns = [period < 0]
        for named in (self.years, () if self.years else self.carried_years):
            ordered = sorted(named)
            columns += [
                np.isin(period, named),
                (period == named[0]) if named else period == -2,
                (period == named[-1]) if len(named) > 1 else period == -2,
                (period == ordered[-1]) if len(named) > 1 else period == -2,
                (period == ordered[0]) if len(named) > 1 else period == -2,
                ~np.isin(period, named) & (period >= 0) & bool(named),
                (period == ordered[0] - 1) if named else period == -2,
                (period == ordered[-1] + 1) if named else period == -2,
            ]
        wanted = set(self.years or self.carried_years)
        mentions = np.array([bool(wanted & years_) for years_ in [*index.sentence_years, set()]])
        columns.append(mentions[index.sentence])
        known = period[period >= 0]
        columns += [period == (known.max() if known.size else -2), period == (known.min() if known.size else -2)]
        return np.stack(columns, axis=1).astype(np.float32)

    @cached_property
    def _words_in_question(self) -> set[str]:
        return set(tokens(self.questions[-1]))

    def _static(self) -> FloatArray:
        index = self.index
        observations = index.observations
        rows = float(max(index.row.max(initial=0), 1))
        columns_ = float(max(index.column.max(initial=0), 1))
        values = np.where([o.quantity.value < 0 for o in observations], -index.amounts, index.amounts)
        in_cell = index.row >= 0
        named = self._words_in_question
        columns = [
            in_cell,
            [o.in_header for o in observations],
            [o.quantity.unit == "percent" for o in observations],
            [o.quantity.unit == "currency" for o in observations],
            [o.quantity.scale > 1 for o in observations],
            values == np.round(values),
            (np.abs(values) >= 1950) & (np.abs(values) <= 2049) & (values == np.round(values)),
            np.log10(np.abs(values) + 1) / 6,
            values < 0,
            values == 0,
            ["total" in o.label.split()[:2] for o in observations],
            np.where(in_cell, index.row / rows, 0.0),
            index.row == 1,
            index.row == 0,
            index.row == rows,
            np.where(in_cell, index.column / columns_, 0.0),
            index.column == 1,
            index.column == 0,
            np.minimum(index.ordinal, 4) / 4,
            np.minimum(index.repeats, 4) / 4,
            [o.quantity.text.removesuffix("%") in named for o in observations],
            np.where(in_cell, 0.0, index.sentence / max(len(index.sentence_years), 1)),
        ]
        return np.stack([np.asarray(column, dtype=np.float32) for column in columns], axis=1)

    def _cue_products(self) -> FloatArray:
        observations = self.index.observations
        cue = dict(zip(_CUE_NAMES, self.cues, strict=True))
        percent = np.array([o.quantity.unit == "percent" for o in observations], dtype=np.float32)
        currency = np.array([o.quantity.unit == "currency" for o in observations], dtype=np.float32)
        share = np.array(["share" in o.label for o in observations], dtype=np.float32)
        total = np.array(["total" in o.label for o in observations], dtype=np.float32)
        return np.stack(
            [
                percent * cue["percent"],
                percent * (1 - cue["percent"]),
                currency * cue["price"],
                share * cue["share"],
                share * (1 - cue["share"]),
                total * cue["total"],
                total * (1 - cue["total"]),
            ],
            axis=1,
        )


def _cues(question: str) -> list[float]:
    words = set(tokens(question)) | ({"%"} if "%" in question else set())
    return [float(bool(words & {stem(member) for member in members})) for members in _CUES.values()]


def history_item_features(index: ReportIndex, history: Sequence[HistoryTurn]) -> FloatArray:
    """How each item lies to the figures of earlier turns; shape ``(items, features)``."""
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


def candidate_items(question: QuestionFeatures, history: Sequence[HistoryTurn]) -> tuple[FloatArray, NDArray[np.int64]]:
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


PAIR_FEATURES = 20


def pair_features(index: ReportIndex, first: NDArray[np.int64], second: NDArray[np.int64]) -> FloatArray:
    """How the second operand lies to the first.

    Args:
        index: The report.
        first: Observations (-1 for none), broadcast against ``second``.
        second: Observations.

    Returns:
        Shape ``(*broadcast shape, PAIR_FEATURES)``.
    """
    known = (first >= 0) & (second >= 0)
    row_a, row_b = index.row[first], index.row[second]
    column_a, column_b = index.column[first], index.column[second]
    sentence_a, sentence_b = index.sentence[first], index.sentence[second]
    period_a, period_b = index.period[first], index.period[second]
    cells = known & (row_a >= 0) & (row_b >= 0)
    dated = known & (period_a >= 0) & (period_b >= 0)
    texts = known & (sentence_a >= 0) & (sentence_b >= 0)
    same_row, same_column = cells & (row_a == row_b), cells & (column_a == column_b)
    parts = [
        known & (first == second),
        same_row,
        same_column,
        same_row & (column_b == column_a + 1),
        same_row & (column_b == column_a - 1),
        same_column & (row_b == row_a + 1),
        same_column & (row_b == row_a - 1),
        cells & ~same_row & ~same_column,
        texts & (sentence_a == sentence_b),
        texts & (np.abs(sentence_a - sentence_b) == 1),
        known & ((row_a >= 0) != (row_b >= 0)),
        dated & (period_a == period_b),
        dated & (period_a == period_b + 1),
        dated & (period_a > period_b),
        dated & (period_a < period_b),
        np.broadcast_to(~known, known.shape),
        known & (index.unit[first] == index.unit[second]),
        known & (index.unit[first] != index.unit[second]),
        known & (index.scale[first] != index.scale[second]),
        known & (index.amounts[first] == index.amounts[second]),
    ]
    return np.stack(parts, axis=-1).astype(np.float32)


JOINT_NAMES = (
    "score",
    "history",
    "form",
    "behind_best",
    "support",
    "near_words",
    "all_words",
    "years_used",
    "every_year_used",
    "first_in_years",
    "second_in_years",
    "years_carried",
    "scale_fits",
    "scale_differs",
    "portion_fits",
    "portion_differs",
    "direction_fits",
    "direction_differs",
    "same_operands",
    "repeats_answer",
    "zero_or_one",
)
"""What :mod:`kg.joint_features` says of a complete candidate, before its operation, operands and their places."""
