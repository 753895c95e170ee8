"""Turns of a model that reads the page: it names a calculation, agrees, chooses, is refused, or finds no answer."""

from __future__ import annotations

import re
from decimal import Decimal

import dspy
import pytest
from dspy.utils import DummyLM

from kg.calculations import DerivationScorer
from kg.reports import Report, build_ontology
from kg.search import PastTurn
from programs.aggregate import EvidenceConfig
from programs.beam import BeamQA
from programs.conversation import ConversationQA
from programs.turns import Turn, read_turn, turn_record
from programs.worlds.report import ReportReader
from signatures.understand import Understanding

REPORT = Report(
    id="r",
    pre_text=("the company sold 105 stores in 2009 and 67 stores in 2008 .",),
    table=(("( in thousands )", "2009", "2008"), ("net income", "$ 10", "$ 12"), ("tax rate", "16%", "20%")),
    post_text=("it bought 3 ships for $ 1.4 million .",),
)
ONTOLOGY = build_ontology([REPORT])
QUESTION = "what was the net income in 2008?"
CAREFUL = EvidenceConfig()
UNSURE = 40
"""A confidence with which a model is asked to choose among candidates."""


def _named(calculation: str, confidence: object = 90, meaning: str = "the net income of 2008") -> dict[str, str]:
    return {"meaning": meaning, "calculation": calculation, "confidence": str(confidence)}


def _picked(choice: int, confidence: object = 80) -> dict[str, str]:
    return {"choice": str(choice), "confidence": str(confidence)}


def _ask(
    replies: list[dict[str, str]],
    question: str = QUESTION,
    report: Report = REPORT,
    evidence: EvidenceConfig = CAREFUL,
    history: tuple[PastTurn, ...] = (),
) -> tuple[Turn, list[str]]:
    lm = DummyLM(replies)
    program = BeamQA(ReportReader(ONTOLOGY, DerivationScorer.untrained()), evidence=evidence)
    with dspy.context(lm=lm, adapter=dspy.ChatAdapter()):
        turn: Turn = program(report=report, question=question, history=history).turn
    return turn, [entry["messages"][-1]["content"] for entry in lm.history]


def _number(calculation: str, meaning: str = QUESTION) -> int:
    """The number under which Aggregate shows a calculation that Understand has named; a seed shuffles them."""
    _, prompts = _ask([_named(calculation, UNSURE), _picked(1)], meaning)
    lines = re.findall(r"^(\d+)\. (.*) = ", prompts[1], flags=re.MULTILINE)
    figures = re.findall(r"\[\w+\]", calculation)
    return next(int(number) for number, line in lines if re.findall(r"\[\w+\]", line) == figures)


def _best() -> str:
    """The identifier of the figure that the search alone answers with."""
    turn = BeamQA(ReportReader(ONTOLOGY, DerivationScorer.untrained()))(report=REPORT, question=QUESTION).turn
    return str(turn.derivation.numbers[0].source)


def test_one_call_is_enough_where_the_model_and_the_search_agree() -> None:
    turn, [prompt] = _ask([_named(f"[{_best()}]")])
    assert (turn.usage.lm_calls, turn.failure, turn.pick) == (1, None, 0)
    assert "r1: net income | [r1c1] $ 10 | [r1c2] $ 12" in prompt
    assert "s0: the company sold [s0n0] 105 stores" in prompt
    assert prompt.index("r1: net income") < prompt.index("## history") < prompt.index(QUESTION)
    assert isinstance(turn.understanding, Understanding)
    assert turn.confidence is not None
    assert turn.confidence > 0.9
    assert turn.evidence.named == 0


def test_the_meaning_of_a_confident_model_is_the_answer_in_one_call() -> None:
    turn, prompts = _ask([_named("[r2c1]")], "what was the tax rate?")
    assert len(prompts) == 1
    assert (turn.answer, turn.pick is not None) == (Decimal("0.16"), True)
    assert all(str(one.derivation) != "16" for one in turn.candidates), "one figure is one candidate"


def test_a_calculation_without_a_template_is_a_candidate_with_provenance() -> None:
    calculation = "divide([s1n1], [r2c1]), multiply(#0, add([s0n0], [s0n2], [s1n0]))"
    turn, prompts = _ask([_named(calculation, UNSURE), _picked(_number(calculation))])
    assert len(re.findall(r"^\d+\. ", prompts[1], flags=re.MULTILINE)) <= 6
    assert turn.derivation is not None
    assert str(turn.derivation) == "divide(1.4, 16%), add(105, 67), add(#1, 3), multiply(#0, #2)"
    assert turn.answer == Decimal("1531.25")
    assert [number.source for number in turn.derivation.numbers] == ["s1n1", "r2c1", "s0n0", "s0n2", "s1n0"]
    assert turn.candidates[turn.pick].sources
    assert turn.evidence.named == turn.pick
    assert len(prompts) == 2
    assert "divide([s1n1], [r2c1]), add([s0n0], [s0n2])" in prompts[1]
    assert "s1: it bought [s1n0] 3 ships for [s1n1] $ 1.4 million ." in prompts[1]
    assert read_turn({"context": None, **turn_record(turn)}).answer == turn.answer


def test_a_figure_that_is_not_on_the_page_is_refused_and_the_model_is_told_once() -> None:
    turn, prompts = _ask([_named("add([r1c1], 4711)"), _named(f"[{_best()}]")])
    assert turn.usage.lm_calls == 2
    assert turn.answer is not None
    assert "Your calculation add((r1c1), 4711) is refused" in prompts[1] or "add([r1c1], 4711) is refused" in prompts[1]
    assert "4711 is neither a figure of the page nor a constant" in prompts[1]
    assert len(turn.understanding.refused) == 1
    shared = prompts[0].index("## note")
    assert prompts[0][:shared] == prompts[1][:shared], "the beginning that prompts share does not change"


def test_after_two_refusals_the_candidates_of_the_search_are_offered() -> None:
    turn, _ = _ask([_named("4711"), _named("[r9c9]"), _picked(1)])
    assert turn.usage.lm_calls == 3
    assert turn.understanding.refused == [
        "4711 is neither a figure of the page nor a constant: name figures by their identifiers",
        "[r9c9] is no figure of the page",
    ]
    assert turn.answer in [one.answer for one in turn.candidates]
    assert all(str(one.answer) != "4711" for one in turn.candidates)


def test_no_figure_of_an_unanswered_question_enters_the_history() -> None:
    lm = DummyLM([_named("none", 95), _picked(0, 90), _named("[r1c2]"), _picked(1)])
    program = ConversationQA(BeamQA(ReportReader(ONTOLOGY, DerivationScorer.untrained()), evidence=CAREFUL))
    with dspy.context(lm=lm, adapter=dspy.ChatAdapter()):
        first, _ = program(report=REPORT, questions=["how many people did it employ?", QUESTION]).turns
    assert first.failure == "not_answered"
    assert first.message.startswith("the report does not say; the nearest figures are: ")
    prompt = lm.history[2]["messages"][-1]["content"]
    assert "[a1] how many people did it employ? -> not answered\n" in prompt


def test_later_turns_calculate_with_what_the_model_chose() -> None:
    first_choice = _picked(_number("[s0n0]", "how many stores?"))
    lm = DummyLM([_named("[s0n0]", UNSURE), first_choice, _named("multiply([a1], 2)")])
    program = ConversationQA(BeamQA(ReportReader(ONTOLOGY, DerivationScorer.untrained()), evidence=CAREFUL))
    with dspy.context(lm=lm, adapter=dspy.ChatAdapter()):
        first, second = program(report=REPORT, questions=["how many stores?", "and twice that?"]).turns
    assert first.answer == 105
    assert second.understanding.calculation == "multiply([a1], 2)"
    assert any(str(one.derivation) == "multiply(105, const_2)" for one in second.candidates)
    assert f"-> {first.answer} = " in lm.history[2]["messages"][-1]["content"]


@pytest.mark.parametrize(("said", "low", "high"), [(90, 0.88, 1), ("0.9", 0.88, 1), (30, 0.2, 0.75), (250, 0.99, 1)])
def test_a_stated_confidence_is_a_probability(said: object, low: float, high: float) -> None:
    turn, _ = _ask([_named(f"[{_best()}]", said)])
    assert turn.confidence is not None
    assert low <= turn.confidence <= high


def test_a_confidence_that_is_no_number_is_no_valid_reply() -> None:
    turn, _ = _ask([_named("[r1c1]", "nan")])
    assert (turn.failure, turn.message) == (
        "no_valid_choice",
        "the model gave its confidence as nan, which is not a number",
    )
