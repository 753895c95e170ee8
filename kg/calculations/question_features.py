"""Features of a figure that depend on the questions alone, whatever was answered before.

A question is compared with every figure of the report at once, so that all of this is computed once a turn::

    QuestionFeatures(index, ["what were revenues in 2008?"]).items      # a row of features for every item
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from kg.arrays import BoolArray, FloatArray, IntArray
from kg.calculations.figure_relations import FigureRelations
from kg.calculations.report_index import FIELDS, ReportIndex, is_opening
from kg.text import content_tokens, stem, token_pairs, tokens, years

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
