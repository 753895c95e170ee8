"""The ceiling of picking: the right candidate wherever it is shown, and nothing else changed."""

from __future__ import annotations

from dataclasses import replace

import pytest

from experiments.data import load_conversations
from experiments.evaluation import EvaluationConfig, evaluate, with_gold_pick
from experiments.evaluation.gold_pick import NAME
from experiments.saved import SavedProgram, find_program
from experiments.tasks import ConvFinQA
from kg.errors import ConfigError
from programs.registry import create_program


@pytest.fixture(scope="module")
def beam() -> SavedProgram:
    return find_program("beam")


def test_the_right_candidate_is_picked_wherever_it_is_shown(beam: SavedProgram) -> None:
    data = load_conversations("sample:dev")
    config = EvaluationConfig(limit=10)
    own, ceiling = (
        evaluate(beam, ConvFinQA(data), config),
        evaluate(with_gold_pick(beam, data.conversations), ConvFinQA(data), config),
    )
    assert ceiling.figures["exe_accuracy"] == ceiling.figures["recall_at_10"]
    assert ceiling.figures["exe_accuracy"] > own.figures["exe_accuracy"]
    assert NAME in ceiling.name
    missed = [score for score in ceiling.scores if score.rank is None or score.rank > 10]
    assert all(not score.exact for score in missed)


def test_without_gold_there_is_no_ceiling(beam: SavedProgram) -> None:
    data = load_conversations("sample:dev")
    hidden = [replace(data.conversations[0], answers=None, programs=None)]
    with pytest.raises(ConfigError, match=r"conversation '.*' has none"):
        with_gold_pick(beam, hidden)
    agent = replace(beam, program=create_program("agent", ontology=beam.program.ontology))
    with pytest.raises(ConfigError, match="got 'agent'"):
        with_gold_pick(agent, data.conversations)
