"""A fine-tuned model that writes a calculation, held to the figures that it is shown."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import dspy
import pytest
from dspy import lm15

from kg.ontology import build_ontology
from kg.reports import Report
from kg.scoring import ConfidenceModel, DerivationScorer
from programs.beam import BeamQA
from programs.evidence import Abstention, Blend, EvidenceConfig, EvidencePlan
from programs.lm import EmbeddedEngine, EngineSettings, GuardedLM, ReplyChoice
from programs.turns import Turn
from programs.worlds.reader import ReportReader

REPORT = Report(
    "r",
    ("the company sold 5 units in 2009 .",),
    (("", "2009", "2008"), ("net income", "$ 10", "$ 12"), ("net sales", "100", "90")),
    (),
)
READER = ReportReader(build_ontology([REPORT]), DerivationScorer.untrained())
QUESTION = "what was the net income in 2008?"
OWN = "((r1c1 * 3) + r1c2) / r1c1"
BLEND = Blend({"beam": 0.1, "share": 3.0}, {"bias": -20.0})
PLAN = EvidencePlan("likelihood", blend=BLEND, fitted=True, prompt="brief", understand=True)


class Tuned:
    """Writes one reply, and prefers a calculation."""

    supports_response_schema = True
    supported_params = frozenset({"response_format", "max_tokens", "temperature"})

    def __init__(self, reply: str, preferred: str = OWN, none: float = -9.0) -> None:
        self.reply, self.preferred, self.none = reply, preferred, none
        self.grammars: list[str] = []
        self.offered: list[str] = []

    def complete(self, request: lm15.Request) -> lm15.Response:
        self.grammars.append(request.config.response_format["schema"]["grammar"])
        message = lm15.Message.assistant(self.reply)
        usage = lm15.Usage(input_tokens=1, output_tokens=1)
        return lm15.Response(id=None, model="m", message=message, finish_reason="stop", usage=usage)

    def choose(self, prompt: Any, replies: Sequence[str], memory: Any = None) -> list[ReplyChoice]:
        self.offered = list(replies)
        rest = math.log1p(-math.exp(self.none)) if "none" in replies else 0.0
        wrong = {"none": self.none}
        values = [rest if one == self.preferred else wrong.get(one, -9.0) for one in replies]
        return [ReplyChoice(value, value) for value in values]


def _asked(engine: Any) -> Turn:
    program = BeamQA(READER, evidence=EvidenceConfig(plans={"local/m+mine": PLAN}))
    with dspy.context(lm=GuardedLM("local/m+mine", engine=engine, free=True, cache=False)):
        turn: Turn = program(report=REPORT, question=QUESTION).turn
    assert turn.failure is None, turn.message
    return turn


def test_what_the_model_writes_is_one_more_candidate() -> None:
    engine = Tuned(OWN)
    turn = _asked(engine)
    assert turn.answer == Decimal(42) / 10
    assert OWN in engine.offered
    assert turn.evidence is not None
    assert turn.evidence.named == turn.pick == engine.offered.index(OWN)
    assert [number.source for number in turn.derivation.numbers] == ["r1c1", "r1c2", "r1c1"]
    [grammar] = engine.grammars
    assert '"r1c" (' in grammar
    assert "r2c" not in grammar, "figures that the prompt does not show cannot be named"
    assert "2008" not in grammar, "the years of the question are no numbers to calculate with"


@pytest.mark.parametrize("reply", ["none", "r1c1 / (r1c2 - r1c2)"])
def test_a_reply_without_a_calculation_changes_nothing(reply: str) -> None:
    engine = Tuned(reply, "r1c2")
    turn = _asked(engine)
    assert (turn.answer, turn.evidence.named) == (Decimal(12), None)
    assert len(engine.offered) == 10


@pytest.mark.parametrize(("none", "is_answered"), [(-0.1, False), (-9.0, True)])
def test_a_turn_abstains_where_the_model_prefers_none(none: float, is_answered: bool) -> None:
    unsure = ConfidenceModel({"bias": 0.5}, {"bias": 0.5}, least_answerable=0.01)
    reader = ReportReader(READER.ontology, replace(READER.scorer, confidence=unsure))
    abstention = Abstention({"answerable": 1.0, "none": -1.0}, least=0.5)
    plan = replace(PLAN, understand=False, abstention=abstention)
    saved = EvidencePlan.from_dict(json.loads(json.dumps(plan.to_dict())))
    assert saved == plan
    program = BeamQA(reader, evidence=EvidenceConfig(plans={"local/m+mine": saved}))
    engine = Tuned("r1c2", "r1c2", none)
    with dspy.context(lm=GuardedLM("local/m+mine", engine=engine, free=True, cache=False)):
        turn: Turn = program(report=REPORT, question=QUESTION).turn
        program.set_evidence(replace(program.evidence, answer="always"))
        always: Turn = program(report=REPORT, question=QUESTION).turn
    assert engine.offered[-1] == "none"
    assert (turn.failure, turn.answer) == ((None, Decimal(12)) if is_answered else ("not_answered", None))
    assert always.answer == Decimal(12)
    assert always.evidence is not None
    assert len(always.evidence.shares) == len(engine.offered) - 1
    assert math.fsum(map(math.exp, always.evidence.shares)) == pytest.approx(1.0, abs=0.02)


def test_a_turn_abstains_with_a_model_that_was_not_asked_for_none() -> None:
    sure = ConfidenceModel({"bias": -3.0}, {"bias": 0.5}, least_answerable=0.3)
    reader = ReportReader(READER.ontology, replace(READER.scorer, confidence=sure))
    program = BeamQA(reader, evidence=EvidenceConfig(plans={"local/m+mine": replace(PLAN, understand=False)}))
    with dspy.context(lm=GuardedLM("local/m+mine", engine=Tuned("r1c2", "r1c2"), free=True, cache=False)):
        turn: Turn = program(report=REPORT, question=QUESTION).turn
    assert (turn.failure, turn.answer) == ("not_answered", None)


@pytest.mark.slow
def test_a_real_model_writes_only_what_can_be_read(smallest_model: Path) -> None:
    """The smallest model knows nothing of the prompt; drawn at a high temperature, its replies still can be read."""
    engine = EmbeddedEngine(EngineSettings(smallest_model, "local/m+mine", context=1024))
    written: list[str] = []
    complete = engine.complete

    def remember(request: lm15.Request) -> lm15.Response:
        response = complete(request)
        if response.finish_reason == "stop":  # a reply that is cut off need not be readable
            written.append(response.message.parts[0].text)
        return response

    engine.complete = remember  # type: ignore[method-assign]
    program = BeamQA(READER, evidence=EvidenceConfig(plans={"local/m+mine": PLAN}))
    lm = GuardedLM("local/m+mine", engine=engine, free=True, cache=False, temperature=1.5)
    with dspy.context(lm=lm):
        for number in range(5):
            turn = program(report=REPORT, question=f"{QUESTION} {number}").turn
            assert turn.failure is None, turn.message
    engine.close()
    from programs.worlds.page import CalculationError, PageFigures, read_calculation

    figures = PageFigures(READER.read(REPORT)[1])
    for text in written:
        try:
            read_calculation(text, figures, (), [QUESTION])
        except CalculationError as error:
            assert "has no result" in str(error), text  # noqa: PT017 - other problems are failures
    assert written
