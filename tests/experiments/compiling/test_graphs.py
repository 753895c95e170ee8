"""Fits on questions about graphs, and their cross-validation."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import pytest

from experiments.compiling.crossvalidation import folds, relations_of
from experiments.compiling.graphs import GraphCompileConfig, fit_graphs
from experiments.data.graphs import OwnGraphs
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
