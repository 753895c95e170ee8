"""The confidence in a language model's parse of a question, given the confidence of the beam.

    >>> ReplyConfidence.of("local/qwen2.5-coder-1.5b").joined(reading, parse).confidence
    0.83

How often a model is right depends on the model. The constants here are log-odds of counts (each with half a turn more)
of a capable reader of these prompts: 124 of 129 replies that agreed with the beam were right, and all 19 that chose a
later reading and 4 of its own, however probable the beam's first was; where it found no answer, none of 22 first
readings was right. ``reply_confidence.json`` has those of embedded models.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from kg.parsing import Parse, Reading

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
        trust: The confidence in [0, 1] from which the beam decides alone, as it is as often right as the model.
    """

    agreed: float = 3.1
    listed: float = 3.7
    own: float = 2.2
    none: float = -3.8
    with_beam: float = 0.0
    against_beam: float = 0.0
    trust: float = 1.0

    @classmethod
    @cache
    def of(cls, model: str) -> ReplyConfidence:
        """The confidence in the parses of a model: its own if it is an embedded one, else that of a capable model."""
        given = json.loads(Path(__file__).with_name("reply_confidence.json").read_text(encoding="utf-8"))
        return cls(**given.get(model, given.get(model.partition("/")[0], {})))

    def joined(self, reading: Reading, parse: Parse | None) -> Reading:
        """A reading with the model's parse, which becomes its first; ``None`` changes nothing."""
        if parse is None:
            return reading
        beam = min(max(reading.confidence, _LEAST), 1 - _LEAST)
        odds = math.log(beam / (1 - beam))
        if parse.is_empty:
            return replace(reading, confidence=min(reading.confidence, _logistic(self.none + self.with_beam * odds)))
        same = next((one for one in reading.parses if one.answer == parse.answer), None)
        if same is not None and same is reading.parses[0]:
            return replace(reading, confidence=_logistic(self.agreed + self.with_beam * odds))
        confidence = _logistic((self.own if same is None else self.listed) - self.against_beam * odds)
        parses = (parse if same is None else same, *(one for one in reading.parses if one is not same))
        # what the beam took the question to refer to is its first reading's alone
        return replace(reading, parses=parses, confidence=confidence, canonical=reading.question, referents=())


def _logistic(odds: float) -> float:
    return 1 / (1 + math.exp(-odds))
