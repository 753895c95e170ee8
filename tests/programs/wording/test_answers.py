"""Answers as a person would say them."""

from __future__ import annotations

from decimal import Decimal

import dspy
import pytest
from dspy.utils import DummyLM

from kg.calculations import DerivationScorer
from kg.calculations.report_index import Idf, ReportIndex
from kg.reports import Report, build_ontology
from kg.reports.graph import build_report_graph
from kg.search.derivation import Derivation
from kg.search.steps import Answer, Number, Step
from programs import BeamQA
from programs.answer import currency_sign, spoken_answer
from programs.turns import Turn
from programs.wording import is_grounded, written_answer, written_number
from programs.worlds.report import ReportReader

TABLE = (
    ("( in millions )", "2009", "2008"),
    ("revenues", "$ 9362.2", "$ 9244.9"),
    ("gross margin", "26.5%", "25.2%"),
    ("diluted earnings per share", "$ 1.52", "$ 1.60"),
    ("weighted average shares", "210.5", "212.0"),
    ("number of employees", "3201", "3150"),
    ("expected life ( years )", "5.5", "4.5"),
)
TEXT = ("the plan cost $ 500 thousand in 2009 .", "cash fell to -26 in 2009 .")
REPORT = Report("r", TEXT, TABLE, ())
GRAPH = build_report_graph(REPORT, build_ontology([REPORT]))
INDEX = ReportIndex(GRAPH.observations, REPORT.sentences, Idf({}, 1.0))


def spoken(program: str) -> str:
    """A program's figures are found in the report by their values."""
    plain = Derivation.parse(program)
    places = iter(INDEX.align(plain, "what is it?"))
    steps = []
    for step in plain.steps:
        operands = [
            Number(one.text, source=INDEX.observations[next(places)].id) if isinstance(one, Number) else one
            for one in step.operands
        ]
        steps.append(Step(step.operation, tuple(operands)))
    derivation = Derivation(tuple(steps))
    return spoken_answer(derivation, derivation.execute(), INDEX.observations, "$")


@pytest.mark.parametrize(
    ("program", "words"),
    [
        ("9362.2", "$9,362.2 million"),
        ("26.5%", "26.5%"),
        ("1.60", "$1.60 per share"),
        ("210.5", "210.5 million shares"),
        ("3201", "3,201"),
        ("5.5", "5.5 years"),
        ("const_100", "100"),
        ("subtract(9362.2, 9244.9)", "an increase of $117.3 million"),
        ("subtract(1.52, 1.60)", "a decrease of $0.08 per share"),
        ("subtract(26.5%, 25.2%)", "an increase of 1.3 percentage points"),
        ("add(9362.2, 9244.9)", "$18,607.1 million"),
        ("add(9362.2, 500)", "9,862.2"),
        ("subtract(9362.2, 9244.9), divide(#0, 9244.9)", "an increase of 1.3%"),
        ("subtract(1.52, 1.60), divide(#0, 1.60)", "a decrease of 5%"),
        ("divide(9362.2, 9244.9), subtract(#0, const_1)", "an increase of 1.3%"),
        ("divide(9244.9, 9362.2)", "98.7%"),
        ("divide(9362.2, 9244.9)", "1.013"),
        ("divide(9244.9, 9362.2), multiply(#0, const_100)", "98.7%"),
        ("add(9362.2, 9244.9), divide(#0, const_2)", "$9,303.6 million"),
        ("multiply(9362.2, const_1000)", "$9,362,200.0 thousand"),
        ("divide(9362.2, const_1000)", "$9.36 billion"),
        ("divide(9362.2, 210.5)", "$44.5 per share"),
        ("multiply(1.52, 210.5)", "$320 million"),
        ("multiply(9362.2, 26.5%)", "$2,481 million"),
        ("divide(9362.2, 3201)", "2.925"),
        ("greater(9362.2, 9244.9)", "yes"),
        ("subtract(3201, 3150)", "an increase of 51"),
    ],
)
def test_units_follow_from_the_steps(program: str, words: str) -> None:
    assert spoken(program) == words


def test_a_ratio_of_two_years_is_no_increase() -> None:
    assert spoken("divide(9362.2, 9244.9), multiply(#0, const_100)") == "101.3%"
    assert spoken("divide(9362.2, 9244.9), subtract(#0, const_1), multiply(#1, const_100)") == "an increase of 1.3%"


def test_a_figure_of_unknown_origin_is_a_bare_number() -> None:
    assert spoken_answer(Derivation.parse("9362.25"), Decimal("9362.25"), (), "$") == "9,362.25"
    huge = Derivation.parse("exp(9, 25)")
    assert spoken_answer(huge, huge.execute(), ()) == f"{9**25}"


def test_the_sign_is_the_reports_own() -> None:
    assert currency_sign(REPORT) == "$"
    assert currency_sign(Report("e", (), (("", "2009"), ("sales", "€ 5")), ("it cost $ 5 , $ 6 and $ 7 .",))) == "€"
    assert currency_sign(Report("p", ("it cost £ 5 .",), (), ())) == "£"
    assert currency_sign(Report("n", ("it cost 5 .",), (), ())) == ""


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        (Decimal(206588), "206588"),
        (Decimal("0.141364"), "0.14136"),
        (Decimal("0.000001"), "0"),
        (Decimal("-26.50"), "-26.5"),
        (Decimal("1E+3"), "1000"),
        (Decimal("1E+30"), "1" + "0" * 30),
        ("yes", "yes"),
    ],
)
def test_numbers_have_no_exponents_and_no_needless_zeros(answer: Answer, text: str) -> None:
    assert written_number(answer) == text


def test_an_answer_or_why_there_is_none() -> None:
    assert written_answer(Turn("?", answer=Decimal("5.0"))) == "5"
    assert written_answer(Turn("?", answer=Decimal(0))) == "0"
    assert written_answer(Turn("?", failure="empty_beam")) == "no answer (empty_beam)"


MARGINS = Report("r", (), (("", "2009", "2008"), ("net income", "$ 10", "$ 12"), ("margin", "4.5%", "3.5%")), ())
QUESTION = "what was the net income in 2008?"


def _ask(sentence: str) -> tuple[Turn, list[str]]:
    """The turn of a model that names what the search answers, and then explains it."""
    program = BeamQA(ReportReader(build_ontology([MARGINS]), DerivationScorer.untrained()), explain=True)
    found = program(report=MARGINS, question=QUESTION).turn
    understood = {"meaning": "net income of 2008", "calculation": f"[{found.derivation.numbers[0].source}]"}
    lm = DummyLM([{**understood, "confidence": "95"}, {"sentence": sentence.format(answer=found.answer)}])
    with dspy.context(lm=lm, adapter=dspy.ChatAdapter()):
        turn: Turn = program(report=MARGINS, question=QUESTION).turn
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
