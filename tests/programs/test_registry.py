"""Programs by name."""

from __future__ import annotations

import pytest

from kg.beam import BeamConfig
from kg.errors import ConfigError
from kg.ontology import build_ontology
from kg.report import Report
from kg.scorer import DerivationScorer
from programs.conversation import ConversationQA
from programs.registry import KINDS, create_program

ONTOLOGY = build_ontology([Report("r", (), (("", "2009"), ("net income", "5")), ())])


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_can_be_made(kind: str) -> None:
    program = create_program(kind, ontology=ONTOLOGY)
    assert isinstance(program, ConversationQA)
    assert program.kind == kind
    assert program.ontology is ONTOLOGY
    assert program.scorer.trained_on == ""


def test_scorer_and_settings_are_the_given_ones() -> None:
    scorer, config = DerivationScorer.untrained(), BeamConfig(beam_width=3)
    program = create_program("beam", ontology=ONTOLOGY, scorer=scorer, config=config)
    assert program.scorer is scorer
    assert program.config is config


def test_an_unknown_kind_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"kind must be one of beam.*, got 'magic'"):
        create_program("magic", ontology=ONTOLOGY)


def test_its_predictors_are_what_an_optimizer_may_change() -> None:
    names = [name for name, _ in create_program("beam", ontology=ONTOLOGY).named_predictors()]
    assert names == ["turn.understand", "turn.aggregate"]
