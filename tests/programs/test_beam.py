"""The program for one question, with scripted models: two calls, a pick, and typed failures."""

from __future__ import annotations

from collections.abc import Callable
from math import exp
from typing import Any

import dspy
import pytest
from dspy import lm15
from dspy.utils import DummyLM

from kg.calculations.scorer import DerivationScorer
from kg.calculations.turn_search import DerivationConfig
from kg.reports.learning import build_ontology
from kg.reports.report import Report
from kg.search.history import PastTurn
from programs.aggregate import EvidenceConfig
from programs.beam import BeamQA
from programs.turns.turn import Turn
from programs.wording import written_number
from programs.worlds.report import ReportReader

REPORT = Report(
    id="r",
    pre_text=("the company sold 5 units in 2009 .",),
    table=(("", "2009", "2008"), ("net income", "$ 10", "$ 12"), ("margin", "4.5%", "-3 ( 3 )")),
    post_text=(),
)
EMPTY = Report("empty", ("nothing here .",), (), ())
ONTOLOGY = build_ontology([REPORT])
QUESTION = "what was the net income in 2008?"

UNDERSTOOD = {"meaning": "income of 2008", "calculation": "add([r1c1], [r2c2])", "confidence": "50"}
"""An understanding that the search does not share, so that Aggregate is asked."""


def _picked(choice: object, confidence: object = 0.7) -> dict[str, str]:
    return {"choice": str(choice), "confidence": str(confidence)}


TRUSTED = EvidenceConfig()
"""The settings by which a model decides that nothing is fitted for."""


def _program(config: DerivationConfig | None = None, evidence: EvidenceConfig = TRUSTED) -> BeamQA:
    return BeamQA(ReportReader(ONTOLOGY, DerivationScorer.untrained()), config, evidence)


def _ask(
    lm: dspy.BaseLM | None,
    report: Report = REPORT,
    history: tuple[PastTurn, ...] = (),
    evidence: EvidenceConfig = TRUSTED,
) -> Turn:
    with dspy.context(lm=lm, adapter=dspy.ChatAdapter()):
        turn: Turn = _program(evidence=evidence)(report=report, question=QUESTION, history=history).turn
    return turn


def test_without_a_model_the_search_alone_answers() -> None:
    turn = _ask(None)
    assert turn.pick == 0
    assert turn.answer == turn.candidates[0].answer
    assert turn.derivation == turn.candidates[0].derivation
    assert turn.confidence == pytest.approx(exp(turn.candidates[0].score))
    assert (turn.usage.lm_calls, turn.understanding, turn.failure) == (0, None, None)
    assert turn.usage.seconds > 0


@pytest.mark.parametrize("choice", [1, 5])
def test_the_pick_is_honoured(choice: int) -> None:
    lm = DummyLM([UNDERSTOOD, _picked(choice)])
    turn = _ask(lm)
    assert len(lm.history) == turn.usage.lm_calls == 2
    prompt = lm.history[1]["messages"][-1]["content"]
    [line] = [line for line in prompt.splitlines() if line.startswith(f"{choice}. ")]
    assert line.partition(" = ")[2].partition(":")[0] == written_number(turn.answer)
    assert turn.derivation == turn.candidates[turn.pick].derivation
    assert turn.failure is None
    assert turn.confidence is not None
    assert 0.6 < turn.confidence < 1


def test_a_model_that_picks_none_refuses_the_turn() -> None:
    turn = _ask(DummyLM([UNDERSTOOD, _picked(0)]))
    assert turn.failure == "picked_none"
    assert turn.message.startswith("none of the candidates seems right (probability ")
    assert (turn.answer, turn.derivation, turn.pick, turn.confidence) == (None, None, None, None)
    assert turn.candidates, "what it could have picked is still told"
    assert turn.usage.lm_calls == 2


@pytest.mark.parametrize(
    "replies",
    [
        [{"meaning": "I cannot say."}] * 2,
        [{**UNDERSTOOD, "confidence": "rather high"}] * 2,
        [UNDERSTOOD, *[_picked(99)] * 2],
        [UNDERSTOOD, *[_picked("the first")] * 2],
        [UNDERSTOOD, *[_picked(1, "rather sure")] * 2],
        [UNDERSTOOD, *[{"choice": "1"}] * 2],
    ],
)
def test_a_reply_that_cannot_be_read_is_a_typed_failure(replies: list[dict[str, Any]]) -> None:
    turn = _ask(DummyLM(replies))
    assert (turn.failure, turn.answer, turn.question) == ("no_valid_choice", None, QUESTION)
    assert turn.message.startswith("AdapterParseError: ")
    assert turn.usage.lm_calls == len(replies)


@pytest.mark.parametrize("before", [0, 1])
@pytest.mark.parametrize(
    ("error", "message"),
    [
        (lm15.TransportError("it is down"), "LMTransportError: [local/scripted] it is down"),
        (lm15.RateLimitError("slow down"), "LMRateLimitError: [local/scripted] slow down"),
        (RuntimeError("the engine broke"), "LMUnexpectedError: [local/scripted] the engine broke"),
    ],
)
def test_a_model_that_fails_is_a_typed_failure(
    scripted_lm: Callable[..., dspy.LM], error: Exception, message: str, before: int
) -> None:
    turn = _ask(scripted_lm([*[UNDERSTOOD] * before, error]))
    assert (turn.failure, turn.answer) == ("lm_error", None)
    assert turn.message.startswith(message)


@pytest.mark.parametrize("with_model", [False, True])
def test_a_report_without_figures_is_an_empty_beam(with_model: bool) -> None:
    turn = _ask(DummyLM([]) if with_model else None, EMPTY)
    assert (turn.failure, turn.answer, turn.candidates, turn.usage.lm_calls) == ("empty_beam", None, (), 0)
    assert turn.message == "no derivation over the report's figures fits the question"


class RawLM(dspy.BaseLM):
    """A model of the old kind, with a ``forward`` of its own that raises what it likes."""

    def forward(self, prompt: object = None, messages: object = None, **settings: object) -> object:
        raise ConnectionResetError("the line is dead")


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_model_of_the_old_kind_fails_its_own_turn_only() -> None:
    turn = _ask(RawLM("raw"))
    assert (turn.failure, turn.usage.lm_calls) == ("lm_error", 1)
    assert turn.message == "ConnectionResetError: the line is dead"


def test_an_error_of_the_program_is_not_blamed_on_the_model(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("a bug")

    monkeypatch.setattr("programs.worlds.report.search_turn", broken)
    with pytest.raises(ZeroDivisionError, match="a bug"):
        _ask(DummyLM([UNDERSTOOD]))
