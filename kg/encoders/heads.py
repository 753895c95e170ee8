"""The heads of the encoder in NumPy: they join a question with a history, and score templates and operands.

The question's states at ``[CLS]``, the two slots and the earlier turns pass through one attention layer, in which each
earlier turn also carries its template, whether a later turn used it, and its figures. The first state then scores the
templates. A slot's state, with the template and the first operand, becomes a query: its product with a figure's vector
scores the figure, and every word of the question adds its similarity to the nearest word that speaks of the figure,
weighted by what the query listens to (late interaction; Khattab and Zaharia, 2020).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import erf

from kg.arrays import FloatArray, IntArray, log_softmax

WIDTH = 384
JOINED = 256
_ATTENTION_HEADS = 4
_SLOTS = 3


@dataclass(frozen=True)
class TurnOperands:
    """An earlier turn as the heads see it.

    Attributes:
        template: The name of its template.
        used: The earlier turns that it used.
        figures: The observations of its own operands.
    """

    template: str
    used: tuple[int, ...]
    figures: tuple[int, ...]


@dataclass(frozen=True)
class EncodedPage:
    """A report's figures as vectors.

    Attributes:
        vectors: Shape ``(observations, JOINED)``; zeros for figures of headers.
        order: The observations that have a vector.
        tokens: Unit vectors of all tokens of the report.
        near: For each observation in ``order`` the tokens that speak of it.
    """

    vectors: FloatArray
    order: IntArray
    tokens: FloatArray
    near: IntArray

    @cached_property
    def ordered(self) -> FloatArray:
        """The vectors of the observations in ``order``."""
        result: FloatArray = self.vectors[self.order]
        return result

    def similarities(self, spoken: FloatArray) -> FloatArray:
        """Returns how near each word of a question comes to a word of each figure; shape ``(words, figures)``."""
        if not len(self.order):
            return np.zeros((len(spoken), 0), dtype=np.float32)
        alike = spoken @ self.tokens.T
        result: FloatArray = alike[:, self.near.reshape(-1)].reshape(len(spoken), *self.near.shape).max(axis=-1)
        return result


@dataclass(frozen=True)
class EncodedQuestion:
    """A conversation's last question as states.

    Attributes:
        slots: States at ``[CLS]``, the two slots and the earlier turns ``numbers``.
        numbers: The earlier turns that the sequence holds.
        spoken: Unit vectors of all tokens, to compare with a report's.
        heard: Vectors of all tokens, by which a query weights them.
    """

    slots: FloatArray
    numbers: tuple[int, ...]
    spoken: FloatArray
    heard: FloatArray


@dataclass(frozen=True)
class JoinedTurns:
    """Slots as queries begin with them, earlier turns under each history, and the templates' log-probabilities."""

    asked: FloatArray
    turns: FloatArray
    templates: FloatArray
    numbers: tuple[int, ...]


class Heads:
    """The heads' weights.

    Args:
        templates: The names of the templates, in the order of their weights.
        weights: By name, each array in the layout of torch's linear layers.
    """

    def __init__(self, templates: Sequence[str], weights: Mapping[str, FloatArray]) -> None:
        self.templates = tuple(templates)
        self.number = {template: place for place, template in enumerate(self.templates)}
        self._weights = dict(weights)
        self._scale = np.float32(np.exp(self._weights["scale"]) / np.sqrt(JOINED))

    def question(self, states: FloatArray, places: Mapping[int, int]) -> EncodedQuestion:
        """Returns a question from the states of its sequence.

        Args:
            states: Shape ``(tokens, WIDTH)``.
            places: The place of each earlier turn in the sequence.
        """
        slots = states[[*range(_SLOTS), *places.values()]]
        return EncodedQuestion(slots, tuple(places), self._unit_vectors(states), self._linear("heard", states))

    def page(
        self, marks: FloatArray, order: Sequence[int], count: int, states: FloatArray, near: IntArray
    ) -> EncodedPage:
        """Returns a report's figures.

        Args:
            marks: The states at the figures' tokens.
            order: Their observations.
            count: How many observations the report has.
            states: The states of all tokens.
            near: For each figure the tokens that speak of it.
        """
        vectors = np.zeros((count, JOINED), dtype=np.float32)
        if len(order):
            vectors[list(order)] = self._linear("figure", marks)
        return EncodedPage(vectors, np.array(order, dtype=np.int64), self._unit_vectors(states), near)

    def join(
        self, question: EncodedQuestion, histories: Sequence[Sequence[TurnOperands]], page: EncodedPage
    ) -> JoinedTurns:
        """Returns the question's slots and earlier turns under several histories."""
        text = self._linear("slot", question.slots)
        text[:_SLOTS] += self._weights["kind.weight"][:_SLOTS]
        text[_SLOTS:] += self._weights["kind.weight"][_SLOTS]
        x = np.repeat(text[None], len(histories), axis=0)
        for row, turns in enumerate(histories):
            used = {place for turn in turns for place in turn.used}
            for column, number in enumerate(question.numbers, start=_SLOTS):
                x[row, column] += self._earlier(turns[number], page, is_used=number in used)
        x = self._attend(x)
        templates: FloatArray = log_softmax(self._linear("form", x[:, 0]), axis=-1).astype(np.float32)
        return JoinedTurns(
            self._linear("ask", x[:, 1:_SLOTS]), self._linear("turn", x[:, _SLOTS:]), templates, question.numbers
        )

    def queries(
        self, joined: JoinedTurns, histories: IntArray, numbers: IntArray, positions: IntArray, leads: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Returns the queries of several operands, and what they listen to; shape ``(operands, JOINED)`` both.

        Args:
            joined: The turns under all histories.
            histories: The number of each operand's history.
            numbers: The number of its template.
            positions: Its position, 0 or 1.
            leads: :meth:`lead` of the operand before it; zeros at position 0.
        """
        x = _gelu(joined.asked[histories, positions] + self._weights["role.weight"][2 * numbers + positions] + leads)
        return self._linear("ask_2", x) * self._scale, self._linear("listen", x) / np.float32(np.sqrt(JOINED))

    def lead(self, first: FloatArray) -> FloatArray:
        """Returns what the vector of a first operand adds to the query of the second one."""
        result: FloatArray = first @ self._weights["first.weight"].T
        return result

    def word_weights(self, heard: FloatArray, listened: FloatArray) -> FloatArray:
        """Returns how much each word of the question counts for each query, larger than 0; a row a query."""
        result: FloatArray = np.logaddexp(0, listened @ heard.T + self._weights["loud"]).astype(np.float32)
        return result

    def _earlier(self, turn: TurnOperands, page: EncodedPage, *, is_used: bool) -> FloatArray:
        result = self._weights["past_form.weight"][self.number.get(turn.template, len(self.templates))]
        result = result + self._weights["past_used.weight"][int(is_used)]
        # In training, figures beyond the last one with a vector are left out; those before it count as zeros.
        limit = int(page.order.max(initial=-1))
        figures = [figure for figure in turn.figures[:2] if figure <= limit]
        if figures:
            result = result + page.vectors[figures].mean(axis=0) @ self._weights["past_figure.weight"].T
        return np.asarray(result, dtype=np.float32)

    def _attend(self, x: FloatArray) -> FloatArray:
        rows, length, width = x.shape
        size = width // _ATTENTION_HEADS
        split = self._linear("join.qkv", x).reshape(rows, length, 3, _ATTENTION_HEADS, size)
        q, k, v = split.transpose(2, 0, 3, 1, 4)
        scores = q @ k.transpose(0, 1, 3, 2) / np.float32(np.sqrt(size))
        shares = np.exp(log_softmax(scores, axis=-1))
        mixed = (shares @ v).transpose(0, 2, 1, 3).reshape(rows, length, width)
        x = self._norm("join.norm_1", x + self._linear("join.out", mixed))
        return self._norm("join.norm_2", x + self._linear("join.down", _gelu(self._linear("join.up", x))))

    def _linear(self, name: str, x: FloatArray) -> FloatArray:
        result: FloatArray = x @ self._weights[f"{name}.weight"].T
        bias = self._weights.get(f"{name}.bias")
        return result if bias is None else result + bias

    def _norm(self, name: str, x: FloatArray) -> FloatArray:
        x = x - x.mean(axis=-1, keepdims=True)
        scaled = x / np.sqrt((x * x).mean(axis=-1, keepdims=True) + np.float32(1e-12))
        result: FloatArray = scaled * self._weights[f"{name}.weight"] + self._weights[f"{name}.bias"]
        return result

    def _unit_vectors(self, states: FloatArray) -> FloatArray:
        vectors = self._linear("token", states)
        length = np.sqrt((vectors * vectors).sum(axis=-1, keepdims=True))
        result: FloatArray = vectors / np.maximum(length, 1e-12)
        return result


def _gelu(x: FloatArray) -> FloatArray:
    result: FloatArray = (0.5 * x * (1 + erf(x * np.float32(2**-0.5)))).astype(np.float32)
    return result
