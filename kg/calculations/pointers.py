"""The encoder's view of a turn: which form it reads in the question, and which operands it points at.

Its log-probabilities are blended with those of the fitted scorer by a handful of weights, which are fitted on reports
that neither has seen (:func:`optimize.encoders.held_out.fit_blend`)::

    forms      softmax(0.4 * form scorer + 0.7 * encoder)
    operands   softmax(0.6 * network + 0.5 * pointer)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from pydantic import FiniteFloat, TypeAdapter

from kg.arrays import FloatArray, IntArray, log_softmax
from kg.calculations.forms import ParsedForm
from kg.calculations.report_index import ReportIndex
from kg.encoders import EncodedPage, JoinedTurns, TextEncoder, TurnOperands

MORE_JOINT = ("form", "first", "second", "sum", "below_best", "weakest")
"""The encoder's features of a complete candidate: log-probabilities of its form and its operands, their sum, the sum
below the best candidate's, and the less probable operand."""

_FLOOR = -12.0
_UNKNOWN_FORM, _LEAST_FORM = -9.0, -15.0
_UNKNOWN_OPERAND = -6.0

_PAIRS = TypeAdapter(dict[str, tuple[FiniteFloat, FiniteFloat]])

_Key = tuple[int, str, int, int]
"""History, form, position, and what the first operand is to the encoder."""

_Operand = tuple[int, ParsedForm, int, int]
"""The arguments of :meth:`Pointers.operands`."""

_BEYOND = 10**6
"""Added to the numbers of first operands that are no items, so that they differ from those of observations."""


@dataclass(frozen=True)
class EncoderBlend:
    """The weights of the fitted scorer and of the encoder.

    Attributes:
        forms: Of the form scorer and of the encoder.
        figures: Of the network and of the pointer, for figures of the report.
        answers: The same for earlier answers.
    """

    forms: tuple[float, float] = (0.5, 0.7)
    figures: tuple[float, float] = (0.8, 0.5)
    answers: tuple[float, float] = (0.8, 0.5)

    def to_dict(self) -> dict[str, list[float]]:
        """Returns the weights with four digits, by name."""
        return {one.name: [round(value, 4) for value in getattr(self, one.name)] for one in fields(self)}

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> EncoderBlend:
        """Reads what :meth:`to_dict` wrote.

        Raises:
            ValueError: A weight is no finite number, or there are too many or too few.
            KeyError: A weight is missing.
        """
        read = _PAIRS.validate_python(record)
        return cls(**{one.name: read[one.name] for one in fields(cls)})


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
        histories: Sequence[Sequence[TurnOperands]],
    ) -> None:
        self._heads = encoder.heads
        self._index = index
        self._items = len(index)
        self._turns = [len(turns) for turns in histories]
        self._page = _page_of(encoder, index)
        self._question = encoder.question(questions)
        self._similarities = self._page.similarities(self._question.spoken)
        self._joined: JoinedTurns = self._heads.join(self._question, histories, self._page)
        self._known: dict[_Key, FloatArray | None] = {}
        self._leads = self._heads.lead(self._page.vectors), self._heads.lead(self._joined.turns)

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
        key = self._key(history, form, position, first)
        if key not in self._known:
            self.read([(history, form, position, first)])
        return self._known[key]

    def read(self, operands: Iterable[_Operand]) -> None:
        """Reads several operands at once, which is faster; :meth:`operands` then has them.

        Args:
            operands: The arguments of :meth:`operands`; the memory grows with their number times that of the figures.
        """
        new = {key: one for one in operands if (key := self._key(*one)) not in self._known}
        for kind, read in (("A", self._figures), ("R", self._earlier)):
            keys = [
                key
                for key, (_, form, position, _) in new.items()
                if form.kinds[position] == kind and form.name in self._heads.number
            ]
            if keys:
                self._known.update(zip(keys, read([new[key] for key in keys]), strict=True))
        self._known.update((key, None) for key in new if key not in self._known)

    def _key(self, history: int, form: ParsedForm, position: int, first: int) -> _Key:
        """The operand, in which all items of one observation are one as the first operand."""
        is_item = 0 <= first < self._items
        return history, form.name, position, int(self._index.base[first]) if is_item else first + _BEYOND

    def _queries(self, operands: Sequence[_Operand]) -> tuple[FloatArray, FloatArray]:
        histories, positions = (np.array([one[place] for one in operands], dtype=np.int64) for place in (0, 2))
        numbers = np.array([self._heads.number[form.name] for _, form, _, _ in operands], dtype=np.int64)
        leads = np.stack([self._lead(history, position, first) for history, _, position, first in operands])
        return self._heads.queries(self._joined, histories, numbers, positions, leads)

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
        column = np.flatnonzero(self._page.order == self._index.base[item])
        if form.name not in self._heads.number or not len(column):
            return 0.0, 0.0
        _, listened = self._queries([(history, form, position, first)])
        words = self._heads.word_weights(self._question.heard, listened)[0]
        alike = self._similarities[:, column[0]]
        return float(words @ alike / words.sum()), float(alike[words >= words.max() / 2].min())

    def words_near(self, figures: Sequence[int]) -> list[tuple[str, float]]:
        """Returns the question's words in lower case, and how near each comes to a word of some figures, in [-1, 1]."""
        near = self._similarities[:, np.isin(self._page.order, figures)].max(axis=1, initial=-1.0)
        return [(word, float(near[pieces].mean())) for word, pieces in self._question.words]

    def _figures(self, operands: Sequence[_Operand]) -> FloatArray:
        """The log-probabilities of the items; a row an operand."""
        logs = np.full((len(operands), len(self._page.vectors)), _FLOOR, dtype=np.float32)
        if len(self._page.order):
            queries, listened = self._queries(operands)
            words = self._heads.word_weights(self._question.heard, listened)
            scores = queries @ self._page.vectors[self._page.order].T + words @ self._similarities
            logs[:, self._page.order] = np.maximum(log_softmax(scores), _FLOOR)
        result: FloatArray = logs[:, self._index.base]
        return result

    def _earlier(self, operands: Sequence[_Operand]) -> Iterator[FloatArray]:
        """The log-probabilities of the earlier turns, for each operand."""
        queries, _ = self._queries(operands)
        for (history, _, _, _), query in zip(operands, queries, strict=True):
            logs = np.full(self._turns[history], _FLOOR, dtype=np.float32)
            if self._question.numbers:
                scores = log_softmax(self._joined.turns[history] @ query)
                logs[list(self._question.numbers)] = np.maximum(scores, _FLOOR)
            yield logs

    def _lead(self, history: int, position: int, first: int) -> FloatArray:
        """The part of the second operand's query that comes from the first one; zeros for a constant."""
        figures, turns = self._leads
        if position and 0 <= first < self._items:
            figure: FloatArray = figures[self._index.base[first]]
            return figure
        if position and first - self._items in self._question.numbers:
            turn: FloatArray = turns[history, self._question.numbers.index(first - self._items)]
            return turn
        return np.zeros(turns.shape[-1], dtype=np.float32)

    def candidate_features(self, forms: Sequence[ParsedForm], read: FloatArray, states: IntArray) -> FloatArray:
        """Returns the features of complete candidates; shape ``(candidates, len(MORE_JOINT))``.

        Args:
            forms: The search's forms.
            read: :meth:`forms` for their names.
            states: ``(history, form, first, second)`` a row.
        """
        operands = np.stack([self._chosen(forms, states, position) for position in (0, 1)], axis=1)
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

    def _chosen(self, forms: Sequence[ParsedForm], states: IntArray, position: int) -> FloatArray:
        """The log-probability of each state's operand at a position; 0 for a constant and where there is none."""
        result = np.zeros(len(states), dtype=np.float32)
        wanted = np.array([kind not in ("C", "") for kind in ((*form.kinds, "")[position] for form in forms)])
        places = np.flatnonzero(wanted[states[:, 1]])
        if not len(places):
            return result
        keys = states[places, :3]
        if position == 0:
            keys[:, 2] = -1
        distinct, groups = np.unique(keys, axis=0, return_inverse=True)
        for group, (history, number, first) in enumerate(distinct.tolist()):
            form, members = forms[number], places[groups.reshape(-1) == group]
            logs = self.operands(history, form, position, first)
            own = states[members, 2 + position] - (0 if form.kinds[position] == "A" else self._items)
            result[members] = _UNKNOWN_OPERAND if logs is None else logs[own]
        return result
