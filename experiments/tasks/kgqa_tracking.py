"""Evaluations and fits of programs for questions about graphs as MLflow runs, of the kind ``kgqa``."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from experiments.evaluation.evaluate import run_tags
from experiments.tasks.kgqa import KGQAEvaluation, figures_table
from experiments.tracking.tracker import DataInput, Tracker, open_run
from optimize.metrics import KGQAScore

_SETTINGS = ("program", "aggregation", "beam_width", "max_depth", "output_top_k", "lm", "graph", "data", "seed")
_TAGS = ("scorer_sha256", "graph_sha256", "data_sha256")


def track_evaluation(tracker: Tracker | None, name: str, evaluation: KGQAEvaluation) -> str | None:
    """Logs an evaluation: settings, hashes, figures, and a table with a row a question.

    Returns:
        The run's id; ``None`` where nothing is tracked.
    """
    figures = evaluation.figures
    tags = {f"finpath.{key}": str(figures.get(key)) for key in _TAGS} | run_tags(int(figures.get("seed", 0)))
    with open_run(tracker, "kgqa", name, tags=tags) as run:
        run.log_params({key: figures.get(key) for key in (*_SETTINGS, "folds", "split_by", "linked_topics", "limit")})
        run.log_data(DataInput(str(figures["data"]), str(figures["data_sha256"]), "kgqa", int(figures["questions"])))
        run.log_metrics({key: value for key, value in figures.items() if key not in _SETTINGS})
        run.log_description(figures_table([name], [figures]))
        if evaluation.scores:
            run.log_table("questions", [_row(score) for score in evaluation.scores])
        return run.id


def track_training(tracker: Tracker | None, name: str, folder: str, figures: Mapping[str, Any]) -> str | None:
    """Logs a fit with the program's folder.

    Returns:
        The run's id; ``None`` where nothing is tracked.
    """
    config = json.loads((Path(folder) / "config.json").read_text(encoding="utf-8"))
    tags = {"finpath.scorer_sha256": config["scorer_sha256"], **run_tags(int(config["seed"]))}
    with open_run(tracker, "kgqa", name, tags=tags) as run:
        run.log_params({**{f"settings.{key}": value for key, value in config["settings"].items()}, **config["train"]})
        train = config["train"]
        run.log_data(DataInput(train["questions"], train["sha256"], "train", int(train["count"])))
        run.log_metrics(figures)
        run.log_folder(Path(folder), "program")
        return run.id


def _row(score: KGQAScore) -> dict[str, Any]:
    return {
        "id": score.id,
        "question": score.question,
        "answer": score.answer,
        "gold": list(score.gold),
        "rank": score.rank,
        "f1": score.f1,
        "failure": score.failure,
        "message": score.message,
        "seconds": score.seconds,
    }
