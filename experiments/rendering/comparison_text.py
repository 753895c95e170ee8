"""A comparison in words: figures side by side, the differences with their tests, and the turns that changed.

print(describe_comparison(compare(records, tracker), changed=10))
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from experiments.console import format_table, percent, shorten, write_answer, write_points

if TYPE_CHECKING:
    from optimize.metrics import ChangedTurn, Comparison, RunDifference, TurnScore

_ACCURACIES = (
    ("exe_accuracy", "right answers (exe_accuracy)"),
    ("program_accuracy", "right calculations (program_accuracy)"),
    ("conversation_accuracy", "whole conversations right"),
    ("recall_at_1", "right answer ranked first"),
    ("recall_at_5", "right answer among the first 5"),
    ("recall_at_20", "right answer among the first 20"),
)
_COSTS = (
    ("failed_turns", "turns without an answer"),
    ("lm_calls_per_turn", "LM calls a turn"),
    ("prompt_tokens_per_turn", "prompt tokens a turn"),
    ("uncached_prompt_tokens_per_turn", "of them not cached"),
    ("completion_tokens_per_turn", "completion tokens a turn"),
    ("seconds_per_turn_p50", "seconds a turn, median"),
    ("seconds_per_turn_p95", "seconds a turn, 95%"),
)
_COSTS_OF_LM = (
    "lm_calls_per_turn",
    "prompt_tokens_per_turn",
    "uncached_prompt_tokens_per_turn",
    "completion_tokens_per_turn",
)
_WIDTH = 100
_KINDS_SHOWN = 6


def describe_comparison(comparison: Comparison, changed: int = 10, width: int | None = None) -> str:
    """The comparison as text: figures side by side, the differences, and at most ``changed`` turns that changed.

    Args:
        comparison: The comparison.
        changed: The most turns that are shown.
        width: The width of a terminal, which tables must fit; ``None`` for no limit.
    """
    parts = [_runs_table(comparison, width), _figures_table(comparison, width)]
    if len(comparison.differences) > 1:
        first = short_names([one["run_name"] for one in comparison.runs])[0]
        count = len(comparison.differences)
        parts.append(f"each is compared with {first}; p is also given corrected by Holm for {count} comparisons")
    for one in comparison.differences:
        parts += [_verdict(comparison, one)]
        if changed and one.changed:
            parts += [_changed_turns(one, changed)]
    if comparison.left_out:
        parts.insert(
            0, f"compared on the {comparison.turns} turns that all runs share; {comparison.left_out} were left out"
        )
    return "\n\n".join(parts)


def _runs_table(comparison: Comparison, width: int | None) -> str:
    """The runs that were compared, with model and limit, and with other settings in which they differ."""
    settings = {"run_id": "run", "lm.name": "model", "limit": "limit"}
    settings |= {"data": "data"} if len({one.get("data") for one in comparison.runs}) > 1 else {}
    names = short_names([one["run_name"] for one in comparison.runs])
    rows = [[name, *map(one.get, settings)] for name, one in zip(names, comparison.runs, strict=True)]
    return format_table(["", *settings.values()], rows, width=width)


def _figures_table(comparison: Comparison, width: int | None) -> str:
    runs = comparison.runs
    asked = any(one["lm_calls_per_turn"] for one in runs)
    names = short_names([one["run_name"] for one in runs])
    return format_table(["", *names], figure_rows(runs, left_out=() if asked else _COSTS_OF_LM), width=width)


def figure_rows(runs: Sequence[Mapping[str, Any]], left_out: Collection[str] = ()) -> list[list[object]]:
    """Accuracies with their intervals, then costs: a label and a cell for each run."""
    rows: list[list[object]] = [[label, *(percent(one, name) for one in runs)] for name, label in _ACCURACIES]
    for name, label in _COSTS:
        if name not in left_out:
            digits = 0 if name == "failed_turns" else 3
            rows.append([label, *(f"{one[name]:.{digits}f}" for one in runs)])
    return rows


def is_shown(one: RunDifference) -> bool:
    """Whether the interval of a difference excludes zero."""
    return bool(one.figures["difference_low"] > 0 or one.figures["difference_high"] < 0)


def short_names(names: Sequence[str]) -> list[str]:
    """Names of runs without the `` on DATA`` that all of them end with."""
    endings = {name.partition(" on ")[2] for name in names}
    return [name.partition(" on ")[0] for name in names] if len(endings) == 1 else list(names)


def _verdict(comparison: Comparison, one: RunDifference) -> str:
    figures = one.figures
    first, second = short_names([comparison.runs[0]["run_name"], one.name])
    return (
        f"{second} against {first}, {comparison.turns} turns: "
        f"{write_points(figures['difference'])} points "
        f"[{write_points(figures['difference_low'])}, {write_points(figures['difference_high'])}]\n"
        f"better: {figures['better']}, worse: {figures['worse']}, McNemar p = {figures['mcnemar_p']:.3g}"
        + (f" (corrected {figures['mcnemar_p_holm']:.3g})" if len(comparison.differences) > 1 else "")
        + "; "
        + (
            "the interval lies on one side of zero"
            if is_shown(one)
            else "the interval includes zero: no difference is shown"
        )
    )


def _changed_turns(one: RunDifference, limit: int) -> str:
    """The changed turns, a few lines each, as a table would be too wide."""
    chosen = _mixed(one.changed, limit)
    lines = [f"{count:5}  {words}" for words, count in changes(one.changed)[:_KINDS_SHOWN]]
    for turn in chosen:
        place = f"{turn.after.conversation_id}:{turn.after.turn_index + 1}"
        start = f"{'better' if turn.is_better else 'worse':6}  {place}  "
        lines.append(start + shorten(turn.after.question, max(40, _WIDTH - len(start))))
        before, after = (shorten(written(score), 32) for score in (turn.before, turn.after))
        lines.append(f"        {turn.reason}")
        lines.append(f"        gold {write_answer(turn.after.gold_answer)}   before {before}   after {after}")
    rest = len(one.changed) - len(chosen)
    return "\n".join([*lines, *([f"... and {rest} more turns that changed"] if rest else [])])


def changes(changed: Sequence[ChangedTurn]) -> list[tuple[str, int]]:
    """The reasons of changed turns with their numbers of turns, the most frequent first."""
    counts = Counter(
        f"{'better' if turn.is_better else 'worse'}: {_kind(turn.before if turn.is_better else turn.after)}"
        for turn in changed
    )
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))


def _kind(score: TurnScore) -> str:
    words = {"not_in_beam": "right answer not found", "not_picked": "right answer found, not picked"}
    stage = words.get(score.stage, score.stage)
    if score.failure is not None:
        return f"{stage}, no answer ({score.failure.replace('_', ' ')})"
    return f"{stage}, wrong {score.difference.replace('_', ' ')}" if score.difference is not None else stage


def _mixed(changed: Sequence[ChangedTurn], limit: int) -> list[ChangedTurn]:
    """At most ``limit`` turns, as many of them better as worse where there are enough."""
    worse = [turn for turn in changed if not turn.is_better]
    better = [turn for turn in changed if turn.is_better]
    half = max(limit // 2, limit - len(better))
    kept = worse[:half]
    return kept + better[: limit - len(kept)]


def written(score: TurnScore) -> str:
    """The answer of a turn: its program, or the reason that there is none."""
    if score.answer is None:
        return f"none ({score.failure})"
    return score.program or write_answer(score.answer)
