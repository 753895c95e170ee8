"""Fits on questions about graphs, joined."""

from __future__ import annotations

import dataclasses

import pytest

from experiments.compiling import fit_graphs
from experiments.data.graphs import OwnGraphs
from kg.errors import DataError
from kg.paths.space import PathConfig
from tests.experiments.films import GRAPH, QUESTIONS, TRIPLES


def test_graphs_of_the_questions_are_joined_for_the_fit() -> None:
    own = [
        dataclasses.replace(question, graph=lambda n=n: [t for t in TRIPLES if t[0] == f"film{n // 2}"])
        for n, question in enumerate(QUESTIONS)
    ]
    program = fit_graphs(OwnGraphs(), own, PathConfig(max_depth=1))
    assert program(question="who made film3 ?", graph=GRAPH.graph).answers[0][0] == "person0"
    with pytest.raises(DataError, match="no questions to learn from"):
        fit_graphs(GRAPH, [])
