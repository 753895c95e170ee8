"""Fitting the ranker of paths on a family; one relation is not in the questions to learn from."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from kg.arrays import FloatArray
from kg.graphs import GraphIndex
from kg.paths import LearnedRelationScorer, PathConfig, PathRanker, answer_question, widened
from optimize.relations import RelationExample, RelationTrainingConfig, fit_path_ranker

MEANINGS = {"mother": 0, "mum": 0, "job": 1, "profession": 1, "city": 2, "town": 2, "school": 3, "college": 3}


def vectors(texts: Sequence[str]) -> FloatArray:
    """A dimension a meaning; words without any are noise."""
    found = np.full((len(texts), 5), 0.1, dtype=np.float32)
    for row, text in enumerate(texts):
        for word in text.split():
            if word in MEANINGS:
                found[row, MEANINGS[word]] += 1
    result: FloatArray = found / np.linalg.norm(found, axis=1, keepdims=True)
    return result


FAMILY = GraphIndex.from_triples(
    triple
    for number in range(30)
    for triple in [
        (f"p{number}", "mother", f"p{(number + 7) % 30}"),
        (f"p{number}", "job", f"job{number % 5}"),
        (f"p{number}", "city", f"city{number % 7}"),
        (f"p{number}", "school", f"school{number % 11}"),
    ]
)


def _example(number: int, word: str, relation: str, *, with_path: bool) -> RelationExample:
    topic = f"p{number}"
    ends = FAMILY.follow(FAMILY.ids([topic]), FAMILY.relation(relation))
    answers = tuple(FAMILY.name(int(end)) for end in ends)
    return RelationExample(f"what is the {word} of {topic} ?", (topic,), answers, (relation,) if with_path else None)


@pytest.mark.parametrize("with_path", [True, False])
def test_a_relation_that_was_not_asked_for_is_known_by_its_meaning(with_path: bool) -> None:
    words = [("mum", "mother"), ("job", "job"), ("town", "city")]
    examples = [_example(number, *words[number % 3], with_path=with_path) for number in range(24)]
    training, config = RelationTrainingConfig(max_hops=1), widened(PathConfig(max_depth=1))
    scorer = LearnedRelationScorer.untrained()
    ranker = fit_path_ranker(FAMILY, examples, vectors, training)
    unfitted = PathRanker(vectors, {name: -weight for name, weight in ranker.weights.items()})
    for number in range(24, 30):
        asked = _example(number, "college", "school", with_path=False)
        question = (FAMILY, asked.question, asked.topics, scorer, config)
        assert answer_question(*question, ranker.ranked).chosen == asked.answers
        assert answer_question(*question, unfitted.ranked).chosen != asked.answers
