"""The fit of the scorer on the sample: the effect of gold programs, and what it leaves alone."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import dspy
import numpy as np
import pytest

from kg.calculations.scorer import DerivationScorer
from kg.calculations.turn_search import DerivationConfig
from kg.reports.learning import build_ontology
from kg.reports.report import Report
from kg.search.derivation import Derivation
from kg.search.steps import Answer, merge_key
from optimize.scorers import FitScorer
from programs.conversation import ConversationQA
from programs.turns.turn import Turn
from tests.optimize.scorers.changes import SMALL

SAMPLE = Path(__file__).resolve().parents[3] / "experiments" / "sample"


def _scorer(program: ConversationQA) -> DerivationScorer:
    assert program.scorer is not None
    return program.scorer


def _examples(split: str) -> list[dspy.Example]:
    records = json.loads((SAMPLE / f"{split}.json").read_text())
    return [
        dspy.Example(
            report=Report.from_dict(record),
            questions=record["annotation"]["dialogue_break"],
            programs=record["annotation"]["turn_program"],
        )
        for record in records
    ]


@pytest.fixture(scope="module")
def train() -> list[dspy.Example]:
    return _examples("train")[:48]


@pytest.fixture(scope="module")
def student(train: list[dspy.Example]) -> ConversationQA:
    ontology = build_ontology([example.report for example in train])
    return ConversationQA.unfitted(ontology, config=DerivationConfig(beam_width=6, histories=3))


@pytest.fixture(scope="module")
def compiled(student: ConversationQA, train: list[dspy.Example]) -> ConversationQA:
    return FitScorer(SMALL).compile(student, trainset=train)


def _turns(program: ConversationQA, examples: Sequence[dspy.Example]) -> list[Turn]:
    return [turn for one in examples for turn in program(report=one.report, questions=one.questions).turns]


def _gold(examples: Sequence[dspy.Example]) -> list[Answer]:
    return [Derivation.parse(program).execute() for one in examples for program in one.programs]


def _accuracy(program: ConversationQA, examples: Sequence[dspy.Example]) -> float:
    pairs = zip(_turns(program, examples), _gold(examples), strict=True)
    return float(np.mean([t.answer is not None and merge_key(t.answer) == merge_key(gold) for t, gold in pairs]))


def test_a_fit_on_right_programs_does_much_better_than_one_on_wrong_ones(
    student: ConversationQA, compiled: ConversationQA, train: list[dspy.Example]
) -> None:
    """Each question with the next one's program: what there is to learn is gone."""
    wrong = [
        dspy.Example(report=one.report, questions=one.questions, programs=[*one.programs[1:], one.programs[0]])
        for one in train
    ]
    dev = _examples("dev")[:16]
    misled = FitScorer(SMALL).compile(student, trainset=wrong)
    fitted, shuffled, untrained = (_accuracy(program, dev) for program in (compiled, misled, student))
    assert fitted > untrained + 0.1
    assert fitted > shuffled + 0.1


def test_the_student_is_not_changed(student: ConversationQA, compiled: ConversationQA) -> None:
    assert compiled is not student
    assert _scorer(student).to_json() == DerivationScorer.untrained().to_json()
    assert _scorer(compiled).sha256 != _scorer(student).sha256
    assert compiled.ontology is student.ontology
    assert compiled.config == student.config
    assert compiled._compiled
    assert not getattr(student, "_compiled", False)


def test_a_scorer_that_was_saved_and_loaded_answers_no_differently(compiled: ConversationQA) -> None:
    loaded = DerivationScorer.from_json(_scorer(compiled).to_json())
    assert loaded.to_json() == _scorer(compiled).to_json()
    twin = ConversationQA.unfitted(compiled.ontology, scorer=loaded, config=compiled.config)
    dev = _examples("dev")[:8]
    for one, other in zip(_turns(compiled, dev), _turns(twin, dev), strict=True):
        assert one.candidates == other.candidates, "scores too"
        assert one.confidence == other.confidence


_FIT = """
import json, sys
from kg.reports.graph import build_report_graph
from kg.calculations.report_index import ReportIndex
from kg.calculations.report_index import Idf
from kg.reports.learning import build_ontology
from kg.reports.report import Report
from optimize.scorers.derivations import ScorerConfig, TrainingConfig, fit_scorer
from optimize.scorers.derivations import training_turns

records = json.load(open(sys.argv[1]))[:6]
reports = [Report.from_dict(record) for record in records]
ontology, idf = build_ontology(reports), Idf.learn([" ".join(report.sentences) for report in reports])
turns = []
for record, report in zip(records, reports):
    index = ReportIndex(build_report_graph(report, ontology).observations, report.sentences, idf)
    gold = record["annotation"]
    turns += training_turns(report.id, index, gold["dialogue_break"], gold["turn_program"])
config = ScorerConfig(form_steps=5, form_count=1, ensemble=1, operands=TrainingConfig(hidden=4, epochs=2))
print(fit_scorer(turns, idf, config, seed=0).sha256)
"""


@pytest.mark.slow
def test_another_process_gives_the_same_bytes() -> None:
    """The order of sets differs between processes; nothing may depend on it."""
    hashes = set()
    for seed in ("1", "2"):
        environment = {"PYTHONHASHSEED": seed, "PYTHONPATH": str(SAMPLE.parents[1])}
        command = [sys.executable, "-c", _FIT, str(SAMPLE / "train.json")]
        hashes.add(subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout)
    assert len(hashes) == 1
