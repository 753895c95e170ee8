"""The confidence in a model's parse beside the beam's own, and its fit."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

import dspy
import pytest
from dspy.utils import DummyLM

from kg.parsing import Parse, Reading
from programs.graphs import ReplyConfidence, kind_of_reply
from programs.graphs.reply_confidence import shipped_confidence
from programs.worlds.graph import GraphConfig
from tests.programs.graphs.ships import ships

READER = ships()
READING = READER.read("What is the length of the Bellwether?", today=date(2026, 1, 1))
FIRST, LATER = READING.parses[0], READING.parses[1]
OWN = replace(FIRST, nodes=(0, 1, 2))
NONE = replace(FIRST, nodes=())


def _at(confidence: float) -> Reading:
    return replace(READING, confidence=confidence)


@pytest.mark.parametrize(("parse", "kind"), [(FIRST, "agreed"), (LATER, "listed"), (OWN, "own"), (NONE, "none")])
def test_a_reply_is_one_of_the_readings_or_its_own(parse: Parse, kind: str) -> None:
    assert kind_of_reply(READING, parse)[0] == kind


def test_agreement_raises_the_confidence_and_disagreement_lowers_that_of_the_beam() -> None:
    own = ReplyConfidence()
    for beam in (0.2, 0.5, 0.7):
        assert own.joined(_at(beam), FIRST).confidence > beam
        assert own.joined(_at(beam), NONE).confidence < beam
        assert own.joined(_at(beam), None) == _at(beam)
    unsure, sure = own.joined(_at(0.1), OWN), own.joined(_at(0.79), OWN)
    assert unsure.parses[0] == sure.parses[0] == OWN
    assert unsure.confidence > sure.confidence


def test_an_embedded_model_has_constants_of_its_own() -> None:
    config = GraphConfig()
    with dspy.context(lm=DummyLM([])):
        assert config.confidence_in_replies() == ReplyConfidence()
    small, larger = (shipped_confidence(f"local/{name}") for name in ("qwen2.5-coder-0.5b", "qwen2.5-coder-1.5b"))
    for kind in ("own", "listed"):
        assert small.of(kind, 0.4) <= larger.of(kind, 0.4) < 0.5 < ReplyConfidence().of(kind, 0.4)
    assert small.of("agreed", 0.4) == pytest.approx(0.4)
    assert GraphConfig(reply_confidence=small).confidence_in_replies() == small


def test_a_later_reading_becomes_the_first_and_stays_once() -> None:
    found = ReplyConfidence().joined(_at(0.3), LATER)
    assert found.parses[0] is LATER
    assert sorted(map(id, found.parses)) == sorted(map(id, READING.parses))
