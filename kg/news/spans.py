"""Reading of a question together with documents: how well each span answers it, and whether they say yes or no.

>>> reader = SpanReader.load()
>>> [window] = windows_of(passages)
>>> [scores] = reader.read("Who is the buyer of Talbridge?", [window])
>>> [(first, last, score)] = scores.best(1)
>>> window.part(first, last).text
'Corvex Resources'

The transformer is that of :mod:`kg.encoders`, with a low-rank change of its matrices (Hu et al., 2022). The score of
a span is a bilinear form of the states of its ends (Dozat and Manning, 2017). All spans of all documents, yes, no and
"no answer", whose score is 0, share one softmax (Clark and Gardner, 2018). They are the file ``reader.npz``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from kg.arrays import FloatArray
from kg.encoders import LowRankTransformer, word_pieces
from kg.news.documents import Passage

FILE = Path(__file__).with_name("reader.npz")

QUESTION_PIECES, MOST_PIECES, SPAN_PIECES = 40, 500, 16
"""Pieces of a question, of what is read at once, and of a span, at most."""

_WORD = re.compile(r"\w+|[^\w\s]")


@dataclass(frozen=True)
class Span:
    """A part of a sentence.

    Attributes:
        passage: The sentence.
        start: The offset of its first character.
        end: The offset after its last character.
    """

    passage: Passage
    start: int
    end: int

    @property
    def text(self) -> str:
        """It as it is written."""
        return self.passage.text[self.start : self.end]


@dataclass(frozen=True)
class Piece:
    """A piece of a document: its number, and the word that it is of; that of the day has none."""

    number: int
    word: Span | None


@dataclass(frozen=True)
class Window:
    """Sentences of a document that are read at once, after its day and its headline."""

    pieces: tuple[Piece, ...]

    def part(self, first: int, last: int) -> Span | None:
        """Returns the span from one piece to another; ``None`` if it is in no single sentence."""
        begin, end = self.pieces[first].word, self.pieces[last].word
        if begin is None or end is None or begin.passage != end.passage:
            return None
        return Span(begin.passage, begin.start, end.end)


def windows_of(passages: Sequence[Passage]) -> list[Window]:
    """Returns a document as it is read: at once, or in parts that begin with the last sentence of the part before.

    Args:
        passages: The sentences of the document, the headline first.
    """
    most = MOST_PIECES - QUESTION_PIECES - 4
    day, wordpiece = f"{passages[0].published:%d %B %Y}.", word_pieces()
    lines = [
        [
            Piece(number, Span(passage, word.start(), word.end()))
            for word in _WORD.finditer(passage.text)
            for number in wordpiece(word[0])
        ]
        for passage in passages
    ]
    head = [*(Piece(number, None) for number in wordpiece(day)), *lines[0]]
    windows: list[Window] = []
    place = 1
    while place < len(lines) or not windows:
        last, pieces = place, list(head)
        while last < len(lines) and (last == place or len(pieces) + len(lines[last]) <= most):
            pieces += lines[last]
            last += 1
        windows.append(Window(tuple(pieces[:most])))
        place = last if last >= len(lines) or last - place < 2 else last - 1
    return windows


@dataclass(frozen=True)
class WindowScores:
    """The scores of a question and a window.

    Attributes:
        spans: The score of each span by its first piece and its further pieces, shape ``(pieces, SPAN_PIECES)``;
            minus infinity for those that end outside.
        yes: The score of yes.
        no: The score of no.
    """

    spans: FloatArray
    yes: float
    no: float

    @property
    def total(self) -> float:
        """The log of the sum of the exponentials of all scores but that of no answer."""
        return float(np.logaddexp.reduce([self.yes, self.no, *self.spans[np.isfinite(self.spans)]]))

    def mass(self, first: int, last: int) -> float:
        """Returns the log of the sum of the exponentials of the spans that share half of their pieces with one."""
        length = last - first + 1
        near = [
            float(self.spans[begin, end - begin])
            for begin in range(max(first - length, 0), min(last, len(self.spans) - 1) + 1)
            for end in range(max(begin, first), min(last + length, begin + SPAN_PIECES - 1) + 1)
            if 2 * (min(end, last) - max(begin, first) + 1) >= max(end, last) - min(begin, first) + 1
        ]
        return float(np.logaddexp.reduce(near)) if near else -math.inf

    def best(self, most: int) -> Iterator[tuple[int, int, float]]:
        """Yields the first and last piece of the best spans that do not overlap, with their scores, the best first."""
        order = np.argsort(-self.spans, axis=None, kind="stable")[: most * SPAN_PIECES * SPAN_PIECES]
        taken: list[tuple[int, int]] = []
        for place in order.tolist():
            first, length = divmod(place, SPAN_PIECES)
            last = first + length
            if len(taken) == most or not np.isfinite(self.spans[first, length]):
                return
            if all(last < begin or end < first for begin, end in taken):
                taken.append((first, last))
                yield first, last, float(self.spans[first, length])


class SpanReader(LowRankTransformer):
    """The transformer as it is fitted for this."""

    file = FILE

    def read(self, question: str, windows: Sequence[Window]) -> list[WindowScores]:
        """Returns the scores of a question in some windows; all are comparable, and above 0 beats no answer.

        Args:
            question: The question.
            windows: The windows.
        """
        wordpiece = word_pieces()
        head = [wordpiece.cls, *wordpiece(question)[:QUESTION_PIECES], wordpiece.sep, wordpiece.sep]
        given = [[*head, *(piece.number for piece in window.pieces), wordpiece.sep] for window in windows]
        return [self._scores(states, len(head)) for states in self.states(given)]

    def _scores(self, states: FloatArray, begin: int) -> WindowScores:
        arrays = self.arrays
        hidden = np.maximum(states[0] @ arrays["whole"] + arrays["whole_bias"], 0)
        here, yes, no = (hidden @ arrays["verdicts"] + arrays["verdicts_bias"]).tolist()
        inside = states[begin:-1]
        first = inside @ arrays["begin"] + arrays["begin_bias"]
        last = inside @ arrays["end"] + arrays["end_bias"]
        scores = first @ last.T / np.float32(first.shape[1] ** 0.5)
        scores += (inside @ arrays["begins"])[:, None] + (inside @ arrays["ends"] + arrays["ends_bias"])[None, :] + here
        spans = np.full((len(inside), SPAN_PIECES), -np.inf, dtype=np.float32)
        for further in range(min(SPAN_PIECES, len(inside))):
            spans[: len(inside) - further, further] = np.diagonal(scores, further)
        return WindowScores(spans, yes, no)
