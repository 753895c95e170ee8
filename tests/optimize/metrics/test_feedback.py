"""Each stage and each difference that a wrong turn can have."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from kg.calculations.ranking import Candidate
from kg.reports.report import Report
from kg.search.derivation import Derivation
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
    assert feedback(turn(None, "5", failure="no_valid_choice")) == (
        f"Wrong. Question: ? Gold: {GOLD} = 0.2. No answer (no_valid_choice): the choice was 7. "
        "None of the 1 candidates has the right answer."
    )
    assert feedback(turn(None, GOLD, failure="picked_none")).endswith("is candidate 1 of 1, but none was picked.")
    assert feedback(turn(None, failure="lm_error")).endswith("An error stopped the turn.")


def test_refused_calculations_are_misunderstandings() -> None:
    understanding = Understanding(description="", calculation="none", confidence=0.5, says_none=True, refused=["no"])
    sentence = "Misunderstood: a calculation was refused: no; the page was said not to answer."
    assert misunderstandings(understanding) == [sentence]
    assert misunderstandings(None) == []
