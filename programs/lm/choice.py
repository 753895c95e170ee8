"""The choice of a model among given replies, as probabilities.

>>> engine.choose([{"role": "user", "content": "2 + 2 = ?"}], ["4", "5", "42"])
[ReplyChoice(log_probability=-0.11, log_share=-0.01), ReplyChoice(log_probability=-6.48, log_share=-6.3), ...]

The replies form a tree of tokens. At each branch the model gives the probabilities of all next tokens in one call.
Tokens between two branches are read as part of the prompt, many at a time. So ten derivations cost about a third of
scoring each of them token by token.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from programs.lm.scoring import TokenCounts

ALTERNATIVES = 100
"""Most probable tokens that are asked for at a branch; a reply that goes on with none of them is given the bound."""

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


class Following(Protocol):
    """A model that gives the probabilities of next tokens."""

    @property
    def name(self) -> str:
        """The model's name in the cache's keys."""

    def following(self, server: Any, prompt: Sequence[int], count: int, usage: TokenCounts) -> dict[int, float]:
        """The log-probabilities of the ``count`` most probable next tokens."""


class Memory(Protocol):
    """A cache of a model's replies: ``dspy.cache``."""

    def get(self, request: dict[str, Any]) -> Any:
        """Returns the cached value; ``None`` if there is none."""

    def put(self, request: dict[str, Any], value: Any) -> None:
        """Stores a value."""


def choices_of(
    engine: Following,
    server: Any,
    prompt: Sequence[int],
    replies: Sequence[Sequence[int]],
    end: int,
    usage: TokenCounts,
    memory: Memory | None = None,
) -> list[ReplyChoice]:
    """The choice among replies, each given as its tokens; equal replies are given the same.

    Args:
        engine: The model.
        server: Its runtime.
        prompt: The tokens that the replies answer.
        replies: At least one.
        end: The token that ends a reply.
        usage: Where the tokens are counted.
        memory: Asked before the model, branch by branch: other replies to the same prompt share some.
    """
    whole = [(*reply, end) for reply in replies]
    found = dict.fromkeys(whole, ReplyChoice(0.0, 0.0))
    for path, branches in _branchings(sorted(set(whole))):
        known = _following(engine, server, [*prompt, *path], usage, memory)
        bound = min(known.values())
        values = {token: min(known.get(token, bound), 0.0) for token in branches}
        top = max(values.values())
        total = top + math.log(sum(math.exp(value - top) for value in values.values()))
        for token, members in branches.items():
            for reply in members:
                old = found[reply]
                found[reply] = ReplyChoice(old.log_probability + values[token], old.log_share + values[token] - total)
    return [found[reply] for reply in whole]


def _following(
    engine: Following, server: Any, prompt: list[int], usage: TokenCounts, memory: Memory | None
) -> dict[int, float]:
    request = {"model": engine.name, "following": prompt, "alternatives": ALTERNATIVES}
    kept = memory.get(request) if memory is not None else None
    if kept is not None:
        return dict(kept)
    known = engine.following(server, prompt, ALTERNATIVES, usage)
    if memory is not None:
        memory.put(request, [[token, round(value, 4)] for token, value in known.items()])
    return known


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
