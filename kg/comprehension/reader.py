"""Reading of a question together with a sentence: how well each value of the sentence answers it.

>>> reader = SpanReader.load()
>>> words = "Corvex Resources agreed to buy Talbridge Mining .".split()
>>> reader.scores("Who is the buyer of Talbridge?", [Reading("March 2026", words, [(0, 1), (5, 6)])])
[array([ 3.1, -4.2])]

The transformer is that of :mod:`kg.transformer`, with a low-rank change of its matrices (Hu et al., 2022), a
head for spans. ``benchmarks/fit_reader.py`` fits both; they are the file ``reader.npz``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from kg.arrays import FloatArray
from kg.clauses import Statement, Text
from kg.encoder import WordPiece
from kg.transformer import TransformerReader, word_pieces

FILE = Path(__file__).with_name("reader.npz")

QUESTION_PIECES, CONTEXT_PIECES, BEFORE_PIECES, WORD_PIECES = 28, 24, 40, 72
"""Pieces that are read of a question, of a sentence's context, of the end of the sentence before and of a sentence."""


@dataclass(frozen=True)
class Reading:
    """A sentence that is read with a question.

    Attributes:
        context: The time and headline of its document.
        words: Its words.
        spans: The first and last word of each value.
        before: The sentence before it.
    """

    context: str
    words: Sequence[str]
    spans: Sequence[tuple[int, int]]
    before: str = ""


def reading_of(statement: Statement, text: Text) -> Reading:
    """Returns a statement as it is read: with the names that its pronouns stand for, after its time and headline.

    Args:
        statement: The statement.
        text: Its document.
    """
    words, places = _named_words(statement)
    spans = []
    for value in statement.values:
        inside = statement.parse.inside(value.start, value.end)
        spans.append((places[inside[0].place], places[inside[-1].place]))
    place = text.statements.index(statement)
    day = f"{statement.passage.published:%B %Y}"
    before = " ".join(_named_words(text.statements[place - 1])[0]) if place > 1 else ""
    return Reading(f"{day}. {text.statements[0].parse.text}" if place else day, words, spans, before)


def _named_words(statement: Statement) -> tuple[list[str], list[int]]:
    """Returns the words of a statement with the names that its pronouns stand for, and the place of each own word."""
    names = dict(statement.referred)
    words: list[str] = []
    places: list[int] = []
    for token in statement.parse.tokens:
        places.append(len(words))
        words.append(token.text)
        if token.place in names:
            words += ["(", names[token.place], ")"]
    return words, places


@dataclass(frozen=True)
class PiecesOfSpans:
    """The numbers of the pieces of a question and a sentence, and the first and last piece of each span."""

    numbers: Sequence[int]
    spans: Sequence[tuple[int, int]]


def pieces_of(wordpiece: WordPiece, question: str, reading: Reading) -> PiecesOfSpans:
    """Returns what the transformer reads. A span after the last piece is read as that piece."""
    head = [wordpiece.cls, *wordpiece(question)[:QUESTION_PIECES], wordpiece.sep]
    before = wordpiece(reading.before)[-BEFORE_PIECES:]
    numbers = [*head, *wordpiece(reading.context)[:CONTEXT_PIECES], *before, wordpiece.sep]
    most = len(numbers) + WORD_PIECES
    starts, ends = [], []
    for word in reading.words:
        starts.append(min(len(numbers), most - 1))
        numbers += wordpiece(word)
        ends.append(min(max(len(numbers) - 1, starts[-1]), most - 1))
    numbers = [*numbers[:most], wordpiece.sep]
    return PiecesOfSpans(numbers, [(starts[first], ends[last]) for first, last in reading.spans])


class SpanReader(TransformerReader):
    """The transformer as it is fitted for this."""

    file = FILE

    def scores(self, question: str, readings: Sequence[Reading]) -> list[FloatArray]:
        """Returns for each sentence the score of each span; above 0 it rather answers the question than not.

        Args:
            question: The question.
            readings: The sentences.
        """
        given = [pieces_of(word_pieces(), question, reading) for reading in readings]
        return self.model.scores([pieces.numbers for pieces in given], [pieces.spans for pieces in given])
