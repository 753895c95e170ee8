from __future__ import annotations

from decimal import Decimal
from typing import Any

import dspy
import pytest

from kg.calculations.ranking import Candidate
from kg.calculations.report_index import ReportIndex
from kg.reports.report import Report
from kg.search.derivation import Derivation
from kg.search.history import PastTurn
from optimize import metric
from optimize.examples import GoldMeaning, ReportHandle, gold_meaning
from programs.turns.turn import Turn
from signatures.understand import Understanding

REPORT = Report("r", (), (("", "2009", "2008"), ("net income", "50", "40"), ("revenue", "200", "160")), ())
GOLD = GoldMeaning("the change", "subtract")


REFUSED = Understanding(description="", calculation="", confidence=0.5, refused=["[r9c9] is no figure of the page"])


def example() -> dspy.Example:
    return dspy.Example(report=ReportHandle(REPORT), program="subtract(50, 40)", answer=Decimal(10), gold=GOLD)


def prediction(
    program: str, others: tuple[str, ...] = (), understanding: Understanding | None = None
) -> dspy.Prediction:
    derivations = [Derivation.parse(text) for text in (program, *others)]
    candidates = tuple(Candidate(one, one.execute(), -1.0, "path") for one in derivations)
    turn = Turn(
        "and the change?",
        answer=candidates[0].answer,
        derivation=derivations[0],
        candidates=candidates,
        pick=0,
        understanding=understanding,
    )
    return dspy.Prediction(turn=turn)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (prediction("subtract(40, 50)", ("subtract(50, 40)",)), "The right answer is candidate 2 of 2"),
        (prediction("subtract(50, 50)", understanding=REFUSED), "a calculation was refused: [r9c9] is no figure"),
    ],
)
def test_feedback_names_the_stage_that_failed(given: dspy.Prediction, words: str) -> None:
    verdict = metric(example(), given, None, "turn.understand", None)
    assert verdict.score == 0.0
    assert words in verdict.feedback


def test_a_right_turn_scores_one() -> None:
    verdict = metric(example(), prediction("subtract(50, 40)"))
    assert (verdict.score, verdict.feedback.startswith("Right.")) == (1.0, True)
    assert metric(example(), dspy.Prediction()).score == 0.0


def test_only_good_turns_become_demonstrations() -> None:
    right = prediction("subtract(50, 40)")
    assert float(metric(example(), right)) == 1.0
    assert metric(example(), right, []) is True
    # 200 - 190 has the right answer by the wrong calculation.
    assert float(metric(example(), prediction("subtract(200, 190)"))) == 1.0
    assert metric(example(), prediction("subtract(200, 190)"), []) is False
    lucky = prediction("subtract(50, 40)", understanding=REFUSED)
    assert metric(example(), lucky, []) is False
    assert metric(example(), prediction("subtract(40, 50)"), []) is False


PAGE = Report(
    "ACME/2009/page_1.pdf",
    ("the company had 12 employees .",),
    (("", "2009", "2008"), ("net income", "50", "40"), ("total revenues", "200", "160")),
    (),
)


@pytest.fixture
def index(shipped_beam: Any) -> ReportIndex:
    _, found = shipped_beam.turn.reader.read(PAGE)
    assert isinstance(found, ReportIndex)
    return found


def past(*programs: str) -> list[PastTurn]:
    return [PastTurn(f"q{place}?", Derivation.parse(text), None) for place, text in enumerate(programs)]


def test_a_question_has_its_meaning_in_words(index: ReportIndex) -> None:
    look_up = gold_meaning(index, "what was the net income in 2009?", "50", [])
    assert look_up == GoldMeaning("net income in 2009", "select")
    change = gold_meaning(index, "and the change?", "subtract(50, 40)", past("50", "40"))
    assert change == GoldMeaning("net income in 2009 minus net income in 2008", "subtract")
    relative = gold_meaning(index, "in percent?", "subtract(50, 40), divide(#0, 40)", past("50"))
    words = "the change of net income in 2009 from net income in 2008, relative to it"
    assert relative == GoldMeaning(words, "change_ratio")


def test_what_cannot_be_written_shortly_has_no_label(index: ReportIndex) -> None:
    assert gold_meaning(index, "?", "add(1, 2)", []) is None
    assert gold_meaning(index, "?", "add(50, 40), multiply(#0, 200)", []) is None
