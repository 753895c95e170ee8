"""The choice of a model among given replies, as probabilities.

>>> engine.choose([{"role": "user", "content": "2 + 2 = ?"}], ["4", "5", "42"])
[ReplyChoice(log_probability=-0.11, log_share=-0.01), ReplyChoice(log_probability=-6.48, log_share=-6.3), ...]

The replies form a tree of tokens. At each branch the model gives the probabilities of all next tokens in one call.
Tokens between two branches are read as part of the prompt, many at a time. So ten derivations cost about a third of
scoring each of them token by token.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

Tokens = tuple[int, ...]


@dataclass(frozen=True)
class ReplyChoice:
    """The probability of one of the given replies.

    Attributes:
        log_probability: Natural logarithm of the probability of its tokens at the branches, at most 0. It is an upper
            bound of the whole reply's, as tokens between branches do not count.
        log_share: Natural logarithm of its probability among the given replies; the shares of distinct replies sum to
            1.
    """

    log_probability: float
    log_share: float


def choices_of(following: Callable[[Tokens], dict[int, float]], replies: Sequence[Tokens]) -> list[ReplyChoice]:
    """The choice among replies, each given as its tokens with its end; equal replies are given the same.

    Args:
        following: The log-probabilities of the most probable next tokens after some tokens of the reply. A reply that
            goes on with none of them is given the least of these.
        replies: At least one.
    """
    choices = dict.fromkeys(replies, ReplyChoice(0.0, 0.0))
    for path, branches in _branchings(sorted(set(replies))):
        known = following(path)
        bound = min(known.values())
        values = {token: min(known.get(token, bound), 0.0) for token in branches}
        top = max(values.values())
        total = top + math.log(sum(math.exp(value - top) for value in values.values()))
        for token, members in branches.items():
            for reply in members:
                old = choices[reply]
                choices[reply] = ReplyChoice(old.log_probability + values[token], old.log_share + values[token] - total)
    return [choices[reply] for reply in replies]


def _branchings(replies: Sequence[Tokens]) -> Iterator[tuple[Tokens, dict[int, list[Tokens]]]]:
    """Yields every branch of the replies with its next tokens, a branch after those before it."""
    pending = [(0, list(replies))]
    while pending:
        depth, group = pending.pop()
        if len(group) < 2:
            continue
        branches: dict[int, list[Tokens]] = {}
        for reply in group:
            branches.setdefault(reply[depth], []).append(reply)
        if len(branches) > 1:
            yield group[0][:depth], branches
        pending += [(depth + 1, members) for members in reversed(branches.values())]
