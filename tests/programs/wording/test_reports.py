"""How things are written for a model and for a person."""

from __future__ import annotations

from decimal import Decimal

import pytest

from kg.search.derivation import Derivation
from kg.search.steps import Answer
from programs.turns.turn import Turn
from programs.wording.reports import (
    written_answer,
    written_number,
)


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        (Decimal(206588), "206588"),
        (Decimal("206588.000"), "206588"),
        (Decimal("0.141364"), "0.14136"),
        (Decimal("0.000001"), "0"),
        (Decimal("-0.000001"), "0"),
        (Decimal("-26.50"), "-26.5"),
        (Decimal("1E+3"), "1000"),
        (Decimal("1E+30"), "1" + "0" * 30),
        (Decimal("0E+30"), "0"),
        ("yes", "yes"),
        ("no", "no"),
    ],
)
def test_numbers_have_no_exponents_and_no_needless_zeros(answer: Answer, text: str) -> None:
    assert written_number(answer) == text


def test_the_largest_results_of_the_language_can_be_written() -> None:
    answer = Derivation.parse("exp(9, 40), divide(#0, 7)").execute()
    assert isinstance(answer, Decimal)
    assert Decimal(written_number(answer)) == pytest.approx(answer)


def test_an_answer_or_why_there_is_none() -> None:
    assert written_answer(Turn("?", answer=Decimal("5.0"))) == "5"
    assert written_answer(Turn("?", answer=Decimal(0))) == "0"
    assert written_answer(Turn("?", failure="empty_beam")) == "no answer (empty_beam)"
