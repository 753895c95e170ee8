"""The reader of questions and parses."""

from collections.abc import Sequence
from datetime import date
from decimal import Decimal
from typing import Any, cast

import numpy as np
import pytest

from kg.algebra import NamedNodes
from kg.arrays import FloatArray
from kg.encoders import word_pieces
from kg.graphs import FactGraph, read_table
from kg.parsing import FEATURES, DialogueTurn, Parse, ParseReader, QuestionReader, Ranker, telling
from kg.parsing.ranking import features, pieces_of, with_reading


def test_the_answer_is_the_span_that_is_scored() -> None:
    listed, (first, last) = pieces_of("who runs it?", "company: Valley Line operated by company = Stellan Rail")
    assert listed[first : last + 1] == word_pieces()("Stellan Rail")
    counted, (first, last) = pieces_of("how many?", "count of ship: every ship = 3")
    assert counted[first : last + 1] == word_pieces()("3")
    long, (first, last) = pieces_of("who?", "x: " + "word " * 500 + " = " + "name " * 90)
    assert last < len(long) - 1 < 128


class _Likes:
    """A reader that likes the parses whose words have one of its own."""

    def __init__(self, word: str) -> None:
        self.word = word
        self.read: list[tuple[str, str]] = []

    def scores(self, pairs: Sequence[tuple[str, str]]) -> FloatArray:
        self.read += pairs
        return np.array([3.0 if self.word in told else -3.0 for _, told in pairs], dtype=np.float32)


@pytest.fixture(scope="module")
def graph() -> FactGraph:
    return FactGraph.build(read_table("s,p,o\nWren,skipper,Ida\nTern,skipper,Olav\n", what="boats"))


def test_what_the_reader_likes_moves_up(graph: FactGraph) -> None:
    plain = (0.0,) * len(FEATURES)
    parses = [Parse(NamedNodes((node,)), 0.0, (node,), evidence=plain) for node in range(4)]
    likes = _Likes(graph.name(3))
    hand = np.array([4.0, 3.0, 2.0, 1.0], dtype=np.float32)
    found = with_reading(parses, lambda _: "who sails the Tern?", hand, graph, cast(ParseReader, likes))
    assert len(likes.read) == 4
    ranked = Ranker.shipped(read=True).ranked(found)
    assert ranked[0].parse.nodes == (3,)
    assert features(ranked, follows_abstention=False)["read_lead"] == 4.0
    assert [one.evidence[-2:] for one in found] == [(-3.0, 0.0)] * 3 + [(3.0, 0.0)]


def test_the_reader_that_ships_prefers_the_relation_that_is_asked_for() -> None:
    reader: Any = ParseReader.load()
    if reader is None:
        pytest.skip("needs the weights of the extra news")
    question = "who is in charge of Lantern House?"
    told = ["person: Lantern House (theatre) manager person = Ana Queiroz",
            "town: Lantern House (theatre) in town town = Mirrow",
            "number: Lantern House (theatre) seats number = 420"]  # fmt: skip
    assert reader.scores([(question, one) for one in told]).argmax() == 0
    assert reader.scores([]).shape == (0,)


def test_a_count_and_a_check_are_told_with_their_result(graph: FactGraph) -> None:
    count = Parse(NamedNodes((0, 1)), 0.0, (0, 1), number=Decimal(2), operation="count")
    assert telling(count, graph).endswith(" = 2")
    assert telling(Parse(NamedNodes((0,)), 0.0, (0,), holds=False, operation="check"), graph).endswith(" = no")


def test_a_later_question_is_read_after_the_two_before(graph: FactGraph) -> None:
    reader = QuestionReader(graph)
    past: list[DialogueTurn] = []
    for question in ("who is Wren's skipper?", "and Tern's?"):
        analysis, parses = reader.derivations(question, past, today=date(2026, 11, 22))
        best = min(parses, key=lambda one: one.cost)
        past.append(DialogueTurn(reader.canonical(analysis, best.references), analysis.asks, best))
    doubted = DialogueTurn(past[1].text, past[1].asks, None, guess=past[1].parse)
    assert reader.context([]) == ""
    assert reader.context([*past, doubted]).count(" | ") == 2
    before = reader.context(past)
    assert before.startswith("who is Wren's skipper? Ida | and Tern's? ")
    assert before.endswith("Tern skipper text = Olav | ")
    assert reader.context([past[0], doubted]) == before.replace("Tern's? ", "Tern's? perhaps ")
