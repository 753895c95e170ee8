"""What is asked in each mode, what is read from the replies, and what a turn makes of it."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any

import dspy
import pytest
from dspy import lm15
from dspy.utils import DummyLM

from kg.calculations.report_index import ReportIndex
from kg.calculations.scorer import DerivationScorer
from kg.reports.learning import build_ontology
from kg.reports.report import Report
from kg.search.derivation import Derivation
from kg.search.history import PastTurn
from programs.beam import BeamQA
from programs.evidence.blend import Blend, Evidence, EvidenceConfig, EvidencePlan
from programs.evidence.index import ReplyToken, shares_from_tokens, tokens_of
from programs.evidence.prompt import (
    Demonstration,
    likelihood_prompt,
    written_conversation,
    written_derivation,
)
from programs.lm.choice import ReplyChoice
from programs.lm.guarded import GuardedLM
from programs.turns.turn import Turn
from programs.worlds.page import PageFigures
from programs.worlds.reader import ReportReader

REPORT = Report(
    "r",
    ("the company sold 5 units in 2009 .",),
    (("", "2009", "2008"), ("net income", "$ 10", "$ 12"), ("net sales", "100", "90")),
    (),
)
READER = ReportReader(build_ontology([REPORT]), DerivationScorer.untrained())
QUESTION = "what was the net income in 2008?"
TRUSTING = Blend({"beam": 0.1, "share": 3.0}, {"bias": -20.0})


@pytest.fixture(scope="module")
def index() -> ReportIndex:
    return READER.read(REPORT)[1]


def _sourced(index: ReportIndex, program: str) -> Derivation:
    """A program with its figures looked up in the report."""
    found = PageFigures(index).identified(Derivation.parse(program), QUESTION)
    assert found is not None
    return found


# -- derivations as replies ------------------------------------------------------------------------------------------


def test_figures_are_written_by_row_and_column(index: ReportIndex) -> None:
    assert written_derivation(_sourced(index, "12"), (), index) == "[net income, 2008]"
    assert written_derivation(_sourced(index, "subtract(10, 12)"), (), index) == (
        "[net income, 2009] - [net income, 2008]"
    )
    assert written_derivation(_sourced(index, "divide(12, const_100)"), (), index) == "[net income, 2008] / 100"
    sentence = written_derivation(_sourced(index, "5"), (), index)
    assert sentence == '"the company sold *5* units in", 2009'
    assert written_derivation(Derivation.parse("777"), (), index) == "777", "a figure that was not looked up"


def test_what_an_earlier_turn_calculated_is_named(index: ReportIndex) -> None:
    first = PastTurn("a?", _sourced(index, "10"), Decimal(10))
    second = PastTurn("b?", _sourced(index, "subtract(10, 12)"), Decimal(-2))
    change = _sourced(index, "subtract(10, 12), divide(#0, 12)")
    assert written_derivation(change, (), index) == ("([net income, 2009] - [net income, 2008]) / [net income, 2008]")
    assert written_derivation(change, (first,), index) == "(ans1 - [net income, 2008]) / [net income, 2008]"
    assert written_derivation(change, (first, second), index) == "ans2 / [net income, 2008]"
    assert written_derivation(_sourced(index, "10"), (first,), index) == "[net income, 2009]", "a look-up stays one"


def test_a_conversation_shows_what_was_calculated(index: ReportIndex) -> None:
    past = (PastTurn("a?", _sourced(index, "10"), Decimal(10)), PastTurn("b?", None, None))
    assert written_conversation(past, "c?", index, derivations=True) == (
        "Q1: a?\nans1 = [net income, 2009] = 10\nQ2: b?\nans2 = unknown\nQ3: c?"
    )
    assert "ans1 = 10\n" in written_conversation(past, "c?", index, derivations=False)


def test_demonstrations_come_first_and_never_change() -> None:
    shown = [Demonstration("Q1: x?", "[a, b]"), Demonstration("Q1: y?", "[c, d]")]
    first, second = likelihood_prompt(shown, "Q1: p?"), likelihood_prompt(shown, "Q1: q?")
    assert first[:-1] == second[:-1]
    assert [one["role"] for one in first] == ["system", "user", "assistant", "user", "assistant", "user"]


# -- the tree of replies ---------------------------------------------------------------------------------------------


# -- an index from tokens --------------------------------------------------------------------------------------------


def _tokens(*texts: str, **alternatives: float) -> list[ReplyToken]:
    others = {name.removeprefix("t"): value for name, value in alternatives.items()}
    return [ReplyToken(text, -0.5, others if text.strip().isdigit() else {}) for text in texts]


def test_the_probabilities_of_other_numbers_are_read_where_the_choice_stands() -> None:
    found = shares_from_tokens(_tokens('{"', "choice", '": ', "3", ', "conf', t3=-0.3, t1=-1.6, t0=-3.0, t99=-0.1), 4)
    assert found == {3: -0.3, 1: -1.6, 0: -3.0}
    assert shares_from_tokens(_tokens("choice", ": ", "x"), 4) == {}
    assert shares_from_tokens([], 4) == {}
    assert shares_from_tokens(_tokens("choice: 3", t3=-0.3), 4) == {}, "a token that holds more than the number"


def test_a_number_of_two_tokens_is_shared_with_its_first() -> None:
    tokens = [ReplyToken("choice: ", 0, {}), ReplyToken("1", -0.2, {"1": -0.2, "2": -2.0}), ReplyToken("0", -0.7, {})]
    found = shares_from_tokens(tokens, 10)
    assert found[10] == pytest.approx(-0.9)
    assert math.exp(found[1]) == pytest.approx(math.exp(-0.2) - math.exp(-0.9))
    assert found[2] == -2.0


def test_tokens_are_read_from_a_client_s_mappings_and_from_the_engine_s_types() -> None:
    mapping = {"content": [{"token": "3", "logprob": -0.1, "top_logprobs": [{"token": "1", "logprob": -2.0}]}]}
    top = (lm15.TopLogprob(token="1", logprob=-2.0, bytes=(49,), token_id=1),)
    typed = (lm15.TokenLogprob(token="3", logprob=-0.1, bytes=(51,), token_id=3, top=top),)
    assert tokens_of(mapping) == tokens_of(typed) == [ReplyToken("3", -0.1, {"1": -2.0})]
    assert tokens_of(None) == []


# -- turns -----------------------------------------------------------------------------------------------------------


class ChoosingEngine:
    """A model that can be held to replies, and prefers one."""

    def __init__(self, wanted: str) -> None:
        self.wanted = wanted
        self.prompts: list[Any] = []
        self.replies: list[list[str]] = []

    def __deepcopy__(self, memo: dict[int, Any]) -> ChoosingEngine:
        return self

    def complete(self, request: lm15.Request) -> lm15.Response:
        raise AssertionError("it is to choose, not to write")

    def choose(self, prompt: Any, replies: list[str], memory: Any = None) -> list[ReplyChoice]:
        self.prompts.append(prompt)
        self.replies.append(list(replies))
        good = [reply == self.wanted for reply in replies]
        rest = max(len(replies) - sum(good), 1)
        dspy.settings.usage_tracker.add_usage("local/held", {"prompt_tokens": 7, "completion_tokens": 1})
        return [ReplyChoice(math.log(0.9 if one else 0.1 / rest), math.log(0.9 if one else 0.1 / rest)) for one in good]


def _asked(lm: Any, evidence: EvidenceConfig, question: str = QUESTION, past: tuple[PastTurn, ...] = ()) -> Turn:
    with dspy.context(lm=lm):
        turn: Turn = BeamQA(READER, evidence=evidence)(report=REPORT, question=question, history=past).turn
    return turn


def _held(wanted: str) -> tuple[GuardedLM, ChoosingEngine]:
    engine = ChoosingEngine(wanted)
    return GuardedLM("local/held", engine=engine, cache=False), engine


def test_the_likelihood_of_a_derivation_decides_in_one_call() -> None:
    lm, engine = _held("[net sales, 2009]")
    plan = EvidencePlan("shown", 20, TRUSTING)
    turn = _asked(lm, EvidenceConfig(plans={"local/held": plan}, demonstrations=(Demonstration("Q1: x?", "[a, b]"),)))
    assert turn.answer == Decimal(100)
    assert (turn.usage.lm_calls, turn.usage.prompt_tokens, lm.spent.calls) == (1, 7, 1)
    assert len(engine.replies[0]) == 20
    assert engine.prompts[0][-1] == {"role": "user", "content": f"Q1: {QUESTION}"}
    assert turn.evidence is not None
    assert turn.evidence.mode == "likelihood"
    assert turn.evidence.first == turn.pick
    assert turn.confidence is not None
    assert turn.confidence > 0.8


def test_a_model_without_likelihoods_cannot_be_asked_for_them() -> None:
    turn = _asked(DummyLM([]), EvidenceConfig(plans={"dummy": EvidencePlan("shown", blend=TRUSTING)}))
    assert turn.failure == "lm_error"
    assert "does not say how probable a given reply is: fit its evidence again" in turn.message


def test_evidence_that_was_not_asked_for_has_no_features() -> None:
    scores, lengths = [math.log(0.6), math.log(0.3)], [1, 3]
    with_none, without = (Blend().judge(scores, lengths, one) for one in (None, Evidence("index", (-1.0, -2.0))))
    assert with_none == without


# -- a fine-tuned model ----------------------------------------------------------------------------------------------


def test_a_fine_tuned_model_is_asked_by_the_brief_prompt() -> None:
    """Each prompt begins with those before it, and the reply over identifiers that the model prefers is the answer."""

    prompts: list[list[dict[str, str]]] = []

    class Tuned:
        def complete(self, request: lm15.Request) -> lm15.Response:
            raise AssertionError("it is to choose, not to write")

        def choose(self, prompt: Any, replies: list[str], memory: Any = None) -> list[ReplyChoice]:
            prompts.append(prompt)
            wanted = "r1c2" if len(prompt) == 2 else "r1c1"
            return [ReplyChoice(value, value) for value in (0.0 if one == wanted else -9.0 for one in replies)]

    plan = EvidencePlan("brief", blend=TRUSTING)
    program = BeamQA(READER, evidence=EvidenceConfig(plans={"local/m+mine": plan}))
    lm = GuardedLM("local/m+mine", engine=Tuned(), free=True, cache=False)
    with dspy.context(lm=lm):
        first = program(report=REPORT, question=QUESTION).turn
        second = program(report=REPORT, question="and in the year after?", history=[first.past()]).turn
    assert (first.answer, second.answer) == (Decimal(12), Decimal(10))
    start, more = prompts
    assert "r1: net income" in start[1]["content"].splitlines()
    assert start[1]["content"].splitlines()[-1] == f"a1: {QUESTION}"
    assert more[: len(start)] == start
    assert more[2]["content"] == "r1c2"
