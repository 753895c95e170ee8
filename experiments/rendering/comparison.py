"""A comparison as a page that stands alone: figures, tests, accuracy against cost, and every turn that changed.

Path("comparison.html").write_text(comparison_page(comparison))
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from experiments.console import percent, write_answer
from experiments.rendering.comparison_text import COSTS, SIDE_BY_SIDE, changes, short_names, written
from experiments.rendering.html import Html, element, folded, heading, joined, table, write_page
from experiments.rendering.plots import Point, differences, scatter

if TYPE_CHECKING:
    from optimize.metrics import ChangedTurn, Comparison, RunDifference

_COST_AXES = (
    ("seconds_per_turn_p50", "seconds a turn (median)"),
    ("tokens_per_turn", "tokens a turn"),
    ("lm_calls_per_turn", "LM calls a turn"),
)
_MOST_TURNS = 400


def comparison_page(comparison: Comparison) -> str:
    """The page."""
    names = _lettered(comparison)
    title = "Comparison: " + " vs ".join(short_names([one["run_name"] for one in comparison.runs]))
    return write_page(
        title,
        [
            heading(1, title),
            element("p", _summary(comparison)),
            heading(2, "The runs"),
            _runs(comparison, names),
            heading(2, "Accuracy and cost"),
            _figures(comparison, names),
            _plots(comparison),
            heading(2, "Differences"),
            _differences(comparison),
            heading(2, "Turns that changed"),
            *map(_changed, comparison.differences, _letters(comparison)[1:]),
        ],
    )


def _letters(comparison: Comparison) -> list[str]:
    return [chr(ord("A") + place) if place < 26 else str(place + 1) for place in range(len(comparison.runs))]


def _lettered(comparison: Comparison) -> list[str]:
    names = short_names([one["run_name"] for one in comparison.runs])
    return [f"{letter}: {name}" for letter, name in zip(_letters(comparison), names, strict=True)]


def _summary(comparison: Comparison) -> str:
    parts = [f"{comparison.turns} turns that all runs share"]
    if comparison.left_out:
        parts.append(f"{comparison.left_out} turns that some run lacks are left out")
    parts.append("each run is compared with A, turn by turn")
    if len(comparison.differences) > 1:
        parts.append(f"p-values are also given corrected by Holm for {len(comparison.differences)} comparisons")
    parts.append("intervals are 95%, from drawing whole conversations")
    return "; ".join(parts) + "."


def _runs(comparison: Comparison, names: Sequence[str]) -> Html:
    rows = [
        [name, one["program"], one["lm.name"], one["optimizers"], one["data"], one["status"].lower(), one["run_id"]]
        for name, one in zip(names, comparison.runs, strict=True)
    ]
    return table(["run", "program", "language model", "compiled with", "data", "status", "MLflow run"], rows)


def _figures(comparison: Comparison, names: Sequence[str]) -> Html:
    runs = comparison.runs
    rows: list[list[object]] = [[label, *(percent(one, name) for one in runs)] for name, label in SIDE_BY_SIDE]
    for name, label in COSTS:
        digits = 0 if name == "failed_turns" else 3
        rows.append([label, *(f"{one[name]:.{digits}f}" for one in runs)])
    rows.append(["LM calls, all turns", *(f"{one['calls']:.0f}" for one in runs)])
    rows.append(["tokens, all turns", *(f"{one['tokens']:.0f}" for one in runs)])
    rows.append(["seconds, all turns", *(f"{one['seconds']:.1f}" for one in runs)])
    return table(["figure", *names], rows, numbers=range(1, len(names) + 1))


def _plots(comparison: Comparison) -> Html:
    figures = []
    for name, label in _COST_AXES:
        costs = [_cost(one, name) for one in comparison.runs]
        if not any(costs):
            continue
        points = [
            Point(letter, cost, one["exe_accuracy"], one["exe_accuracy_low"], one["exe_accuracy_high"])
            for letter, cost, one in zip(_letters(comparison), costs, comparison.runs, strict=True)
        ]
        caption = element("figcaption", f"Right answers against {label}")
        figures.append(element("figure", joined([scatter(points, label), caption])))
    return element("div", joined(figures), kind="plots")


def _cost(run: Mapping[str, Any], name: str) -> float:
    if name == "tokens_per_turn":
        return float(run["tokens"] / run["turns"])
    return float(run[name])


def _differences(comparison: Comparison) -> Html:
    letters, first = _letters(comparison)[1:], _lettered(comparison)[0]
    rows = []
    for letter, one in zip(letters, comparison.differences, strict=True):
        figures = one.figures
        sure = figures["difference_low"] > 0 or figures["difference_high"] < 0
        rows.append(
            [
                f"{letter} against {first}",
                f"{100 * figures['difference']:+.1f}",
                f"[{100 * figures['difference_low']:+.1f}, {100 * figures['difference_high']:+.1f}]",
                f"{figures['mcnemar_p']:.3g}",
                f"{figures['mcnemar_p_holm']:.3g}",
                f"{figures['better']:.0f}",
                f"{figures['worse']:.0f}",
                "the interval lies on one side of zero" if sure else "no difference is shown",
            ]
        )
    headers = ["runs", "points", "95% interval", "McNemar p", "Holm p", "turns better", "turns worse", "verdict"]
    points = [
        Point(letter, 0.0, one.figures["difference"], one.figures["difference_low"], one.figures["difference_high"])
        for letter, one in zip(letters, comparison.differences, strict=True)
    ]
    caption = element("figcaption", f"Difference of right answers to {first}, in points")
    plot = element("figure", joined([differences(points), caption]))
    return joined([table(headers, rows, numbers=range(1, 7)), plot])


def _changed(one: RunDifference, letter: str) -> Html:
    if not one.changed:
        return element("p", f"{letter}: no turn changed.")
    counts = table(["what changed", "turns"], changes(one.changed), numbers={1})
    rows = [_changed_row(turn) for turn in one.changed[:_MOST_TURNS]]
    headers = ["change", "turn", "question", "gold", "A answered", f"{letter} answered", "why"]
    rest = len(one.changed) - len(rows)
    more = element("p", f"... and {rest} more, in the run's table of changed turns", kind="soft") if rest else ""
    turns = joined([table(headers, rows), more])
    title = f"{letter}: {one.figures['better']:.0f} turns better, {one.figures['worse']:.0f} worse"
    return joined([heading(3, title), counts, folded("every turn that changed", turns, is_open=True)])


def _changed_row(turn: ChangedTurn) -> list[object]:
    better = turn.is_better
    return [
        element("span", "better" if better else "worse", kind="good" if better else "bad"),
        f"{turn.after.conversation_id}:{turn.after.turn_index}",
        turn.after.question,
        _with_program(write_answer(turn.after.gold_answer), turn.after.gold_program),
        _answered(turn.before),
        _answered(turn.after),
        turn.reason,
    ]


def _answered(score: Any) -> Html:
    if score.answer is None:
        return element("span", written(score), kind="soft")
    return _with_program(write_answer(score.answer), written(score))


def _with_program(answer: str, program: str) -> Html:
    """An answer above the calculation that it comes from, where that says more."""
    if answer == program:
        return element("span", answer)
    return joined([answer, Html("<br>"), element("code", program)])
