"""The ranker of whole paths, with vectors that are sets of letters."""

from __future__ import annotations

import zlib
from collections.abc import Sequence

import numpy as np
import pytest

from kg.arrays import FloatArray
from kg.errors import DataError
from kg.graphs import GraphIndex
from kg.paths import LearnedRelationScorer, PathConfig, PathRanker, answer_question, widened

FACTS = """Apollo 13|film.film.starring|m.01;m.01|film.performance.actor|Tom Hanks
m.01|film.performance.character|Jim Lovell;Apollo 13|film.film.starring|m.02;m.02|film.performance.actor|Bill Paxton
m.02|film.performance.character|Fred Haise;Apollo 13|film.film.directed_by|Ron Howard;Ohio|type|state
Springfield|place.contained_by|Clark County;Springfield|place.contained_by|Ohio;Clark County|type|county"""
GRAPH = GraphIndex.from_triples(line.split("|") for line in FACTS.replace("\n", ";").split(";"))
SCORER, CONFIG = LearnedRelationScorer({}, {}), PathConfig(max_depth=2)


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
    answer = answer_question(GRAPH, question, [topic], SCORER, widened(CONFIG), ranker.ranked)
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


def test_the_scorer_of_steps_counts() -> None:
    scorer = LearnedRelationScorer({"0": {"=film.film.directed_by": 5.0}, "1": {"STOP": 5.0}}, {})
    ranker = PathRanker(vectors, {"beam": 1.0})
    answer = answer_question(GRAPH, "who shot Apollo 13", ["Apollo 13"], scorer, widened(CONFIG), ranker.ranked)
    assert answer.chosen == ("Ron Howard",)


def test_a_ranker_with_other_features_is_refused() -> None:
    with pytest.raises(DataError, match="compile the program again"):
        PathRanker(vectors, {"same path": 1.0})
