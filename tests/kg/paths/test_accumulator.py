"""Paths of both kinds and their answers."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pytest

from kg.candidates.candidate import Candidate
from kg.errors import ConfigError, DataError
from kg.paths.accumulator import ExtractedPath, PathAccumulator, ReasoningPath, answer_key
from kg.paths.space import EntityPath

OBAMA = EntityPath(("USA", "Barack Obama", "Michelle Obama"), ("president", "spouse"), -0.1)
TRUMP = EntityPath(("USA", "Donald Trump", "Melania Trump"), ("president", "spouse"), -0.5)
DIRECT = EntityPath(("USA", "Michelle Obama"), ("first_lady",), -0.7)
BACK = EntityPath(("USA", "Barack Obama", "USA"), ("president", "^president"), -0.05)


def _accumulated(*paths: EntityPath | Candidate | ReasoningPath, **settings: bool) -> PathAccumulator:
    accumulator = PathAccumulator(["USA"], **settings)
    accumulator.add_paths(paths)
    return accumulator


def test_equal_answers_are_merged_and_their_probabilities_added() -> None:
    first, second = _accumulated(OBAMA, TRUMP, DIRECT).answers()
    assert (first.answer, second.answer) == ("Michelle Obama", "Melania Trump")
    assert first.score == pytest.approx(min(math.log(math.exp(-0.1) + math.exp(-0.7)), 0.0))
    assert [path.text for path in first.paths] == [str(OBAMA), str(DIRECT)]


def test_many_small_ones_may_outweigh_a_large_one() -> None:
    paths = [ReasoningPath(f"USA -> r{n} -> b", ("USA", "b"), math.log(0.25)) for n in range(3)]
    answers = _accumulated(ReasoningPath("USA -> r -> a", ("USA", "a"), math.log(0.4)), *paths).answers()
    assert [answer.answer for answer in answers] == ["b", "a"]
    assert answers[0].score == pytest.approx(math.log(0.75))


def test_a_topic_is_never_an_answer() -> None:
    accumulator = _accumulated(BACK, OBAMA)
    assert [one.answer for one in accumulator.extracted()] == [None, "Michelle Obama"]
    assert accumulator.extracted()[0].refused == "USA"
    assert [answer.answer for answer in accumulator.answers()] == ["Michelle Obama"]
    assert accumulator.answerable(ReasoningPath.of(BACK)) == ("Barack Obama",)


def test_a_topic_may_be_one_where_the_questions_are_such() -> None:
    assert _accumulated(BACK, topics_may_answer=True).answers()[0].answer == "USA"


def test_numbers_are_merged_by_their_value() -> None:
    written = [
        ReasoningPath(f"a -> r{n} -> {text}", ("a", text), -1.0) for n, text in enumerate(("10", "10.0", "10.1"))
    ]
    answers = _accumulated(*written).answers()
    assert [(answer.answer, len(answer.paths)) for answer in answers] == [("10", 2), ("10.1", 1)]
    assert answer_key("-0.0") == answer_key("0")
    assert answer_key("١٠") == "١٠" or answer_key("١٠") == answer_key("10")
    assert answer_key("1e5") == "1e5"


def test_a_path_that_comes_twice_is_kept_once_with_its_better_score() -> None:
    worse = EntityPath(OBAMA.entities, OBAMA.relations, -3.0)
    accumulator = _accumulated(worse, OBAMA, worse)
    assert [path.score for path in accumulator.paths] == [-0.1]
    assert len(accumulator) == 1


def test_an_extractor_is_asked_once_and_held_to_the_path() -> None:
    asked: list[Sequence[ReasoningPath]] = []

    def extract(paths: Sequence[ReasoningPath]) -> list[str | None]:
        asked.append(paths)
        return ["barack obama ", "Joe Biden", None]

    found = _accumulated(OBAMA, TRUMP, DIRECT).extracted(extract)
    assert [len(paths) for paths in asked] == [3]
    assert found == (
        ExtractedPath(ReasoningPath.of(OBAMA), "Barack Obama"),
        ExtractedPath(ReasoningPath.of(TRUMP), None, refused="Joe Biden"),
        ExtractedPath(ReasoningPath.of(DIRECT), None),
    )


def test_an_extractor_that_names_the_topic_is_refused() -> None:
    found = _accumulated(OBAMA).extracted(lambda paths: ["usa"])
    assert (found[0].answer, found[0].refused) == (None, "usa")


def test_the_exact_name_goes_before_one_in_other_letters() -> None:
    path = ReasoningPath("a -> r -> It -> s -> IT", ("a", "It", "IT"), -0.1)
    assert [_accumulated(path).extracted(lambda _, name=name: [name])[0].answer for name in ("IT", "It", "it")] == [
        "IT",
        "It",
        "It",
    ]


def test_only_the_best_paths_are_taken_when_asked() -> None:
    assert [path.path.score for path in _accumulated(DIRECT, TRUMP, OBAMA).extracted(top_k=2)] == [-0.1, -0.5]
    assert _accumulated().answers() == ()


def test_what_cannot_be_added_or_asked_is_refused() -> None:
    accumulator = _accumulated(OBAMA)
    with pytest.raises(ConfigError, match="top_k must be at least 1, got 0"):
        accumulator.extracted(top_k=0)
    with pytest.raises(DataError, match="must name an answer for each of 1 paths, got 0"):
        accumulator.extracted(lambda _: [])
    with pytest.raises(DataError, match=r"score must be at most 0, got 0\.5"):
        accumulator.add_path(ReasoningPath("a", ("a",), 0.5))
    with pytest.raises(DataError, match="got nan"):
        accumulator.add_path(ReasoningPath("a", ("a",), math.nan))
    with pytest.raises(DataError, match="at least one entity"):
        accumulator.add_path(ReasoningPath("a", (), -1.0))
