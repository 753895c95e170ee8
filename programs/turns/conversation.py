"""A conversation with any program: its turns, which can be saved and continued.

    >>> program = ConversationQA.for_graphs()
    >>> conversation = Conversation(program, program.world(graph=graph))
    >>> conversation.ask("Which countries border Portugal?").words
    'Spain'
    >>> conversation.ask("What is its capital?").canonical
    "What is Portugal's capital?"
    >>> later = Conversation.from_json(program, program.world(graph=graph), conversation.to_json())

A conversation that was saved as JSON and loaded continues as if it had never stopped.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, Self, TypeVar

from pydantic import ValidationError

from kg.errors import DataError, ProgramError, QueryError
from programs.turns.turn import AnyTurn, read_turn, turn_record

FORMAT = 2
"""The format of the JSON of a conversation."""

Kept = Sequence[Mapping[str, Any]]
"""The part of a state that is not in its turns, as JSON."""

_DAMAGED = (
    *(KeyError, TypeError, ValueError, IndexError, AttributeError, ValidationError),
    *(ArithmeticError, RecursionError, RuntimeError, ProgramError, QueryError),
)
"""Errors of a saved conversation whose parts do not belong together."""


WorldT = TypeVar("WorldT")


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


class Conversation:
    """Questions to one program about one world, each with the program's own earlier answers.

    Args:
        program: A program such as :class:`programs.conversation.ConversationQA`: it has ``start`` and ``ask``.
        world: A world that the program reads (:class:`programs.worlds.base.World`).
    """

    def __init__(self, program: Any, world: Any) -> None:
        self.program = program
        self.world = world
        self.state: Any = program.start(world)

    @property
    def turns(self) -> tuple[AnyTurn, ...]:
        """All turns so far."""
        turns: tuple[AnyTurn, ...] = self.state.turns
        return turns

    @property
    def history(self) -> tuple[tuple[str, str], ...]:
        """Each question, spelled out, with the program's own answer; empty without an answer."""
        return tuple((turn.canonical, turn.words) for turn in self.turns)

    @property
    def failures(self) -> int:
        """The number of turns without an answer."""
        return sum(turn.failure is not None for turn in self.turns)

    def ask(self, question: str) -> AnyTurn:
        """Asks the next question."""
        self.state = self.program.ask(self.state, question)
        return self.turns[-1]

    def reset(self) -> None:
        """Forgets all turns."""
        self.state = self.program.start(self.world)

    def to_json(self) -> str:
        """The conversation as JSON."""
        record = {
            "format": FORMAT,
            "kind": self.world.kind,
            "source": self.world.name,
            "turns": [turn_record(turn) for turn in self.turns],
            "kept": self.state.kept(),
        }
        return json.dumps(record, ensure_ascii=False, indent=1)

    @classmethod
    def from_json(cls, program: Any, world: Any, text: str) -> Conversation:
        """A saved conversation, which can be continued.

        Args:
            program: The program.
            world: The world that the saved conversation is about.
            text: The JSON that :meth:`to_json` wrote.

        Raises:
            DataError: The text is no saved conversation, or one about another world.
        """
        try:
            record = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise DataError(f"a saved conversation must be JSON: {error}") from error
        if not isinstance(record, dict) or record.get("format") != FORMAT:
            raise DataError(f"a saved conversation must have format {FORMAT}")
        for name, wanted in (("kind", world.kind), ("source", world.name)):
            if record.get(name) != wanted:
                raise DataError(f"the saved conversation is about {name} {record.get(name)!r}, not {wanted!r}")
        conversation = cls(program, world)
        try:
            conversation.state = program.start(world, [read_turn(turn) for turn in record["turns"]], record["kept"])
        except _DAMAGED as error:
            raise DataError(f"the saved conversation is damaged: {type(error).__name__}: {error}") from error
        return conversation
