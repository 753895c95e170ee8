"""Tracked evaluations read back and compared on the same turns: differences with intervals, tests and costs.

    turns = read_turns(tracker.find("latest"), tracker)
    [turn.score.question for turn in turns if not turn.score.exact]
    comparison = compare([tracker.find("latest~1"), tracker.find("latest")], tracker)
    comparison.differences[0].figures     # {"difference": 0.04, "difference_low": 0.01, ..., "mcnemar_p": 0.012}

The others are compared with the first run. Runs over different data are compared on the turns that they share, and the
comparison reports it. Equal turns agree in conversation, place, question and gold answer.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from experiments.evaluation import DETAILS, TURNS
from experiments.pages import describe_comparison, short_names
from experiments.runs import RunRecord
from experiments.tracking import Run, Tracker, open_run
from kg.errors import TrackingError
from optimize.metrics import (
    Comparison,
    ScoredTurn,
    TurnScore,
    corrected,
    difference_of,
    read_score,
    summarise,
)
from programs.turns import read_turn

SEED = 0
"""Seed of the bootstrap."""

_SETTINGS = ("program", "kind", "data", "lm.name", "limit", "optimizers")


def read_turns(record: RunRecord, tracker: Tracker) -> list[ScoredTurn]:
    """All turns of an evaluation, in the order of the data.

    Raises:
        TrackingError: The run has no turns, or another revision of finpath wrote them in another form.
    """
    try:
        details = {(row["conversation_id"], row["turn_index"]): row for row in tracker.table(record, DETAILS)}
        return [
            ScoredTurn(row["report"], read_score(row), read_turn(details[row["conversation_id"], row["turn_index"]]))
            for row in tracker.table(record, TURNS)
        ]
    except (KeyError, TypeError) as error:
        rule = f"its turns were written by another revision of finpath ({type(error).__name__}: {error})"
        raise TrackingError(f"the run {record.name} ({record.id}) cannot be read: {rule}") from error


def choose_turn(turns: Sequence[ScoredTurn], reference: str) -> ScoredTurn:
    """The turn that ``CONVERSATION:NUMBER`` names, counted from 1; the end of the conversation's id will do.

    Raises:
        TrackingError: There is none, or more than one.
    """
    matches = [turn for turn in turns if turn.name == reference]
    matches = matches or [turn for turn in turns if turn.name.endswith(reference)]
    if len(matches) != 1:
        rule = "it must name one, as CONVERSATION:NUMBER"
        raise TrackingError(f"turn {reference!r} names {len(matches)} turns of the run; {rule}")
    return matches[0]


def compare(records: Sequence[RunRecord], tracker: Tracker, *, tracked: bool = True) -> Comparison:
    """Compares evaluations with the first of them.

    Args:
        records: At least two evaluation runs.
        tracker: Where their tables are, and where the comparison is logged.
        tracked: Whether to log the comparison as a run.

    Raises:
        TrackingError: There are fewer than two runs, a run has no turns, or the runs share none.
    """
    if len(records) < 2:
        raise TrackingError(f"a comparison needs at least two runs, got {len(records)}")
    tables = [
        {(row["conversation_id"], row["turn_index"]): read_score(row) for row in tracker.table(record, TURNS)}
        for record in records
    ]
    keys = [
        key
        for key, score in tables[0].items()
        if all(key in table and _gold(table[key]) == _gold(score) for table in tables[1:])
    ]
    if not keys:
        names = " and ".join(record.name for record in records)
        raise TrackingError(f"{names} share no turn: they were evaluated on different data")
    first, *others = shared = [[table[key] for key in keys] for table in tables]
    differences = corrected(
        [
            difference_of(record.name, first, scores, seed=SEED)
            for record, scores in zip(records[1:], others, strict=True)
        ]
    )
    runs = tuple(_figures_of(record, scores) for record, scores in zip(records, shared, strict=True))
    comparison = Comparison(runs, differences, len(keys), len(set().union(*tables)) - len(keys))
    name = "compare " + " vs ".join(short_names([record.name for record in records]))
    with open_run(tracker if tracked else None, "compare", name) as run:
        comparison = dataclasses.replace(comparison, run_id=run.id)
        _log(run, comparison, records)
    return comparison


def _gold(score: TurnScore) -> tuple[str, Any]:
    return score.question, score.gold_answer


def _figures_of(record: RunRecord, scores: Sequence[TurnScore]) -> dict[str, Any]:
    """Returns settings, figures and costs of a run over the shared turns."""
    return {
        "run_id": record.id,
        "run_name": record.name,
        "status": record.status,
        **{name: record.params.get(name) for name in _SETTINGS},
        **summarise(scores, seed=SEED),
        "calls": sum(score.lm_calls for score in scores),
        "tokens": sum(score.prompt_tokens + score.completion_tokens for score in scores),
        "seconds": sum(score.seconds for score in scores),
    }


def _log(run: Run, comparison: Comparison, records: Sequence[RunRecord]) -> None:
    names = {"runs": [record.id for record in records], "names": [record.name for record in records]}
    run.log_params({**names, "seed": SEED})
    run.log_tags({f"finpath.compared.{place}": record.id for place, record in enumerate(records)})
    run.log_figures(comparison.figures())
    run.log_description(describe_comparison(comparison, changed=0))
    differences = comparison.figures()["differences"]
    run.log_table("changed", [{"run": other["run_name"], **turn} for other in differences for turn in other["changed"]])
