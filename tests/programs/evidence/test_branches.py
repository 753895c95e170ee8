"""Choosing among given replies: only the branches of their tokens are asked about."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import pytest

from programs.lm.choice import ReplyChoice, choices_of
from programs.lm.scoring import TokenCounts


class Tree:
    """A model whose next token is 1 with probability 0.5, 2 with 0.3, 9 (the end) with 0.1."""

    name = "tree"

    def __init__(self) -> None:
        self.asked: list[list[int]] = []

    def following(self, server: Any, prompt: Sequence[int], count: int, usage: TokenCounts) -> dict[int, float]:
        self.asked.append(list(prompt))
        return {1: math.log(0.5), 2: math.log(0.3), 9: math.log(0.1), 7: math.log(0.01)}


def _choices(replies: list[list[int]], memory: Any = None) -> tuple[list[ReplyChoice], Tree]:
    tree = Tree()
    return choices_of(tree, None, [100], replies, 9, TokenCounts(), memory), tree


def test_only_branches_are_asked_about() -> None:
    found, tree = _choices([[1, 5, 6, 1], [1, 5, 6, 2], [2, 8]])
    assert sorted(map(tuple, tree.asked)) == [(100,), (100, 1, 5, 6)]
    assert [math.exp(one.log_probability) for one in found] == pytest.approx([0.25, 0.15, 0.3])
    assert [math.exp(one.log_share) for one in found] == pytest.approx(
        [0.5 / 0.8 * 0.5 / 0.8, 0.5 / 0.8 * 0.375, 0.375]
    )
    assert sum(math.exp(one.log_share) for one in found) == pytest.approx(1)


def test_a_reply_within_another_ends_where_it_parts() -> None:
    found, tree = _choices([[1], [1, 2]])
    assert tree.asked == [[100, 1]]
    assert [math.exp(one.log_share) for one in found] == pytest.approx([0.25, 0.75])


def test_what_the_model_would_not_say_gets_the_bound_and_equal_replies_the_same() -> None:
    found, _ = _choices([[1], [42], [1]])
    assert found[0] == found[2]
    assert math.exp(found[1].log_probability) == pytest.approx(0.01)
    assert _choices([[1]])[0] == [ReplyChoice(0.0, 0.0)], "one reply leaves nothing to choose"


def test_a_branch_that_is_known_is_not_asked_again() -> None:
    class Memory(dict[str, Any]):
        def get(self, request: Any) -> Any:  # type: ignore[override]
            return super().get(str(request))

        def put(self, request: Any, value: Any) -> None:
            self[str(request)] = value

    memory = Memory()
    first, asked = _choices([[1, 1], [2]], memory)
    again, repeated = _choices([[1, 1], [2]], memory)
    wider, more = _choices([[1, 1], [1, 2], [2]], memory)
    assert (len(asked.asked), len(repeated.asked), len(more.asked)) == (1, 0, 1)
    assert [one.log_share for one in again] == pytest.approx([one.log_share for one in first], abs=1e-3)
    assert len(wider) == 3
