"""Readings of documents for a question, with the fitted confidence that they are right."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from pydantic import BaseModel, ConfigDict

from kg.comprehension import Asked, Ranked, too_doubtful
from kg.news import Passage
from kg.sentences import plain_name
from programs.worlds.news.documents import Located


@dataclass(frozen=True)
class PassageAnswer:
    """An answer.

    Attributes:
        values: The answers; none where there is none.
        confidence: In [0, 1].
        passages: For each value the sentence that has it.
        why: The reason, where there is no answer.
        steps: The calculation, where the value is calculated; its passages are then those of its parts.
    """

    values: tuple[str, ...] = ()
    confidence: float = 0.0
    passages: tuple[Passage, ...] = ()
    why: str = ""
    steps: str = ""


@dataclass(frozen=True)
class ReadAnswer:
    """A reading of documents, before its confidence is known.

    Attributes:
        answer: The values with their sentences.
        features: What its confidence depends on.
    """

    answer: PassageAnswer
    features: Mapping[str, float]


class ReadingModel(BaseModel):
    """The fitted numbers of the confidence.

    Attributes:
        about: How it was fitted.
        weights: The weight of each feature, and ``intercept``, the only one without a value.
        threshold: The least confidence of an answer.
        rules: The least confidence of an answer by rules that a model which read it, too, does not give.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    about: str
    weights: dict[str, float]
    threshold: float
    rules: float = 0.0

    def confidence(self, features: Mapping[str, float]) -> float:
        """Returns the probability that a reading is right."""
        total = sum(weight * features.get(name, 1.0) for name, weight in self.weights.items())
        return 1 / (1 + math.exp(-total))

    def decided(self, answer: PassageAnswer, confidence: float) -> PassageAnswer:
        """Returns an answer with its confidence, or the reason why it is not given."""
        if confidence >= self.threshold:
            return replace(answer, confidence=confidence)
        return PassageAnswer(confidence=confidence, why=too_doubtful(answer.values, confidence, self.threshold))


def value_features(
    asked: Asked, values: Sequence[str], places: Sequence[Located], ranked: Sequence[Ranked]
) -> dict[str, float]:
    """Returns the features of an answer that each reader of documents has.

    Args:
        asked: The question.
        values: The answer, at least one value.
        places: The quotes that are its values.
        ranked: The values of sentences as rules rank them.
    """
    shares = {plain_name(one.value): one.probability for one in ranked}
    share = max(shares.get(plain_name(value), 0.0) for value in values)
    return {
        "ranked": share,
        "ranked other": max(shares.values(), default=0.0) - share,
        "kind": float(all(place.kind in asked.kinds[:2] for place in places)),
        "several": float(len(values) > 1),
        "unknown": float(bool(asked.unknown)),
    }
