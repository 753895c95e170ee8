"""The records of a comparison: runs over the same turns, their differences and the turns that changed.

>>> comparison.differences[0].figures["difference"]
0.04
>>> comparison.differences[0].changed[0].reason
'now: right answer found, not picked (rank 2); wrong period'
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from optimize.metrics.turns import TurnScore


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
    """A turn that one program gets right and the other does not.

    Attributes:
        before: The turn as the first run answered it.
        after: The turn as the other run answered it.
    """

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
        compared = [
            {
                "run_name": one.name,
                **one.figures,
                "changed": [
                    {
                        "conversation_id": turn.after.conversation_id,
                        "turn_index": turn.after.turn_index,
                        "better": turn.is_better,
                        "why": turn.reason,
                    }
                    for turn in one.changed
                ],
            }
            for one in self.differences
        ]
        top = dict(self.differences[0].figures) if self.differences else {}
        return {
            **top,
            "turns": self.turns,
            "left_out": self.left_out,
            "run_id": self.run_id,
            "runs": list(self.runs),
            "differences": compared,
        }
