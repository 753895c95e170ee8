"""The fit of the ranker of whole relation paths on questions with answers.

    >>> ranker = fit_path_ranker(index, examples, encoder.vectors, TopicRules(), hops=2)

The paths that reach answers may be right, the more the better they match all answers. First the weights without a
memory are fitted. By them the likely paths of each question are remembered, and all weights are fitted again. Meanwhile
no question sees those about its own topics in the memory, as the questions to come are about others. At last the score
of a reader is weighed against these.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from kg.arrays import DoubleArray
from kg.errors import DataError
from kg.graphs import GraphIndex
from kg.paths import (
    FEATURES,
    READING,
    REMEMBERED,
    Candidates,
    PathConfig,
    PathRanker,
    QuestionMemory,
    Reader,
    TopicRules,
    Vectors,
)
from optimize.fitting import fit_choices
from optimize.relations.paths import LEAST_LIKE, RelationExample, known_ids, likeness_of

_DECAY, _ROUNDS = 0.003, 2
_LEAST_SHARE = 0.02
_MOST_READ = 600

_READING, _TO_READING = (1.0, 0.4), 5.0
"""The weights of reading that few questions, or those that need none, leave as they are; and how strongly."""


@dataclass(frozen=True)
class _Judged:
    """The paths of a question, and how right each is, in [0, 1]."""

    example: RelationExample
    found: Candidates
    right: DoubleArray


def fit_path_ranker(
    index: GraphIndex,
    examples: Sequence[RelationExample],
    vectors: Vectors,
    rules: TopicRules,
    hops: int,
    reader: Reader | None = None,
) -> PathRanker:
    """Returns a ranker fitted on examples.

    Args:
        index: The graph.
        examples: The questions.
        vectors: The vectors of texts, such as those of :meth:`kg.encoders.TextEncoder.vectors`.
        rules: The rules for topic entities.
        hops: Relations of a path at the most.
        reader: Reads the best paths of a question; ``None`` for none.

    Raises:
        DataError: No path that is near a question reaches its answers.
    """
    ranker = PathRanker(vectors, {})
    config = PathConfig(max_depth=hops)
    judged = []
    for example in examples:
        topics = [topic for topic in example.topics if index.find(topic) is not None]
        if not topics:
            continue
        found = ranker.candidates(index, example.question, topics, rules, config)
        right = _right(index, example, found)
        if right is not None:
            judged.append(_Judged(example, found, right))
    if not judged:
        raise DataError("no question has a path to its answers among those whose names are near it")
    features = [one.found.features for one in judged]
    weights = fit_choices(features, [one.right for one in judged], penalty=_DECAY)
    for _ in range(_ROUNDS):
        memory = _remember(judged, [rows @ weights for rows in features])
        ranker = PathRanker(vectors, {}, memory)
        features = [ranker.features(one.found, one.example.topics) for one in judged]
        weights = fit_choices(features, [one.right for one in judged], penalty=_DECAY)
    named = dict(zip((*FEATURES, *REMEMBERED), (round(float(weight), 4) for weight in weights), strict=True))
    ranker = PathRanker(vectors, named, memory, reader)
    if reader is not None:
        ranker.reading = _fit_reading(ranker, judged, [rows @ weights for rows in features])
    return ranker


def _fit_reading(ranker: PathRanker, judged: Sequence[_Judged], scores: Sequence[DoubleArray]) -> dict[str, float]:
    """The weights of reading, of some of the questions, since reading takes time."""
    places = random.Random(0).sample(range(len(judged)), min(len(judged), _MOST_READ))
    rows = [ranker.read(judged[place].found, judged[place].example.question, scores[place]) for place in places]
    right = [judged[place].right for place in places]
    bounds = [(0.0, 1.0), (0.0, None)]
    weights = fit_choices(rows, right, penalty=_TO_READING, start=_READING, bounds=bounds)
    return dict(zip(READING, (round(float(weight), 4) for weight in weights), strict=True))


def _right(index: GraphIndex, example: RelationExample, found: Candidates) -> DoubleArray | None:
    """Returns the share of each path in being right, or ``None`` if no path is."""
    if example.path is not None:
        exact = np.array([found.space.names(path) == example.path for path in found.paths], dtype=np.float64)
        return exact if exact.any() else None
    answers = known_ids(index, example.answers)
    likeness = np.zeros(len(found.paths))
    for place, path in enumerate(found.paths):
        likeness[place] = likeness_of(found.space.answers(path), answers)
    most = likeness.max(initial=0.0)
    if most < LEAST_LIKE:
        return None
    right: DoubleArray = (likeness / most) ** 2
    return right


def _remember(judged: Sequence[_Judged], scores: Sequence[DoubleArray]) -> QuestionMemory:
    paths = []
    for one, own in zip(judged, scores, strict=True):
        shares: Mapping[int, float] = dict(enumerate(np.exp(own - own.max()) * one.right))
        total = sum(shares.values())
        if total > 0:
            shares = {place: share / total for place, share in shares.items() if share / total > _LEAST_SHARE}
        else:  # what is right seems impossible
            shares = {int(one.right.argmax()): 1.0}
        paths.append(
            tuple(
                (one.found.space.names(one.found.paths[place]), round(float(share), 4))
                for place, share in shares.items()
            )
        )
    vectors = np.stack([one.found.question for one in judged]).astype(np.float16).astype(np.float32)
    return QuestionMemory(vectors, tuple(paths), tuple(one.example.topics for one in judged))
