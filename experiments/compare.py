"""Sets evaluations side by side on the same turns: differences with intervals, tests, costs, and what changed.

    comparison = compare([tracker.find("latest~1"), tracker.find("latest")], tracker, seed=0)
    comparison.differences[0].figures     # {"difference": 0.04, "difference_low": 0.01, ..., "mcnemar_p": 0.012}

The first run is what the others are compared with. Runs over different data are compared on the turns that they share,
and the comparison says so; turns are the same when conversation, place, question and gold answer are.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from experiments.console import format_table, percent, say, shorten, show, write_answer, write_json
from experiments.evaluate import TURNS, run_tags
from experiments.evaluation_results import read_score
from experiments.tracking import Run, RunRecord, Tracker, TrackingConfig, open_run
from kg.errors import TrackingError
from optimize.metrics import TurnScore, summarise
from optimize.statistics import mcnemar, paired_difference

Key = tuple[str, int]

SIDE_BY_SIDE = (
    ("exe_accuracy", "right answers (exe_accuracy)"),
    ("program_accuracy", "right calculations (program_accuracy)"),
    ("conversation_accuracy", "whole conversations right"),
    ("recall_at_1", "right answer ranked first"),
    ("recall_at_5", "right answer among the first 5"),
    ("recall_at_20", "right answer among the first 20"),
)
COSTS = (
    ("failed_turns", "turns without an answer"),
    ("lm_calls_per_turn", "LM calls a turn"),
    ("prompt_tokens_per_turn", "prompt tokens a turn"),
    ("completion_tokens_per_turn", "completion tokens a turn"),
    ("seconds_per_turn_p50", "seconds a turn, median"),
    ("seconds_per_turn_p95", "seconds a turn, 95%"),
)
_COSTS_OF_LM = ("lm_calls_per_turn", "prompt_tokens_per_turn", "completion_tokens_per_turn")
_WIDTH = 100


@dataclass(frozen=True)
class Changed:
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


@dataclass(frozen=True)
class Difference:
    """How one run differs from the first.

    Attributes:
        name: The run's name.
        figures: ``difference`` of the accuracies in [-1, 1] with ``difference_low`` and ``difference_high`` (95%,
            paired bootstrap over conversations), ``mcnemar_p`` (exact, two-sided), ``better`` and ``worse`` (turns).
        changed: Every turn that changed, worse ones first.
    """

    name: str
    figures: Mapping[str, float]
    changed: tuple[Changed, ...]


@dataclass(frozen=True)
class Comparison:
    """Runs side by side.

    Attributes:
        runs: Name, id and figures of each run over the turns that all share.
        differences: Each run but the first, compared with the first.
        turns: How many turns all runs share.
        left_out: How many turns some run has and another lacks.
        run_id: The MLflow run that keeps the comparison, if there is one.
    """

    runs: tuple[Mapping[str, Any], ...]
    differences: tuple[Difference, ...]
    turns: int
    left_out: int
    run_id: str | None = None

    def figures(self) -> dict[str, Any]:
        """Everything under stable names; the first difference also stands at the top."""
        compared = [
            {
                "run_name": one.name,
                **one.figures,
                "changed": [
                    {
                        "conversation_id": turn.after.conversation_id,
                        "turn_index": turn.after.turn_index,
                        "better": turn.is_better,
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


def compare(records: Sequence[RunRecord], tracker: Tracker, *, seed: int = 0, tracked: bool = True) -> Comparison:
    """Compares evaluations with the first of them.

    Args:
        records: At least two evaluation runs.
        tracker: Where their tables are, and where the comparison is logged.
        seed: Seed of the bootstrap.
        tracked: Whether to log the comparison as a run.

    Raises:
        TrackingError: There are fewer than two runs, a run kept no turns, or the runs share none.
    """
    if len(records) < 2:
        raise TrackingError(f"a comparison needs at least two runs, got {len(records)}")
    tables = [_scores(tracker, record) for record in records]
    keys = _shared(tables)
    if not keys:
        names = " and ".join(record.name for record in records)
        raise TrackingError(f"{names} share no turn: they were evaluated on different data")
    left_out = len(set().union(*tables)) - len(keys)
    runs = tuple(_side(record, table, keys, seed) for record, table in zip(records, tables, strict=True))
    differences = tuple(
        _difference(record.name, tables[0], table, keys, seed)
        for record, table in zip(records[1:], tables[1:], strict=True)
    )
    comparison = Comparison(runs, differences, len(keys), left_out)
    name = "compare " + " vs ".join(short_names([record.name for record in records]))
    with open_run(tracker if tracked else None, "compare", name, tags=run_tags(seed)) as run:
        comparison = dataclasses.replace(comparison, run_id=run.id)
        _log(run, comparison, records, seed)
    return comparison


def _scores(tracker: Tracker, record: RunRecord) -> dict[Key, TurnScore]:
    return {(row["conversation_id"], row["turn_index"]): read_score(row) for row in tracker.table(record, TURNS)}


def _shared(tables: Sequence[Mapping[Key, TurnScore]]) -> list[Key]:
    """The turns that all tables have, in the first one's order."""
    first = tables[0]
    return [
        key
        for key, score in first.items()
        if all(
            key in table and (table[key].question, table[key].gold_answer) == (score.question, score.gold_answer)
            for table in tables[1:]
        )
    ]


def _side(record: RunRecord, table: Mapping[Key, TurnScore], keys: Sequence[Key], seed: int) -> dict[str, Any]:
    figures = summarise([table[key] for key in keys], seed=seed)
    about = {name: record.params.get(name) for name in ("program", "data", "lm.name", "history")}
    return {"run_id": record.id, "run_name": record.name, **about, **figures}


def _difference(
    name: str, first: Mapping[Key, TurnScore], second: Mapping[Key, TurnScore], keys: Sequence[Key], seed: int
) -> Difference:
    groups = [key[0] for key in keys]
    before = [float(first[key].exact) for key in keys]
    after = [float(second[key].exact) for key in keys]
    interval = paired_difference(groups, before, after, seed=seed)
    changed = [Changed(first[key], second[key]) for key in keys if first[key].exact != second[key].exact]
    better = sum(turn.is_better for turn in changed)
    worse = len(changed) - better
    figures = {
        "difference": interval.value,
        "difference_low": interval.low,
        "difference_high": interval.high,
        "mcnemar_p": mcnemar(worse, better),
        "better": better,
        "worse": worse,
    }
    return Difference(name, figures, tuple(sorted(changed, key=lambda turn: turn.is_better)))


def _log(run: Run, comparison: Comparison, records: Sequence[RunRecord], seed: int) -> None:
    run.log_params(
        {"runs": [record.id for record in records], "names": [record.name for record in records], "seed": seed}
    )
    run.log_tags({f"finpath.compared.{place}": record.id for place, record in enumerate(records)})
    figures = comparison.figures()
    run.log_metrics(figures)
    for side in comparison.runs:
        run.log_text(f"runs/{side['run_id']}.json", json.dumps(side, indent=2))
    run.log_description(describe(comparison, changed=0))
    run.log_text("comparison.txt", describe(comparison, changed=50))
    run.log_table("changed", [_changed_row(one.name, turn) for one in comparison.differences for turn in one.changed])


def _changed_row(name: str, turn: Changed) -> dict[str, Any]:
    return {
        "run": name,
        "change": "better" if turn.is_better else "worse",
        "conversation_id": turn.after.conversation_id,
        "turn_index": turn.after.turn_index,
        "question": turn.after.question,
        "gold": write_answer(turn.after.gold_answer),
        "before": _answer(turn.before),
        "after": _answer(turn.after),
        "stage_before": turn.before.stage,
        "stage_after": turn.after.stage,
    }


def _answer(score: TurnScore) -> str:
    if score.answer is None:
        return f"none ({score.failure})"
    return score.program or write_answer(score.answer)


def describe(comparison: Comparison, changed: int = 10) -> str:
    """The comparison as text: figures side by side, the differences, and at most ``changed`` turns that changed."""
    parts = [_figures_table(comparison)]
    for one in comparison.differences:
        parts += [_verdict(comparison, one)]
        if changed and one.changed:
            parts += [_changed_turns(one, changed)]
    if comparison.left_out:
        parts.insert(
            0, f"compared on the {comparison.turns} turns that all runs share; {comparison.left_out} were left out"
        )
    return "\n\n".join(parts)


def _figures_table(comparison: Comparison) -> str:
    runs = comparison.runs
    names = short_names([one["run_name"] for one in runs])
    rows: list[list[object]] = [[label, *(percent(one, name) for one in runs)] for name, label in SIDE_BY_SIDE]
    asked = any(one["lm_calls_per_turn"] for one in runs)
    for name, label in COSTS:
        if not asked and name in _COSTS_OF_LM:
            continue
        rows.append([label, *(f"{one[name]:.0f}" if name == "failed_turns" else f"{one[name]:.3f}" for one in runs)])
    return format_table(["", *names], rows)


def short_names(names: Sequence[str]) -> list[str]:
    """Names of runs without the `` on DATA`` that all of them end with."""
    endings = {name.partition(" on ")[2] for name in names}
    return [name.partition(" on ")[0] for name in names] if len(endings) == 1 else list(names)


def _verdict(comparison: Comparison, one: Difference) -> str:
    figures = one.figures
    first, second = short_names([comparison.runs[0]["run_name"], one.name])
    sure = figures["difference_low"] > 0 or figures["difference_high"] < 0
    return (
        f"{second} against {first}, {comparison.turns} turns: "
        f"{100 * figures['difference']:+.1f} points "
        f"[{100 * figures['difference_low']:+.1f}, {100 * figures['difference_high']:+.1f}]\n"
        f"better: {figures['better']}, worse: {figures['worse']}, McNemar p = {figures['mcnemar_p']:.3g}; "
        + ("the interval lies on one side of zero" if sure else "the interval includes zero: no difference is shown")
    )


def _changed_turns(one: Difference, limit: int) -> str:
    """Two lines a turn, which fit where a table would be broken."""
    chosen = _mixed(one.changed, limit)
    lines = []
    for turn in chosen:
        place = f"{turn.after.conversation_id}:{turn.after.turn_index}"
        start = f"{'better' if turn.is_better else 'worse':6}  {place}  "
        lines.append(start + shorten(turn.after.question, max(40, _WIDTH - len(start))))
        before, after = (shorten(_answer(score), 32) for score in (turn.before, turn.after))
        lines.append(f"        gold {write_answer(turn.after.gold_answer)}   before {before}   after {after}")
    rest = len(one.changed) - len(chosen)
    return "\n".join([*lines, *([f"... and {rest} more turns that changed"] if rest else [])])


def _mixed(changed: Sequence[Changed], limit: int) -> list[Changed]:
    """At most ``limit`` turns, as many of them better as worse where there are enough."""
    worse = [turn for turn in changed if not turn.is_better]
    better = [turn for turn in changed if turn.is_better]
    half = max(limit // 2, limit - len(better))
    kept = worse[:half]
    return kept + better[: limit - len(kept)]


def run_command(options: argparse.Namespace) -> None:
    """``finpath compare``."""
    tracker = Tracker(TrackingConfig.from_environment())
    records = [tracker.find(reference) for reference in options.runs]
    for record in records:
        if record.status != "FINISHED":
            say(f"note: the run {record.name} did not finish ({record.status})")
    comparison = compare(records, tracker, seed=options.seed, tracked=not options.no_track)
    show(describe(comparison, changed=options.changed))
    if options.json:
        write_json(options.json, comparison.figures())
