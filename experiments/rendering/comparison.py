"""A comparison as a page without other files: figures, tests, accuracy against cost, and every turn that changed.

Path("comparison.html").write_text(comparison_page(comparison))
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from experiments.rendering.comparison_text import changes, figure_rows, is_shown, short_names, written
from experiments.rendering.html import render
from experiments.rendering.plots import Point, differences, scatter

if TYPE_CHECKING:
    from optimize.metrics import Comparison

_COST_AXES = (
    ("seconds_per_turn_p50", "seconds a turn (median)"),
    ("tokens_per_turn", "tokens a turn"),
    ("uncached_prompt_tokens_per_turn", "prompt tokens a turn that were not cached"),
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
    return render(
        "comparison.html",
        title="Comparison: " + " vs ".join(short),
        summary=_summary(comparison),
        runs=runs,
        runs_against_first=comparison.differences,
        letters=letters,
        names=[f"{letter}: {name}" for letter, name in zip(letters, short, strict=True)],
        figures=[*figure_rows(runs), *sums],
        plots=[scatter(points, label) for label, points in _costs(letters, runs).items()],
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


def _costs(letters: Sequence[str], runs: Sequence[Mapping[str, Any]]) -> dict[str, list[Point]]:
    """The points of each plot of accuracy against a cost, by the cost's label."""
    both = list(zip(letters, runs, strict=True))
    plots = {
        label: [_point(letter, one, "exe_accuracy", _cost(one, name)) for letter, one in both]
        for name, label in _COST_AXES
        if any(_cost(one, name) for one in runs)
    }
    by_calls = _by_calls(letters, runs)
    return {**plots, "LM calls of a turn (a point for each number)": by_calls} if by_calls else plots


def _by_calls(letters: Sequence[str], runs: Sequence[Mapping[str, Any]]) -> list[Point]:
    """The accuracy of the turns of each run that took a number of calls, named by run and calls."""
    points = []
    for letter, one in zip(letters, runs, strict=True):
        found = [name for name in one if re.fullmatch(r"exe_accuracy_calls_\d+", name)]
        numbers = sorted(int(name.rpartition("_")[2]) for name in found)
        points += [_point(f"{letter}{calls}", one, f"exe_accuracy_calls_{calls}", calls) for calls in numbers]
    return points


def _cost(run: Mapping[str, Any], name: str) -> float:
    return float(run["tokens"] / run["turns"] if name == "tokens_per_turn" else run[name])
