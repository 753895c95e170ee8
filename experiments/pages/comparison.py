"""A comparison in words: figures side by side, the differences with their tests, and the turns that changed.

print(describe_comparison(compare(records, tracker), changed=10))
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from experiments.console import format_table, percent, shorten, write_answer, write_points

if TYPE_CHECKING:
    from optimize.metrics import ChangedTurn, Comparison, RunDifference, TurnScore

REPORT_FIGURES = {
    "right answers (exe_accuracy)": "exe_accuracy",
    "right calculations (program_accuracy)": "program_accuracy",
    "whole conversations right": "conversation_accuracy",
    "right answer ranked first": "recall_at_1",
    "right answer among the first 5": "recall_at_5",
    "right answer among the first 20": "recall_at_20",
    "turns / conversations": "{turns:.0f} / {conversations:.0f}",
    "turns without an answer": "{failed_turns:.0f}",
    "LM calls a turn": "{lm_calls_per_turn:.2f}",
    "prompt tokens a turn": "{prompt_tokens_per_turn:.0f}",
    "of them not cached": "{uncached_prompt_tokens_per_turn:.0f}",
    "completion tokens a turn": "{completion_tokens_per_turn:.0f}",
    "seconds a turn, median": "{seconds_per_turn_p50:.3f}",
    "seconds a turn, 95%": "{seconds_per_turn_p95:.3f}",
}
"""The headline figures of evaluations about reports by their titles: names of shares, or formats."""
_WIDTH = 100


def describe_comparison(comparison: Comparison, changed: int = 10, width: int | None = None) -> str:
    """The comparison as text: figures side by side, the differences, and at most ``changed`` turns that changed.

    Args:
        comparison: The comparison.
        changed: The most turns that are shown.
        width: The width of a terminal, which tables must fit; ``None`` for no limit.
    """
    names = short_names([run["run_name"] for run in comparison.runs])
    parts = [_runs_table(comparison, names, width), figures_table(names, comparison.runs, width)]
    if comparison.left_out:
        shared = f"compared on the {comparison.turns} turns that all runs share"
        parts.insert(0, f"{shared}; {comparison.left_out} were left out")
    if len(comparison.differences) > 1:
        count = len(comparison.differences)
        parts.append(f"each is compared with {names[0]}; p is also given corrected by Holm for {count} comparisons")
    for difference in comparison.differences:
        parts.append(_verdict(comparison, difference))
        if changed and difference.changed:
            parts.append(_changed_turns(difference.changed, changed))
    return "\n\n".join(parts)


def _runs_table(comparison: Comparison, names: Sequence[str], width: int | None) -> str:
    """The runs that were compared, with model and limit, and with their data where these differ."""
    settings = {"run_id": "run", "lm.name": "model", "limit": "limit"}
    settings |= {"data": "data"} if len({run.get("data") for run in comparison.runs}) > 1 else {}
    rows = [[name, *map(run.get, settings)] for name, run in zip(names, comparison.runs, strict=True)]
    return format_table(["", *settings.values()], rows, width=width)


def figures_table(
    names: Sequence[str],
    figures: Sequence[Mapping[str, Any]],
    width: int | None = None,
    titles: Mapping[str, str] = REPORT_FIGURES,
) -> str:
    """The figures of evaluations, one column a run; shares have their intervals.

    Args:
        names: The names of the runs.
        figures: Their figures.
        width: The width of a terminal; ``None`` for no limit.
        titles: As :data:`REPORT_FIGURES`.
    """
    rows = [
        [title, *(form.format(**own) if "{" in form else percent(own, form) for own in figures)]
        for title, form in titles.items()
    ]
    return format_table(["", *names], rows, width=width)


def short_names(names: Sequence[str]) -> list[str]:
    """Names of runs without the `` on DATA`` that all of them end with."""
    endings = {name.partition(" on ")[2] for name in names}
    return [name.partition(" on ")[0] for name in names] if len(endings) == 1 else list(names)


def _verdict(comparison: Comparison, difference: RunDifference) -> str:
    figures = difference.figures
    first, second = short_names([comparison.runs[0]["run_name"], difference.name])
    low, high = figures["difference_low"], figures["difference_high"]
    one_side = "the interval lies on one side of zero"
    corrected = f" (corrected {figures['mcnemar_p_holm']:.3g})" if len(comparison.differences) > 1 else ""
    return (
        f"{second} against {first}, {comparison.turns} turns: {write_points(figures['difference'])} points "
        f"[{write_points(low)}, {write_points(high)}]\n"
        f"better: {figures['better']}, worse: {figures['worse']}, McNemar p = {figures['mcnemar_p']:.3g}{corrected}; "
        f"{one_side if low > 0 or high < 0 else 'the interval includes zero: no difference is shown'}"
    )


def _changed_turns(changed: Sequence[ChangedTurn], limit: int) -> str:
    """At most ``limit`` changed turns, as many of them better as worse where there are enough, a few lines each."""
    worse, better = ([turn for turn in changed if turn.is_better is side] for side in (False, True))
    chosen = worse[: max(limit // 2, limit - len(better))]
    chosen += better[: limit - len(chosen)]
    lines = []
    for turn in chosen:
        place = f"{turn.after.conversation_id}:{turn.after.turn_index + 1}"
        start = f"{'better' if turn.is_better else 'worse':6}  {place}  "
        lines.append(start + shorten(turn.after.question, max(40, _WIDTH - len(start))))
        before, after = (shorten(written(score), 32) for score in (turn.before, turn.after))
        lines.append(f"        {turn.reason}")
        lines.append(f"        gold {write_answer(turn.after.gold_answer)}   before {before}   after {after}")
    rest = len(changed) - len(chosen)
    return "\n".join([*lines, *([f"... and {rest} more turns that changed"] if rest else [])])


def written(score: TurnScore) -> str:
    """The answer of a turn: its program, or the reason that there is none."""
    if score.answer is None:
        return f"none ({score.failure})"
    return score.program or write_answer(score.answer)
