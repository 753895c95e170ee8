"""The ranker of whole paths, with vectors that are sets of letters."""

from __future__ import annotations

import zlib
from collections.abc import Sequence

import numpy as np
import pytest

from kg.arrays import FloatArray
from kg.graphs import GraphIndex
from kg.paths import FEATURES, PathConfig, PathRanker, QuestionMemory, TopicRules
from kg.paths.telling import told

GRAPH = GraphIndex.from_triples(
    [
        ("Apollo 13", "film.film.starring", "m.01"),
        ("m.01", "film.performance.actor", "Tom Hanks"),
        ("m.01", "film.performance.character", "Jim Lovell"),
        ("Apollo 13", "film.film.starring", "m.02"),
        ("m.02", "film.performance.actor", "Bill Paxton"),
        ("m.02", "film.performance.character", "Fred Haise"),
        ("Apollo 13", "film.film.directed_by", "Ron Howard"),
        ("Springfield", "place.contained_by", "Clark County"),
        ("Springfield", "place.contained_by", "Ohio"),
        ("Ohio", "type", "state"),
        ("Clark County", "type", "county"),
    ]
)
RULES, CONFIG = TopicRules(), PathConfig(max_depth=2)


def vectors(texts: Sequence[str]) -> FloatArray:
    """Sums of random vectors of words."""
    found = np.zeros((len(texts), 64), dtype=np.float32)
    for row, text in enumerate(texts):
        for word in ["", *text.lower().replace("?", "").split()]:
            found[row] += np.random.default_rng(zlib.crc32(word.encode())).normal(size=64)
    result: FloatArray = found / np.linalg.norm(found, axis=1, keepdims=True)
    return result


BY_NAME = {"last relation": 5.0, "first relation": 5.0, "entities without a name": -9.0}


def asked(ranker: PathRanker, question: str, topic: str) -> tuple[str, ...]:
    answer = ranker.answer(GRAPH, question, [topic], RULES, CONFIG)
    assert [path.answer for path in answer.paths] == [name for name, _ in answer.answers]
    return tuple(name for name, _ in answer.answers)


def test_a_path_is_chosen_by_the_names_of_its_relations() -> None:
    assert asked(PathRanker(vectors, BY_NAME), "who was Apollo 13 directed by", "Apollo 13")[0] == "Ron Howard"


def test_entities_beside_the_way_are_conditions() -> None:
    ranker = PathRanker(vectors, {**BY_NAME, "conditions met": 5.0})
    question = "what performance character did {} play in Apollo 13"
    assert asked(ranker, question.format("tom hanks"), "Apollo 13")[0] == "Jim Lovell"
    assert asked(ranker, question.format("bill paxton"), "Apollo 13")[0] == "Fred Haise"


def test_words_of_the_neighbours_choose_among_what_a_path_reaches() -> None:
    ranker = PathRanker(vectors, BY_NAME)
    assert asked(ranker, "what state is Springfield contained by", "Springfield")[0] == "Ohio"
    assert asked(ranker, "what county is Springfield contained by", "Springfield")[0] == "Clark County"


def test_answered_questions_are_remembered_but_for_those_about_the_same() -> None:
    (question,) = vectors(["who shot it"])
    paths = ((("film.film.directed_by",), 1.0),)
    memory = QuestionMemory(question[None], (paths,), (("Rear Window",),))
    ranker = PathRanker(vectors, {"same path": 9.0}, memory)
    assert asked(ranker, "who shot Apollo 13", "Apollo 13")[0] == "Ron Howard"
    found = ranker.candidates(GRAPH, "who shot Apollo 13", ["Apollo 13"], RULES, CONFIG)
    place = [found.space.names(path) for path in found.paths].index(("film.film.directed_by",))
    assert ranker.features(found)[place, len(FEATURES)] == pytest.approx(1.0)
    assert not ranker.features(found, ("Rear Window",))[place, len(FEATURES) :].any()


def test_a_reader_reads_the_best_paths_in_words() -> None:
    seen: list[tuple[str, str]] = []

    def reader(pairs: Sequence[tuple[str, str]]) -> FloatArray:
        seen.extend(pairs)
        return np.array([float("character" in text) for _, text in pairs], dtype=np.float32)

    question = "who was Apollo 13 directed by"
    unread = PathRanker(vectors, BY_NAME, reader=reader)
    assert asked(unread, question, "Apollo 13")[0] == "Ron Howard"
    assert not seen
    ranker = PathRanker(vectors, BY_NAME, reader=reader, reading={"score": 0.1, "read": 9.0})
    assert asked(ranker, question, "Apollo 13")[0] in ("Jim Lovell", "Fred Haise")
    assert (question, "thing: Apollo 13 directed by thing = Ron Howard") in seen
    assert any(text.startswith("thing: Apollo 13 starring performance; performance character") for _, text in seen)
    again = PathRanker.from_arrays(vectors, ranker.to_arrays(), reader)
    assert asked(again, question, "Apollo 13") == asked(ranker, question, "Apollo 13")


def test_paths_are_told_in_the_order_of_the_graph() -> None:
    way = ("^directed_by", "^starring")
    assert told("Lee", way, ["a", "b", "c"]) == "thing: thing directed by Lee; thing starring thing = a, b and 1 more"
    assert told("Lee", ("people.person.spouse_s",), ["m.0f1"]) == "thing: Lee spouse s thing = thing"
