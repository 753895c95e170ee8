"""Comparison of evaluations on the same turns: differences with intervals, tests, costs and changed turns.

    comparison = compare([tracker.find("latest~1"), tracker.find("latest")], tracker, seed=0)
    comparison.differences[0].figures     # {"difference": 0.04, "difference_low": 0.01, ..., "mcnemar_p": 0.012}

The others are compared with the first run. Runs over different data are compared on the turns that they share, and the
comparison reports it. Equal turns agree in conversation, place, question and gold answer.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from experiments.console import write_answer
from experiments.evaluation.task import TURNS
from experiments.pages import describe_comparison, short_names, written
from experiments.tracking import Run, RunRecord, Tracker, metric_name, open_run, run_tags, sectioned
from kg.errors import TrackingError
from optimize.metrics import (
    ChangedTurn,
    Comparison,
    TurnScore,
    corrected,
    difference_of,
    read_score,
    summarise,
)

Key = tuple[str, int]

_SETTINGS = ("program", "kind", "data", "lm.name", "limit", "optimizers")


def compare(records: Sequence[RunRecord], tracker: Tracker, *, seed: int = 0, tracked: bool = True) -> Comparison:
    """Compares evaluations with the first of them.

    Args:
        records: At least two evaluation runs.
        tracker: Where their tables are, and where the comparison is logged.
        seed: Seed of the bootstrap.
        tracked: Whether to log the comparison as a run.

    Raises:
        TrackingError: There are fewer than two runs, a run has no turns, or the runs share none.
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
    shared = [[table[key] for key in keys] for table in tables]
    differences = tuple(
        difference_of(record.name, shared[0], scores, seed=seed)
        for record, scores in zip(records[1:], shared[1:], strict=True)
    )
    comparison = Comparison(runs, corrected(differences), len(keys), left_out)
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
    about = {name: record.params.get(name) for name in _SETTINGS}
    scores = [table[key] for key in keys]
    costs = {
        "calls": sum(one.lm_calls for one in scores),
        "tokens": sum(one.prompt_tokens + one.completion_tokens for one in scores),
        "seconds": sum(one.seconds for one in scores),
        "usd_of_run": record.metrics.get(metric_name("lm_usd"), record.metrics.get("lm_usd", 0.0)),
    }
    return {"run_id": record.id, "run_name": record.name, "status": record.status, **about, **figures, **costs}


def _log(run: Run, comparison: Comparison, records: Sequence[RunRecord], seed: int) -> None:
    run.log_params(
        {"runs": [record.id for record in records], "names": [record.name for record in records], "seed": seed}
    )
    run.log_tags({f"finpath.compared.{place}": record.id for place, record in enumerate(records)})
    figures = comparison.figures()
    run.log_metrics(sectioned(figures))
    run.log_description(describe_comparison(comparison, changed=0))
    run.log_table("changed", [_changed_row(one.name, turn) for one in comparison.differences for turn in one.changed])


def _changed_row(name: str, turn: ChangedTurn) -> dict[str, Any]:
    return {
        "run": name,
        "change": "better" if turn.is_better else "worse",
        "conversation_id": turn.after.conversation_id,
        "turn_index": turn.after.turn_index,
        "question": turn.after.question,
        "gold": write_answer(turn.after.gold_answer),
        "before": written(turn.before),
        "after": written(turn.after),
        "stage_before": turn.before.stage,
        "stage_after": turn.after.stage,
        "why": turn.reason,
    }
