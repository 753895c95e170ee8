"""Evidence path by path: the model sees one candidate at a time and judges whether it answers the question.

A model that can be held to given replies (:class:`programs.lm.engine.EmbeddedEngine`) is held to yes and no, with the
conversation read once for all candidates. Any other is asked by :class:`signatures.aggregation.RateCandidate`, a call a
candidate, so its cost is one call for each shown candidate.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from kg.candidates import Candidate
from kg.derivations import PastTurn
from kg.figures import ReportIndex
from programs.evidence.blend import Evidence
from programs.evidence.index import stated
from programs.evidence.likelihood import Chooser
from programs.evidence.prompt import written_conversation, written_derivation
from programs.wording import written_number

INSTRUCTIONS = (
    "Say whether the calculation answers the last question: yes or no. [row, column] is a table cell, "
    "a quoted text is its *marked* number, ans1 is the answer to Q1."
)
"""The instruction of a model that is held to yes and no."""

_LEAST = 1e-4


def by_choice(
    lm: Chooser, candidates: Sequence[Candidate], past: Sequence[PastTurn], question: str, index: ReportIndex
) -> Evidence:
    """Asks a model that can be held to given replies."""
    conversation = written_conversation(past, question, index, derivations=True)
    ratings = []
    for one in candidates:
        calculation = f"{written_derivation(one.derivation, past, index)} = {written_number(one.answer)}"
        found = lm.choose(rating_prompt(conversation, calculation), ["yes", "no"])
        ratings.append(math.exp(found[0].log_share))
    return evidence_of(ratings)


def rating_prompt(conversation: str, calculation: str) -> list[dict[str, str]]:
    """The messages that are answered with yes or no."""
    asked = f"{conversation}\ncalculation: {calculation}"
    return [{"role": "system", "content": INSTRUCTIONS}, {"role": "user", "content": asked}]


def rating_of(reply: Any) -> float:
    """Returns the probability that a reply gives to yes.

    Raises:
        NoAnswerError: Its confidence is not a number.
    """
    confidence = stated(reply.confidence)
    return confidence if reply.answers == "yes" else 1.0 - confidence


def evidence_of(ratings: Sequence[float]) -> Evidence:
    """Returns the evidence of ratings, each the probability in [0, 1] that its candidate alone is right."""
    bounded = [min(max(rating, _LEAST), 1.0 - _LEAST) for rating in ratings]
    total = math.log(sum(bounded))
    return Evidence(
        "per-path",
        tuple(math.log(rating) - total for rating in bounded),
        tuple(math.log(rating) for rating in bounded),
        none=sum(math.log1p(-rating) for rating in bounded),
    )
