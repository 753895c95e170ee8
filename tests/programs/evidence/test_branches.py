"""Choosing among given replies: only the branches of their tokens are asked about."""

from __future__ import annotations

import math

import pytest

from programs.lm.choice import ReplyChoice, choices_of


class Tree:
    """A model whose next token is 1 with probability 0.5, 2 with 0.3, 9 (the end) with 0.1."""

    def __init__(self) -> None:
        self.asked: list[tuple[int, ...]] = []

    def __call__(self, path: tuple[int, ...]) -> dict[int, float]:
        self.asked.append(path)
        return {1: math.log(0.5), 2: math.log(0.3), 9: math.log(0.1), 7: math.log(0.01)}


def _choices(replies: list[list[int]]) -> tuple[list[ReplyChoice], Tree]:
    tree = Tree()
    return choices_of(tree, [(*reply, 9) for reply in replies]), tree


def test_only_branches_are_asked_about() -> None:
    found, tree = _choices([[1, 5, 6, 1], [1, 5, 6, 2], [2, 8]])
    assert sorted(tree.asked) == [(), (1, 5, 6)]
    assert [math.exp(one.log_probability) for one in found] == pytest.approx([0.25, 0.15, 0.3])
    assert [math.exp(one.log_share) for one in found] == pytest.approx(
        [0.5 / 0.8 * 0.5 / 0.8, 0.5 / 0.8 * 0.375, 0.375]
    )
    assert sum(math.exp(one.log_share) for one in found) == pytest.approx(1)


def test_a_reply_within_another_ends_where_it_parts() -> None:
    found, tree = _choices([[1], [1, 2]])
    assert tree.asked == [(1,)]
    assert [math.exp(one.log_share) for one in found] == pytest.approx([0.25, 0.75])


def test_what_the_model_would_not_say_gets_the_bound_and_equal_replies_the_same() -> None:
    found, _ = _choices([[1], [42], [1]])
    assert found[0] == found[2]
    assert math.exp(found[1].log_probability) == pytest.approx(0.01)
    assert _choices([[1]])[0] == [ReplyChoice(0.0, 0.0)], "one reply leaves nothing to choose"
