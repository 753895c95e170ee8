"""Comparison of the scores of several programs on the same turns: differences with intervals and tests.

>>> difference = difference_of("second", first_scores, second_scores, seed=0)
>>> difference.figures["difference"], difference.figures["mcnemar_p"]
(0.04, 0.012)
>>> difference.changed[0].reason
'now: right answer found, not picked (rank 2); wrong period'
>>> mcnemar(first_only=9, second_only=1)
0.021484375
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from optimize.metrics.turns import TurnScore, verdict, with_intervals


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


def mcnemar(first_only: int, second_only: int) -> float:
    """Returns the p-value of the two-sided exact McNemar test.

    Args:
        first_only: Turns that only the first program gets right.
        second_only: Turns that only the second program gets right.

    Returns:
        The chance, in (0, 1], of a split at least this uneven if both programs were equally good; 1.0 when the
        programs never differ.
    """
    from scipy.stats import binomtest  # takes half a second to import

    differing = first_only + second_only
    return float(binomtest(min(first_only, second_only), differing).pvalue) if differing else 1.0


def holm(p_values: Sequence[float]) -> list[float]:
    """Returns p-values corrected for their number by Holm's step-down method (Holm, 1979), in the given order.

    Args:
        p_values: Each in [0, 1]; an empty list gives an empty one.

    Returns:
        For each the smallest family-wise error rate at which it is rejected.
    """
    order, corrected = np.argsort(p_values, kind="stable"), np.ones(len(p_values))
    scaled = np.asarray(p_values, dtype=float)[order] * np.arange(len(p_values), 0, -1)
    corrected[order] = np.maximum.accumulate(np.minimum(scaled, 1.0))
    return list(corrected.tolist())


def difference_of(name: str, first: Sequence[TurnScore], second: Sequence[TurnScore], *, seed: int) -> RunDifference:
    """Returns the difference between two runs over the same turns, in the same order.

    Both runs are drawn together, so turns that are hard for both do not widen the interval.

    Args:
        name: The name of the second run.
        first: The scores of the baseline.
        second: The scores of the other run.
        seed: Of the bootstrap.

    Raises:
        ConfigError: There are no scores.
    """
    groups = [score.conversation_id for score in first]
    gains = [float(after.exact) - float(before.exact) for before, after in zip(first, second, strict=True)]
    changed = [ChangedTurn(*pair) for pair in zip(first, second, strict=True) if pair[0].exact != pair[1].exact]
    better = sum(turn.is_better for turn in changed)
    figures = {
        **with_intervals(groups, {"difference": (gains, None)}, seed=seed),
        "mcnemar_p": mcnemar(len(changed) - better, better),
        "better": better,
        "worse": len(changed) - better,
    }
    return RunDifference(name, figures, tuple(sorted(changed, key=lambda turn: turn.is_better)))


def corrected(differences: Sequence[RunDifference]) -> tuple[RunDifference, ...]:
    """Returns differences with McNemar's p corrected for how many runs are compared with the first."""
    p_values = holm([difference.figures["mcnemar_p"] for difference in differences])
    return tuple(
        replace(difference, figures={**difference.figures, "mcnemar_p_holm": p})
        for difference, p in zip(differences, p_values, strict=True)
    )
