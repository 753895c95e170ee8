"""Saved programs as MLflow models: the folder and the code that serves it, with no pickle to load or serve.

uri = log_model(tracker, run, saved, LMConfig("openai/gpt-4o-mini"))       # models:/m-...
mlflow.pyfunc.load_model(uri).predict({"report": {...}, "questions": ["what was the revenue in 2008?"]})
"""

from __future__ import annotations

import logging
import re
import tempfile
import warnings
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from experiments.lms import LMConfig
from experiments.saved import SavedProgram, save_program
from experiments.tracking import model_packages, quiet_mlflow

if TYPE_CHECKING:
    from experiments.tracking import Run, Tracker
    from kg.paths import QuestionGraph

MOST_TRIPLES = 2_000_000
"""Triples of a graph that a model holds; a request to a model of a larger graph has triples of its own."""

_NO_NAME = re.compile(r"[/:.%\"']")


def log_model(tracker: Tracker, run: Run, saved: SavedProgram, lm: LMConfig, graph: QuestionGraph | None = None) -> str:
    """Logs a saved program as a model of a run: its folder, and the code that serves it in place of a pickle.

    The run may have ended; its status stays as it is, also where this is stopped.

    Args:
        tracker: The tracking store.
        run: The run.
        saved: The program.
        lm: The language model that the served program asks; its budget is left out.
        graph: The graph of a program about graphs; one with more than :data:`MOST_TRIPLES` is left out.

    Returns:
        Its URI, ``models:/m-…``.
    """
    quiet_mlflow()
    import mlflow
    from mlflow.entities import LoggedModelOutput

    name, params = _NO_NAME.sub("-", run.name) or "model", tracker.client.get_run(run.id).data.params
    # MLflow's start_run would make a finished run a running one, and a kill would leave it so.
    model = tracker.client.create_logged_model(tracker.experiment_id, name, source_run_id=run.id, params=params)
    previous, logger = mlflow.get_tracking_uri(), logging.getLogger("mlflow")
    level = logger.level
    mlflow.set_tracking_uri(tracker.config.uri)
    try:
        with tempfile.TemporaryDirectory() as temporary, warnings.catch_warnings():
            logger.setLevel(logging.ERROR)
            warnings.simplefilter("ignore")  # MLflow's advice on types
            folder = saved.folder
            if "files" not in saved.config:  # a shipped program with nothing fitted has no folder
                folder = save_program(saved.program, Path(temporary) / "program")
            artifacts = {"program": str(folder)}
            if graph is not None and len(graph.index) <= MOST_TRIPLES:
                artifacts["graph"] = str(Path(temporary) / "graph.npz")
                graph.index.save(artifacts["graph"])
            logged = mlflow.pyfunc.log_model(
                name=name,
                model_id=model.model_id,
                python_model=str(Path(__file__).with_name("serve.py")),
                artifacts=artifacts,
                model_config={"lm": {key: value for key, value in asdict(lm).items() if key != "budget"}},
                pip_requirements=[f"{package}=={version}" for package, version in model_packages().items()],
                signature=False,
            )
    finally:
        logger.setLevel(level)
        mlflow.set_tracking_uri(previous)
    tracker.client.log_outputs(run.id, [LoggedModelOutput(model.model_id, step=0)])
    return str(logged.model_uri)
