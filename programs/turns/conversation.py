"""A conversation with any turn program: what was asked, what it meant, what was answered, saved and gone on with.

    >>> conversation = Conversation(EntityTurns(EntityQA(), graph))
    >>> conversation.ask("Which countries border Portugal?").answer
    'Spain'
    >>> conversation.ask("What is its capital?").resolution.canonical
    "What is Portugal's capital?"
    >>> later = Conversation.from_json(EntityTurns(EntityQA(), graph), conversation.to_json())

A turn program answers one question in the light of a state of its own; the conversation keeps the exchanges. Saved as
JSON and loaded, with kept histories and all, it goes on as if it had never stopped.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from kg.coreference import Resolution
from kg.errors import DataError
from kg.graphs import GraphContext

FORMAT = 1
"""Of the JSON that a conversation is saved as."""


@dataclass(frozen=True)
class Exchange:
    """A question and what the program made of it.

    Attributes:
        question: As asked.
        resolution: What it refers to; its ``canonical`` form stands alone.
        answer: In words; empty where there is none.
        failure: Why there is no answer: a kind, or ``None``.
        message: The failure in words.
        context: The graph context of the turn.
        turn: The program's own turn, with paths and provenance.
    """

    question: str
    resolution: Resolution
    answer: str = ""
    failure: str | None = None
    message: str = ""
    context: GraphContext = field(default_factory=GraphContext)
    turn: Any = None


class TurnProgram(Protocol):
    """What a conversation is held with.

    Attributes:
        kind: What it is: ``report``, ``graph``.
        source: What it is asked about: a report's id, a graph's name.
    """

    @property
    def kind(self) -> str:
        """What it is."""

    @property
    def source(self) -> str:
        """What it is asked about."""

    def begin(self) -> Any:
        """The state before the first question."""

    def reply(self, state: Any, question: str, exchanges: Sequence[Exchange]) -> tuple[Any, Exchange]:
        """The state after a question, and the exchange; a failure is part of the exchange, not raised."""

    def record(self, state: Any, exchanges: Sequence[Exchange]) -> Mapping[str, Any]:
        """The state and the exchanges as JSON knows them."""

    def restore(self, record: Mapping[str, Any]) -> tuple[Any, tuple[Exchange, ...]]:
        """What :meth:`record` wrote."""


class Conversation:
    """Questions to one program, each seeing the program's own earlier answers.

    Args:
        program: Any turn program.
    """

    def __init__(self, program: TurnProgram) -> None:
        self.program = program
        self._state: Any = program.begin()
        self._exchanges: tuple[Exchange, ...] = ()

    @property
    def exchanges(self) -> tuple[Exchange, ...]:
        """All turns so far."""
        return self._exchanges

    @property
    def history(self) -> tuple[tuple[str, str], ...]:
        """Each question, spelled out, with the program's own answer; empty where it had none."""
        return tuple((one.resolution.canonical, one.answer) for one in self._exchanges)

    @property
    def context(self) -> GraphContext:
        """The graph context of the latest turn."""
        return self._exchanges[-1].context if self._exchanges else GraphContext()

    @property
    def failures(self) -> int:
        """How many turns have no answer."""
        return sum(one.failure is not None for one in self._exchanges)

    def ask(self, question: str) -> Exchange:
        """Asks the next question."""
        self._state, exchange = self.program.reply(self._state, question, self._exchanges)
        self._exchanges = (*self._exchanges, exchange)
        return exchange

    def reset(self) -> None:
        """Forgets everything that was said."""
        self._state = self.program.begin()
        self._exchanges = ()

    def to_json(self) -> str:
        """The conversation as JSON."""
        record = {
            "format": FORMAT,
            "kind": self.program.kind,
            "source": self.program.source,
            **self.program.record(self._state, self._exchanges),
        }
        return json.dumps(record, ensure_ascii=False, indent=1)

    @classmethod
    def from_json(cls, program: TurnProgram, text: str) -> Conversation:
        """A saved conversation, to be gone on with.

        Args:
            program: The program, about the same source as the one that was saved.
            text: What :meth:`to_json` wrote.

        Raises:
            DataError: It is no saved conversation, or one about something else.
        """
        try:
            record = json.loads(text)
        except ValueError as error:
            raise DataError(f"a saved conversation must be JSON: {error}") from error
        if not isinstance(record, dict) or record.get("format") != FORMAT:
            raise DataError(f"a saved conversation must have format {FORMAT}")
        for name, wanted in (("kind", program.kind), ("source", program.source)):
            if record.get(name) != wanted:
                raise DataError(f"the saved conversation is about {name} {record.get(name)!r}, not {wanted!r}")
        conversation = cls(program)
        try:
            conversation._state, conversation._exchanges = program.restore(record)
        except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
            raise DataError(f"the saved conversation is damaged: {type(error).__name__}: {error}") from error
        return conversation


def resolution_record(resolution: Resolution) -> dict[str, Any]:
    """A resolution as JSON knows it."""
    return {
        "question": resolution.question,
        "canonical": resolution.canonical,
        "kind": resolution.kind,
        "referents": list(resolution.referents),
        "turns": list(resolution.turns),
        "by": resolution.by,
        "problem": resolution.problem,
    }


def read_resolution(record: Mapping[str, Any]) -> Resolution:
    """The resolution that :func:`resolution_record` wrote."""
    return Resolution(
        record["question"],
        record["canonical"],
        record["kind"],
        tuple(record["referents"]),
        tuple(record["turns"]),
        record["by"],
        record["problem"],
    )
