"""Conversions of figures to the scale that a question asks for."""

from __future__ import annotations

import numpy as np

from kg.calculations.conversions import conversions
from kg.calculations.forms import FormScorer
from kg.calculations.network import ChoiceNetwork
from kg.calculations.ranking import derivation_of
from kg.calculations.report_index import Idf
from kg.calculations.scorer import DerivationScorer, feature_widths
from kg.calculations.space import DerivationSpace, WeightedHistory
from kg.reports.report import Report
from tests.kg.calculations.pages import report_index

REPORT = Report(
    id="ACME/2009/page_3.pdf",
    pre_text=("net sales were $ 20.8 billion in 2009 .", "about 62 people work there ."),
    table=(("( in thousands )", "2009"), ("non-vested shares", "1060"), ("granted shares", "45")),
    post_text=(),
)
INDEX = report_index(REPORT)
START = [WeightedHistory((), 0.0)]


def _scorer(*forms: str) -> DerivationScorer:
    width, references, groups = feature_widths()
    return DerivationScorer(
        idf=Idf({}, 1.0),
        forms=FormScorer(forms, {"bias": 0}, np.zeros((1, len(forms)), dtype=np.float32)),
        operands={
            "A": ChoiceNetwork.linear(np.zeros(width, dtype=np.float32), groups, 20),
            "R": ChoiceNetwork.linear(np.zeros(references, dtype=np.float32), groups, 20),
        },
    )


def _converted(question: str, *forms: str, looked_up: tuple[str, ...] = ("20.8", "1060", "62")) -> list[str]:
    space = DerivationSpace(INDEX, [question], START, _scorer(*forms))
    states = np.array([[0, 0, INDEX.texts.index(text), -2] for text in looked_up])
    found, _ = conversions(space, states, np.zeros(len(states), dtype=np.float32))
    return [str(derivation_of(space, state)) for state in found]


def test_what_is_asked_in_millions_is_brought_to_millions() -> None:
    forms = ("select(A)", "multiply(A, C1000)", "divide(A, C1000)", "multiply(A, C1000000)")
    assert _converted("what were sales, in millions?", *forms) == [
        "multiply(20.8, const_1000)",
        "divide(1060, const_1000)",
    ]
