"""Fitting scorer, encoder, blend and confidence on the sample, with a random base model."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import dspy
import numpy as np
import pytest

from experiments.data import conversation_examples, load_conversations
from experiments.saved import load_program, save_program
from kg.calculations import DerivationScorer
from kg.calculations.turn_search import DerivationConfig
from kg.encoders import TextEncoder
from kg.errors import ConfigError, DataError
from kg.reports import Report, build_ontology
from optimize.encoders import EncoderSettings, FitEncoder
from optimize.encoders.encoder import pages_of, split_reports
from optimize.encoders.examples import EncoderConfig
from optimize.optimizers import parse_optimizers
from optimize.scorers import page_keys
from optimize.scorers.derivations import ScorerConfig, TrainingConfig
from programs.agent import AgentQA
from programs.conversation import ConversationQA
from programs.worlds.report import ReportReader

SHIPPED = Path(__file__).resolve().parents[3] / "experiments" / "shipped"
TINY = TrainingConfig(hidden=4, epochs=2)
SETTINGS = EncoderSettings(
    held_out=0.4,
    training=EncoderConfig(epochs=1, tokens=800, form_count=1),
    scorer=ScorerConfig(form_steps=20, form_count=1, operands=TINY, answers=TINY, ranker=TINY, ensemble=1, folds=2),
)


def _example(name: str, *table: tuple[str, ...], text: tuple[str, ...] = ()) -> dspy.Example:
    return dspy.Example(report=Report(name, text, table, ()))


@pytest.fixture(scope="module")
def train() -> list[dspy.Example]:
    return conversation_examples(load_conversations("sample:train").conversations[:10])


@pytest.fixture(scope="module")
def student(train: list[dspy.Example]) -> ConversationQA:
    config = DerivationConfig(beam_width=6, histories=3)
    return ConversationQA.unfitted(build_ontology([one.report for one in train]), config=config)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("work")


@pytest.fixture(scope="module")
def compiled(student: ConversationQA, train: list[dspy.Example], base_model: Path, folder: Path) -> ConversationQA:
    pytest.importorskip("torch")
    pytest.importorskip("onnx")
    settings = replace(SETTINGS, base=str(base_model))
    return FitEncoder(settings, folder=folder).compile(student, trainset=train)


def test_the_scorer_has_encoder_blend_and_confidence(
    student: ConversationQA, compiled: ConversationQA, train: list[dspy.Example]
) -> None:
    scorer = compiled.scorer
    assert scorer is not None
    assert scorer.encoder is not None
    assert scorer.ranker is not None
    assert scorer.final is not None
    assert scorer.confidence is not None
    assert " turns of 2 held-out reports" in scorer.confidence.fitted_on
    assert scorer.standalone is not None
    inside, _ = split_reports(train, SETTINGS.held_out, seed=0)
    assert scorer.trained_on.startswith(f"{len(inside)} conversations")
    assert compiled.ontology is student.ontology
    assert student.scorer is not None
    assert student.scorer.encoder is None


def test_a_saved_program_answers_as_before(compiled: ConversationQA, train: list[dspy.Example], tmp_path: Path) -> None:
    loaded = load_program(save_program(compiled, tmp_path / "mine")).program
    for one in train[:2]:
        before, after = (program(report=one.report, questions=one.questions).turns for program in (compiled, loaded))
        assert [turn.candidates for turn in before] == [turn.candidates for turn in after]
    names = sorted(path.name for path in (tmp_path / "mine" / "encoder").iterdir())
    assert names == ["encoder.onnx", "heads.npz", "pages.txt", "vocab.txt"]
    inside, outside = split_reports(train, SETTINGS.held_out, seed=0)
    pages = loaded.scorer.encoder.pages
    assert all(page_keys(one.report) <= pages for one in inside)
    assert not any(page_keys(one.report) & pages for one in outside)


def test_a_fit_that_was_stopped_continues_from_its_checkpoint(
    student: ConversationQA, compiled: ConversationQA, train: list[dspy.Example], base_model: Path, folder: Path
) -> None:
    assert sorted(path.name for path in folder.iterdir()) == ["training.pt"]
    told: list[str] = []
    settings = replace(SETTINGS, base=str(base_model))
    again = FitEncoder(settings, folder=folder, progress=told.append).compile(student, trainset=train)
    assert any(line.startswith("encoder: continued at step ") for line in told)
    assert again.scorer.to_json() == compiled.scorer.to_json()


def test_an_encoder_that_was_fitted_before_stays_and_divides_the_reports(
    student: ConversationQA, train: list[dspy.Example], tmp_path: Path
) -> None:
    seen = set().union(*(page_keys(one.report) for one in train[:6]))
    encoder = TextEncoder.read(SHIPPED / "beam" / "encoder").with_pages(seen)
    encoder.write(tmp_path / "encoder")
    fit = FitEncoder(replace(SETTINGS, weights=str(tmp_path / "encoder")), folder=tmp_path)
    program = fit.compile(student, trainset=train)
    scorer = program.scorer
    further = FitEncoder(replace(SETTINGS, further=train[0].report.id)).compile(program, trainset=train).scorer
    assert np.array_equal(further.ranker.out, scorer.ranker.out)
    assert (further.final, list(further.forms.forms)) == (scorer.final, list(scorer.forms.forms))
    assert not np.array_equal(further.forms.weights, scorer.forms.weights)
    assert scorer.encoder.sha256 == encoder.sha256
    inside = [one for one in train if page_keys(one.report) & seen]
    assert scorer.trained_on.startswith(f"{len(inside)} conversations")
    assert scorer.final is not None
    assert scorer.confidence is not None
    with pytest.raises(ConfigError, match="not all of them"):
        fit.compile(student, trainset=inside)


def test_a_page_is_on_one_side() -> None:
    rows = (("", "2020"), ("sales", "5"))
    examples = [
        *(_example(f"Single_A/{page}.pdf-{number}", text=(f"{page} .",)) for page in range(9) for number in "12"),
        _example("B/2020/page_1.pdf-1", *rows),
        _example("Double_C/2020/page_1.pdf-2", *rows),
    ]
    pages = pages_of([one.report for one in examples])
    assert pages[0] == pages[1]
    assert pages[-1] == pages[-2], "one content under two names"
    assert len(set(pages)) == 10
    for seed in range(5):
        inside, outside = split_reports(examples, 0.3, seed)
        assert len(inside) + len(outside) == len(examples)
        sides = [{pages[examples.index(one)] for one in side} for side in (inside, outside)]
        assert [len(side) for side in sides] == [7, 3]
        assert not sides[0] & sides[1]
    with pytest.raises(ConfigError, match="needs conversations about at least 3 reports, got 1"):
        split_reports(examples[:2], 0.5, 0)


def test_what_is_missing_is_named(
    student: ConversationQA, train: list[dspy.Example], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    present: Any = object()
    monkeypatch.setattr("optimize.optimizers.find_spec", lambda name: present)
    with pytest.raises(ConfigError, match=r"encoder\.base must name the folder of a sentence encoder .* got none"):
        FitEncoder(SETTINGS).compile(student, trainset=train)
    with pytest.raises(DataError, match=r"vocab\.txt: the base model's vocabulary cannot be read"):
        FitEncoder(replace(SETTINGS, base=str(tmp_path))).compile(student, trainset=train)
    monkeypatch.setattr("optimize.optimizers.find_spec", lambda name: None)
    with pytest.raises(ConfigError, match=r"needs torch, which is not installed: pip install 'finpath\[train\]'"):
        FitEncoder(SETTINGS).compile(student, trainset=train)
    agent = ConversationQA(AgentQA(ReportReader(student.ontology, DerivationScorer.untrained())))
    with pytest.raises(ConfigError, match="the agent has no scorer to fit: choose another optimizer"):
        FitEncoder(SETTINGS).compile(agent, trainset=train)


def test_the_command_reaches_every_setting(tmp_path: Path) -> None:
    given = ["encoder.base=x", "encoder.training.epochs=3", "encoder.scorer.folds=2", f"encoder.folder={tmp_path}"]
    (step,) = parse_optimizers("encoder", given)
    optimizer, _ = step.make({"seed": 4})
    assert isinstance(optimizer, FitEncoder)
    assert (optimizer.seed, optimizer.folder) == (4, tmp_path)
    settings = optimizer.settings
    assert (settings.base, settings.training.epochs, settings.scorer.folds) == ("x", 3, 2)
