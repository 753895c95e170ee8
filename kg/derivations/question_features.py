"""What the scorers see of a figure when they look at the questions alone, whatever was answered before.

A question is compared with every figure of the report at once, so that all of this is computed once a turn::

    QuestionFeatures(index, ["what were revenues in 2008?"]).items      # a row of features for every item
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kg.derivations.figure_index import FIELDS, ReportIndex, is_opening
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

ITEM_GROUPS = {
    "labels": "words and pairs of words that the question shares with the row's label",
    "columns": "words that it shares with the column's label",
    "text": "words that it shares with the sentence and with what stands left and right of the figure",
    "characters": "character 4-grams that it shares with the row's label",
    "mentions": "where in the question the label is spoken of",
    "earlier_questions": "words that the two questions before and the first one share with labels and sentence",
    "years": "the figure's year against the years that are asked for",
    "figures": "what the figure itself is: unit, scale, size, sign, in a header",
    "places": "row, column, place in the text",
    "cues": "units and labels joined with words such as percent and total",
    "notation": "the figure without its sign, or as a percentage",
}
"""The groups of an item's features that depend on the questions alone, and what they say."""

_FIELD_GROUPS = {"label": "labels", "phrases": "labels", "column": "columns"}


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
    def _parts(self) -> list[tuple[str, FloatArray]]:
        """The features of each observation, in blocks with the names of their groups."""
        return [*self._overlaps(), ("years", self._periods()), *self._static(), ("cues", self._cue_products())]

    @cached_property
    def items(self) -> FloatArray:
        """Shape ``(items, features)``."""
        spread = np.concatenate([block for _, block in self._parts], axis=1)[self.index.base]
        variant = np.eye(3, dtype=np.float32)[self.index.variant][:, 1:]
        return np.concatenate([spread, variant], axis=1)

    @property
    def groups(self) -> tuple[str, ...]:
        """The group of each column of ``items``: one of :data:`ITEM_GROUPS`."""
        return (*(name for name, block in self._parts for _ in range(block.shape[1])), "notation", "notation")

    def _overlaps(self) -> list[tuple[str, FloatArray]]:
        index = self.index
        vector = index.vector([*self.words, *token_pairs(content_tokens(self.questions[-1]))])
        parts: list[tuple[str, FloatArray]] = []
        for name in FIELDS:
            field = index.fields[name]
            shared = field.overlap(vector)
            of_question = shared / self.mass
            best = max(float(of_question.max(initial=0.0)), 1e-6)
            of_text = shared / np.maximum(field.mass, np.float32(0.5))
            block = np.stack([of_question, of_text, of_question / best], axis=1).astype(np.float32)
            parts.append((_FIELD_GROUPS.get(name, "text"), block))
        parts.append(("labels", self._agreement(vector)))
        similarity = index.label_similarity(self.questions[-1])
        of_best = similarity / max(float(similarity.max(initial=0.0)), 1e-6)
        parts.append(("characters", np.stack([similarity, of_best], axis=1).astype(np.float32)))
        parts.append(("mentions", index.positions(content_tokens(self.questions[-1]))))
        asked = self.questions
        before = [asked[-1 - depth] if len(asked) > depth else "" for depth in (1, 2)]
        before.append(asked[0] if len(asked) > 3 else "")
        earlier = [np.stack(self._carried(question), axis=1).astype(np.float32) for question in before]
        return [*parts, *(("earlier_questions", block) for block in earlier)]

    def _agreement(self, vector: FloatArray) -> FloatArray:
        """How well label and question cover each other, and clause and question, also against the best figure."""
        columns: list[FloatArray] = []
        for name in ("label", "sentence", "clause"):
            field = self.index.fields[name]
            shared = field.overlap(vector)
            both = 2 * shared / np.maximum(field.mass + np.float32(self.mass), np.float32(0.5))
            columns += [both, both / max(float(both.max(initial=0.0)), 1e-6)]
        return np.stack(columns, axis=1).astype(np.float32)

    def _carried(self, question: str) -> list[FloatArray]:
        """Overlap of an earlier question with label, column and sentence."""
        words = content_tokens(question)
        mass = max(sum(self.index.idf(word) for word in set(words)), 0.5)
        vector = self.index.vector(words)
        return [self.index.fields[name].overlap(vector) / mass for name in ("label", "column", "sentence")]

    @cached_property
    def periods(self) -> NDArray[np.int64]:
        """Each observation's year, -1 for none; an opening balance has its own where the question asks for one."""
        if not is_opening(self.questions[-1]):
            return self.index.period
        return self.index.period + self.index.opening

    def _periods(self) -> FloatArray:
        index = self.index
        period = self.periods
        columns = [period < 0, index.opening & (period == index.period), index.opening & (period > index.period)]
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

    def _static(self) -> list[tuple[str, FloatArray]]:
        index = self.index
        observations = index.observations
        rows = float(max(index.row.max(initial=0), 1))
        columns_ = float(max(index.column.max(initial=0), 1))
        values = np.where([o.quantity.value < 0 for o in observations], -index.amounts, index.amounts)
        in_cell = index.row >= 0
        named = self._words_in_question
        figures = [
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
        ]
        places = [
            np.where(in_cell, index.row / rows, 0.0),
            index.row == 1,
            index.row == 0,
            index.row == rows,
            np.where(in_cell, index.column / columns_, 0.0),
            index.column == 1,
            index.column == 0,
            np.minimum(index.ordinal, 4) / 4,
        ]
        seen = [np.minimum(index.repeats, 4) / 4, [o.quantity.text.removesuffix("%") in named for o in observations]]
        sentence = np.where(in_cell, 0.0, index.sentence / max(len(index.sentence_years), 1))
        blocks = (("figures", figures), ("places", places), ("figures", seen), ("places", [sentence]))
        return [(name, _stacked(columns)) for name, columns in blocks]

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


def _stacked(columns: Sequence[Any]) -> FloatArray:
    return np.stack([np.asarray(column, dtype=np.float32) for column in columns], axis=1)


def _cues(question: str) -> list[float]:
    words = set(tokens(question)) | ({"%"} if "%" in question else set())
    return [float(bool(words & {stem(member) for member in members})) for members in _CUES.values()]


__all__ = ["ITEM_GROUPS", "FloatArray", "QuestionFeatures", "SearchHint"]
