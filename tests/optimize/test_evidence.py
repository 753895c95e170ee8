"""The fit of evidence: nothing for a model that guesses, and only pages that the search has not seen."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import dspy
import numpy as np
import pytest
from dspy import lm15

from experiments.data import conversation_examples, load_conversations
from experiments.readers import shipped_encoder
from kg.calculations import DerivationScorer
from kg.errors import ConfigError, DataError
from kg.reports.learning import build_ontology
from optimize.evidence import EvidenceSettings, EvidenceTurn, FitEvidence, fit_agreement, improves
from optimize.examples import turn_examples
from optimize.scorers import page_keys
from programs.beam import BeamQA
from programs.conversation import ConversationQA
from programs.lm import GuardedLM
from programs.worlds.report import ReportReader


def _turns(knows: float, count: int = 180, seed: int = 0) -> list[EvidenceTurn]:
    """Turns whose search is calibrated, and a model that agrees with right answers in a share of them, else half."""
    rng = np.random.default_rng(seed)
    turns = []
    for number in range(count):
        confidence = float(rng.uniform(0.2, 0.95))
        right = bool(rng.random() < confidence)
        agrees = right if rng.random() < knows else bool(rng.random() < 0.5)
        turns.append(EvidenceTurn(f"report {number // 3}", confidence, agrees, right, agrees and right))
    return turns


def test_the_agreement_of_a_model_that_knows_counts() -> None:
    weights, gain = fit_agreement(_turns(knows=0.8), seed=0)
    assert gain
    assert weights["agrees"] > 2
    assert weights["search"] > 0


def test_the_agreement_of_a_model_that_guesses_does_not_count() -> None:
    weights, gain = fit_agreement(_turns(knows=0.0), seed=0)
    assert not gain
    assert abs(weights["agrees"]) < 0.7


@pytest.mark.parametrize(("better", "worse", "helps"), [(9, 8, False), (0, 0, False), (17, 8, True)])
def test_a_gain_within_chance_is_none(better: int, worse: int, helps: bool) -> None:
    same = 200 - better - worse
    before, after = [False] * better + [True] * (worse + same), [True] * better + [False] * worse + [True] * same
    assert improves(before, after) is helps


@pytest.fixture(scope="module")
def examples() -> list[dspy.Example]:
    return conversation_examples(load_conversations("sample:train").conversations[:19])


def _having_seen(examples: list[dspy.Example], seen: list[dspy.Example]) -> ConversationQA:
    """A program that is fitted to nothing, with the shipped encoder, which records some pages."""
    pages = set().union(*(page_keys(one.report) for one in seen))
    scorer = replace(DerivationScorer.untrained(), encoder=shipped_encoder().with_pages(pages))
    return ConversationQA(BeamQA(ReportReader(build_ontology([one.report for one in examples]), scorer)))


class PageReader:
    """A remote model that names the right calculation of the questions that it knows."""

    supported_params = frozenset({"temperature", "max_tokens"})

    def __init__(self, student: ConversationQA, examples: list[dspy.Example]) -> None:
        self.wanted: dict[str, str] = {}
        for example in turn_examples(examples, student):
            if "calculation" in example:
                self.wanted[example.question] = example.calculation

    def __deepcopy__(self, memo: dict[int, Any]) -> PageReader:
        return self

    def complete(self, request: lm15.Request) -> lm15.Response:
        text = request.messages[-1].parts[0].text
        question = text.partition("[[ ## question ## ]]\n")[2].partition("\n")[0]
        wanted = self.wanted.get(question, "none")
        reply = {"meaning": question, "calculation": wanted, "confidence": 95}
        written = "\n\n".join(f"[[ ## {name} ## ]]\n{value}" for name, value in reply.items())
        usage = lm15.Usage(input_tokens=1, output_tokens=1)
        message = lm15.Message.assistant(written)
        return lm15.Response(id=None, model=request.model, message=message, finish_reason="stop", usage=usage)


@pytest.mark.slow
def test_a_model_that_reads_the_page_decides(examples: list[dspy.Example]) -> None:
    student = _having_seen(examples, examples[:2])
    lines: list[str] = []
    with dspy.context(lm=GuardedLM("openai/reader", engine=PageReader(student, examples), cache=False)):
        compiled = FitEvidence(progress=lines.append).compile(student, trainset=examples)
    assert compiled.evidence is not None
    plan = compiled.evidence.plans["openai/reader"]
    assert plan.decides
    assert lines[-1].startswith("openai/reader decides; on ")
    assert student.evidence is not None
    assert student.evidence.plans == {}, "the student is not changed"


def test_a_model_that_knows_nothing_is_not_asked(examples: list[dspy.Example]) -> None:
    student = _having_seen(examples, examples[:9])
    lm = GuardedLM("openai/blank", engine=PageReader(student, []), cache=False)
    with dspy.context(lm=lm):
        compiled = FitEvidence(EvidenceSettings(turns=8)).compile(student, trainset=examples)
    assert compiled.evidence is not None
    assert not compiled.evidence.plan_for(lm).asks(lm)
    assert 8 <= lm.spent.calls <= 2 * 16, "a conversation that was begun is asked to its end"


def test_weights_are_not_fitted_on_pages_that_the_search_has_seen(examples: list[dspy.Example]) -> None:
    with pytest.raises(ConfigError, match="name one with lm, got none"):
        FitEvidence().compile(_having_seen(examples, examples), trainset=examples)
    lm = GuardedLM("openai/blank", engine=PageReader(_having_seen(examples, examples), []), cache=False)
    with dspy.context(lm=lm), pytest.raises(DataError, match="it was on those of all 19 conversations"):
        FitEvidence().compile(_having_seen(examples, examples), trainset=examples)
    student = ConversationQA.unfitted(build_ontology([one.report for one in examples]))
    with dspy.context(lm=lm), pytest.raises(ConfigError, match="compile it with 'encoder' first"):
        FitEvidence().compile(student, trainset=examples)
