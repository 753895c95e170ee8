"""The records of scored turns, and of runs over the same turns that are compared.

>>> comparison.differences[0].changed[0].reason
'now: right answer found, not picked (rank 2); wrong period'
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
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
