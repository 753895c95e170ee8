"""The report program through the OpenAI-compatible server, with no change of code: evidence by index over HTTP."""

from __future__ import annotations

import math
from pathlib import Path

import dspy
import pytest

from experiments.lms.config import LMConfig, reach_lm
from kg.ontology.learning import build_ontology
from kg.reports.report import Report
from programs.conversation import ConversationQA
from programs.evidence.plans import EvidenceConfig
from programs.lm.engine import EngineSettings, serve

REPORT = Report("r", (), (("", "2009", "2008"), ("net income", "$ 10", "$ 12"), ("margin", "4.5%", "3.5%")), ())


@pytest.mark.slow
def test_a_served_model_gives_the_probabilities_of_all_indices(
    smallest_model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "only-for-this-machine")
    program = ConversationQA.unfitted(build_ontology([REPORT]))
    program.evidence = EvidenceConfig(understand=False)  # the smallest model writes what it understands without end
    with serve(EngineSettings(smallest_model, "smollm2", context=4096)) as address:
        lm = reach_lm(LMConfig("openai/smollm2", api_base=f"{address}/v1"))
        with dspy.context(**lm):
            turns = program(report=REPORT, questions=["what was the net income in 2008?", "and in 2009?"]).turns
    assert [turn.failure for turn in turns] == [None, None]
    for turn in turns:
        assert turn.usage.lm_calls == 1
        assert turn.evidence is not None
        assert turn.evidence.mode == "index"
        shares = [math.exp(share) for share in turn.evidence.shares]
        assert sum(shares) + math.exp(turn.evidence.none or 0) == pytest.approx(1, abs=0.01)
        assert len({round(share, 4) for share in shares}) > 2, "each index has a probability of its own"
