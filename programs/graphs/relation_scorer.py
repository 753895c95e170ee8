"""A language model as the scorer of entity paths: it rates the steps of all states in one call.

    >>> scorer = LMRelationScorer()
    >>> with dspy.context(lm=lm):
    ...     answer_question(index, "who directed Alien ?", ["Alien"], scorer, PathConfig(beam_width=3)).answers
    (('Ridley Scott', -0.11),)

The steps are numbered and the numbers are part of the signature's type, so only offered relations can be named. Steps
without a rating get a small probability, to which the search can return. Where too many steps for a prompt are offered,
another scorer selects those that are shown.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import dspy
import numpy as np
from dspy.utils.exceptions import AdapterParseError
from dspy.utils.exceptions import LMError as DSPyLMError
from pydantic import Field, create_model

from kg.arrays import FloatArray
from kg.errors import ConfigError, LMError
from kg.paths import LearnedRelationScorer, RelationScorer, RelationStep, TopicRules
from signatures.paths import Rated, RateRelations, Ratings

UNRATED = 0.01
"""The probability that all steps which the model did not rate share."""


@dataclass(frozen=True)
class LMRelationConfig:
    """Settings of the scorer.

    Attributes:
        most_shown: Steps in a prompt at the most, at least 2; stopping is always shown.
        most_rated: Steps that the model may rate in one call, at least 1.
    """

    most_shown: int = 60
    most_rated: int = 8

    def __post_init__(self) -> None:
        if self.most_shown < 2:
            raise ConfigError(f"most_shown must be at least 2, got {self.most_shown}")
        if self.most_rated < 1:
            raise ConfigError(f"most_rated must be at least 1, got {self.most_rated}")


class LMRelationScorer(dspy.Module):
    """Rates relations with a language model; a :class:`kg.paths.scorer.RelationScorer`.

    Args:
        rules: The rules for topic entities.
        config: Settings.
        narrowing: Selects the shown steps where there are too many. By default it prefers relations whose names share
            words with the question.
    """

    def __init__(
        self,
        rules: TopicRules | None = None,
        config: LMRelationConfig | None = None,
        narrowing: RelationScorer | None = None,
    ) -> None:
        super().__init__()
        self.rules = rules if rules is not None else TopicRules()
        self.config = config if config is not None else LMRelationConfig()
        self.narrowing = narrowing if narrowing is not None else LearnedRelationScorer.untrained(self.rules)
        self.rate = dspy.Predict(RateRelations)

    def forward(self, step: RelationStep) -> dspy.Prediction:
        """Calls :meth:`log_probabilities`, for callers of a DSPy program."""
        return dspy.Prediction(log_probabilities=self.log_probabilities(step))

    def log_probabilities(self, step: RelationStep) -> FloatArray:
        """See :class:`kg.paths.scorer.RelationScorer`; one call of the model, none where nothing is offered.

        Raises:
            LMError: The model cannot be reached, or did not rate the steps in the form that was asked for.
        """
        stop = len(step.relations)
        scores = np.full((len(step.paths), stop + 1), -np.inf, dtype=np.float32)
        shown = self._shown(step)
        if not shown:
            return scores
        if not step.offered.any():  # nothing to choose: a path that can go nowhere else stops
            scores[:, -1] = 0.0
            return scores
        for (state, choice), probability in zip(shown, self._probabilities(step, shown), strict=True):
            scores[state, choice] = np.log(probability)
        return scores

    def _shown(self, step: RelationStep) -> list[tuple[int, int]]:
        """The steps of the prompt: the state, and the relation or stopping; in the order of the states."""
        possible = np.concatenate([step.offered, np.full((len(step.paths), 1), step.depth > 0)], axis=1)
        if possible.sum() > self.config.most_shown:
            likely = np.where(step.offered, self.narrowing.log_probabilities(step)[:, :-1], -np.inf)
            room = max(self.config.most_shown - int(possible[:, -1].sum()), 1)
            best = np.argsort(-likely, axis=None, kind="stable")[:room]
            kept = np.zeros(step.offered.size, dtype=np.bool_)
            kept[best] = True
            possible[:, :-1] &= kept.reshape(step.offered.shape)
        return [(int(state), int(choice)) for state, choice in np.argwhere(possible)]

    def _probabilities(self, step: RelationStep, shown: list[tuple[int, int]]) -> list[float]:
        """Of each step that is shown; for each state they sum to 1 at the most."""
        rated = self._rated(step, shown)
        totals = np.zeros(len(step.paths))
        for number, probability in rated.items():
            totals[shown[number][0]] += probability
        floor = UNRATED / len(shown)
        scale = (1 - UNRATED) / np.maximum(totals, 1.0)
        return [floor + scale[state] * rated.get(number, 0.0) for number, (state, _) in enumerate(shown)]

    def _rated(self, step: RelationStep, shown: list[tuple[int, int]]) -> dict[int, float]:
        """The model's ratings by place in ``shown``; of a step that is rated twice, the first."""
        try:
            reply: Any = self.rate(
                signature=rated_steps(len(shown), self.config.most_rated, self.rate.signature),
                question=step.question,
                topics="; ".join(step.topics),
                steps="\n".join(f"{number}. {_written(step, *one)}" for number, one in enumerate(shown, start=1)),
            )
        except AdapterParseError as error:
            raise LMError(f"the model did not rate the steps of {step.question!r} as it was asked to") from error
        except DSPyLMError as error:
            raise LMError(f"the model cannot rate the steps of {step.question!r}: {error}") from error
        rated: dict[int, float] = {}
        for one in reply.rated.steps:
            rated.setdefault(one.step - 1, float(one.probability))
        return rated


def _written(step: RelationStep, state: int, choice: int) -> str:
    """A step as the model reads it."""
    start = step.topics[0] if len(step.topics) == 1 else "topic"
    path = [start, *(step.relations[relation] for relation in step.paths[state])]
    if choice == len(step.relations):
        return f"{' -> '.join(path)}: stop here"
    return " -> ".join([*path, step.relations[choice]])


def rated_steps(count: int, most: int, signature: type[dspy.Signature] = RateRelations) -> Any:
    """The signature that lets at least one and at most ``most`` of ``count`` steps be rated, and no others."""
    number: Any = Literal[tuple(range(1, count + 1))]
    step = (number, Field(description=Rated.model_fields["step"].description))
    narrowed: Any = create_model("Rated", __base__=Rated, step=step)
    description = Ratings.model_fields["steps"].description
    steps = (list[narrowed], Field(min_length=1, max_length=min(most, count), description=description))
    ratings: Any = create_model("Ratings", __base__=Ratings, steps=steps)
    return signature.with_updated_fields("rated", type_=ratings)
