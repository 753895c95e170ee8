"""The interface of all programs that answer questions: a world, a state, and a program that goes from one to the next.

    state = program.start(ReportWorld(report))
    state = program.ask(state, "what were revenues in 2008?")
    state.turns[-1].answer        # Decimal('9362.2')

A report, a graph of entities and a growing graph are worlds. Chat and evaluation know nothing else of a program.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, Protocol, Self, TypeVar

from programs.turns.turn import Turn

AnyTurn = Turn[Any, Any]
"""A turn about any world."""

Kept = Sequence[Mapping[str, Any]]
"""The part of a state that is not in its turns, as JSON."""


class AnyWorld(Protocol):
    """A source of answers."""

    @property
    def kind(self) -> str:
        """Its type: ``report``, ``graph``, ``growing graph``."""
        ...

    @property
    def name(self) -> str:
        """A report's id, a graph's name."""
        ...


WorldT = TypeVar("WorldT", bound=AnyWorld)


@dataclass(frozen=True)
class State(Generic[WorldT]):
    """A conversation after some turns.

    Attributes:
        world: The source of its answers.
        turns: The turns so far.
    """

    world: WorldT
    turns: tuple[AnyTurn, ...] = ()

    def after(self, turn: AnyTurn) -> Self:
        """The state after one more turn, which adds nothing that later questions go on from."""
        return replace(self, turns=(*self.turns, turn))

    def kept(self) -> list[dict[str, Any]]:
        """The part of the state that is not in its turns, as JSON."""
        return []


class TurnProgram(Protocol):
    """A program that answers questions about a world, each with the turns before it."""

    @property
    def needs_lm(self) -> bool:
        """Whether it answers nothing without a language model."""
        ...

    def start(self, world: Any, turns: Sequence[AnyTurn] = (), kept: Kept = ()) -> Any:
        """The state before the first question, or after turns that were answered earlier.

        Args:
            world: The source of the answers.
            turns: The earlier turns.
            kept: The state's :meth:`State.kept` after the turns.

        Raises:
            FinpathError: The world cannot be read.
        """
        ...

    def ask(self, state: Any, question: str) -> Any:
        """The state after one more question, whose turn is the last of ``turns``; a failure is a turn too."""
        ...
