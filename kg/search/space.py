"""The interface of a search space, which derivations and paths through a graph implement.

A space defines the states at depth 0 and the steps from any state, with their log-probabilities. It scores a whole
frontier in a few NumPy calls.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Protocol

from kg.arrays import FloatArray, IntArray


class Action(IntEnum):
    """The outcome of a state: complete, continued, or a dead end."""

    ANSWER = 0
    CONTINUE = 1
    BACKTRACK = 2


@dataclass(frozen=True)
class Frontier:
    """The states of one depth as arrays.

    Attributes:
        choices: The choices at all depths, shape ``(states, depth + 1)``; column 0 is the root.
        scores: Cumulative log-probabilities, shape ``(states,)``.
    """

    choices: IntArray
    scores: FloatArray

    def __len__(self) -> int:
        return len(self.scores)

    def take(self, places: IntArray) -> Frontier:
        """The states at some indices."""
        return Frontier(self.choices[places], self.scores[places])


@dataclass(frozen=True)
class Expansion:
    """The possible steps from the states of a frontier.

    Attributes:
        parent: The index of the state in the frontier.
        choice: The number of the step.
        log_probability: The log-probability of the step, at most 0.
        action: ``ANSWER`` or ``CONTINUE`` for each step, as :class:`Action` values.
    """

    parent: IntArray
    choice: IntArray
    log_probability: FloatArray
    action: IntArray


class Space(Protocol):
    """A search space."""

    def roots(self) -> Frontier:
        """The states of depth 0."""
        ...

    def expand(self, frontier: Frontier) -> Expansion:
        """All steps from all states; a state without a step is a dead end."""
        ...
