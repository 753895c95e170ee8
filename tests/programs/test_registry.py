"""Programs by name."""

from __future__ import annotations

import pytest

from kg.candidates.search import DerivationConfig
from kg.errors import ConfigError
from kg.ontology.learning import build_ontology
from kg.reports.report import Report
from kg.scoring.scorer import DerivationScorer
from programs.agent import AgentConfig
from programs.registry import KINDS, create_program, read_config
from programs.reports.conversation import ConversationQA

ONTOLOGY = build_ontology([Report("r", (), (("", "2009"), ("net income", "5")), ())])


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_can_be_made(kind: str) -> None:
    program = create_program(kind, ontology=ONTOLOGY)
    assert isinstance(program, ConversationQA)
    assert program.kind == kind
    assert program.ontology is ONTOLOGY
    assert (program.needs_lm, program.scorer is None) == ((True, True) if kind == "agent" else (False, False))


def test_scorer_and_settings_are_the_given_ones() -> None:
    scorer, config = DerivationScorer.untrained(), DerivationConfig(beam_width=3)
    program = create_program("beam", ontology=ONTOLOGY, scorer=scorer, config=config)
    assert program.scorer is scorer
    assert program.config is config
    with pytest.raises(ConfigError, match=r"config of kind 'agent' must be a AgentConfig, got DerivationConfig"):
        create_program("agent", ontology=ONTOLOGY, config=config)
    with pytest.raises(ConfigError, match="the agent has no scorer"):
        create_program("agent", ontology=ONTOLOGY, scorer=scorer)


def test_settings_are_read_by_kind() -> None:
    assert read_config("agent", {"max_iterations": 3}) == AgentConfig(3)
    assert read_config("beam", {"beam_width": 3}).beam_width == 3  # type: ignore[union-attr]
    with pytest.raises(ConfigError, match="max_iterations must be at least 1, got 0"):
        read_config("agent", {"max_iterations": 0})
    with pytest.raises(ConfigError, match="'agent' has no setting 'max_iteration'; the nearest are: max_iterations"):
        read_config("agent", {"max_iteration": 3})
    with pytest.raises(ConfigError, match="kind must be one of"):
        read_config("magic", {})


def test_an_unknown_kind_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"kind must be one of beam.*, got 'magic'"):
        create_program("magic", ontology=ONTOLOGY)


def test_its_predictors_are_what_an_optimizer_may_change() -> None:
    names = [name for name, _ in create_program("beam", ontology=ONTOLOGY).named_predictors()]
    assert names == ["turn.understand", "turn.read_page", "turn.aggregate"]
    names = [name for name, _ in create_program("agent", ontology=ONTOLOGY).named_predictors()]
    assert names == ["turn.plan", "turn.act.react", "turn.act.extract"]
