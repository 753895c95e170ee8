"""Beam search over a space: paths through any graph, or derivations over a report.

The search keeps the best states of a space (:mod:`kg.search.space`), collects complete ones and backtracks from dead
ends::

    depth 0   a history of earlier answers
    depth 1   subtract(A, A)
    depth 2   subtract(CashFlow_2009 -> net_cash -> 206588, A)
    depth 3   subtract(206588, CashFlow_2008 -> net_cash -> 181001)     ANSWER
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kg.arrays import DoubleArray, FloatArray, IntArray
from kg.errors import ConfigError
from kg.search.space import Action, Expansion, Frontier, Space


@dataclass(frozen=True)
class BeamConfig:
    """Settings of a beam search.

    Attributes:
        beam_width: States at each depth, for each root; at least 1.
        max_depth: Largest number of steps; at least 1.
        output_top_k: Candidates returned, after equal answers are merged; at least 1.
        pool: Completed states that are ranked at each depth; at least ``output_top_k``.
        backtrack_penalty: Subtracted from the score of a state after backtracking; at least 0.
    """

    beam_width: int = 10
    max_depth: int = 3
    output_top_k: int = 10
    pool: int = 200
    backtrack_penalty: float = 0.5

    def __post_init__(self) -> None:
        for name in ("beam_width", "max_depth", "output_top_k"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name} must be at least 1, got {getattr(self, name)}")
        if self.backtrack_penalty < 0:
            raise ConfigError(f"backtrack_penalty must be at least 0, got {self.backtrack_penalty}")
        if self.pool < self.output_top_k:
            raise ConfigError(f"pool must be at least output_top_k ({self.output_top_k}), got {self.pool}")


@dataclass(frozen=True)
class SearchStatistics:
    """Counts of a search: scored states, completed states, the largest depth, and backtracks."""

    total_paths_explored: int
    completed_paths: int
    max_depth_reached: int
    backtrack_count: int


@dataclass(frozen=True)
class SearchResult:
    """The result of a search.

    Attributes:
        completed: The completed states, best first, one frontier for each depth.
        statistics: Its counts.
    """

    completed: tuple[Frontier, ...]
    statistics: SearchStatistics


def beam_search(space: Space, config: BeamConfig) -> SearchResult:
    """Searches a space breadth-first with ``beam_width`` states for each root and depth.

    Ties are broken by the order of the space's steps. The best pruned states of the previous depth replace dead ends,
    with the ``backtrack_penalty``.
    """
    frontier = space.roots()
    width = config.beam_width * max(len(frontier), 1)
    reserve = Frontier(frontier.choices[:0], frontier.scores[:0])
    completed: list[Frontier] = []
    explored = backtracks = depth = 0
    while len(frontier) and depth < config.max_depth:
        expansion = space.expand(frontier)
        dead = len(frontier) - len(np.unique(expansion.parent))
        if dead and len(reserve):
            retried = reserve.take(np.arange(min(dead, len(reserve))))
            retried = Frontier(retried.choices, retried.scores - np.float32(config.backtrack_penalty))
            backtracks += len(retried)
            frontier = _join(frontier, retried)
            expansion = space.expand(frontier)
        depth += 1
        explored += len(expansion.parent)
        following = _follow(frontier, expansion)
        answered = expansion.action == Action.ANSWER
        if answered.any():
            completed.append(_best(following, np.flatnonzero(answered), config.pool))
        ordered = _best(following, np.flatnonzero(expansion.action == Action.CONTINUE))
        frontier = ordered.take(np.arange(min(width, len(ordered))))
        reserve = ordered.take(np.arange(len(frontier), len(ordered)))
    return SearchResult(tuple(completed), SearchStatistics(explored, sum(map(len, completed)), depth, backtracks))


def _follow(frontier: Frontier, expansion: Expansion) -> Frontier:
    choices = np.concatenate([frontier.choices[expansion.parent], expansion.choice[:, None]], axis=1)
    return Frontier(choices, frontier.scores[expansion.parent] + expansion.log_probability)


def _best(states: Frontier, places: IntArray, count: int | None = None) -> Frontier:
    order = np.argsort(-states.scores[places], kind="stable")[:count]
    return states.take(places[order])


def _join(first: Frontier, second: Frontier) -> Frontier:
    return Frontier(np.concatenate([first.choices, second.choices]), np.concatenate([first.scores, second.scores]))


def merge(groups: IntArray, log_probabilities: FloatArray | DoubleArray) -> DoubleArray:
    """The log of the summed probabilities of each group.

    Args:
        groups: The group of each element, from 0.
        log_probabilities: The log-probability of each element.

    Returns:
        One value for each group up to the largest number; minus infinity for a group without elements.
    """
    with np.errstate(divide="ignore"):
        merged: DoubleArray = np.log(np.bincount(groups, weights=np.exp(log_probabilities)))
    return merged
