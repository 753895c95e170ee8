"""The reader of questions and documents, and the answers by it."""

from __future__ import annotations

from datetime import date
from itertools import pairwise

import pytest

from kg.news import Passage, SpanAnswers, SpanReader
from kg.news.library import LONGEST, Library
from kg.news.spans import MOST_PIECES, QUESTION_PIECES, windows_of
from tests.demonstrations import needs_reader

BID = (
    "Corvex Resources to buy Talbridge Mining",
    "Corvex Resources agreed on Monday to buy Talbridge Mining for $340 million.",
    "The deal needs no approval by its own shareholders, Corvex said.",
)
HEAD = (
    "Oriel Shipping has a new head",
    "Ana Reis becomes head of Oriel Shipping, replacing Tom Hale.",
    "Reis, Omar Benk and Liv Dahl founded the pump maker Ketterling together.",
)


def passages(**documents: tuple[str, ...]) -> list[Passage]:
    day = date(2026, 3, 2)
    return [
        Passage(name, day, place, text) for name, lines in documents.items() for place, text in enumerate(lines, -1)
    ]


@pytest.fixture(scope="module")
def reader() -> SpanReader:
    found = SpanReader.load()
    if found is None:
        pytest.skip("needs the weights of the extra news")
    return found


def test_a_long_document_is_read_in_parts_that_overlap_by_a_sentence() -> None:
    lines = ("A headline", *(f"Plant number {number} makes many parts of pumps for boats." for number in range(120)))
    text = passages(long=lines)
    windows = windows_of(text)
    assert len(windows) > 2
    assert all(len(one.pieces) <= MOST_PIECES - QUESTION_PIECES - 4 for one in windows)
    places = [[one.word.passage.place for one in window.pieces if one.word is not None] for window in windows]
    assert all(one[-1] == next(place for place in other if place >= 0) for one, other in pairwise(places))
    assert {place for own in places for place in own} == {one.place for one in text}
    assert len(windows_of(passages(long=("A headline", "word " * 900 + "end."))[:2])) == 1


def test_yes_and_no(reader: SpanReader) -> None:
    windows = windows_of(passages(bid=BID))
    [said] = reader.read("Will Corvex buy Talbridge?", windows)
    assert said.yes > max(said.no, 0.0)
    [denied] = reader.read("Do the shareholders of Corvex have to approve the deal?", windows)
    assert denied.no > max(denied.yes, 0.0)


def test_documents_with_the_words_and_the_meaning_of_a_question_are_near(reader: SpanReader) -> None:
    library = Library(passages(bid=BID, head=HEAD))
    near = library.near("What does Corvex pay for the miner?", 2)
    assert [one.name for one in near] == ["bid", "head"]
    assert near[0].words == 1.0
    assert [one.name for one in library.near("What does Corvex pay for the miner?", 2, 0.9)] == ["bid"]
    long = Library(passages(long=("A headline", *(f"Boat {place} has {'pumps ' * 20}" for place in range(60)))))
    [shown] = long.near("Which boat?", 1)
    assert sum(len(one.text) for one in shown.shown) <= LONGEST
    assert shown.shown[0].text == "A headline"


@needs_reader
def test_answers_and_abstentions(reader: SpanReader) -> None:
    answers = SpanAnswers(passages(bid=BID, head=HEAD))
    found = answers.proposed("Who will buy Talbridge Mining?")
    assert (found.values, found.passages[0].document) == (("Corvex Resources",), "bid")
    assert found.confidence > 0.7
    assert answers.proposed("How much will Corvex pay for Talbridge?").values == ("$340 million",)
    abstention = answers.proposed("What does the Mayor of Keld earn?").decided(answers.model)
    assert abstention.values == ()
    assert "the least is" in abstention.why
    several = answers.proposed("Who founded Ketterling?")
    assert {"Omar Benk", "Liv Dahl"} <= set(several.values)
    assert several.shares
    assert SpanAnswers([]).proposed("Who?").values == ()
