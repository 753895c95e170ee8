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

from kg.arrays import FloatArray, IntArray
from kg.errors import ConfigError, DataError
from kg.graphs import GraphIndex
from kg.paths import LearnedRelationScorer, RelationFeatures, RelationStep, TopicRules
from optimize.needs import Progress, silent
from optimize.relations.likelihood import Choice, Likelihood
from optimize.relations.paths import Located, Path, RelationExample, known_ids, learn_rules, locate, propose

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

    def __post_init__(self) -> None:
        for name in ("max_hops", "rounds", "iterations", "searched"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name} must be at least 1, got {getattr(self, name)}")
        if not self.decay >= 0:
            raise ConfigError(f"decay must be at least 0, got {self.decay}")


def fit_relation_scorer(
    index: GraphIndex | Sequence[GraphIndex],
    examples: Sequence[RelationExample],
    config: RelationTrainingConfig | None = None,
    seed: int = 0,
    progress: Progress = silent,
) -> LearnedRelationScorer:
    """Returns a scorer fitted on examples; the same examples and seed give the same weights.

    Args:
        index: The graph, or the graph of each example.
        examples: The questions.
        config: Settings.
        seed: Of the questions for which all paths are searched.
        progress: Called with the name of each stage as it begins.

    Raises:
        ConfigError: There are not as many graphs as examples.
        DataError: There is no example from whose topics a path leads to the answers, or one has a path whose relations
            are not in its graph.
    """
    config = config if config is not None else RelationTrainingConfig()
    graphs = [index] * len(examples) if isinstance(index, GraphIndex) else list(index)
    if len(graphs) != len(examples):
        raise ConfigError(f"there must be a graph for each of {len(examples)} examples, got {len(graphs)}")
    progress("what topics may do")
    pairs = list(zip(graphs, examples, strict=True))
    rules = learn_rules(pairs, config.max_hops, seed)
    progress("paths")
    order = np.random.default_rng(seed).permutation(len(pairs))
    without_path = [number for number in order if examples[number].path is None]
    later = set(without_path[config.searched :])
    located = {n: locate(graphs[n], one, rules, config.max_hops) for n, one in enumerate(examples) if n not in later}
    fitting = _Fitting(rules, config)
    scorer = fitting.fit(
        [one for one in located.values() if one.paths], f"{len(examples)} questions, seed {seed}", None
    )
    if not without_path:
        return scorer
    progress("paths that a first model proposes")
    for number in without_path:
        start = located.get(number)
        found = propose(
            start if start is not None else _unlocated(graphs[number], examples[number]), scorer, config.max_hops
        )
        located[number] = found if found.paths else locate(graphs[number], examples[number], rules, config.max_hops)
    usable = [located[number] for number in sorted(located) if located[number].paths]
    for round_number in range(1, config.rounds):
        progress(f"round {round_number + 1} of {config.rounds}")
        scorer = fitting.fit(usable, f"{len(usable)} of {len(examples)} questions, seed {seed}", scorer)
    return scorer


def _unlocated(index: GraphIndex, example: RelationExample) -> Located:
    return Located(example, index, known_ids(index, example.topics), ())


class _Fitting:
    """Fits scorers on located examples.

    Args:
        rules: The rules of topic entities.
        config: Settings.
    """

    def __init__(self, rules: TopicRules, config: RelationTrainingConfig) -> None:
        self.rules = rules
        self.config = config

    def fit(
        self, located: Sequence[Located], trained_on: str, scorer: LearnedRelationScorer | None
    ) -> LearnedRelationScorer:
        """Returns a scorer fitted on examples, whose paths another scorer weights."""
        if not located:
            raise DataError("no question has a path from its topics to its answers")
        relations = list(dict.fromkeys(name for one in located for name in one.index.relations))
        numbers = {name: number for number, name in enumerate(relations)}
        moved: dict[int, IntArray] = {}
        choices: list[Choice] = []
        for one in located:
            key = id(one.index)
            if key not in moved:
                moved[key] = np.array([numbers[name] for name in one.index.relations], dtype=np.int64)
            choices += self._choices(one, moved[key], len(relations), scorer)
        found = Likelihood(relations, choices).maximise(self.config.decay, self.config.iterations)
        return LearnedRelationScorer(found.weights, found.likeness, self.rules, trained_on)

    def _choices(self, one: Located, moved: IntArray, stop: int, scorer: LearnedRelationScorer | None) -> list[Choice]:
        """Returns the steps of an example's paths, each path with its share of the example."""
        shares = self._shares(one, scorer)
        question = RelationFeatures.of(one.example.question, one.example.topics)
        targets: dict[Path, dict[int, float]] = {}
        for path, share in zip(one.paths, shares, strict=True):
            for length in range(1, len(path) + 1):
                target = targets.setdefault(path[:length], {})
                choice = int(moved[path[length]]) if length < len(path) else stop
                target[choice] = target.get(choice, 0.0) + float(share)
        return [
            Choice(
                question,
                tuple(int(moved[relation]) for relation in prefix[1:]),
                moved[np.flatnonzero(one.index.offered(one.reached(prefix, self.rules)))],
                target,
            )
            for prefix, target in targets.items()
        ]

    def _shares(self, one: Located, scorer: LearnedRelationScorer | None) -> FloatArray:
        """Returns the probability of each path, given that one of them is right; uniform without a scorer."""
        if scorer is None or len(one.paths) == 1:
            return np.full(len(one.paths), 1 / len(one.paths), dtype=np.float32)
        scores = np.array([self._log_probability(one, path, scorer) for path in one.paths])
        weights = np.exp(scores - scores.max())
        shares: FloatArray = (weights / weights.sum()).astype(np.float32)
        return shares

    def _log_probability(self, one: Located, path: Path, scorer: LearnedRelationScorer) -> float:
        """Of a relation path with its end."""
        total = 0.0
        for length in range(1, len(path) + 1):
            offered = one.index.offered(one.reached(path[:length], self.rules))[None]
            followed = np.array(path[1:length], dtype=np.int64)[None]
            step = RelationStep(one.example.question, one.example.topics, one.index.relations, followed, offered)
            choice = path[length] if length < len(path) else len(one.index.relations)
            total += float(scorer.log_probabilities(step)[0, choice])
        return total
