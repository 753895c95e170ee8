"""Fits on questions about graphs, and their cross-validation."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from experiments.commands.main import main
from experiments.compiling import crossvalidation
from experiments.compiling.crossvalidation import folds, relations_of
from experiments.compiling.graphs import GraphCompileConfig, fit_graphs
from experiments.data.graphs import OwnGraphs
from experiments.saved import load_program
from kg.errors import ConfigError, DataError
from kg.paths.space import PathConfig
from optimize.relations.scorer import RelationTrainingConfig
from tests.experiments.films import GRAPH, QUESTIONS, TRIPLES


def test_graphs_of_the_questions_are_joined_for_the_fit() -> None:
    own = [
        dataclasses.replace(question, graph=lambda n=n: [t for t in TRIPLES if t[0] == f"film{n // 2}"])
        for n, question in enumerate(QUESTIONS)
    ]
    program = fit_graphs(OwnGraphs(), own, RelationTrainingConfig(max_hops=1), PathConfig(), seed=0)
    assert program(question="who made film3 ?", graph=GRAPH.graph).answers[0][0] == "person0"
    with pytest.raises(DataError, match="no questions to learn from"):
        fit_graphs(GRAPH, [], RelationTrainingConfig(), PathConfig(), seed=0)


def test_folds_keep_what_depends_on_each_other_together() -> None:
    parts = folds(QUESTIONS, 4, "topic", seed=0)
    assert sorted(question.id for part in parts for question in part) == sorted(one.id for one in QUESTIONS)
    topics = [{question.topics for question in part} for part in parts]
    assert all(not first & second for first in topics for second in topics if first is not second)
    assert {len(part) for part in parts} == {4}
    assert parts == folds(QUESTIONS, 4, "topic", seed=0)
    assert parts != folds(QUESTIONS, 4, "topic", seed=1)
    assert len(folds(QUESTIONS, 16, "question", seed=0)) == 16
    with pytest.raises(ConfigError, match="folds must be from 2 to the 8 groups of questions, got 9"):
        folds(QUESTIONS, 9, "topic", seed=0)


def _once(fit: Callable[..., Any]) -> Callable[..., Any]:
    """A fit that is refused the second time."""
    calls: list[object] = []

    def fitted(*given: Any) -> Any:
        calls.append(given)
        assert len(calls) == 1
        return fit(*given)

    return fitted


def test_folds_by_relation_learn_from_no_question_with_a_relation_of_the_part() -> None:
    config = GraphCompileConfig(search=PathConfig(max_depth=1))
    relations = relations_of(GRAPH, QUESTIONS, config)
    assert relations["q0-directed_by"] == (("directed_by",),)
    parts = folds(QUESTIONS, 2, "relation", 0, relations)
    assert sorted({question.id.partition("-")[2] for question in part} for part in parts) == [
        {"directed_by"},
        {"released_in"},
    ]
    assert folds(QUESTIONS, 2, "relation", 0, {one.id: () for one in QUESTIONS}) != parts


def test_cross_validation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    lines = [f"{one.question.replace(one.topics[0], f'[{one.topics[0]}]')}\t{one.answers[0]}" for one in QUESTIONS]
    Path("q.txt").write_text("\n".join([*lines, "bad line"]) + "\n")
    Path("kb.txt").write_text("".join("|".join(triple) + "\n" for triple in TRIPLES))
    data = ["--graph", "kb.txt", "--questions", "q.txt", "--format", "metaqa", "--max-depth", "1", "--no-track"]
    assert main(["kgqa", "crossvalidate", *data, "--folds", "4", "--json", "out.json"]) == 0
    figures = json.loads(Path("out.json").read_text())
    assert (figures["questions"], figures["failed_questions"], figures["folds"]) == (16, 1, 4)
    assert figures["hit_at_1"] == 1.0
    by_relation = ["kgqa", "crossvalidate", *data, "--split-by", "relation", "--folds", "2", "--journal", "parts.jsonl"]
    assert main([*by_relation, "--json", "unseen.json"]) == 0
    unseen = json.loads(Path("unseen.json").read_text())
    assert unseen["hit_at_1"] < 1.0  # a learned scorer knows nothing of the other relation
    lines = Path("parts.jsonl").read_text().splitlines(keepends=True)
    assert len(lines) == 3
    Path("parts.jsonl").write_text("".join(lines[:2]))  # stopped after the first part
    with monkeypatch.context() as patched:
        patched.setattr(crossvalidation, "fit_program", _once(crossvalidation.fit_program))
        assert main([*by_relation, "--json", "again.json"]) == 0
    again = json.loads(Path("again.json").read_text())
    assert {name: again[name] for name in ("hit_at_1", "f1", "questions")} == {
        name: unseen[name] for name in ("hit_at_1", "f1", "questions")
    }
    assert main([*by_relation, "--seed", "1"]) == 1  # of another cross-validation
    assert main(["kgqa", "index", "--graph", "kb.txt", "--out", "kb.npz", "--json", "index.json"]) == 0
    assert json.loads(Path("index.json").read_text())["triples"] == len(set(TRIPLES))
    assert main(["kgqa", "train", *data, "--graph", "kb.npz", "--folds", "2", "--out", "program"]) == 0
    assert load_program("program").config["train"]["count"] == 16


@pytest.mark.parametrize(
    ("graph", "questions", "form", "least"),
    [("2H-kb.txt", "PQ-2H.txt", "pathquestion", 0.9)],
)
@pytest.mark.slow
def test_pathquestion_by_cross_validation(
    full_data: Path, tmp_path: Path, graph: str, questions: str, form: str, least: float
) -> None:
    folder = full_data / "pathquestion"
    data = ["--graph", str(folder / graph), "--questions", str(folder / questions), "--format", form]
    out = tmp_path / "out.json"
    assert (
        main(["kgqa", "crossvalidate", *data, "--folds", "2", "--limit", "600", "--no-track", "--json", str(out)]) == 0
    )
    figures = json.loads(out.read_text())
    assert figures["hit_at_1"] >= least
    assert figures["path_validity"] == 1.0
