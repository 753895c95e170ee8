"""The reader of questions and sentences."""

import numpy as np
import pytest

from kg.comprehension.reader import BEFORE_PIECES, CONTEXT_PIECES, WORD_PIECES, Reading, SpanReader, pieces_of
from kg.transformer import word_pieces

BID = [*("Corvex", "Resources", "agreed", "to", "buy", "Talbridge", "Mining"), *("for", "$", "340", "million", ".")]
HEAD = ["Ana", "Reis", "becomes", "head", "of", "Oriel", "Shipping", ",", "replacing", "Tom", "Hale", "."]


@pytest.fixture(scope="module")
def reader() -> SpanReader:
    found = SpanReader.load()
    if found is None:
        pytest.skip("needs the weights of the extra news")
    return found


def test_spans_are_pieces_of_their_words() -> None:
    wordpiece = word_pieces()
    pieces = pieces_of(wordpiece, "Who bought Talbridge?", Reading("March 2026", BID, [(0, 1), (8, 10)]))
    inside = [pieces.numbers[first : last + 1] for first, last in pieces.spans]
    assert inside == [wordpiece("Corvex Resources"), wordpiece("$ 340 million")]
    assert pieces.numbers.count(wordpiece.sep) == 3


def test_long_sentences_are_cut() -> None:
    words = ["word"] * 300
    pieces = pieces_of(word_pieces(), "Who?", Reading("", words, [(299, 299)]))
    assert len(pieces.numbers) < WORD_PIECES + 10
    assert pieces.spans[0][1] < len(pieces.numbers) - 1


def test_the_end_of_the_sentence_before_is_read_between_the_headline_and_the_sentence() -> None:
    wordpiece = word_pieces()
    before = " ".join(["word"] * 300 + ["Corvex"])
    pieces = pieces_of(wordpiece, "Who?", Reading("headline " * 300, BID, [(0, 1)], before))
    assert pieces.numbers[pieces.spans[0][0] - 1] == wordpiece.sep
    between = pieces.numbers[pieces.numbers.index(wordpiece.sep) + 1 : pieces.spans[0][0] - 1]
    assert len(between) == CONTEXT_PIECES + BEFORE_PIECES
    assert between[-len(wordpiece("Corvex")) :] == wordpiece("Corvex")


def test_the_value_that_is_asked_for_has_the_best_score(reader: SpanReader) -> None:
    readings = [Reading("March 2026", BID, [(0, 1), (5, 6)]), Reading("May 2026", HEAD, [(0, 1), (9, 10)])]
    bid, head = reader.scores("Which firm is the new owner of Talbridge Mining?", readings)
    assert bid.argmax() == 0
    assert bid[0] > head.max()
    _, head = reader.scores("Who ran Oriel Shipping before Ana Reis?", readings)
    assert head.argmax() == 1


def test_the_order_of_sentences_does_not_matter(reader: SpanReader) -> None:
    readings = [
        Reading("March 2026", BID, [(0, 1)]),
        Reading("May 2026", HEAD, [(0, 1), (9, 10)]),
        Reading("", BID, []),
    ]
    scores = reader.scores("Who bought Talbridge?", readings)
    turned = reader.scores("Who bought Talbridge?", readings[::-1])
    assert [len(one) for one in scores] == [1, 2, 0]
    np.testing.assert_allclose(scores[1], turned[1], atol=1e-3)
