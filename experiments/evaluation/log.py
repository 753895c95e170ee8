"""The run of an evaluation: the names of its tables, artifacts and tags, and its headline figures."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from experiments.console import format_table, percent
from experiments.evaluation.records import Evaluation
from experiments.tracking import describe_environment

TURNS, DETAILS = "turns", "details"
"""The tables of an evaluation's run: one row a turn with its scores, and one with the program's whole result."""

REPORTS, ONTOLOGY = "reports.json", "ontology.ttl"
"""The artifacts from which a report's graph can be built again."""

KEY_TAG = "finpath.key"
"""The tag with the hash of an evaluation's settings."""

ENGINE_TAG = "finpath.engine"
"""The tag with the engine of an evaluation and its settings, as JSON; they have no influence on the turns."""

REVISION_TAG = "mlflow.source.git.commit"
"""MLflow's own tag for the revision of the code."""


def run_tags(seed: int) -> dict[str, str]:
    """Returns the tags of the code's versions, which every run has."""
    environment = describe_environment()
    return {
        "finpath.version": environment.finpath,
        "finpath.seed": str(seed),
        "finpath.packages": json.dumps(environment.packages),
        "finpath.python": environment.python,
        **({REVISION_TAG: environment.git_revision} if environment.git_revision else {}),
    }


def summary_table(evaluations: Sequence[Evaluation[Any, Any]], width: int | None = None) -> str:
    """Returns the headline figures of evaluations, one column each."""
    return figures_table([one.name for one in evaluations], [one.figures for one in evaluations], width)


def figures_table(names: Sequence[str], figures: Sequence[Mapping[str, Any]], width: int | None = None) -> str:
    """Returns the headline figures, one column a run; ``width`` is that of the terminal."""
    errors = ("failures_lm_error", "failures_error")
    rows: list[list[object]] = [
        ["right answers (exe_accuracy)", *(percent(one, "exe_accuracy") for one in figures)],
        ["right calculations (program_accuracy)", *(percent(one, "program_accuracy") for one in figures)],
        ["whole conversations right", *(percent(one, "conversation_accuracy") for one in figures)],
        ["right answer among the first 5 (recall_at_5)", *(percent(one, "recall_at_5") for one in figures)],
        ["right answer among the first 20", *(percent(one, "recall_at_20") for one in figures)],
        ["turns / conversations", *(f"{one['turns']:.0f} / {one['conversations']:.0f}" for one in figures)],
        ["turns without an answer", *(f"{one['failed_turns']:.0f}" for one in figures)],
        ["of these stopped by an error", *(f"{sum(one.get(name, 0) for name in errors):.0f}" for one in figures)],
        ["LM calls a turn", *(f"{one['lm_calls_per_turn']:.2f}" for one in figures)],
        ["prompt tokens a turn", *(f"{one['prompt_tokens_per_turn']:.0f}" for one in figures)],
        [_uncached_label(figures), *(f"{one['uncached_prompt_tokens_per_turn']:.0f}" for one in figures)],
        [
            "seconds a turn, median / 95%",
            *(f"{one['seconds_per_turn_p50']:.3f} / {one['seconds_per_turn_p95']:.3f}" for one in figures),
        ],
    ]
    return format_table(["", *names], rows, width=width)


def _uncached_label(figures: Sequence[Mapping[str, Any]]) -> str:
    """The label of the tokens that were not cached; an estimate is marked."""
    is_estimate = any(one.get("turns_with_estimated_cache") for one in figures)
    return "  of these not cached" + (", estimated from common beginnings" if is_estimate else "")
