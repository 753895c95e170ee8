"""The records of scored turns: conversations, tools and runs over the same turns that are compared.

>>> [one.conversation_id for one in scored_conversations(turns) if one.accuracy < 1]
['JKHY/2009/page_28.pdf-3']
>>> comparison.differences[0].changed[0].reason
'now: right answer found, not picked (rank 2); wrong period'
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
    """A program's turn with its gold: the id of its report, the score and the turn."""

    report: str
    score: TurnScore
    turn: Turn

    @property
    def name(self) -> str:
        """``CONVERSATION:NUMBER``, as ``--turn`` takes it; turns count from 1."""
        return f"{self.score.conversation_id}:{self.score.turn_index + 1}"


@dataclass(frozen=True)
class ScoredConversation:
    """The counts of a conversation; ``failed_turns`` are the indices of its wrong turns, from 0."""

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
    """The calls of a tool: their number, mean wall time and errors, the turns with one, and those that are right."""

    count: int
    mean_seconds: float
    errors: int
    turns: int
    right: int


def scored_conversations(turns: Sequence[ScoredTurn]) -> list[ScoredConversation]:
    """The counts of each conversation, in the order of its first turn."""
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
        right = {turn.name: turn.score.exact for turn, _, _ in made}
        seconds = sum(seconds for _, seconds, _ in made) / len(made)
        errors = sum(failed for *_, failed in made)
        uses[name] = ToolUse(len(made), seconds, errors, len(right), sum(right.values()))
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


def verdict(score: TurnScore) -> str:
    """Returns ``right``, or in a few words the stage and the kind of the error."""
    if score.exact:
        return "right"
    words = {"not_in_beam": "right answer not found", "not_picked": "right answer found, not picked"}
    stage = words.get(score.stage, score.stage.replace("_", " "))
    parts = [
        f"{stage} (rank {score.rank})" if score.rank is not None else stage,
        f"wrong {score.difference.replace('_', ' ')}" if score.difference is not None else "",
        f"no answer: {score.failure.replace('_', ' ')}" if score.failure is not None else "",
    ]
    return "; ".join(part for part in parts if part)


@dataclass(frozen=True)
class ChangedTurn:
    """A turn that one of two runs gets right and the other does not: its score in the first run, and in the other."""

    before: TurnScore
    after: TurnScore

    @property
    def is_better(self) -> bool:
        """Whether the other run is the one that is right."""
        return self.after.exact

    @property
    def reason(self) -> str:
        """The verdict that changed: of the first run if the turn is better, of the other if it is worse."""
        return f"was: {verdict(self.before)}" if self.is_better else f"now: {verdict(self.after)}"


@dataclass(frozen=True)
class RunDifference:
    """The difference between a run and the first one.

    Attributes:
        name: The run's name.
        figures: ``difference`` of the accuracies in [-1, 1] with ``difference_low`` and ``difference_high`` (95%,
            paired bootstrap over conversations), ``mcnemar_p`` (exact, two-sided, over turns), ``mcnemar_p_holm`` (the
            same, corrected by Holm for the number of runs that are compared with the first), ``better`` and ``worse``
            (turns).
        changed: Every turn that changed, worse ones first.
    """

    name: str
    figures: Mapping[str, float]
    changed: tuple[ChangedTurn, ...]


@dataclass(frozen=True)
class Comparison:
    """Runs over the same turns.

    Attributes:
        runs: Name, id and figures of each run over the turns that all share.
        differences: Each run but the first, compared with the first.
        turns: The number of turns that all runs share.
        left_out: The number of turns that only some of the runs have.
        run_id: The MLflow run that keeps the comparison, if there is one.
    """

    runs: tuple[Mapping[str, Any], ...]
    differences: tuple[RunDifference, ...]
    turns: int
    left_out: int
    run_id: str | None = None

    def figures(self) -> dict[str, Any]:
        """Everything under stable names; the first difference is also at the top."""

        def record(turn: ChangedTurn) -> dict[str, Any]:
            place = {"conversation_id": turn.after.conversation_id, "turn_index": turn.after.turn_index}
            return {**place, "better": turn.is_better, "why": turn.reason}

        return {
            **(self.differences[0].figures if self.differences else {}),
            "turns": self.turns,
            "left_out": self.left_out,
            "run_id": self.run_id,
            "runs": list(self.runs),
            "differences": [
                {"run_name": one.name, **one.figures, "changed": [record(turn) for turn in one.changed]}
                for one in self.differences
            ],
        }
