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
from typing import TYPE_CHECKING, Any

from experiments.lms import LMConfig
from experiments.saved.programs import Origin, SavedProgram, save_program
from experiments.tracking import model_packages
from experiments.tracking.tracker import quiet_mlflow

if TYPE_CHECKING:
    from experiments.tracking import Run, Tracker
    from kg.paths import QuestionGraph

MOST_TRIPLES = 2_000_000
"""Triples of a graph that a model holds; a request to a model of a larger graph has triples of its own."""

_REPORT = {
    "id": "ACME/2020",
    "pre_text": ["in millions"],
    "table": [["", "2020", "2019"], ["net sales", "$ 120", "$ 100"]],
    "post_text": [],
}
_REPORT_EXAMPLE = {"report": _REPORT, "questions": ["what were net sales in 2020?", "and the change from 2019?"]}
_GRAPH_EXAMPLE = {"questions": ["who directed Alien?"]}
_NO_NAME = re.compile(r"[/:.%\"']")


def log_model(tracker: Tracker, run: Run, saved: SavedProgram, lm: LMConfig, graph: QuestionGraph | None = None) -> str:
    """Logs a saved program as a model of a run.

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

    about_reports = hasattr(saved.program, "ontology")
    settings = {name: value for name, value in asdict(lm).items() if value is not None and name != "budget"}
    previous = mlflow.get_tracking_uri()
    mlflow.set_tracking_uri(tracker.config.uri)
    logger = logging.getLogger("mlflow")
    level = logger.level
    try:
        logger.setLevel(logging.ERROR)  # advice on types of inputs
        # MLflow's start_run would make a finished run a running one, and a kill would leave it so.
        made = tracker.client.create_logged_model(
            tracker.experiment_id,
            _NO_NAME.sub("-", run.name) or "model",
            source_run_id=run.id,
            params=tracker.client.get_run(run.id).data.params,
        )
        with tempfile.TemporaryDirectory() as temporary, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # MLflow's own, of its types
            has_folder = "files" in saved.config  # a shipped program with nothing fitted has none
            folder = saved.folder if has_folder else save_program(saved.program, Path(temporary) / "program", Origin())
            artifacts = {"program": str(folder)}
            if graph is not None and len(graph.index) <= MOST_TRIPLES:
                artifacts["graph"] = str(Path(temporary) / "graph.npz")
                graph.index.save(artifacts["graph"])
            logged = mlflow.pyfunc.log_model(
                name=made.name,
                model_id=made.model_id,
                python_model=str(Path(__file__).with_name("serve.py")),
                artifacts=artifacts,
                model_config={"lm": settings},
                pip_requirements=[f"{name}=={version}" for name, version in model_packages().items()],
                signature=_signature(about_reports),
                input_example=_REPORT_EXAMPLE if about_reports else _GRAPH_EXAMPLE,
            )
    finally:
        logger.setLevel(level)
        mlflow.set_tracking_uri(previous)
    tracker.client.log_outputs(run.id, [LoggedModelOutput(made.model_id, step=0)])
    return str(logged.model_uri)


def _signature(about_reports: bool) -> Any:
    """The inputs and outputs of a program for reports or for graphs, as MLflow's server checks them."""
    from mlflow.models import ModelSignature
    from mlflow.types import ColSpec, DataType, Schema
    from mlflow.types.schema import AnyType, Array

    texts = Array(DataType.string)
    further = [ColSpec(texts, "topics", required=False), ColSpec(AnyType(), "triples", required=False)]
    columns = [ColSpec(AnyType(), "report")] if about_reports else further
    inputs = Schema([*columns, ColSpec(texts, "questions")])
    return ModelSignature(inputs=inputs, outputs=Schema([ColSpec(Array(AnyType()), "answers")]))
