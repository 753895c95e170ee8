"""Each stage and each difference that a wrong turn can have."""

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
from optimize.metrics.feedback import misunderstandings, words
from optimize.metrics.turns import Diagnosis, diagnose
from programs.turns.turn import Turn
from signatures.understand import Understanding

REPORT = Report(
    "ACME/2020/page_7.pdf",
    ("margins rose to 14.5% in 2020 , and 7 stores opened .",),
    (("", "2020", "2019"), ("revenue", "$ 120", "$ 100"), ("cost", "$ 90", "$ 80"), ("growth", "20%", "5%")),
    (),
)
GOLD = "subtract(120, 100), divide(#0, 100)"


def turn(program: str | None, *others: str, failure: Any = None, pick: int | None = 0) -> Turn:
    derivations = [Derivation.parse(text) for text in ([program] if program else []) + [*others]]
    proposed = tuple(Candidate(one, one.execute(REPORT.table), -1.0, "") for one in derivations)
    if program is None:
        return Turn("?", candidates=proposed, failure=failure, message="the choice was 7", pick=None)
    return Turn("?", proposed[0].answer, derivations[0], proposed, pick)


def diagnosis(found: Turn, gold: str = GOLD) -> Diagnosis:
    answer = Derivation.parse(gold).execute(REPORT.table)
    return diagnose(found, gold, round(answer, 5) if isinstance(answer, Decimal) else answer, REPORT)


@pytest.mark.parametrize(
    ("found", "stage", "rank"),
    [
        (turn(GOLD), "right", 1),
        (turn("5", GOLD), "not_picked", 2),
        (turn("5"), "not_in_beam", None),
        (turn(None, failure="empty_beam"), "not_in_beam", None),
        (turn(None, "5", failure="no_valid_choice"), "not_in_beam", None),
        (turn(None, "5", GOLD, failure="picked_none"), "not_picked", 2),
        (turn(None, GOLD, failure="lm_error"), "failed", 1),
        (turn(None, failure="error"), "failed", None),
    ],
)
def test_stages(found: Turn, stage: str, rank: int | None) -> None:
    result = diagnosis(found)
    assert (result.stage, result.rank) == (stage, rank)


@pytest.mark.parametrize(
    ("program", "gold", "difference"),
    [
        ("subtract(100, 120), divide(#0, 100)", GOLD, "sign"),
        ("subtract(120, 100), divide(#0, 100), multiply(#1, const_100)", GOLD, "scale"),
        ("20", "20%", "scale"),
        ("subtract(120, 100), divide(#0, 120)", GOLD, "order"),
        ("add(120, 100), divide(#0, 100)", GOLD, "operation"),
        ("subtract(120, 100)", GOLD, "operation"),
        ("subtract(120, 90)", "subtract(120, 80)", "period"),
        ("20%", "5%", "period"),
        ("120", "90", "line_item"),
        ("greater(90, 100)", "greater(120, 100)", "line_item"),
        ("greater(100, 120)", "greater(120, 100)", "order"),
        ("120", "80", "figures"),
    ],
)
def test_differences(program: str, gold: str, difference: str) -> None:
    assert diagnosis(turn(program), gold).difference == difference


def feedback(found: Turn) -> str:
    return words(found, GOLD, Decimal("0.2"), diagnosis(found))


def test_words() -> None:
    assert feedback(turn("subtract(100, 120), divide(#0, 100)", GOLD)) == (
        f"Wrong. Question: ? Gold: {GOLD} = 0.2. Answered: subtract(100, 120), divide(#0, 100) = -0.2. "
        "The right answer is candidate 2 of 2, but candidate 1 was picked. "
        "The figures are right, and so is the result but for its sign: the operands are the wrong way round."
    )
    assert "No answer (no_valid_choice)" in feedback(turn(None, "5", failure="no_valid_choice"))


def test_refused_calculations_are_misunderstandings() -> None:
    understanding = Understanding(description="", calculation="none", confidence=0.5, says_none=True, refused=["no"])
    sentence = "Misunderstood: a calculation was refused: no; the page was said not to answer."
    assert misunderstandings(understanding) == [sentence]


CHANGED = Report("r", (), (("", "2009", "2008"), ("net income", "50", "40"), ("revenue", "200", "160")), ())
CHANGE = GoldMeaning("the change", "subtract")
REFUSED = Understanding(description="", calculation="", confidence=0.5, refused=["[r9c9] is no figure of the page"])


def example() -> dspy.Example:
    return dspy.Example(report=ReportHandle(CHANGED), program="subtract(50, 40)", answer=Decimal(10), gold=CHANGE)


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


def test_only_good_turns_become_demonstrations() -> None:
    right = prediction("subtract(50, 40)")
    assert float(metric(example(), right)) == 1.0
    assert metric(example(), dspy.Prediction()).score == 0.0
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
