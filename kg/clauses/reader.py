"""Reading of a question together with a sentence: how well each value of the sentence answers it.

>>> reader = SpanReader.load()
>>> words = "Corvex Resources agreed to buy Talbridge Mining .".split()
>>> reader.scores("Who is the buyer of Talbridge?", [Reading("March 2026", words, [(0, 1), (5, 6)])])
[array([ 3.1, -4.2])]

The transformer is that of :mod:`kg.clauses.meaning`, with a low-rank change of its matrices (Hu et al., 2022) and a
head for spans. ``benchmarks/fit_reader.py`` fits both; they are the file ``reader.npz``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import numpy as np

from kg.arrays import FloatArray, IntArray, read_arrays
from kg.clauses.documents import Statement
from kg.clauses.meaning import WIDTH, inference_session, installed_weights, padded, word_pieces
from kg.encoder import WordPiece
from kg.sentences import Mention

FILE = Path(__file__).with_name("reader.npz")

QUESTION_PIECES, CONTEXT_PIECES, WORD_PIECES = 28, 16, 72
"""Pieces that are read of a question, of a sentence's context and of a sentence."""

BATCH = 16


@dataclass(frozen=True)
class Reading:
    """A sentence that is read with a question.

    Attributes:
        context: The time and headline of its document.
        words: Its words.
        spans: The first and last word of each value.
    """

    context: str
    words: Sequence[str]
    spans: Sequence[tuple[int, int]]


def reading_of(statement: Statement, headline: str, mentions: Sequence[Mention]) -> Reading:
    """Returns a statement as it is read: with the names that its pronouns stand for, after its time and headline.

    Args:
        statement: The statement.
        headline: The first sentence of its document.
        mentions: The values that may answer.
    """
    names = dict(statement.referred)
    words: list[str] = []
    places: list[int] = []
    for token in statement.parse.tokens:
        places.append(len(words))
        words.append(token.text)
        if token.place in names:
            words += ["(", names[token.place], ")"]
    spans = []
    for mention in mentions:
        inside = statement.parse.inside(mention.start, mention.end)
        spans.append((places[inside[0].place], places[inside[-1].place]))
    day = f"{statement.passage.published:%B %Y}"
    return Reading(day if headline == statement.parse.text else f"{day}. {headline}", words, spans)


@dataclass(frozen=True)
class Pieces:
    """The numbers of the pieces of a question and a sentence, and the first and last piece of each span."""

    numbers: list[int]
    kinds: list[int]
    spans: list[tuple[int, int]]


def pieces_of(wordpiece: WordPiece, question: str, reading: Reading) -> Pieces:
    """Returns what the transformer reads. A span after the last piece is read as that piece."""
    head = [wordpiece.cls, *wordpiece(question)[:QUESTION_PIECES], wordpiece.sep]
    numbers = [*head, *wordpiece(reading.context)[:CONTEXT_PIECES], wordpiece.sep]
    most = len(numbers) + WORD_PIECES
    starts, ends = [], []
    for word in reading.words:
        starts.append(min(len(numbers), most - 1))
        numbers += wordpiece(word)
        ends.append(min(max(len(numbers) - 1, starts[-1]), most - 1))
    numbers = [*numbers[:most], wordpiece.sep]
    kinds = [0] * len(head) + [1] * (len(numbers) - len(head))
    return Pieces(numbers, kinds, [(starts[first], ends[last]) for first, last in reading.spans])


class SpanReader:
    """The transformer and its head.

    Args:
        content: The content of the weights that are changed.
        fitted: The fitted arrays: ``down_0`` and ``up_0`` of the first matrix, and so on, those of the head,
            and ``places``, by which :func:`stored_matrices` finds the matrices.
    """

    def __init__(self, content: bytes, fitted: Mapping[str, FloatArray]) -> None:
        self._content = content
        self._places = np.asarray(fitted["places"], dtype=np.int64)
        self._fitted = {
            name: np.asarray(values, dtype=np.float32) for name, values in fitted.items() if name != "places"
        }

    @staticmethod
    @cache
    def load() -> SpanReader | None:
        """Returns the reader, or ``None`` if its weights are not installed."""
        content = installed_weights()
        return SpanReader(content, read_arrays(FILE)) if content is not None else None

    def scores(self, question: str, readings: Sequence[Reading]) -> list[FloatArray]:
        """Returns for each sentence the score of each span; above 0 it rather answers the question than not.

        Args:
            question: The question.
            readings: The sentences.
        """
        wordpiece = word_pieces()
        given = [pieces_of(wordpiece, question, reading) for reading in readings]
        order = sorted(range(len(given)), key=lambda place: len(given[place].numbers))
        found: dict[int, FloatArray] = {}
        for start in range(0, len(order), BATCH):
            batch = order[start : start + BATCH]
            inputs = padded([given[place].numbers for place in batch], [given[place].kinds for place in batch])
            states = self._session.run(None, inputs)[0]
            for place, row in zip(batch, states, strict=True):
                found[place] = self._head(row, given[place].spans)
        return [found[place] for place in range(len(given))]

    def _head(self, states: FloatArray, spans: Sequence[tuple[int, int]]) -> FloatArray:
        if not spans:
            return np.zeros(0, dtype=np.float32)
        firsts, lasts = np.array(spans).T
        whole = np.broadcast_to(states[0], (len(spans), WIDTH))
        joined = np.concatenate([states[firsts], states[lasts], whole], axis=1)
        hidden = np.maximum(joined @ self._fitted["hidden"] + self._fitted["hidden_bias"], 0)
        found: FloatArray = hidden @ self._fitted["out"] + self._fitted["out_bias"]
        return found

    @cached_property
    def _session(self) -> Any:
        return inference_session(self._changed())

    def _changed(self) -> bytes:
        """Returns the weights with the changed matrices, of 8 bits a number and a scale for each column."""
        content = bytearray(self._content)
        matrices = stored_matrices(self._content, self._places)
        for number, (matrix, place) in enumerate(zip(matrices, self._places.tolist(), strict=True)):
            if f"down_{number}" not in self._fitted:
                continue
            whole = matrix + self._fitted[f"down_{number}"] @ self._fitted[f"up_{number}"]
            scales = np.maximum(np.abs(whole).max(axis=0), 1e-8) / 127
            for offset, values in ((place[0], np.round(whole / scales).astype(np.int8)), (place[3], scales)):
                written = values.tobytes()
                content[offset : offset + len(written)] = written
        return bytes(content)


def stored_matrices(content: bytes, places: IntArray) -> list[FloatArray]:
    """Returns the matrices of the transformer: in each layer query, key, value, output and two of the feed-forward.

    Args:
        content: The weights.
        places: For each matrix its offset in the content, its rows, its columns and the offset of its scales.
    """
    found = []
    for offset, rows, columns, scales in places.tolist():
        stored = np.frombuffer(content, np.int8, rows * columns, offset).reshape(rows, columns)
        found.append(stored.astype(np.float32) * np.frombuffer(content, np.float32, columns, scales))
    return found
