"""What is asked in each mode, what is read from the replies, and what a turn makes of it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from typing import Any

import dspy
import pytest
from dspy import lm15
from dspy.utils import DummyLM

from kg.derivations.derivation import Derivation
from kg.derivations.history import PastTurn
from kg.errors import ConfigError
from kg.figures.figure_index import ReportIndex
from kg.ontology.learning import build_ontology
from kg.reports.report import Report
from kg.scoring.scorer import DerivationScorer
from programs.agent import AgentQA
from programs.evidence.blend import BEAM_DECIDES, Blend, Evidence
from programs.evidence.config import EvidenceConfig, EvidencePlan
from programs.evidence.index import Token, evidence_of, shares_from_tokens, tokens_of
from programs.evidence.per_path import evidence_of as rated
from programs.evidence.prompt import (
    Demonstration,
    likelihood_prompt,
    written_conversation,
    written_derivation,
)
from programs.lm.choice import ReplyChoice
from programs.lm.guarded import GuardedLM
from programs.lm.meter import metered
from programs.reports.beam import BeamQA
from programs.reports.reader import ReportReader
from programs.turns.turn import Turn

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
    from optimize.evidence.demonstrations import with_sources

    found = with_sources(Derivation.parse(program), index, QUESTION)
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


def _tokens(*texts: str, **alternatives: float) -> list[Token]:
    others = {name.removeprefix("t"): value for name, value in alternatives.items()}
    return [Token(text, -0.5, others if text.strip().isdigit() else {}) for text in texts]


def test_the_probabilities_of_other_numbers_are_read_where_the_choice_stands() -> None:
    found = shares_from_tokens(_tokens('{"', "choice", '": ', "3", ', "conf', t3=-0.3, t1=-1.6, t0=-3.0, t99=-0.1), 4)
    assert found == {3: -0.3, 1: -1.6, 0: -3.0}
    assert shares_from_tokens(_tokens("choice", ": ", "x"), 4) == {}
    assert shares_from_tokens([], 4) == {}
    assert shares_from_tokens(_tokens("choice: 3", t3=-0.3), 4) == {}, "a token that holds more than the number"


def test_a_number_of_two_tokens_is_shared_with_its_first() -> None:
    tokens = [Token("choice: ", 0, {}), Token("1", -0.2, {"1": -0.2, "2": -2.0}), Token("0", -0.7, {})]
    found = shares_from_tokens(tokens, 10)
    assert found[10] == pytest.approx(-0.9)
    assert math.exp(found[1]) == pytest.approx(math.exp(-0.2) - math.exp(-0.9))
    assert found[2] == -2.0


def test_tokens_are_read_from_a_client_s_mappings_and_from_the_engine_s_types() -> None:
    mapping = {"content": [{"token": "3", "logprob": -0.1, "top_logprobs": [{"token": "1", "logprob": -2.0}]}]}
    top = (lm15.TopLogprob(token="1", logprob=-2.0, bytes=(49,), token_id=1),)
    typed = (lm15.TokenLogprob(token="3", logprob=-0.1, bytes=(51,), token_id=3, top=top),)
    assert tokens_of(mapping) == tokens_of(typed) == [Token("3", -0.1, {"1": -2.0})]
    assert tokens_of(None) == []


def test_several_replies_are_averaged() -> None:
    said = [dspy.Prediction(choice=choice, confidence=0.9) for choice in (1, 1, 2)]
    found = evidence_of(said, 3)
    assert (found.first, found.votes) == (0, 3)
    assert math.exp(found.shares[0]) == pytest.approx((0.9 + 0.9 + 0.1 / 3) / 3)
    assert sum(map(math.exp, found.shares)) + math.exp(found.none or 0) == pytest.approx(1)


def test_ratings_are_shares_and_none_is_that_all_are_wrong() -> None:
    found = rated([0.9, 0.3])
    assert [math.exp(one) for one in found.shares] == pytest.approx([0.75, 0.25])
    assert math.exp(found.none or 0) == pytest.approx(0.1 * 0.7)


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
    plan = EvidencePlan("likelihood", shown=20, blend=TRUSTING, fitted=True)
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


def test_the_prior_is_asked_without_the_question() -> None:
    lm, engine = _held("[net sales, 2009]")
    plan = EvidencePlan(
        "likelihood", prior=True, blend=Blend({"beam": 1.0, "share": 1.0, "prior": -1.0}, {"bias": -20.0})
    )
    turn = _asked(lm, EvidenceConfig(plans={"local/held": plan}))
    assert engine.prompts[1][-1]["content"] == "Q1: ..."
    assert (turn.usage.lm_calls, turn.pick) == (2, 0), "what is as likely without the question says nothing"


def test_a_sure_beam_is_not_checked() -> None:
    lm, engine = _held("[net sales, 2009]")
    plan = EvidencePlan("likelihood", skip_above=0.01, blend=TRUSTING)
    turn = _asked(lm, EvidenceConfig(plans={"local/held": plan}))
    assert (turn.pick, turn.usage.lm_calls, turn.evidence, engine.prompts) == (0, 0, None, [])


def test_without_weights_a_held_model_is_not_asked_and_the_beam_answers() -> None:
    lm, engine = _held("[net sales, 2009]")
    turn, alone = _asked(lm, EvidenceConfig()), _asked(None, EvidenceConfig())
    assert (turn.answer, turn.confidence, engine.prompts) == (alone.answer, alone.confidence, [])


def test_a_model_that_improved_nothing_is_asked_on_request() -> None:
    lm, _ = _held("[net sales, 2009]")
    plan = EvidencePlan("likelihood", skip_above=0.0, blend=Blend({"beam": 1.0, "share": 0.1}), fitted=True)
    evidence = EvidenceConfig(plans={lm.model: plan})
    with pytest.warns(UserWarning, match="improved nothing where its weights were fitted"):
        assert not evidence.plan_for(lm).asks([-1.0, -1.1])
    asked = replace(evidence, trust="blend").plan_for(lm)
    assert asked.asks([-1.0, -1.1])
    assert asked.blend == plan.blend


def test_path_by_path_a_held_model_says_yes_or_no() -> None:
    lm, engine = _held("yes")
    config = EvidenceConfig(
        evidence="per-path", plans={"local/held": EvidencePlan("per-path", shown=3, blend=TRUSTING)}
    )
    turn = _asked(lm, config)
    assert engine.replies == [["yes", "no"]] * 3
    assert "calculation: " in engine.prompts[0][-1]["content"]
    assert turn.evidence is not None
    assert [math.exp(one) for one in turn.evidence.shares] == pytest.approx([1 / 3] * 3)


def test_path_by_path_any_model_is_asked_a_call_a_candidate() -> None:
    replies = [{"answers": answer, "confidence": "0.9"} for answer in ("no", "yes", "no")]
    plan = EvidencePlan("per-path", shown=3, blend=TRUSTING)
    turn = _asked(DummyLM(replies), EvidenceConfig(evidence="per-path", plans={"dummy": plan}))
    assert (turn.pick, turn.usage.lm_calls) == (1, 3)


def test_a_majority_of_samples_decides() -> None:
    picks = [{"choice": choice, "confidence": "0.8"} for choice in ("2", "3", "2")]
    plan = EvidencePlan("index", shown=4, blend=TRUSTING)
    turn = _asked(DummyLM(picks), EvidenceConfig(samples=3, plans={"dummy": plan}))
    assert (turn.pick, turn.usage.lm_calls) == (1, 3)
    assert turn.evidence is not None
    assert turn.evidence.votes == 3


def test_a_model_without_likelihoods_cannot_be_asked_for_them() -> None:
    turn = _asked(DummyLM([]), EvidenceConfig(evidence="likelihood", understand=False))
    assert turn.failure == "lm_error"
    assert "does not say how probable a given reply is: choose another mode" in turn.message


def test_a_turn_whose_candidates_seem_wrong_escalates_within_its_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    unsure = EvidencePlan("index", blend=Blend({"beam": 0.1}, {"bias": 9.0}))
    config = EvidenceConfig(escalate="agent", plans={"dummy": unsure})
    program = BeamQA(READER, agent=AgentQA, evidence=config)
    assert any(name.startswith("agent.") for name, _ in program.named_predictors())
    answered = Turn("?", answer=Decimal(90), derivation=Derivation.parse("90"), candidates=(), pick=0)
    asked: list[Any] = []

    def answer(*arguments: Any) -> Any:
        asked.append(arguments)
        return type("TurnOutcome", (), {"turn": answered})()

    monkeypatch.setattr(program.agent, "answer", answer)
    with dspy.context(lm=DummyLM([{"choice": "1", "confidence": "0.5"}]), adapter=dspy.ChatAdapter()):
        turn = program(report=REPORT, question=QUESTION).turn
    assert (turn.answer, turn.escalated, turn.failure, len(asked)) == (Decimal(90), "agent", None, 1)
    assert turn.pick is not None
    assert turn.candidates[turn.pick].answer == Decimal(90)
    answered = replace(answered, answer=None, derivation=None, failure="picked_none")
    with dspy.context(lm=DummyLM([{"choice": "1", "confidence": "0.5"}]), adapter=dspy.ChatAdapter()):
        turn = program(report=REPORT, question=QUESTION).turn
    assert (turn.failure, turn.escalated) == ("picked_none", "agent")
    quiet = BeamQA(READER, evidence=replace(config, escalate="never"))
    assert quiet.agent is None
    with pytest.raises(ConfigError, match="escalate must be one of"):
        replace(config, escalate="always")  # type: ignore[arg-type]


def test_evidence_that_was_not_asked_for_has_no_features() -> None:
    scores, lengths = [math.log(0.6), math.log(0.3)], [1, 3]
    with_none, without = (BEAM_DECIDES.judge(scores, lengths, one) for one in (None, Evidence("index", (-1.0, -2.0))))
    assert with_none == without


def test_tokens_of_the_agent_are_counted_once(
    monkeypatch: pytest.MonkeyPatch, scripted_lm: Callable[..., dspy.LM]
) -> None:
    plan = EvidencePlan("index", blend=Blend({"beam": 0.1}, {"bias": 9.0}))
    program = BeamQA(READER, agent=AgentQA, evidence=EvidenceConfig(escalate="agent", plans={"local/scripted": plan}))

    def answer(*_: Any) -> Any:
        with metered() as measured:
            dspy.Predict("question -> answer")(question="?")
        turn = Turn("?", answer=Decimal(90), derivation=Derivation.parse("90"), usage=measured.usage)
        return type("TurnOutcome", (), {"turn": turn})()

    monkeypatch.setattr(program.agent, "answer", answer)
    lm = scripted_lm([{"choice": "1", "confidence": "0.5"}, {"answer": "90"}])
    with dspy.context(lm=lm, adapter=dspy.ChatAdapter()):
        turn = program(report=REPORT, question=QUESTION).turn
    assert (turn.escalated, turn.usage.lm_calls, turn.usage.prompt_tokens) == ("agent", 2, 200)


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

    plan = EvidencePlan("likelihood", blend=TRUSTING, fitted=True, prompt="brief")
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
