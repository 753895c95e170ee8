"""The tool agent with language models whose replies are written down, and with the smallest embedded one."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any

import dspy
import pytest
from dspy import lm15

from kg.calculations import DerivationScorer
from kg.errors import ConfigError
from kg.reports.learning import build_ontology
from kg.reports.report import Report
from kg.search.steps import merge_key
from programs.agent import AgentConfig, AgentQA
from programs.conversation import ConversationQA
from programs.turns.turn import Turn
from programs.worlds.report import ReportReader

TABLE = (("", "2009", "2008"), ("net income", "$ 103102", "$ 104222"), ("net cash from operations", "206588", "181001"))
REPORT = Report("r", ("the tax rate was 35% in 2009 .",), TABLE, ())
EMPTY = Report("e", ("nothing to see here .",), (), ())
ONTOLOGY = build_ontology([REPORT])
PLAN = {"plan": json.dumps({"understanding": "u", "concepts": ["net_income"], "steps": ["query"]})}


def step(tool: str, **arguments: Any) -> dict[str, str]:
    return {"next_thought": "so", "next_tool_name": tool, "next_tool_args": json.dumps(arguments)}


def query(year: str, name: str = "net_income") -> dict[str, str]:
    return step("query_kg", entity_type=KIND, property=name, filters={"year": year})


def agent(max_iterations: int = 7) -> ConversationQA:
    return ConversationQA(AgentQA(ReportReader(ONTOLOGY, DerivationScorer.untrained()), AgentConfig(max_iterations)))


KIND = next(
    one.entity_type
    for one in agent().turn.reader.read(REPORT)[1].observations
    if one.property == "net_income" and not one.in_header
)


@pytest.fixture
def ask(scripted_lm: Callable[..., dspy.LM]) -> Callable[..., list[Turn]]:
    """Asks questions of an agent whose language model replies as written."""

    def run(replies: Sequence[Any], *questions: str, report: Report = REPORT, iterations: int = 7) -> list[Turn]:
        with dspy.context(lm=scripted_lm(replies), adapter=dspy.ChatAdapter()):
            turns: list[Turn] = agent(iterations)(report=report, questions=list(questions)).turns
        return turns

    return run


def test_a_calculation_over_figures_is_an_answer_with_its_provenance(ask: Callable[..., list[Turn]]) -> None:
    calls = [query("2008"), query("2009"), step("calculate", operation="percentage_change", values=["f1", "f2"])]
    [turn] = ask([PLAN, *calls, step("finish", answer="r1")], "the percentage change in net income from 2008?")
    assert turn.failure is None
    assert str(turn.derivation) == "subtract(103102, 104222), divide(#0, 104222)"
    assert turn.answer is not None
    assert merge_key(turn.answer) == Decimal("-0.01075")
    assert [str(source) for source in turn.candidates[0].sources] == [
        "row 2, column 2",
        "row 2, column 3",
        "row 2, column 3",
    ]
    assert turn.candidates[0].path.startswith(f"subtract({KIND}_2009 -> net_income -> 103102, {KIND}_2008 -> ")
    assert turn.pick == 0
    assert turn.usage.lm_calls == 5
    assert turn.usage.prompt_tokens == 500
    assert turn.understanding.concepts == ["net_income"]


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (step("query_kg", entity_type="Nothing"), "error: there is no entity type 'Nothing'; "),
        (step("query_kg", entity_type="Disclosure", property="net_income"), f"; {KIND} has net_income"),
        (query("1999"), "error: net_income has no year '1999'; there are: 2008, 2009"),
        (step("query_kg"), "query_kg takes entity_type, property, filters"),
        (step("calculate", operation="add", values=["f1", "f2"]), "error: nothing is named 'f1'"),
        (
            step("calculate", operation="add", values=[42, 43]),
            "error: the calculation is over no figure of the page",
        ),
        (step("calculate", operation="add", values=["206588"]), "error: add takes at least 2 values, got 1"),
        (step("calculate", operation="divide", values=["206588", "const_0"]), "has no result"),
    ],
)
def test_what_is_wrong_is_said_to_the_model(ask: Callable[..., list[Turn]], call: Any, told: str) -> None:
    [turn] = ask([PLAN, call, query("2009"), step("finish", answer="103,102")], "net income in 2009?")
    first = turn.tool_calls[0]
    assert first.failed
    assert told in first.output
    assert "\n" not in first.output
    assert "Traceback" not in first.output
    assert turn.answer == 103102


def test_an_answer_that_is_not_grounded_is_refused(ask: Callable[..., list[Turn]]) -> None:
    replies = [PLAN, query("2009"), step("finish", answer="42"), {"answer": "42"}]
    [turn] = ask(replies, "net income in 2009?", iterations=2)
    assert turn.answer is None
    assert turn.failure == "no_valid_choice"
    assert "not grounded" in turn.message
    assert turn.tool_calls[-1].failed
    [constant] = ask([PLAN, query("2009"), step("finish", answer="const_100"), {"answer": "none"}], "?", iterations=2)
    assert constant.failure == "picked_none"
    assert "over no figure" in constant.tool_calls[-1].output


def test_a_model_that_reads_the_page_names_figures_by_their_identifiers(
    scripted_lm: Callable[..., dspy.LM],
) -> None:
    calls = [
        step("calculate", operation="subtract", values=["[r1c1]", "r1c2"]),
        step("finish", answer="r9c9"),
        step("finish", answer="divide([r1c1], [s0n0])"),
    ]
    lm = scripted_lm([PLAN, *calls])
    with dspy.context(lm=lm, adapter=dspy.ChatAdapter()):
        [turn] = agent()(report=REPORT, questions=["net income by tax rate?"]).turns
    assert [call.output for call in turn.tool_calls] == [
        "r1 = -1120, subtract of [r1c1], r1c2",
        "error: [r9c9] is no figure of the page",
        "done",
    ]
    assert str(turn.derivation) == "divide(103102, 35%)"
    assert len(turn.candidates[0].sources) == 2
    for entry in lm.history:
        assert "r1: net income | [r1c1] $ 103102 | [r1c2] $ 104222" in entry["messages"][-1]["content"]
        assert "s0: the tax rate was [s0n0] 35% in 2009 ." in entry["messages"][-1]["content"]


def test_after_the_last_iteration_it_is_asked_what_of_it_is_the_answer(ask: Callable[..., list[Turn]]) -> None:
    [turn] = ask([PLAN, query("2009"), query("2008"), {"answer": "f2"}], "net income in 2008?", iterations=2)
    assert turn.answer == 104222
    assert turn.usage.lm_calls == 4
    [nothing] = ask([PLAN, step("list_entities", entity_type=KIND)], "net income in 2008?", iterations=1)
    assert nothing.failure == "no_valid_choice"
    assert nothing.message == "no figure was found in 1 calls of tools"


def test_own_earlier_answers_can_be_calculated_with(ask: Callable[..., list[Turn]]) -> None:
    first = [PLAN, query("2009"), step("finish", answer="f1")]
    failed = [PLAN, {"next_thought": "no tool"}, {"next_thought": "nor here"}]
    third = [
        PLAN,
        query("2008"),
        step("calculate", operation="subtract", values=["a1", "f1"]),
        step("finish", answer="r1"),
    ]
    questions = ("net income in 2009?", "?", "how much more than in 2008?")
    turns = ask([*first, *failed, *third], *questions)
    assert [turn.failure for turn in turns] == [None, "no_valid_choice", None]
    assert str(turns[2].derivation) == "subtract(103102, 104222)"
    assert len(turns[2].candidates[0].sources) == 2


def test_yes_and_no_are_answers(ask: Callable[..., list[Turn]]) -> None:
    calls = [query("2009"), query("2008"), step("calculate", operation="greater", values=["f1", "f2"])]
    bad = step("calculate", operation="add", values=["r1", "f1"])
    [turn] = ask([PLAN, *calls, bad, step("finish", answer="r1")], "was it more in 2009?")
    assert turn.answer == "no"
    assert "not a number" in turn.tool_calls[3].output


def test_failures_are_typed(ask: Callable[..., list[Turn]]) -> None:
    assert ask([], "?", report=EMPTY)[0].failure == "empty_beam"
    [turn] = ask([PLAN, lm15.AuthError("wrong key")], "?")
    assert turn.failure == "lm_error"
    assert "wrong key" in turn.message
    assert turn.usage.lm_calls == 2
    with pytest.raises(ConfigError, match="the agent asks a language model"):
        agent()(report=REPORT, questions=["?"])
