"""Features of a figure that depend on the questions alone, and its relations to other figures of the report.

A question is compared with every figure of the report at once, so that all of this is computed once a turn::

    QuestionFeatures(index, ["what were revenues in 2008?"]).items      # a row of features for every item
    FigureRelations(index).pairs(3)     # how each figure lies to figure 3, shape (figures + 1, PAIR_FEATURES)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache, cached_property, partial

import numpy as np
from numpy.typing import ArrayLike

from kg.arrays import BoolArray, FloatArray, IntArray
from kg.calculations.report_index import FIELDS, ReportIndex, is_opening, token_pairs
from kg.text import content_tokens, stem, tokens, years

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

Column = tuple[str, ArrayLike]
"""The name of one feature and its value for every observation."""


class QuestionFeatures:
    """The features of every item that depend on the questions alone.

    Args:
        index: The report.
        questions: All questions of the conversation so far; the last is the one asked.
    """

    def __init__(self, index: ReportIndex, questions: Sequence[str]) -> None:
        self.index = index
        self.questions = tuple(questions)
        self.words = content_tokens(questions[-1])
        self.years = years(questions[-1])
        self.carried_years = next((found for found in map(years, reversed(questions)) if found), ())
        self.cues = _cues(questions[-1])
        self.relations = FigureRelations(index)
        self.context = self._context()

    @property
    def mass(self) -> float:
        """Summed idf of the question's content words, at least 0.5."""
        return self._mass(self.words)

    def _mass(self, words: Sequence[str]) -> float:
        return max(sum(self.index.idf(word) for word in set(words)), 0.5)

    @cached_property
    def _known(self) -> list[int]:
        """The columns of the vocabulary of the question's distinct words that the report has."""
        return [self.index.vocabulary[word] for word in dict.fromkeys(self.words) if word in self.index.vocabulary]

    @property
    def known_weights(self) -> FloatArray:
        """The idf of the question's words that the report has."""
        weights: FloatArray = self.index.weights[self._known]
        return weights

    @cached_property
    def near_words(self) -> BoolArray:
        """Whether the labels of each observation have each of these words; shape ``(observations, words)``."""
        return self.index.fields["label"].holds(self._known) | self.index.fields["column"].holds(self._known)

    @cached_property
    def all_words(self) -> BoolArray:
        """The same for its labels and its sentence."""
        return self.near_words | self.index.fields["sentence"].holds(self._known)

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
    def _columns(self) -> list[Column]:
        """The features of each observation, in the order on which fitted weights depend."""
        return [*self._overlaps(), *self._periods(), *self._static(), *self._cue_products()]

    @cached_property
    def items(self) -> FloatArray:
        """Shape ``(items, features)``."""
        columns = [np.asarray(values, dtype=np.float32) for _, values in self._columns]
        variant = np.eye(3, dtype=np.float32)[self.index.variant][:, 1:]
        return np.concatenate([np.stack(columns, axis=1)[self.index.base], variant], axis=1)

    @property
    def names(self) -> tuple[str, ...]:
        """The name of each column of ``items``."""
        return (*(name for name, _ in self._columns), "as_percentage", "without_sign")

    def _overlaps(self) -> Iterator[Column]:
        index = self.index
        vector = index.vector([*self.words, *token_pairs(content_tokens(self.questions[-1]))])
        for name in FIELDS:
            field = index.fields[name]
            shared = field.overlap(vector)
            of_question = shared / self.mass
            yield f"{name}_of_question", of_question
            yield f"{name}_of_text", shared / np.maximum(field.mass, np.float32(0.5))
            yield f"{name}_of_best", _of_best(of_question)
        for name in ("label", "sentence", "clause"):
            field = index.fields[name]
            both = 2 * field.overlap(vector) / np.maximum(field.mass + np.float32(self.mass), np.float32(0.5))
            yield f"{name}_agreement", both
            yield f"{name}_agreement_of_best", _of_best(both)
        similarity = index.label_similarity(self.questions[-1])
        yield "similarity", similarity
        yield "similarity_of_best", _of_best(similarity)
        positions = index.positions(content_tokens(self.questions[-1]))
        yield "first_mention", positions[:, 0]
        yield "last_mention", positions[:, 1]
        asked = self.questions
        earlier = {f"{back}_before": asked[-1 - back] if len(asked) > back else "" for back in (1, 2)}
        earlier["first"] = asked[0] if len(asked) > 3 else ""
        for which, question in earlier.items():
            words = content_tokens(question)
            vector = index.vector(words)
            for name in ("label", "column", "sentence"):
                overlap = index.fields[name].overlap(vector) / self._mass(words)
                yield f"{name}_of_question_{which}", overlap

    @cached_property
    def periods(self) -> IntArray:
        """Each observation's year, -1 for none; an opening balance has its own where the question asks for one."""
        if not is_opening(self.questions[-1]):
            return self.index.period
        return self.index.period + self.index.opening

    def _periods(self) -> Iterator[Column]:
        index, period = self.index, self.periods
        nowhere = period == -2
        yield "undated", period < 0
        yield "opening_before", index.opening & (period == index.period)
        yield "opening_own", index.opening & (period > index.period)
        for which, named in (("asked", self.years), ("carried", () if self.years else self.carried_years)):
            ordered = sorted(named)
            several = len(named) > 1
            yield f"{which}_any", np.isin(period, named)
            yield f"{which}_first", (period == named[0]) if named else nowhere
            yield f"{which}_last", (period == named[-1]) if several else nowhere
            yield f"{which}_latest", (period == ordered[-1]) if several else nowhere
            yield f"{which}_earliest", (period == ordered[0]) if several else nowhere
            yield f"{which}_other", ~np.isin(period, named) & (period >= 0) & bool(named)
            yield f"{which}_year_before", (period == ordered[0] - 1) if named else nowhere
            yield f"{which}_year_after", (period == ordered[-1] + 1) if named else nowhere
        wanted = set(self.years or self.carried_years)
        mentions = np.array([bool(wanted & years_) for years_ in [*index.sentence_years, set()]])
        yield "in_sentence", mentions[index.sentence]
        known = period[period >= 0]
        yield "report_latest", period == (known.max() if known.size else -2)
        yield "report_earliest", period == (known.min() if known.size else -2)

    def _static(self) -> Iterator[Column]:
        index = self.index
        observations = index.observations
        rows = float(max(index.row.max(initial=0), 1))
        columns = float(max(index.column.max(initial=0), 1))
        values = np.where([o.quantity.value < 0 for o in observations], -index.amounts, index.amounts)
        whole = values == np.round(values)
        in_cell = index.row >= 0
        named = set(tokens(self.questions[-1]))
        yield "in_cell", in_cell
        yield "in_header", [o.in_header for o in observations]
        yield "percent", [o.quantity.unit == "percent" for o in observations]
        yield "currency", [o.quantity.unit == "currency" for o in observations]
        yield "scaled", [o.quantity.scale > 1 for o in observations]
        yield "whole", whole
        yield "like_a_year", (np.abs(values) >= 1950) & (np.abs(values) <= 2049) & whole
        yield "magnitude", np.log10(np.abs(values) + 1) / 6
        yield "negative", values < 0
        yield "zero", values == 0
        yield "total", ["total" in o.label.split()[:2] for o in observations]
        yield "row", np.where(in_cell, index.row / rows, 0.0)
        yield "row_one", index.row == 1
        yield "row_zero", index.row == 0
        yield "row_last", index.row == rows
        yield "column", np.where(in_cell, index.column / columns, 0.0)
        yield "column_one", index.column == 1
        yield "column_zero", index.column == 0
        yield "ordinal", np.minimum(index.ordinal, 4) / 4
        yield "repeats", np.minimum(index.repeats, 4) / 4
        in_question = [o.quantity.text.removesuffix("%") in named for o in observations]
        yield "in_question", in_question
        sentence = np.where(in_cell, 0.0, index.sentence / max(len(index.sentence_years), 1))
        yield "sentence", sentence

    def _cue_products(self) -> Iterator[Column]:
        """Units and words of the figures joined with the words of the question that ask for them."""
        observations = self.index.observations
        cue = dict(zip(_CUES, self.cues, strict=True))
        facts = {
            ("percent", "percent"): [o.quantity.unit == "percent" for o in observations],
            ("currency", "price"): [o.quantity.unit == "currency" for o in observations],
            ("share", "share"): ["share" in o.label for o in observations],
            ("total", "total"): ["total" in o.label for o in observations],
        }
        for (name, asked), fact in facts.items():
            values = np.array(fact, dtype=np.float32)
            yield f"{name}_asked", values * cue[asked]
            if name != "currency":
                yield f"{name}_not_asked", values * (1 - cue[asked])


def _of_best(overlap: FloatArray) -> FloatArray:
    return overlap / max(float(overlap.max(initial=0.0)), 1e-6)


def _cues(question: str) -> list[float]:
    words = set(tokens(question)) | ({"%"} if "%" in question else set())
    return [float(bool(words & {stem(member) for member in members})) for members in _CUES.values()]


class FigureRelations:
    """The relations of a report's observations to others of them; each is computed once a question.

    A question is searched under several histories, most of which speak of the same figures.

    Args:
        index: The report.

    Attributes:
        to_any: :func:`relation_to_any` of the report, for some figures.
        around: :func:`relation_around` of the report, for a figure or none.
        pairs: :func:`relation_to_first` of the report, for a figure or -1.
    """

    def __init__(self, index: ReportIndex) -> None:
        self.index = index
        self.to_any = cache(partial(relation_to_any, index))
        self.around = cache(partial(relation_around, index))
        self.pairs = cache(partial(relation_to_first, index))


def relation_to_first(index: ReportIndex, first: int) -> FloatArray:
    """Returns how every observation lies to one, which is -1 for none.

    Returns:
        Shape ``(observations + 1, PAIR_FEATURES)``; the last row is for no observation, so that -1 finds it.
    """
    every = np.append(np.arange(len(index.row)), -1)
    return pair_features(index, np.full(len(every), first), every)


def relation_to_any(index: ReportIndex, figures: Sequence[int]) -> FloatArray:
    """Returns whether each observation has the row, column or sentence of any of ``figures``, or is one of them.

    Returns:
        Shape ``(observations, 5)``.
    """
    chosen = np.array(figures, dtype=np.int64)
    rows, columns, sentences = index.row[chosen], index.column[chosen], index.sentence[chosen]
    same_row = np.isin(index.row, rows[rows >= 0])
    same_column = np.isin(index.column, columns[columns >= 0])
    same_sentence = np.isin(index.sentence, sentences[sentences >= 0])
    same = np.isin(np.arange(len(index.row)), chosen)
    return np.stack([same_row, same_column, same_sentence, same, same_row & ~same_column], axis=1).astype(np.float32)


def relation_around(index: ReportIndex, anchor: int | None = None) -> FloatArray:
    """Returns position and period of each observation relative to one; zeros without one.

    Returns:
        Shape ``(observations, 11)``.
    """
    if anchor is None:
        return np.zeros((len(index.row), 11), dtype=np.float32)
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


PAIR_FEATURES = 20
"""The number of relations of a second operand to the first one."""


def pair_features(index: ReportIndex, first: IntArray, second: IntArray) -> FloatArray:
    """The relations of second operands to first ones.

    Args:
        index: The report.
        first: Observations (-1 for none), broadcast against ``second``.
        second: Observations.

    Returns:
        Shape ``(*broadcast shape, PAIR_FEATURES)``.
    """
    known = (first >= 0) & (second >= 0)
    across, down = index.column[second] - index.column[first], index.row[second] - index.row[first]
    in_table = index.row[first] >= 0, index.row[second] >= 0
    cells = known & in_table[0] & in_table[1]
    texts = known & (index.sentence[first] >= 0) & (index.sentence[second] >= 0)
    apart = index.sentence[second] - index.sentence[first]
    dated = known & (index.period[first] >= 0) & (index.period[second] >= 0)
    later = index.period[first] - index.period[second]
    row, column = cells & (down == 0), cells & (across == 0)
    same_unit = index.unit[first] == index.unit[second]
    relations = {  # Fitted weights depend on the order.
        "same_figure": known & (first == second),
        "same_row": row,
        "same_column": column,
        "next_column": row & (across == 1),
        "previous_column": row & (across == -1),
        "next_row": column & (down == 1),
        "previous_row": column & (down == -1),
        "other_row_and_column": cells & ~row & ~column,
        "same_sentence": texts & (apart == 0),
        "neighbouring_sentence": texts & (np.abs(apart) == 1),
        "table_and_text": known & (in_table[0] != in_table[1]),
        "same_year": dated & (later == 0),
        "one_year_later": dated & (later == 1),
        "later": dated & (later > 0),
        "earlier": dated & (later < 0),
        "unknown": ~known,
        "same_unit": known & same_unit,
        "other_unit": known & ~same_unit,
        "other_scale": known & (index.scale[first] != index.scale[second]),
        "same_amount": known & (index.amounts[first] == index.amounts[second]),
    }
    return np.stack(list(relations.values()), axis=-1).astype(np.float32)
