"""The reader of questions and documents."""

from __future__ import annotations

from datetime import date
from itertools import pairwise

import numpy as np
import pytest

from kg.clauses import SentenceParser, Text
from kg.clauses.documents import Library
from kg.comprehension.ranking import read_texts
from kg.comprehension.reader import MOST_PIECES, QUESTION_PIECES, SPAN_PIECES, SpanReader, WindowScores, windows_of
from kg.encoders import word_pieces
from kg.news import Passage

BID = (
    "Corvex Resources to buy Talbridge Mining",
    "Corvex Resources agreed on Monday to buy Talbridge Mining for $340 million.",
    "The deal needs no approval by its own shareholders, Corvex said.",
)
HEAD = (
    "Oriel Shipping has a new head",
    "Ana Reis becomes head of Oriel Shipping, replacing Tom Hale.",
    "She joins from Lomax because the board wanted somebody from outside.",
)


def _library(parser: SentenceParser, **documents: tuple[str, ...]) -> Library:
    day = date(2026, 3, 2)
    return Library.read(
        (Passage(name, day, place, text) for name, lines in documents.items() for place, text in enumerate(lines, -1)),
        parser,
    )


@pytest.fixture(scope="module")
def library(parser: SentenceParser) -> Library:
    return _library(parser, bid=BID, head=HEAD)


@pytest.fixture(scope="module")
def reader() -> SpanReader:
    found = SpanReader.load()
    if found is None:
        pytest.skip("needs the weights of the extra news")
    return found


def _best(reader: SpanReader, question: str, texts: tuple[Text, ...]) -> str:
    windows = [window for text in texts for window in windows_of(text)]
    scores = reader.read(question, windows)
    window, found = max(zip(windows, scores, strict=True), key=lambda one: one[1].spans.max())
    first, last, _ = next(found.best(1))
    part = window.part(first, last)
    assert part is not None
    return part[0].parse.text[part[1] : part[2]]


def test_a_document_is_read_after_its_day(library: Library) -> None:
    [window] = windows_of(library.text_of["bid"])
    wordpiece = word_pieces()
    numbers = [one.number for one in window.pieces]
    assert numbers == wordpiece(" ".join(("02 March 2026.", *BID)))
    ends = window.ends(2, BID[1].index("$340"), BID[1].index("$340") + len("$340 million"))
    assert ends is not None
    assert numbers[ends[0] : ends[1] + 1] == wordpiece("$340 million")
    statement = window.statements[2]
    assert window.part(*ends) == (statement, BID[1].index("$340"), BID[1].index(" million") + len(" million"))


def test_a_span_over_two_lines_is_no_part_of_a_statement(library: Library) -> None:
    [window] = windows_of(library.text_of["bid"])
    last = max(place for place, one in enumerate(window.pieces) if one.line == 1)
    assert window.part(last, last + 1) is None
    assert window.part(0, 0) is None


def test_a_long_document_is_read_in_parts_that_overlap_by_a_sentence(parser: SentenceParser) -> None:
    lines = ("A headline", *(f"Plant number {number} makes many parts of pumps for boats." for number in range(120)))
    [text] = _library(parser, long=lines).texts
    windows = windows_of(text)
    assert len(windows) > 2
    assert all(len(one.pieces) <= MOST_PIECES - QUESTION_PIECES - 4 for one in windows)
    assert all(one.statements[1] is text.statements[0] for one in windows)
    assert all(one.statements[-1] is other.statements[2] for one, other in pairwise(windows))
    assert {id(one) for window in windows for one in window.statements if one} == set(map(id, text.statements))


def test_a_sentence_that_is_too_long_is_cut(parser: SentenceParser) -> None:
    [text] = _library(parser, long=("A headline", "word " * 900 + "end.", "The last sentence.")).texts
    windows = windows_of(text)
    assert [len(one.pieces) <= MOST_PIECES for one in windows] == [True] * len(windows)
    assert windows[-1].statements[-1] is text.statements[-1]


def test_a_value_has_the_score_of_the_nearest_span_less_the_pieces_that_differ() -> None:
    spans = np.full((6, SPAN_PIECES), -10.0, dtype=np.float32)
    spans[1, 2] = 4.0
    found = WindowScores(spans, 0.0, 0.0)
    assert found.near(1, 3) == 4.0
    assert found.near(2, 3) == 3.5
    assert found.near(2, 4) == 3.0
    assert found.near(4, 5) == -10.0
    assert [one[:2] for one in found.best(1)] == [(1, 3)]
    assert found.mass(1, 3) == pytest.approx(4.0, abs=0.01)
    assert found.mass(2, 3) == pytest.approx(4.0, abs=0.01)
    assert found.mass(4, 5) < -5


def test_what_is_asked_for_has_the_best_score(reader: SpanReader, library: Library) -> None:
    texts = library.texts
    assert _best(reader, "Which firm will own Talbridge Mining?", texts) == "Corvex Resources"
    assert _best(reader, "What is being paid for the miner?", texts) == "$340 million"
    assert _best(reader, "Who ran the shipping company before?", texts) == "Tom Hale"


def test_yes_and_no(reader: SpanReader, library: Library) -> None:
    windows = windows_of(library.text_of["bid"])
    [said] = reader.read("Will Corvex buy Talbridge?", windows)
    assert said.yes > max(said.no, 0.0)
    [denied] = reader.read("Do the shareholders of Corvex have to approve the deal?", windows)
    assert denied.no > max(denied.yes, 0.0)


def test_the_order_of_documents_does_not_matter(reader: SpanReader, library: Library) -> None:
    windows = [window for text in library.texts for window in windows_of(text)]
    forth, back = reader.read("Who bought Talbridge?", windows), reader.read("Who bought Talbridge?", windows[::-1])
    assert np.allclose(forth[0].spans[:, 0], back[1].spans[:, 0], atol=0.2)


def test_a_span_that_is_no_value_can_be_an_answer(reader: SpanReader, library: Library) -> None:
    del reader  # without it nothing is read
    question = "Why was she chosen?"
    read = read_texts(question, library.texts)
    best = max(read.scores, key=lambda key: read.scores[key])
    assert best[1].text == "the board wanted somebody from outside"
    assert 0 < np.exp(read.scores[best] - read.total) <= 1
