"""The search engine, on small spaces written by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kg.errors import ConfigError
from kg.search.beam import BeamConfig, SearchResult, SearchStatistics, beam_search
from kg.search.space import Action, Expansion, Frontier

Step = tuple[int, float, Action]
Tree = Mapping[tuple[int, ...], Sequence[Step]]
"""From a state to its steps: the choice, its log-probability, and what becomes of it."""

ANSWER, CONTINUE = Action.ANSWER, Action.CONTINUE


class TreeSpace:
    """A space that is written down; a state that is not in the tree is a dead end."""

    def __init__(self, tree: Tree, roots: Sequence[float] = (0.0,)) -> None:
        self.tree = tree
        self.starts = np.array(roots, dtype=np.float32)
        self.asked: list[list[tuple[int, ...]]] = []

    def roots(self) -> Frontier:
        return Frontier(np.arange(len(self.starts))[:, None], self.starts)

    def expand(self, frontier: Frontier) -> Expansion:
        states = [tuple(map(int, state)) for state in frontier.choices]
        self.asked.append(states)
        steps = [(place, *step) for place, state in enumerate(states) for step in self.tree.get(state, ())]
        parent, choice, score, action = zip(*steps, strict=True) if steps else ((), (), (), ())
        return Expansion(
            np.array(parent, dtype=np.int64),
            np.array(choice, dtype=np.int64),
            np.array(score, dtype=np.float32),
            np.array([int(one) for one in action], dtype=np.int64),
        )


def _completed(result: SearchResult) -> list[tuple[tuple[int, ...], float]]:
    return [
        (tuple(map(int, state)), round(float(score), 4))
        for frontier in result.completed
        for state, score in zip(frontier.choices, frontier.scores, strict=True)
    ]


def _search(tree: Tree, roots: Sequence[float] = (0.0,), **settings: Any) -> SearchResult:
    return beam_search(TreeSpace(tree, roots), BeamConfig(**settings))


def test_answers_are_the_best_first_with_their_cumulative_scores() -> None:
    tree: Tree = {
        (0,): [(1, -0.5, CONTINUE), (2, -1.0, CONTINUE)],
        (0, 1): [(5, -2.0, ANSWER), (6, -0.25, ANSWER)],
        (0, 2): [(7, -0.125, ANSWER)],
    }
    assert _completed(_search(tree)) == [((0, 1, 6), -0.75), ((0, 2, 7), -1.125), ((0, 1, 5), -2.5)]


def test_the_width_holds_for_each_root() -> None:
    tree: Tree = {
        **{(root,): [(choice, -float(choice), CONTINUE) for choice in range(4)] for root in (0, 1)},
        **{(root, choice): [(9, 0.0, ANSWER)] for root in (0, 1) for choice in range(4)},
    }
    found = _completed(_search(tree, roots=(0.0, -0.5), beam_width=2))
    assert [state for state, _ in found] == [(0, 0, 9), (1, 0, 9), (0, 1, 9), (1, 1, 9)]


def test_ties_are_broken_by_the_order_of_listing() -> None:
    tree: Tree = {
        (0,): [(3, -1.0, CONTINUE), (1, -1.0, CONTINUE), (2, -1.0, CONTINUE)],
        (0, 3): [(8, 0.0, ANSWER), (7, 0.0, ANSWER)],
        (0, 1): [(9, 0.0, ANSWER)],
    }
    found = _completed(_search(tree, beam_width=2))
    assert [state for state, _ in found] == [(0, 3, 8), (0, 3, 7), (0, 1, 9)]


def test_a_dead_end_gives_its_place_to_what_was_left_out_at_a_penalty() -> None:
    tree: Tree = {
        (0,): [(1, -0.1, CONTINUE), (2, -0.2, CONTINUE), (3, -0.3, CONTINUE)],
        (0, 2): [(9, 0.0, ANSWER)],
    }
    result = _search(tree, beam_width=1, backtrack_penalty=0.5)
    assert _completed(result) == [((0, 2, 9), -0.7)]
    assert result.statistics.backtrack_count == 1


def test_a_search_of_dead_ends_alone_is_empty() -> None:
    tree: Tree = {(0,): [(1, -0.1, CONTINUE)]}
    result = _search(tree)
    assert result.completed == ()
    assert result.statistics.completed_paths == 0
    assert result.statistics.backtrack_count == 0


def test_statistics_count_what_was_scored_and_completed() -> None:
    tree: Tree = {
        (0,): [(1, -0.1, CONTINUE), (2, -0.2, CONTINUE), (3, -0.3, ANSWER)],
        (0, 1): [(4, 0.0, ANSWER), (5, 0.0, ANSWER)],
    }
    assert _search(tree, beam_width=2).statistics == SearchStatistics(
        total_paths_explored=5, completed_paths=3, max_depth_reached=2, backtrack_count=0
    )


@st.composite
def _trees(draw: st.DrawFn) -> dict[tuple[int, ...], list[Step]]:
    tree: dict[tuple[int, ...], list[Step]] = {}
    level: list[tuple[int, ...]] = [(0,)]
    for _ in range(3):
        following = []
        for state in level:
            count = draw(st.integers(0, 3))
            scores = draw(st.lists(st.integers(0, 8), min_size=count, max_size=count))
            steps = [(n, -score / 4, draw(st.sampled_from([ANSWER, CONTINUE]))) for n, score in enumerate(scores)]
            tree[state] = steps
            following += [(*state, n) for n, _, action in steps if action is CONTINUE]
        level = following
    return tree


def _all_answers(tree: Tree, state: tuple[int, ...] = (0,), score: float = 0.0) -> list[tuple[tuple[int, ...], float]]:
    found = []
    for choice, step, action in tree.get(state, ()):
        then = (*state, choice)
        found += [(then, score + step)] if action is ANSWER else _all_answers(tree, then, score + step)
    return found


@given(_trees())
def test_a_wide_beam_finds_every_answer(tree: dict[tuple[int, ...], list[Step]]) -> None:
    assert sorted(_completed(_search(tree, beam_width=100))) == sorted(_all_answers(tree))


@given(_trees(), st.integers(1, 4))
def test_a_narrow_beam_finds_some_of_them_each_once_and_repeats(
    tree: dict[tuple[int, ...], list[Step]], width: int
) -> None:
    settings = {"beam_width": width, "backtrack_penalty": 0.0}
    found = _completed(_search(tree, **settings))
    assert set(found) <= set(_all_answers(tree))
    assert len(set(found)) == len(found)
    assert found == _completed(_search(tree, **settings))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"beam_width": 0}, "beam_width must be at least 1, got 0"),
        ({"beam_width": -3}, "beam_width must be at least 1, got -3"),
        ({"max_depth": 0}, "max_depth must be at least 1, got 0"),
        ({"output_top_k": 0}, "output_top_k must be at least 1, got 0"),
        ({"backtrack_penalty": -1}, "backtrack_penalty must be at least 0, got -1"),
        ({"pool": 5, "output_top_k": 6}, "pool must be at least output_top_k (6), got 5"),
    ],
)
def test_settings_out_of_their_range(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        BeamConfig(**settings)
    assert str(caught.value) == message
    assert isinstance(caught.value, ValueError)
