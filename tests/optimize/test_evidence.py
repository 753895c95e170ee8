"""The fit of evidence: nothing for noise, much for what is always right, and pages that the search has not seen."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import dspy
import numpy as np
import pytest
from dspy import lm15

from experiments.data import conversation_examples, load_conversations
from experiments.saved import shipped_encoder
from kg.calculations import DerivationScorer
from kg.errors import ConfigError, DataError
from kg.reports.learning import build_ontology
from optimize.evidence import (
    ALONE_SETS,
    FEATURE_SETS,
    EvidenceSettings,
    EvidenceTurn,
    FitEvidence,
    choose_blend,
    improves,
)
from optimize.examples import turn_examples
from optimize.scorers import page_keys
from programs.aggregate import BEAM_ALONE, Evidence
from programs.beam import BeamQA
from programs.conversation import ConversationQA
from programs.lm import GuardedLM
from programs.worlds.report import ReportReader

SCORES = tuple(np.log([0.4, 0.3, 0.15]))


def _turns(knows: float, count: int = 180, seed: int = 0) -> list[EvidenceTurn]:
    """Turns whose beam is calibrated, and a model that knows the right candidate in a share of them."""
    rng = np.random.default_rng(seed)
    turns = []
    for number in range(count):
        place = int(rng.choice(4, p=[0.4, 0.3, 0.15, 0.15]))
        right = tuple(one == place for one in range(3))
        said = place if rng.random() < knows and place < 3 else int(rng.integers(3))
        shares = tuple(np.log(0.8 if one == said else 0.1) for one in range(3))
        turns.append(EvidenceTurn(f"report {number // 3}", SCORES, (1, 3, 5), right, Evidence(shares, named=said)))
    return turns


def test_a_model_that_knows_overrules_the_beam() -> None:
    found = choose_blend(_turns(knows=1.0), FEATURE_SETS, seed=0, folds=3)
    assert found.accuracy > 0.7
    assert found.blend.uses_evidence


def test_a_model_that_guesses_changes_next_to_nothing() -> None:
    found = choose_blend(_turns(knows=0.0), FEATURE_SETS, seed=0, folds=3)
    beam = np.mean([turn.right[0] for turn in _turns(knows=0.0)])
    assert found.accuracy >= beam - 0.06
    assert max(abs(found.blend.weights.get(name, 0.0)) for name in ("share", "named")) < 0.35
    judged = [found.blend.judge(turn.scores, turn.lengths, turn.evidence) for turn in _turns(knows=0.0, seed=1)]
    assert np.mean([one.pick == 0 for one in judged]) > 0.6


def test_without_evidence_only_the_beam_and_lengths_are_weighed() -> None:
    blend = choose_blend(
        [replace(turn, evidence=None) for turn in _turns(knows=1.0)], ALONE_SETS, seed=0, folds=3
    ).blend
    assert not blend.uses_evidence
    assert set(blend.none) <= {"bias", "rest"}


def test_turns_of_one_report_cannot_be_cross_validated() -> None:
    with pytest.raises(DataError, match="at least two reports"):
        choose_blend(_turns(1.0)[:2], FEATURE_SETS, seed=0)


@pytest.mark.parametrize(("better", "worse", "helps"), [(9, 8, False), (0, 0, False), (17, 8, True)])
def test_a_gain_within_chance_is_none(better: int, worse: int, helps: bool) -> None:
    same = 200 - better - worse
    before, after = [False] * better + [True] * (worse + same), [True] * better + [False] * worse + [True] * same
    assert improves(before, after) is helps


# -- the optimizer, on the pages of the sample that an encoder has not seen ------------------------------------------


@pytest.fixture(scope="module")
def examples() -> list[dspy.Example]:
    return conversation_examples(load_conversations("sample:train").conversations[:19])


def _having_seen(examples: list[dspy.Example], seen: list[dspy.Example]) -> ConversationQA:
    """A program that is fitted to nothing, with the shipped encoder, which records some pages."""
    pages = set().union(*(page_keys(one.report) for one in seen))
    scorer = replace(DerivationScorer.untrained(), encoder=shipped_encoder().with_pages(pages))
    return ConversationQA(BeamQA(ReportReader(build_ontology([one.report for one in examples]), scorer)))


class PageReader:
    """A remote model that names the right calculation of the questions that it knows, and picks it."""

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
        if "## candidates ## ]]" in text:
            numbered = re.findall(r"^(\d+)[.] (.*?) = ", text, re.MULTILINE)
            right = [int(number) for number, written in numbered if written == wanted]
            reply = {"choice": right[0] if right else 0, "confidence": 95}
        written = "\n\n".join(f"[[ ## {name} ## ]]\n{value}" for name, value in reply.items())
        usage = lm15.Usage(input_tokens=1, output_tokens=1)
        message = lm15.Message.assistant(written)
        return lm15.Response(id=None, model=request.model, message=message, finish_reason="stop", usage=usage)


@pytest.mark.slow
def test_a_model_that_reads_the_page_is_given_weight(examples: list[dspy.Example]) -> None:
    student = _having_seen(examples, examples[:2])
    lines: list[str] = []
    with dspy.context(lm=GuardedLM("openai/reader", engine=PageReader(student, examples), cache=False)):
        compiled = FitEvidence(progress=lines.append).compile(student, trainset=examples)
    assert compiled.evidence is not None
    plan = compiled.evidence.plans["openai/reader"]
    assert plan.blend.uses_evidence
    assert not plan.decides
    assert lines[-1].startswith("openai/reader is used; on ")
    assert student.evidence is not None
    assert student.evidence.plans == {}, "the student is not changed"


def test_a_model_that_knows_nothing_is_not_asked(examples: list[dspy.Example]) -> None:
    student = _having_seen(examples, examples[:9])
    lm = GuardedLM("openai/blank", engine=PageReader(student, []), cache=False)
    with dspy.context(lm=lm):
        compiled = FitEvidence(EvidenceSettings(turns=8)).compile(student, trainset=examples)
    assert compiled.evidence is not None
    assert not compiled.evidence.plan_for(lm).asks(lm)
    assert 2 * 8 <= lm.spent.calls <= 3 * 16, "a conversation that was begun is asked to its end"


def test_without_a_model_only_the_beam_is_calibrated(examples: list[dspy.Example]) -> None:
    compiled = FitEvidence().compile(_having_seen(examples, examples[:9]), trainset=examples)
    assert compiled.evidence is not None
    assert set(compiled.evidence.plans) == {BEAM_ALONE}
    alone = compiled.evidence.plans[BEAM_ALONE].blend
    assert not alone.uses_evidence
    unseen = [one for one in examples[9:] if not page_keys(one.report) & compiled.scorer.encoder.pages]
    assert int(alone.fitted_on.partition(" ")[0]) <= sum(len(one.questions) for one in unseen)


def test_weights_are_not_fitted_on_pages_that_the_search_has_seen(examples: list[dspy.Example]) -> None:
    with pytest.raises(DataError, match="it was on those of all 19 conversations"):
        FitEvidence().compile(_having_seen(examples, examples), trainset=examples)
    student = ConversationQA.unfitted(build_ontology([one.report for one in examples]))
    with pytest.raises(ConfigError, match="compile it with 'encoder' first"):
        FitEvidence().compile(student, trainset=examples)
