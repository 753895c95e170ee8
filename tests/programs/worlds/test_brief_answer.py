"""A fine-tuned model that writes a calculation, held to the figures that it is shown."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import dspy
from dspy import lm15

from kg.calculations import ConfidenceModel, DerivationScorer
from kg.reports import Report, build_ontology
from programs.beam import BeamQA
from programs.evidence import Blend, EvidenceConfig, EvidencePlan
from programs.lm import GuardedLM, ReplyChoice
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
BLEND = Blend({"beam": 0.1, "share": 3.0}, {"bias": -20.0})
PLAN = EvidencePlan("brief", blend=BLEND)


class Tuned:
    """Prefers a calculation."""

    supports_response_schema = True
    supported_params = frozenset({"response_format", "max_tokens", "temperature"})

    def __init__(self, preferred: str, none: float = -9.0) -> None:
        self.preferred, self.none = preferred, none
        self.offered: list[str] = []

    def complete(self, request: lm15.Request) -> lm15.Response:
        raise AssertionError("it is to choose, not to write")

    def choose(self, prompt: Any, replies: Sequence[str], memory: Any = None) -> list[ReplyChoice]:
        self.offered = list(replies)
        rest = math.log1p(-math.exp(self.none)) if "none" in replies else 0.0
        wrong = {"none": self.none}
        values = [rest if one == self.preferred else wrong.get(one, -9.0) for one in replies]
        return [ReplyChoice(value, value) for value in values]


def test_a_turn_abstains_with_a_model_that_was_not_asked_for_none() -> None:
    sure = ConfidenceModel({"bias": -3.0}, {"bias": 0.5}, least_answerable=0.3)
    reader = ReportReader(READER.ontology, replace(READER.scorer, confidence=sure))
    program = BeamQA(reader, evidence=EvidenceConfig(plans={"local/m+mine": PLAN}))
    with dspy.context(lm=GuardedLM("local/m+mine", engine=Tuned("r1c2"), free=True, cache=False)):
        turn: Turn = program(report=REPORT, question=QUESTION).turn
    assert (turn.failure, turn.answer) == ("not_answered", None)
