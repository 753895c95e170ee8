"""Scored turns: a program's turn with its gold, the conversations that they form and the tools that they called.

>>> [one.conversation_id for one in scored_conversations(turns) if one.accuracy < 1]
['JKHY/2009/page_28.pdf-3']
>>> tool_use(turns)["query_kg"].mean_seconds
0.012
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from optimize.metrics.turns import TurnScore
from programs.turns import Turn, plain, read_exactly


@dataclass(frozen=True)
class ScoredTurn:
    """A turn with its gold.

    Attributes:
        report: The report's id.
        score: The turn judged by its gold.
        turn: The turn that the program returned.
    """

    report: str
    score: TurnScore
    turn: Turn

    @property
    def name(self) -> str:
        """``CONVERSATION:NUMBER``, as ``--turn`` takes it; turns count from 1."""
        return f"{self.score.conversation_id}:{self.score.turn_index + 1}"


@dataclass(frozen=True)
class ScoredConversation:
    """The figures of a conversation.

    Attributes:
        conversation_id: Its id.
        report: The report's id.
        turns: The number of turns.
        right: The number of right turns.
        failed_turns: The indices of the wrong turns, from 0.
        tool_calls: Calls of tools, over all turns.
        lm_calls: Calls of a language model.
        seconds: Wall time.
    """

    conversation_id: str
    report: str
    turns: int
    right: int
    failed_turns: tuple[int, ...]
    tool_calls: int
    lm_calls: int
    seconds: float

    @property
    def accuracy(self) -> float:
        """The share of its turns that are right, in [0, 1]."""
        return self.right / self.turns


@dataclass(frozen=True)
class ToolUse:
    """The use of a tool in a run.

    Attributes:
        count: Calls.
        mean_seconds: Mean wall time of a call.
        errors: Calls that gave an error.
        turns: Turns in which it was called.
        right: The number of these turns that are right.
    """

    count: int
    mean_seconds: float
    errors: int
    turns: int
    right: int


def scored_conversations(turns: Sequence[ScoredTurn]) -> list[ScoredConversation]:
    """The figures of each conversation, in the order of its first turn."""
    groups: dict[str, list[ScoredTurn]] = {}
    for turn in turns:
        groups.setdefault(turn.score.conversation_id, []).append(turn)
    return [
        ScoredConversation(
            conversation_id=name,
            report=group[0].report,
            turns=len(group),
            right=sum(one.score.exact for one in group),
            failed_turns=tuple(one.score.turn_index for one in group if not one.score.exact),
            tool_calls=sum(len(one.turn.tool_calls) for one in group),
            lm_calls=sum(one.score.lm_calls for one in group),
            seconds=sum(one.score.seconds for one in group),
        )
        for name, group in groups.items()
    ]


def tool_use(turns: Sequence[ScoredTurn]) -> dict[str, ToolUse]:
    """The use of each tool by name, the most used first; empty if no tool was called."""
    calls: dict[str, list[tuple[ScoredTurn, float, bool]]] = {}
    for turn in turns:
        for call in turn.turn.tool_calls:
            calls.setdefault(call.tool, []).append((turn, call.seconds, call.failed))
    uses = {}
    for name, made in sorted(calls.items(), key=lambda item: (-len(item[1]), item[0])):
        asked = {turn.name: turn.score.exact for turn, _, _ in made}
        uses[name] = ToolUse(
            count=len(made),
            mean_seconds=sum(seconds for _, seconds, _ in made) / len(made),
            errors=sum(failed for *_, failed in made),
            turns=len(asked),
            right=sum(asked.values()),
        )
    return uses


def score_record(score: TurnScore) -> dict[str, Any]:
    """Returns a score as plain JSON values, its numbers written exactly."""
    return {name: plain(value) for name, value in dataclasses.asdict(score).items()}


def read_score(row: Mapping[str, Any]) -> TurnScore:
    """Reads the score that :func:`score_record` wrote; other keys of the row are ignored."""
    values = {name.name: row[name.name] for name in dataclasses.fields(TurnScore) if name.name in row}
    for name in ("answer", "gold_answer"):
        values[name] = read_exactly(values[name])
    return TurnScore(**values)
