"""The confidence in a language model's parse of a question, given the confidence of the beam.

    >>> ReplyConfidence().joined(reading, parse).confidence
    0.83

How often a model is right depends on the model. The constants that are set here are for a capable model that was not
measured.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Literal

from kg.parsing import Parse, Reading

ReplyKind = Literal["agreed", "listed", "own", "none"]
"""The kinds of parses: the beam's first reading, a later one, another, or no answer in the graph."""

FILE = Path(__file__).with_name("reply_confidence.json")
"""The constants of embedded models by their names in DSPy, and of those that were not measured ("local").
"""

_LEAST = 0.01
"""The least confidence of the beam that is taken for one, in either direction."""


@dataclass(frozen=True)
class ReplyConfidence:
    """Logistic models of the confidence, from the log-odds of the beam's confidence in its first reading.

    Attributes:
        agreed: The log-odds of a parse that is the first reading, where the beam is as likely right as wrong.
        listed: The same of one that is a later reading.
        own: The same of one that is no reading.
        none: The log-odds of the first reading where the model finds no answer in the graph.
        with_beam: The share of the beam's log-odds that are added where both agree.
        against_beam: The share that is taken away where they do not.
    """

    agreed: float = 2.1
    listed: float = 1.5
    own: float = 1.4
    none: float = -1.5
    with_beam: float = 0.5
    against_beam: float = 0.3

    def of(self, kind: ReplyKind, beam: float) -> float:
        """The probability in [0, 1] of the parse, or of the first reading where the model finds no answer."""
        odds = log_odds(beam)
        if kind == "none":
            return _logistic(self.none + self.with_beam * odds)
        slope = self.with_beam if kind == "agreed" else -self.against_beam
        return _logistic(getattr(self, kind) + slope * odds)

    def joined(self, reading: Reading, parse: Parse | None) -> Reading:
        """A reading with the model's parse, which becomes its first; ``None`` changes nothing."""
        if parse is None:
            return reading
        kind, same = kind_of_reply(reading, parse)
        confidence = self.of(kind, reading.confidence)
        if kind == "none":
            return replace(reading, confidence=min(reading.confidence, confidence))
        rest = tuple(one for one in reading.parses if one is not same)
        return replace(reading, parses=(parse if same is None else same, *rest), confidence=confidence)


@cache
def shipped_confidence(model: str) -> ReplyConfidence:
    """The confidence in the parses of a model: its own if it is an embedded one, else that of a capable model."""
    given = json.loads(FILE.read_text(encoding="utf-8"))
    kind, _, _ = model.partition("/")
    return ReplyConfidence(**given.get(model, given.get(kind, {})))


def kind_of_reply(reading: Reading, parse: Parse) -> tuple[ReplyKind, Parse | None]:
    """The kind of a model's parse, and the beam's first reading with the same answer."""
    if parse.is_empty:
        return "none", None
    same = next((one for one in reading.parses if one.answer == parse.answer), None)
    if same is None:
        return "own", None
    return ("agreed" if same is reading.parses[0] else "listed"), same


def log_odds(confidence: float) -> float:
    """The log-odds of a confidence that is kept from 0 and 1."""
    kept = min(max(confidence, _LEAST), 1 - _LEAST)
    return math.log(kept / (1 - kept))


def _logistic(odds: float) -> float:
    return 1 / (1 + math.exp(-odds))
