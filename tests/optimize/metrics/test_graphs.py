from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from kg.errors import DataError
from optimize.metrics.graphs import score_question, summarise_kgqa
from programs.turns.turn import Failure, GraphDetail, Usage
from programs.worlds.graph import GraphTurn


@dataclass(frozen=True)
class Gold:
    answers: tuple[str, ...]
    id: str = "q"
    question: str = "which?"
    topics: tuple[str, ...] = ("A",)
    gold_paths: tuple[str, ...] = ()


def made(failure: Failure | None = None, message: str = "", usage: Usage = Usage(), **detail: Any) -> GraphTurn:  # noqa: B008
    return GraphTurn("which?", failure=failure, message=message, usage=usage, detail=GraphDetail(**detail))


def test_the_first_right_answer_counts_for_hits_and_the_chosen_set_for_f1() -> None:
    found = made(
        answers=[("X", 0.5), ("B", 0.3), ("D", 0.2)],
        nodes=["X", "B"],
    )
    score = score_question(Gold(("B", "D", "E", "F")), found)
    assert score.rank == 2
    assert score.hit_at == {1: False, 3: True, 5: True, 10: True}
    assert (score.precision, score.recall) == (0.5, 0.25)
    assert score.f1 == pytest.approx(1 / 3)


def test_exact_matching_is_of_whole_names() -> None:
    found = made(answers=[("Florida", 1.0)], nodes=["Florida"])
    assert score_question(Gold(("Ida",)), found).rank is None


def test_no_answer_scores_nothing_and_keeps_its_reason() -> None:
    score = score_question(Gold(("B",)), made(failure="empty_beam", message="nothing"))
    assert (score.rank, score.precision, score.recall, score.f1) == (None, 0, 0, 0)
    assert (score.failure, score.answer) == ("empty_beam", None)
    with pytest.raises(DataError, match="no answer to score"):
        score_question(Gold(()), made())


def test_questions_of_one_topic_are_drawn_together() -> None:
    right = made(answers=[("B", 1.0)], nodes=["B"], usage=Usage(lm_calls=2, seconds=0.1))
    wrong = made(failure="no_topic", message="?", usage=Usage(seconds=0.3))
    scores = [
        *(score_question(Gold(("B",), id=f"a{n}"), right) for n in range(10)),
        *(score_question(Gold(("B",), id=f"b{n}", topics=("T",)), wrong) for n in range(10)),
    ]
    figures = summarise_kgqa(scores, seed=0)
    assert figures["hit_at_1"] == figures["f1"] == 0.5
    assert (figures["hit_at_1_low"], figures["hit_at_1_high"]) == (0.0, 1.0)
    assert (figures["questions"], figures["groups"], figures["unanswered_questions"]) == (20, 2, 10)
    assert (figures["failures_no_topic"], figures["lm_calls_per_question"]) == (10, 1.0)
    assert figures["seconds_per_question_p95"] == pytest.approx(0.3)
