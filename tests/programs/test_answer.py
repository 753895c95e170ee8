"""Answers explained by a model: a sentence with a number or a name from elsewhere is refused."""

from __future__ import annotations

import dspy
import pytest
from dspy.utils import DummyLM

from kg.calculations import DerivationScorer
from kg.reports import Report, build_ontology
from programs import BeamQA
from programs.turns import Turn
from programs.wording import is_grounded
from programs.worlds.report import ReportReader

REPORT = Report("r", (), (("", "2009", "2008"), ("net income", "$ 10", "$ 12"), ("margin", "4.5%", "3.5%")), ())
QUESTION = "what was the net income in 2008?"


def _ask(sentence: str) -> tuple[Turn, list[str]]:
    """The turn of a model that names what the search answers, and then explains it."""
    program = BeamQA(ReportReader(build_ontology([REPORT]), DerivationScorer.untrained()), explain=True)
    found = program(report=REPORT, question=QUESTION).turn
    understood = {"meaning": "net income of 2008", "calculation": f"[{found.derivation.numbers[0].source}]"}
    lm = DummyLM([{**understood, "confidence": "95"}, {"sentence": sentence.format(answer=found.answer)}])
    with dspy.context(lm=lm, adapter=dspy.ChatAdapter()):
        turn: Turn = program(report=REPORT, question=QUESTION).turn
    return turn, [entry["messages"][-1]["content"] for entry in lm.history]


@pytest.mark.parametrize(
    ("sentence", "is_kept"),
    [
        ("Net income was {answer} in 2008.", True),
        ("Net income was {answer}, or 17% of sales.", False),
        ("Net income of Acme was {answer}.", False),
        ("", False),
    ],
)
def test_a_sentence_says_only_what_the_derivation_says(sentence: str, is_kept: bool) -> None:
    turn, prompts = _ask(sentence)
    assert turn.failure is None, turn.message
    assert turn.explanation == (sentence.format(answer=turn.answer) if is_kept else "")
    assert f"{turn.candidates[turn.pick].path} = {turn.answer}" in prompts[-1]
    assert turn.usage.lm_calls == 2


@pytest.mark.parametrize(
    ("sentence", "is_kept"),
    [
        ("Sales rose by 5% to $1,200.", True),
        ("Sales rose by 5.5%.", False),
        ("The sales of Beta rose.", False),
        ("Beta sales rose to 1200.", False),
        ("It rose. Sales were 1200.", True),
    ],
)
def test_numbers_and_names_are_held_against_the_facts(sentence: str, is_kept: bool) -> None:
    assert is_grounded(sentence, "sales 2020: 1200; an increase of 5%", "did sales rise?") is is_kept
