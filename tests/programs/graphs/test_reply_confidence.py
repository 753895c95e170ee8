"""The confidence in a model's parse beside the beam's own."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

from kg.parsing import Reading
from programs.graphs import ReplyConfidence
from tests.programs.graphs.ships import ships

READER = ships()
READING = READER.read("What is the length of the Bellwether?", today=date(2026, 1, 1))
FIRST, LATER = READING.parses[0], READING.parses[1]
OWN = replace(FIRST, nodes=(0, 1, 2))
NONE = replace(FIRST, nodes=())


def _at(confidence: float) -> Reading:
    return replace(READING, confidence=confidence)


def test_agreement_raises_the_confidence_and_disagreement_lowers_that_of_the_beam() -> None:
    own = ReplyConfidence()
    for beam in (0.2, 0.5, 0.7):
        assert own.joined(_at(beam), FIRST).confidence > beam
        assert own.joined(_at(beam), NONE).confidence < beam
        assert own.joined(_at(beam), None) == _at(beam)
    unsure, sure = own.joined(_at(0.1), OWN), own.joined(_at(0.79), OWN)
    assert unsure.parses[0] == sure.parses[0] == OWN
    assert unsure.confidence > sure.confidence


def test_a_later_reading_becomes_the_first_and_stays_once() -> None:
    found = ReplyConfidence().joined(_at(0.3), LATER)
    assert found.parses[0] is LATER
    assert sorted(map(id, found.parses)) == sorted(map(id, READING.parses))
