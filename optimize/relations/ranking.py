"""The fit of the ranker of whole relation paths on questions with answers.

    >>> ranker = fit_path_ranker(index, examples, encoder.vectors, RelationTrainingConfig(max_hops=2))

A scorer is too confident about the questions that it was fitted on, so each question's paths are those of a scorer that
was fitted on questions about other topics. The paths that reach answers may be right, the more the better they match
all answers.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kg.arrays import DoubleArray
from kg.errors import DataError
from kg.graphs import GraphIndex
from kg.paths import (
    CANDIDATES,
    FEATURES,
    EntitySpace,
    LearnedRelationScorer,
    PathConfig,
    PathRanker,
    Vectors,
    completed_paths,
    widened,
)
from optimize.fitting import fit_choices, folds_of
from optimize.relations.paths import LEAST_LIKE, Path, RelationExample, known_ids, likeness_of
from optimize.relations.scorer import RelationTrainingConfig, fit_relation_scorer

_DECAY, _FOLDS = 0.003, 3


def fit_path_ranker(
    index: GraphIndex,
    examples: Sequence[RelationExample],
    vectors: Vectors,
    config: RelationTrainingConfig,
    seed: int = 0,
) -> PathRanker:
    """Returns a ranker fitted on examples.

    Args:
        index: The graph.
        examples: The questions, about more than one topic.
        vectors: The vectors of texts, such as those of :meth:`kg.encoders.TextEncoder.vectors`.
        config: The settings of the scorer's fit.
        seed: Of the fit, and of the parts of the questions.

    Raises:
        DataError: The beam reaches the answers of no question.
    """
    ranker = PathRanker(vectors, {})
    fold_of = folds_of([" | ".join(example.topics) for example in examples], _FOLDS, seed)
    folds = [fold_of[" | ".join(example.topics)] for example in examples]
    features, right = list[DoubleArray](), list[DoubleArray]()
    for fold in sorted(set(folds)):
        others = [example for example, own in zip(examples, folds, strict=True) if own != fold]
        scorer = fit_relation_scorer(index, others, config, seed)
        for example in (example for example, own in zip(examples, folds, strict=True) if own == fold):
            space = _space(index, example, scorer, config.max_hops)
            completed = completed_paths(space)[0][:CANDIDATES] if len(space.topics) else []
            shares = _right(index, example, space, [path for path, _ in completed])
            if shares is not None:
                features.append(ranker.features(space, completed))
                right.append(shares)
    if not features:
        raise DataError("the beam reaches the answers of no question")
    weights = fit_choices(features, right, penalty=_DECAY)
    return PathRanker(vectors, {name: round(float(weight), 4) for name, weight in zip(FEATURES, weights, strict=True)})


def _space(index: GraphIndex, example: RelationExample, scorer: LearnedRelationScorer, hops: int) -> EntitySpace:
    config = widened(PathConfig(max_depth=hops))
    return EntitySpace(index, example.question, known_ids(index, example.topics), scorer, config)


def _right(
    index: GraphIndex, example: RelationExample, space: EntitySpace, paths: Sequence[Path]
) -> DoubleArray | None:
    """Returns the share of each path in being right, or ``None`` if no path is."""
    if example.path is not None:
        exact = np.array([space.names(path) == example.path for path in paths], dtype=np.float64)
        return exact if exact.any() else None
    answers = known_ids(index, example.answers)
    likeness = np.array([likeness_of(space.reached(path), answers) for path in paths])
    most = likeness.max(initial=0.0)
    return (likeness / most) ** 2 if most >= LEAST_LIKE else None
