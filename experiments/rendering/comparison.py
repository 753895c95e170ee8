"""A comparison as a page that stands alone: figures, tests, accuracy against cost, and every turn that changed.

Path("comparison.html").write_text(comparison_page(comparison))
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from experiments.rendering.comparison_text import changes, figure_rows, is_shown, short_names, written
from experiments.rendering.html import render
from experiments.rendering.plots import Point, differences, scatter

if TYPE_CHECKING:
    from optimize.metrics import Comparison

_COST_AXES = (
    ("seconds_per_turn_p50", "seconds a turn (median)"),
    ("tokens_per_turn", "tokens a turn"),
    ("lm_calls_per_turn", "LM calls a turn"),
)
_SUMS = (("calls", "LM calls, all turns", 0), ("tokens", "tokens, all turns", 0), ("seconds", "seconds, all turns", 1))
_MOST_TURNS = 400


def comparison_page(comparison: Comparison) -> str:
    """The page."""
    runs = comparison.runs
    short = short_names([one["run_name"] for one in runs])
    letters = [chr(ord("A") + place) if place < 26 else str(place + 1) for place in range(len(runs))]
    sums = [[label, *(f"{one[name]:.{digits}f}" for one in runs)] for name, label, digits in _SUMS]
    costs = {label: [_cost(one, name) for one in runs] for name, label in _COST_AXES}
    return render(
        "comparison.html",
        title="Comparison: " + " vs ".join(short),
        summary=_summary(comparison),
        runs=runs,
        runs_against_first=comparison.differences,
        letters=letters,
        names=[f"{letter}: {name}" for letter, name in zip(letters, short, strict=True)],
        figures=[*figure_rows(runs), *sums],
        plots=[
            scatter(
                [_point(letter, one, "exe_accuracy", x) for letter, one, x in zip(letters, runs, found, strict=True)],
                label,
            )
            for label, found in costs.items()
            if any(found)
        ],
        difference_plot=differences(
            [
                _point(letter, one.figures, "difference")
                for letter, one in zip(letters[1:], comparison.differences, strict=True)
            ]
        ),
        most=_MOST_TURNS,
        changes=changes,
        written=written,
        is_shown=is_shown,
    )


def _summary(comparison: Comparison) -> str:
    parts = [f"{comparison.turns} turns that all runs share"]
    if comparison.left_out:
        parts.append(f"{comparison.left_out} turns that some run lacks are left out")
    parts.append("each run is compared with A, turn by turn")
    if len(comparison.differences) > 1:
        parts.append(f"p-values are also given corrected by Holm for {len(comparison.differences)} comparisons")
    parts.append("intervals are 95%, from drawing whole conversations")
    return "; ".join(parts) + "."


def _point(letter: str, figures: Mapping[str, Any], name: str, cost: float = 0.0) -> Point:
    return Point(letter, cost, figures[name], figures[f"{name}_low"], figures[f"{name}_high"])


def _cost(run: Mapping[str, Any], name: str) -> float:
    return float(run["tokens"] / run["turns"] if name == "tokens_per_turn" else run[name])
