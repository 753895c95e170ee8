"""Reading of a question together with documents: how well each span answers it, and whether they say yes or no.

>>> reader = SpanReader.load()
>>> [window] = windows_of(text)
>>> [found] = reader.read("Who is the buyer of Talbridge?", [window])
>>> [(first, last, score)] = found.best(1)
>>> statement, start, end = window.part(first, last)
>>> statement.parse.text[start:end]
'Corvex Resources'

The transformer is that of :mod:`kg.encoders`, with a low-rank change of its matrices (Hu et al., 2022). The score of
a span is a bilinear form of the states of its ends (Dozat and Manning, 2017). All spans of all documents, yes, no and
"no answer", whose score is 0, share one softmax (Clark and Gardner, 2018). ``benchmarks/fit_reader.py`` fits both; they
are the file ``reader.npz``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from pathlib import Path

import numpy as np

from kg.arrays import FloatArray
from kg.clauses import ParsedSentence, Text
from kg.encoders import TransformerReader, WordPiece, word_pieces

FILE = Path(__file__).with_name("reader.npz")

QUESTION_PIECES, MOST_PIECES, SPAN_PIECES = 40, 500, 16
"""Pieces of a question, of what is read at once, and of a span, at most."""

_WORD = re.compile(r"\w+|[^\w\s]")

_APART, _NEAR = 0.5, 2
"""What each piece costs by which a span differs from a value at one of its ends, and the most pieces at each end."""


@dataclass(frozen=True)
class Piece:
    """A piece of a document.

    Attributes:
        number: Its number.
        line: The number of its line.
        start: The offset of the first character of its word.
        end: The offset after the last character of its word.
    """

    number: int
    line: int
    start: int
    end: int


@dataclass(frozen=True)
class Window:
    """Sentences of a document that are read at once, after its day and its headline.

    Attributes:
        document: The name of the document.
        statements: Those of its lines; that of the day has none.
        pieces: Its pieces.
    """

    document: str
    statements: tuple[ParsedSentence | None, ...]
    pieces: tuple[Piece, ...]

    @cached_property
    def _of_line(self) -> dict[int, list[int]]:
        found: dict[int, list[int]] = {}
        for place, piece in enumerate(self.pieces):
            found.setdefault(piece.line, []).append(place)
        return found

    def ends(self, line: int, start: int, end: int) -> tuple[int, int] | None:
        """Returns the first and last piece of a part of a line; ``None`` if none of it is read."""
        inside = [
            place
            for place in self._of_line.get(line, ())
            if self.pieces[place].start < end and self.pieces[place].end > start
        ]
        return (inside[0], inside[-1]) if inside else None

    def part(self, first: int, last: int) -> tuple[ParsedSentence, int, int] | None:
        """Returns the statement of a span of pieces and its offsets; ``None`` if it is in no single one."""
        begin, end = self.pieces[first], self.pieces[last]
        statement = self.statements[begin.line]
        return (statement, begin.start, end.end) if statement is not None and begin.line == end.line else None


def windows_of(text: Text) -> list[Window]:
    """Returns a document as it is read: at once, or in parts that begin with the last sentence of the part before.

    Args:
        text: The document.
    """
    most = MOST_PIECES - QUESTION_PIECES - 4
    wordpiece = word_pieces()
    day = pieces_of(wordpiece, day_line(text.published), 0)
    lines = [pieces_of(wordpiece, one.parse.text, 0) for one in text.statements]
    begin = len(day) + len(lines[0])
    found: list[Window] = []
    place = 1
    while place < len(lines) or not found:
        last, length = place, begin
        while last < len(lines) and (last == place or length + len(lines[last]) <= most):
            length += len(lines[last])
            last += 1
        chosen = [0, *range(place, last)]
        numbered = [day, *(lines[one] for one in chosen)]
        pieces = [Piece(one.number, line, one.start, one.end) for line, own in enumerate(numbered) for one in own]
        statements = (None, *(text.statements[one] for one in chosen))
        found.append(Window(text.name, statements, tuple(pieces[:most])))
        place = last if last >= len(lines) or last - place < 2 else last - 1
    return found


def day_line(day: date) -> str:
    """Returns the day of a document as it is read before its headline."""
    return f"{day:%d %B %Y}."


def pieces_of(wordpiece: WordPiece, text: str, line: int) -> list[Piece]:
    """Returns the pieces of a line."""
    return [
        Piece(number, line, word.start(), word.end()) for word in _WORD.finditer(text) for number in wordpiece(word[0])
    ]


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

    def near(self, first: int, last: int) -> float:
        """Returns the score of a span, or that of a better one that differs little from it, less what it differs."""
        found = -np.inf
        for begin in range(max(first - _NEAR, 0), min(first + _NEAR, last) + 1):
            for end in range(max(last - _NEAR, begin, first), min(last + _NEAR, begin + SPAN_PIECES - 1) + 1):
                if end < len(self.spans):
                    less = _APART * (abs(begin - first) + abs(end - last))
                    found = max(found, float(self.spans[begin, end - begin]) - less)
        return found

    def mass(self, first: int, last: int) -> float:
        """Returns the log of the sum of the exponentials of the spans that share half of their pieces with one."""
        length = last - first + 1
        found = [
            float(self.spans[begin, end - begin])
            for begin in range(max(first - length, 0), min(last, len(self.spans) - 1) + 1)
            for end in range(max(begin, first), min(last + length, begin + SPAN_PIECES - 1) + 1)
            if 2 * (min(end, last) - max(begin, first) + 1) >= max(end, last) - min(begin, first) + 1
        ]
        return float(np.logaddexp.reduce(found)) if found else -math.inf

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


class SpanReader(TransformerReader):
    """The transformer as it is fitted for this."""

    file = FILE

    def read(self, question: str, windows: Sequence[Window]) -> list[WindowScores]:
        """Returns what is read of a question in some windows; all scores are comparable, and above 0 beats no answer.

        Args:
            question: The question.
            windows: The windows.
        """
        wordpiece = word_pieces()
        head = [wordpiece.cls, *wordpiece(question)[:QUESTION_PIECES], wordpiece.sep, wordpiece.sep]
        given = [[*head, *(one.number for one in window.pieces), wordpiece.sep] for window in windows]
        return [self._scores(states, len(head)) for states in self.model.states(given)]

    def _scores(self, states: FloatArray, begin: int) -> WindowScores:
        arrays = self.model.arrays
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
