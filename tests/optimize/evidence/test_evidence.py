"""The optimizer: parts that do not know each other, plans by language model, and nothing where nothing helps."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from typing import Any

import dspy
import pytest
from dspy import lm15

from experiments.data import conversation_examples, load_conversations
from experiments.saved import shipped_encoder
from kg.encoders import TextEncoder
from kg.encoders.encoder import FILES
from kg.errors import ConfigError, DataError
from kg.reports.learning import build_ontology
from optimize.evidence.demonstrations import choose_demonstrations, gold_turns
from optimize.evidence.evidence import EvidenceSettings, FitEvidence
from optimize.examples import turn_examples
from optimize.optimizers import parse_optimizers
from optimize.scorers import page_keys
from optimize.scorers.derivation_training import ScorerConfig
from programs.beam import BeamQA
from programs.conversation import ConversationQA
from programs.evidence.blend import BEAM_ALONE, EvidenceConfig
from programs.evidence.prompt import Demonstration, written_derivation
from programs.lm.choice import ReplyChoice
from programs.lm.guarded import GuardedLM
from programs.worlds.reader import ReportReader

FAST = ScorerConfig(folds=0, ensemble=1, form_steps=30, form_count=1, feature_count=1)
SETTINGS = EvidenceSettings(demonstrations=4, parts=2, scorer=FAST)


class Oracle:
    """A model that prefers given replies; it is told the right ones, or wrong ones."""

    def __init__(self, wanted: dict[str, str]) -> None:
        self.wanted = wanted
        self.questions: list[str] = []

    def __deepcopy__(self, memo: dict[int, Any]) -> Oracle:
        return self

    def complete(self, request: lm15.Request) -> lm15.Response:
        raise AssertionError("it is to choose, not to write")

    def choose(self, prompt: Any, replies: list[str], memory: Any = None) -> list[ReplyChoice]:
        question = prompt[-1]["content"].rpartition(": ")[2]
        self.questions.append(question)
        good = [reply == self.wanted.get(question) for reply in replies]
        shares = [0.9 if one else 0.1 / max(len(good) - 1, 1) for one in good]
        if not any(good):
            shares = [1 / len(good)] * len(good)
        return [ReplyChoice(math.log(one), math.log(one)) for one in shares]


@pytest.fixture(scope="module")
def examples() -> list[dspy.Example]:
    return conversation_examples(load_conversations("sample:train").conversations[:19])


@pytest.fixture(scope="module")
def student(examples: list[dspy.Example]) -> ConversationQA:
    return ConversationQA.unfitted(build_ontology([one.report for one in examples]))


def _knowing(student: ConversationQA, examples: list[dspy.Example]) -> Oracle:
    """Told the gold derivations of look-ups, as they are written; the others depend on what was answered before."""
    wanted: dict[str, str] = {}
    for example in examples:
        _, index = student.turn.reader.read(example.report)
        for turn in gold_turns(example, index):
            if turn.derivation is not None:
                wanted[turn.question.rpartition(": ")[2]] = written_derivation(turn.derivation, (), index)
    return Oracle(wanted)


def _fit(student: ConversationQA, examples: list[dspy.Example], lm: Any) -> tuple[ConversationQA, FitEvidence]:
    said: list[str] = []
    fit = FitEvidence(SETTINGS, progress=said.append)
    with dspy.context(lm=lm):
        compiled = fit.compile(student, trainset=examples)
    assert said[-1].startswith(f"cross-validated: the beam {fit.report['beam']:.1%}")
    return compiled, fit


def test_a_model_that_knows_is_given_weight(student: ConversationQA, examples: list[dspy.Example]) -> None:
    engine = _knowing(student, examples)
    compiled, fit = _fit(student, examples, GuardedLM("local/knowing", engine=engine, cache=False))
    assert compiled.evidence is not None
    plan = compiled.evidence.plans["local/knowing"]
    assert (plan.prompt, plan.decides) == ("shown", False)
    assert plan.blend.uses_evidence
    assert fit.report["fitted"] > fit.report["asked_beam"]
    assert len(compiled.evidence.demonstrations) == 4
    assert student.evidence is not None
    assert student.evidence.plans == {}, "the student is not changed"


@pytest.mark.slow
def test_demonstrations_are_not_asked_about(student: ConversationQA, examples: list[dspy.Example]) -> None:
    engine = _knowing(student, examples)
    _fit(student, examples, GuardedLM("local/knowing", engine=engine, cache=False))
    shown = choose_demonstrations(examples, student.turn.reader, count=4, seed=0)
    hidden = {question for place in shown.conversations for question in examples[place].questions}
    others = {
        question for place, one in enumerate(examples) if place not in shown.conversations for question in one.questions
    }
    assert not {one for one in engine.questions if one in hidden - others}


def test_demonstrations_that_are_there_are_kept(student: ConversationQA, examples: list[dspy.Example]) -> None:
    shown = (Demonstration(f"Q1: {examples[3].questions[0]}", "[a, b]"),)
    begun = student.deepcopy()
    begun.evidence = EvidenceConfig(demonstrations=shown)
    engine = Oracle({})
    compiled, _ = _fit(begun, examples, GuardedLM("local/blank", engine=engine, cache=False))
    assert compiled.evidence is not None
    assert compiled.evidence.demonstrations == shown
    assert examples[3].questions[0].rpartition(": ")[2] not in engine.questions


def test_a_model_that_knows_nothing_is_not_asked(student: ConversationQA, examples: list[dspy.Example]) -> None:
    compiled, fit = _fit(student, examples, GuardedLM("local/blank", engine=Oracle({}), cache=False))
    assert compiled.evidence is not None
    lm = GuardedLM("local/blank", engine=Oracle({}), cache=False)
    assert not compiled.evidence.plan_for(lm).asks(lm)
    assert fit.report["helps"] is False


def test_without_a_model_only_the_beam_is_calibrated(student: ConversationQA, examples: list[dspy.Example]) -> None:
    compiled, _ = _fit(student, examples, None)
    assert compiled.evidence is not None
    assert set(compiled.evidence.plans) == {BEAM_ALONE}
    alone = compiled.evidence.plans[BEAM_ALONE].blend
    assert not alone.uses_evidence
    assert "turns of" in alone.fitted_on
    answered = compiled(report=examples[0].report, questions=list(examples[0].questions)).turns
    assert all(turn.confidence is None or 0 <= turn.confidence <= 1 for turn in answered)


def test_what_is_asked_about_can_be_capped(student: ConversationQA, examples: list[dspy.Example]) -> None:
    engine = Oracle({})
    fit = FitEvidence(replace(SETTINGS, turns=5))
    with dspy.context(lm=GuardedLM("local/blank", engine=engine, cache=False)):
        fit.compile(student, trainset=examples)
    assert 5 <= len(engine.questions) <= 5 + 2 * 8, "a conversation that was begun is asked to its end"


@pytest.fixture
def encoded(student: ConversationQA) -> ConversationQA:
    """The student with the shipped encoder, which changes nothing without weights of the blend."""
    changed: ConversationQA = student.deepcopy()
    scorer = replace(changed.turn.reader.scorer, encoder=shipped_encoder())
    changed.turn.reader = ReportReader(student.ontology, scorer)
    return changed


def _having_seen(program: ConversationQA, seen: list[dspy.Example]) -> ConversationQA:
    encoder = program.turn.reader.scorer.encoder.with_pages(set().union(*(page_keys(one.report) for one in seen)))
    program.turn.reader = ReportReader(program.ontology, replace(program.turn.reader.scorer, encoder=encoder))
    return program


def test_the_programs_own_search_answers_the_pages_that_its_encoder_has_not_seen(
    encoded: ConversationQA, examples: list[dspy.Example]
) -> None:
    known, others = examples[:4], examples[14:19]
    copied = dspy.Example(report=replace(known[0].report, id="a copy under another name"), **_rest(known[0]))
    engine = Oracle({})
    compiled, fit = _fit(
        _having_seen(encoded, known),
        [*known, copied, *others],
        GuardedLM("local/blank", engine=engine, cache=False),
    )
    pages = [page_keys(one.report) for one in known]
    fresh = [one for one in others if not any(page_keys(one.report) & page for page in pages)]
    assert fresh
    assert 0 < fit.report["turns"] <= sum(len(one.questions) for one in fresh)
    assert set(engine.questions) <= {question.rpartition(": ")[2] for one in fresh for question in one.questions}
    assert compiled.turn.reader.scorer.encoder is encoded.turn.reader.scorer.encoder


def _rest(example: dspy.Example) -> dict[str, Any]:
    return {name: example[name] for name in ("questions", "programs", "answers")}


def test_weights_are_not_fitted_on_pages_that_the_search_has_seen(
    encoded: ConversationQA, examples: list[dspy.Example]
) -> None:
    with pytest.raises(DataError, match="it was on those of all 19 conversations"):
        _fit(_having_seen(encoded, examples), examples, None)
    encoder = TextEncoder({name: encoded.turn.reader.scorer.encoder.files[name] for name in FILES})
    encoded.turn.reader = ReportReader(encoded.ontology, replace(encoded.turn.reader.scorer, encoder=encoder))
    with pytest.raises(ConfigError, match="does not record the pages that it was fitted on"):
        _fit(encoded, examples, None)


def test_demonstrations_are_of_several_kinds_and_read_as_they_would_be_asked(
    student: ConversationQA, examples: list[dspy.Example]
) -> None:
    shown = choose_demonstrations(examples, student.turn.reader, count=6, seed=1)
    assert len(shown.demonstrations) == len(shown.conversations) == 6
    assert any(one.reply.startswith(("[", '"')) for one in shown.demonstrations), "a figure alone"
    assert any(one.reply.startswith("ans1 ") for one in shown.demonstrations), "a calculation over earlier answers"
    assert all(one.asked.splitlines()[-1].startswith("Q") for one in shown.demonstrations)
    assert shown == choose_demonstrations(examples, student.turn.reader, count=6, seed=1)


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
def test_weights_of_a_model_that_reads_the_page(student: ConversationQA, examples: list[dspy.Example]) -> None:
    fit = FitEvidence(SETTINGS)
    with dspy.context(lm=GuardedLM("openai/reader", engine=PageReader(student, examples), cache=False)):
        compiled = fit.compile(student, trainset=examples)
    assert compiled.evidence is not None
    plan = compiled.evidence.plans["openai/reader"]
    assert (plan.prompt, plan.decides) == ("page", False)
    assert plan.blend.uses_evidence
    assert fit.report["fitted"] > fit.report["asked_beam"] + 0.2


def test_it_is_in_the_registry() -> None:
    optimizer, _ = parse_optimizers("evidence", ["evidence.shown=5"])[0].make({"seed": 3})
    assert isinstance(optimizer, FitEvidence)
    assert (optimizer.settings.shown, optimizer.seed) == (5, 3)
    assert isinstance(ConversationQA.unfitted(build_ontology([])).turn, BeamQA)
