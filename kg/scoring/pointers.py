"""The encoder's view of a turn: which form it reads in the question, and which operands it points at.

Its log-probabilities are blended with those of the fitted scorer by a handful of weights, which are fitted on reports
that neither has seen (:mod:`optimize.encoders.blend`)::

    forms      softmax(0.4 * form scorer + 0.7 * encoder)
    operands   softmax(0.6 * network + 0.5 * pointer)
    ranking    1.0 * ranker + the weighted features of MORE_JOINT
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from kg.arrays import FloatArray, IntArray, log_softmax
from kg.encoder import EarlierTurn, EncodedPage, JoinedTurns, TextEncoder
from kg.errors import DataError
from kg.figures import ReportIndex
from kg.scoring.forms import ParsedForm
from kg.scoring.operand_features import HistoryTurn

MORE_JOINT = ("form", "first", "second", "sum", "below_best", "weakest")
"""The encoder's features of a complete candidate: log-probabilities of its form and its operands, their sum, the sum
below the best candidate's, and the less probable operand."""

_FLOOR = -12.0
_UNKNOWN_FORM, _LEAST_FORM = -9.0, -15.0
_UNKNOWN_OPERAND = -6.0


@dataclass(frozen=True)
class EncoderBlend:
    """The weights of the fitted scorer and of the encoder.

    Attributes:
        forms: Of the form scorer and of the encoder.
        figures: Of the network and of the pointer, for figures of the report.
        answers: The same for earlier answers.
        ranker: Of the ranker's score and of each of :data:`MORE_JOINT`.
    """

    forms: tuple[float, float] = (0.5, 0.7)
    figures: tuple[float, float] = (0.8, 0.5)
    answers: tuple[float, float] = (0.8, 0.5)
    ranker: tuple[float, ...] = (1.0, *(0.0,) * len(MORE_JOINT))

    def to_dict(self) -> dict[str, list[float]]:
        """Returns the weights with four digits, by name."""
        return {one.name: [round(value, 4) for value in getattr(self, one.name)] for one in fields(self)}

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> EncoderBlend:
        """Reads what :meth:`to_dict` wrote.

        Raises:
            DataError: A weight is missing or no number, or there are too many.
        """
        sizes = {one.name: len(one.default) for one in fields(cls) if isinstance(one.default, tuple)}
        try:
            read = {name: tuple(float(value) for value in record[name]) for name in sizes}
        except (KeyError, TypeError, ValueError) as error:
            raise DataError(f"the scorer's encoder blend cannot be read: {error!r}") from error
        wrong = [name for name, values in read.items() if len(values) != sizes[name] or not np.isfinite(values).all()]
        if wrong:
            raise DataError(f"the scorer's encoder blend must have {sizes[wrong[0]]} finite weights for {wrong[0]}")
        return cls(**read)  # type: ignore[arg-type]


_PAGES: WeakKeyDictionary[ReportIndex, tuple[TextEncoder, EncodedPage]] = WeakKeyDictionary()


def _page_of(encoder: TextEncoder, index: ReportIndex) -> EncodedPage:
    """A report's vectors, kept as long as its index."""
    kept = _PAGES.get(index)
    if kept is None or kept[0] is not encoder:
        kept = _PAGES[index] = (encoder, encoder.page(index.observations, index.sentences))
    return kept[1]


class Pointers:
    """The encoder's log-probabilities for one question under several histories.

    Args:
        encoder: The encoder.
        index: The report.
        questions: All questions so far; the last is the one asked.
        histories: The earlier turns of each history.
    """

    def __init__(
        self,
        encoder: TextEncoder,
        index: ReportIndex,
        questions: Sequence[str],
        histories: Sequence[Sequence[HistoryTurn]],
    ) -> None:
        self._heads = encoder.heads
        self._index = index
        self._turns = [len(turns) for turns in histories]
        self._page = _page_of(encoder, index)
        self._question = encoder.question(questions)
        self._similarities = self._page.similarities(self._question.spoken)
        earlier = [[EarlierTurn(turn.form.form, turn.form.used, turn.figures) for turn in turns] for turns in histories]
        self._joined: JoinedTurns = self._heads.join(self._question, earlier, self._page)
        self._known: dict[tuple[int, str, int, int], FloatArray | None] = {}

    def forms(self, names: Sequence[str]) -> FloatArray:
        """Returns the log-probabilities of forms under each history; shape ``(histories, len(names))``."""
        columns = [self._heads.number.get(name, -1) for name in names]
        templates = self._joined.templates
        padded = np.concatenate([templates, np.full((len(templates), 1), _UNKNOWN_FORM, dtype=np.float32)], axis=1)
        result: FloatArray = np.maximum(padded[:, columns], _LEAST_FORM)
        return result

    def operands(self, history: int, form: ParsedForm, position: int, first: int) -> FloatArray | None:
        """Returns the log-probabilities of the report's items, or of the earlier turns, as an operand of a form.

        Args:
            history: The number of the history.
            form: The form, whose operand is a figure or an earlier answer.
            position: 0 or 1.
            first: The number of the first operand in the search; -1 for a constant and at position 0.

        Returns:
            ``None`` for a form that the encoder does not know.
        """
        items = len(self._index)
        seen = int(self._index.base[first]) if 0 <= first < items else first if first < 0 else first + 10**6
        key = (history, form.name, position, seen)
        if key not in self._known:
            self._known[key] = self._operands(history, form, position, first)
        return self._known[key]

    def _operands(self, history: int, form: ParsedForm, position: int, first: int) -> FloatArray | None:
        found = self._heads.query(self._joined, history, form.name, position, self._first(history, position, first))
        if found is None:
            return None
        query, listened = found
        if form.kinds[position] == "A":
            return self._figures(query, listened)
        own = np.full(self._turns[history], _FLOOR, dtype=np.float32)
        if self._joined.numbers:
            scores = log_softmax(self._joined.turns[history] @ query)
            own[list(self._joined.numbers)] = np.maximum(scores, _FLOOR)
        return own

    def coverage(self, history: int, form: ParsedForm, position: int, first: int, item: int) -> tuple[float, float]:
        """Returns how well the words that a query listens to are found in a figure's words.

        Args:
            history: The number of the history.
            form: The form, whose operand is a figure.
            position: 0 or 1.
            first: The number of the first operand in the search; -1 for a constant and at position 0.
            item: The item of the report that fills the position.

        Returns:
            The weighted mean and the least of the similarities to the figure's words, in [-1, 1]. The least is of the
            words with at least half of the largest weight. Zeros for a form that the encoder does not know and a
            figure without words.
        """
        found = self._heads.query(self._joined, history, form.name, position, self._first(history, position, first))
        column = np.flatnonzero(self._page.order == self._index.base[item])
        if found is None or not len(column):
            return 0.0, 0.0
        words = self._heads.word_weights(self._question.heard, found[1])
        alike = self._similarities[:, column[0]]
        return float(words @ alike / words.sum()), float(alike[words >= words.max() / 2].min())

    def _figures(self, query: FloatArray, listened: FloatArray) -> FloatArray:
        logs = np.full(len(self._page.vectors), _FLOOR, dtype=np.float32)
        if len(self._page.order):
            words = self._heads.word_weights(self._question.heard, listened)
            scores = self._page.vectors[self._page.order] @ query + words @ self._similarities
            logs[self._page.order] = np.maximum(log_softmax(scores), _FLOOR)
        result: FloatArray = logs[self._index.base]
        return result

    def _first(self, history: int, position: int, first: int) -> FloatArray | None:
        """The vector of the first operand, which the second one's query sees; zeros for a constant."""
        if position == 0:
            return None
        items = len(self._index)
        if 0 <= first < items:
            vector: FloatArray = self._page.vectors[self._index.base[first]]
            return vector
        if first - items in self._joined.numbers and first >= items:
            turn: FloatArray = self._joined.turns[history, self._joined.numbers.index(first - items)]
            return turn
        return np.zeros(self._page.vectors.shape[1], dtype=np.float32)

    def candidate_features(self, forms: Sequence[ParsedForm], read: FloatArray, states: IntArray) -> FloatArray:
        """Returns the features of complete candidates; shape ``(candidates, len(MORE_JOINT))``.

        Args:
            forms: The search's forms.
            read: :meth:`forms` for their names.
            states: ``(history, form, first, second)`` a row.
        """
        items = len(self._index)
        operands = np.zeros((len(states), 2), dtype=np.float32)
        for place, (history, number, *chosen) in enumerate(states.tolist()):
            form = forms[number]
            for position in range(form.operands):
                if form.kinds[position] == "C":
                    continue
                logs = self.operands(history, form, position, chosen[0] if position else -1)
                own = chosen[position] - (0 if form.kinds[position] == "A" else items)
                operands[place, position] = _UNKNOWN_OPERAND if logs is None else logs[own]
        form_scores = read[states[:, 0], states[:, 1]]
        total = form_scores + operands.sum(axis=1)
        best = total.max(initial=-40.0)
        columns = [  # as MORE_JOINT
            form_scores / 3,
            operands[:, 0] / 3,
            operands[:, 1] / 3,
            np.maximum(total, -40) / 5,
            np.maximum(total - best, -30) / 5,
            np.minimum(operands[:, 0], operands[:, 1]) / 3,
        ]
        return np.stack(columns, axis=1).astype(np.float32)
