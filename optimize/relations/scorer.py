"""The fit of the scorer of entity paths on questions with answers, with or without gold paths.

    >>> examples = [RelationExample("who directed Alien ?", ("Alien",), ("Ridley Scott",))]
    >>> scorer = fit_relation_scorer(index, examples, RelationTrainingConfig(), seed=0)

If a question has no gold path, paths that reach the answers are searched: among all paths for some questions, and among
the proposals of a model that was fitted on these for the others. Several remaining paths are weighted by expectation
maximisation. So a path that explains one question by accident loses against one that explains many.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kg.arrays import FloatArray
from kg.errors import DataError
from kg.graphs import GraphIndex
from kg.paths import LearnedRelationScorer, RelationFeatures, RelationStep, TopicRules
from optimize.relations.likelihood import Likelihood, RelationChoice
from optimize.relations.paths import LocatedExample, Path, RelationExample, known_ids, learn_rules, locate, propose

__all__ = ["RelationExample", "RelationTrainingConfig", "fit_relation_scorer"]


@dataclass(frozen=True)
class RelationTrainingConfig:
    """Settings of the fit.

    Attributes:
        max_hops: Relations of a path at the most, where paths must be found; at least 1.
        rounds: Of expectation maximisation, where paths must be found; at least 1.
        iterations: Of the optimizer in each round; at least 1.
        decay: L2 penalty, at least 0.
        searched: Questions without a path for which all paths are searched; at least 1.
    """

    max_hops: int = 3
    rounds: int = 3
    iterations: int = 60
    decay: float = 0.03
    searched: int = 400


def fit_relation_scorer(
    index: GraphIndex,
    examples: Sequence[RelationExample],
    config: RelationTrainingConfig | None = None,
    seed: int = 0,
) -> LearnedRelationScorer:
    """Returns a scorer fitted on examples; the same examples and seed give the same weights.

    Args:
        index: The graph.
        examples: The questions.
        config: Settings.
        seed: Of the questions for which all paths are searched.

    Raises:
        DataError: There is no example from whose topics a path leads to the answers, or one has a path whose relations
            are not in its graph.
    """
    config = config if config is not None else RelationTrainingConfig()
    rules = learn_rules(index, examples, config.max_hops, seed)
    order = np.random.default_rng(seed).permutation(len(examples))
    without_path = [number for number in order if examples[number].path is None]
    later = set(without_path[config.searched :])
    located = {n: locate(index, one, rules, config.max_hops) for n, one in enumerate(examples) if n not in later}
    usable = [one for one in located.values() if one.paths]
    scorer = _fit(index, usable, rules, config, f"{len(examples)} questions, seed {seed}", None)
    if not without_path:
        return scorer
    for number in without_path:
        example = examples[number]
        start = located.get(number) or LocatedExample(example, index, known_ids(index, example.topics), ())
        found = propose(start, scorer, config.max_hops)
        located[number] = found if found.paths else locate(index, example, rules, config.max_hops)
    usable = [located[number] for number in sorted(located) if located[number].paths]
    for _ in range(1, config.rounds):
        scorer = _fit(index, usable, rules, config, f"{len(usable)} of {len(examples)} questions, seed {seed}", scorer)
    return scorer


def _fit(
    index: GraphIndex,
    located: Sequence[LocatedExample],
    rules: TopicRules,
    config: RelationTrainingConfig,
    trained_on: str,
    scorer: LearnedRelationScorer | None,
) -> LearnedRelationScorer:
    """Returns a scorer fitted on examples, whose paths another scorer weights."""
    if not located:
        raise DataError("no question has a path from its topics to its answers")
    choices = [choice for example in located for choice in _choices(example, rules, scorer)]
    weights, likeness = Likelihood(index.relations, choices).maximise(config.decay, config.iterations)
    return LearnedRelationScorer(weights, likeness, rules, trained_on)


def _choices(one: LocatedExample, rules: TopicRules, scorer: LearnedRelationScorer | None) -> list[RelationChoice]:
    """Returns the steps of an example's paths, each path with its share of the example."""
    question = RelationFeatures.of(one.example.question, one.example.topics)
    stop = len(one.index.relations)
    targets: dict[Path, dict[int, float]] = {}
    for path, share in zip(one.paths, _shares(one, rules, scorer), strict=True):
        for length in range(1, len(path) + 1):
            target = targets.setdefault(path[:length], {})
            choice = path[length] if length < len(path) else stop
            target[choice] = target.get(choice, 0.0) + float(share)
    return [
        RelationChoice(
            question,
            prefix[1:],
            np.flatnonzero(one.index.offered(one.reached(prefix, rules))),
            target,
        )
        for prefix, target in targets.items()
    ]


def _shares(one: LocatedExample, rules: TopicRules, scorer: LearnedRelationScorer | None) -> FloatArray:
    """Returns the probability of each path, given that one of them is right; uniform without a scorer."""
    if scorer is None or len(one.paths) == 1:
        return np.full(len(one.paths), 1 / len(one.paths), dtype=np.float32)
    scores = np.array([_log_probability(one, rules, path, scorer) for path in one.paths])
    weights = np.exp(scores - scores.max())
    shares: FloatArray = (weights / weights.sum()).astype(np.float32)
    return shares


def _log_probability(one: LocatedExample, rules: TopicRules, path: Path, scorer: LearnedRelationScorer) -> float:
    """Of a relation path with its end."""
    total = 0.0
    for length in range(1, len(path) + 1):
        offered = one.index.offered(one.reached(path[:length], rules))[None]
        followed = np.array(path[1:length], dtype=np.int64)[None]
        step = RelationStep(one.example.question, one.example.topics, one.index.relations, followed, offered)
        choice = path[length] if length < len(path) else len(one.index.relations)
        total += float(scorer.log_probabilities(step)[0, choice])
    return total
