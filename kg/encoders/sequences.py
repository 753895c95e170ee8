"""Reports and conversations as token sequences for the encoder.

A report becomes one sequence for each line of the table and one for each sentence that holds figures. Each figure is a
special token, followed by its unit::

    [CLS] net sales [F] $ 2009 [F] $ 2008
    [CLS] we repurchased [F] million shares in 2009 for [F] $ million

A conversation becomes one sequence, with slots for the operands and a special token for each earlier turn::

    [CLS] [S1] [S2] the question [SEP] [T1] the question before [T2] the one before that
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from kg.encoders.session import WordPiece
from kg.reports import CellSource, Observation, SentenceSource

SPECIALS = 64
"""Special tokens that the encoder knows."""

FIGURE, SLOT_1, SLOT_2 = 1, 2, 3
TURN = 8
"""The special token of the turn at distance ``n`` is ``TURN + n``."""

MOST_TURNS = 7
QUESTION_TOKENS, EARLIER_TOKENS, SECTION_TOKENS, LABEL_TOKENS, COLUMN_TOKENS = 56, 20, 8, 28, 10
PART_TOKENS, OVERLAP = 100, 16
FIGURES_A_LINE = 12
WINDOW = 12
"""Tokens on either side of a figure in a sentence that speak of it."""

_SCALES = {10**3: "thousand", 10**6: "million", 10**9: "billion"}
_SIGNS = {"currency": "$", "percent": "%"}


@dataclass
class TokenSequence:
    """Tokens with the special token at each place.

    Attributes:
        tokens: Numbers of pieces, 0 at special tokens.
        specials: Special tokens, 0 at pieces.
        figures: From the place of a figure's token to the number of its observation.
        is_line: Whether the sequence is a line of the table.
    """

    tokens: list[int]
    specials: list[int]
    figures: dict[int, int] = field(default_factory=dict)
    is_line: bool = False

    @classmethod
    def started(cls, wordpiece: WordPiece, *, is_line: bool = False) -> TokenSequence:
        """Returns a sequence that holds ``[CLS]`` alone."""
        return cls([wordpiece.cls], [0], is_line=is_line)

    def __len__(self) -> int:
        return len(self.tokens)

    def add(self, tokens: Sequence[int]) -> None:
        """Appends pieces."""
        self.tokens += tokens
        self.specials += [0] * len(tokens)

    def mark(self, special: int) -> None:
        """Appends a special token."""
        self.tokens.append(0)
        self.specials.append(special)

    def near(self) -> list[list[int]]:
        """Returns the places of the tokens that speak of each figure: label and column, or the words around it."""
        marks = sorted(self.figures)
        if self.is_line:
            head = list(range(1, marks[0])) if marks else []
            ends = [*marks[1:], len(self.tokens)]
            return [[*head, *range(mark, end)] for mark, end in zip(marks, ends, strict=True)]
        return [list(range(max(mark - WINDOW, 1), min(mark + WINDOW, len(self.tokens)))) for mark in marks]


def page_sequences(
    observations: Sequence[Observation], sentences: Sequence[str], wordpiece: WordPiece
) -> list[TokenSequence]:
    """Returns a report's sequences: the lines of the table, then the sentences with figures."""
    return [*_lines(observations, wordpiece), *_sentences(observations, sentences, wordpiece)]


def question_sequence(questions: Sequence[str], wordpiece: WordPiece) -> tuple[TokenSequence, dict[int, int]]:
    """Returns a conversation as one sequence, and the place of each earlier turn that is in it."""
    sequence = TokenSequence.started(wordpiece)
    sequence.mark(SLOT_1)
    sequence.mark(SLOT_2)
    sequence.add([*wordpiece(questions[-1])[:QUESTION_TOKENS], wordpiece.sep])
    places: dict[int, int] = {}
    for distance in range(1, min(len(questions) - 1, MOST_TURNS) + 1):
        places[len(questions) - 1 - distance] = len(sequence.tokens)
        sequence.mark(TURN + distance)
        sequence.add(wordpiece(questions[-1 - distance])[:EARLIER_TOKENS])
    return sequence, places


def question_words(question: str, wordpiece: WordPiece) -> Iterator[tuple[str, slice]]:
    """Returns the words in lower case with the places of their pieces in :func:`question_sequence`."""
    place = 3  # after [CLS] and the slots
    for word, count in wordpiece.words(question):
        if place + count <= 3 + QUESTION_TOKENS:
            yield word.lower(), slice(place, place + count)
        place += count


def _unit(observation: Observation) -> str:
    quantity = observation.quantity
    return f"{_SIGNS.get(quantity.unit, '')} {_SCALES.get(quantity.scale, '')}"


def _lines(observations: Sequence[Observation], wordpiece: WordPiece) -> list[TokenSequence]:
    lines: dict[tuple[str, str], list[int]] = {}
    for place, one in enumerate(observations):
        if isinstance(one.source, CellSource) and not one.in_header:
            lines.setdefault((one.section, one.label), []).append(place)
    found: list[TokenSequence] = []
    for (section, label), places in lines.items():
        colon = [wordpiece.colon] if section else []
        head = [*wordpiece(section)[:SECTION_TOKENS], *colon, *wordpiece(label)][:LABEL_TOKENS]
        for start in range(0, len(places), FIGURES_A_LINE):
            sequence = TokenSequence.started(wordpiece, is_line=True)
            sequence.add(head)
            for place in places[start : start + FIGURES_A_LINE]:
                sequence.figures[len(sequence.tokens)] = place
                sequence.mark(FIGURE)
                unit = wordpiece(_unit(observations[place]))[:1]
                sequence.add([*unit, *wordpiece(observations[place].column_label)[:COLUMN_TOKENS]])
            found.append(sequence)
    return found


def _sentences(
    observations: Sequence[Observation], sentences: Sequence[str], wordpiece: WordPiece
) -> list[TokenSequence]:
    by_sentence: dict[int, list[tuple[SentenceSource, int]]] = {}
    for place, one in enumerate(observations):
        if isinstance(one.source, SentenceSource) and not one.in_header:
            by_sentence.setdefault(one.source.sentence, []).append((one.source, place))
    found: list[TokenSequence] = []
    for number, figures in by_sentence.items():
        text, done = sentences[number], 0
        sequence = TokenSequence.started(wordpiece)
        for source, place in sorted(figures, key=lambda figure: figure[0].start):
            if source.start < done:
                continue
            sequence.add(wordpiece(text[done : source.start]))
            sequence.figures[len(sequence.tokens)] = place
            sequence.mark(FIGURE)
            sequence.add(wordpiece(_unit(observations[place])))
            done = source.end
        sequence.add(wordpiece(text[done:]))
        found += _parts(sequence, wordpiece)
    return found


def _parts(sequence: TokenSequence, wordpiece: WordPiece) -> list[TokenSequence]:
    """A long sequence in parts of about equal length; each begins some tokens before its first figure's part."""
    length = len(sequence.tokens)
    if length <= PART_TOKENS + 20:
        return [sequence]
    parts: list[TokenSequence] = []
    size = -(-length // -(-length // PART_TOKENS))
    for start in range(0, length, size):
        begin, end = max(start - OVERLAP, 0), start + size
        part = TokenSequence([wordpiece.cls, *sequence.tokens[begin:end]], [0, *sequence.specials[begin:end]])
        part.figures = {mark - begin + 1: one for mark, one in sequence.figures.items() if start <= mark < end}
        if part.figures:
            parts.append(part)
    return parts
