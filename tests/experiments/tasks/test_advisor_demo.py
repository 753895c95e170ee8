"""The advisor's demonstration and its evaluation."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import dspy
import pytest

from experiments.tasks import EvaluationPlan, evaluate_advisor
from experiments.tasks.advisor import is_right
from experiments.tracking import Tracker, TrackingConfig
from kg.errors import LMError
from programs.lm.budget import Budget

KEYS = {
    "facts_before",
    "facts_after",
    "answered_before",
    "answered_after",
    "questions",
    "briefings",
    "types_created",
}


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FINPATH_CACHE", str(tmp_path / "cache"))


def test_the_demonstration(tracking_uri: str) -> None:
    tracker = Tracker(TrackingConfig.from_environment())
    found = evaluate_advisor(EvaluationPlan(), None, tracker=tracker)
    figures = found.figures()
    assert {key: figures[key] for key in KEYS} == {
        "facts_before": 0,
        "facts_after": 345,
        "answered_before": 0,
        "answered_after": 30,
        "questions": 30,
        "briefings": 5,
        "types_created": 4,
    }
    assert all(row["before"] is None for row in found.rows)
    assert any("You hold 120 HLXN" in briefing.text for briefing in found.briefings)
    run = tracker.search(["advisor"])[0]
    assert (run.params["reader"], run.metrics["answered_after"], run.metrics["accuracy_after"]) == ("rules", 30, 1.0)


def test_a_limit_takes_the_first_questions() -> None:
    figures = evaluate_advisor(EvaluationPlan(2), None).figures()
    assert (figures["questions"], figures["answered_after"], figures["facts_after"]) == (2, 2, 345)


QUERY = 'SELECT ?country WHERE { ?c a type:Company ; rdfs:label "Helixon Inc." ; country ?country }'
SECTOR = 'SELECT ?name { ?c rdfs:label "Meridian Re AG" ; in_sector ?s . ?s rdfs:label ?name }'
REPLIES: tuple[dict[str, str], ...] = (
    {"answer": "unknown"},
    {"answer": "unknown"},
    {"query": QUERY},
    {"answer": "Germany"},
    {"query": SECTOR},
    {"answer": "Insurance"},
)


def _evaluated(lm: Any) -> Any:
    with dspy.context(lm=lm, adapter=dspy.ChatAdapter(use_json_adapter_fallback=False)):
        return evaluate_advisor(EvaluationPlan(2, "rules", {"lm": "scripted"}), lm)


def test_a_model_answers_and_each_phase_says_what_it_took(scripted_lm: Callable[..., dspy.LM]) -> None:
    lm = scripted_lm(REPLIES)
    found = _evaluated(lm)
    figures, spent = found.figures(), found.accuracy()
    assert (figures["answered_before"], figures["answered_after"]) == (0, 2)
    assert (spent["before_lm_calls"], spent["read_lm_calls"], spent["after_lm_calls"]) == (2, 0, 4)
    assert spent["lm_calls"] == 6
    assert "edge:in_sector ?s" in found.rows[1]["why"]  # completed with the prefix


def test_no_model_is_no_answer_of_the_program(scripted_lm: Callable[..., dspy.LM]) -> None:
    lm = scripted_lm(REPLIES, budget=Budget(calls=1))
    with pytest.raises(LMError, match="budget"):
        _evaluated(lm)


@pytest.mark.parametrize(
    ("answer", "right"),
    [
        ("Germany", True),
        ("Helixon Inc.: Germany", True),
        ("germany.", True),
        ("Germany, Norway", False),
        ("", False),
        (None, False),
    ],
)
def test_what_counts_as_right(answer: str | None, right: bool) -> None:
    assert is_right(answer, ["Germany"]) == right
    assert is_right("2026-10-20T00:00:00Z", ["2026-10-20"])
    assert is_right("B; A", ["A", "B"])
