"""Runs, models and traces in MLflow."""

from typing import TYPE_CHECKING

from kg.lazy import lazy_exports

if TYPE_CHECKING:
    from experiments.tracking.asking import QuestionLog, SeenTurn, asked
    from experiments.tracking.calls import traced_calls
    from experiments.tracking.compiling import (
        describe_compilation,
        log_candidate,
        log_candidates,
        log_compilation,
        log_spent,
        logged_ontology,
        plan_params,
        register_prompts,
    )
    from experiments.tracking.environment import describe_environment, is_alive, is_gone, model_packages
    from experiments.tracking.models import ModelVersion, aliased, register, set_alias
    from experiments.tracking.recorder import Span, TurnRecorder
    from experiments.tracking.records import PROCESS_TAG, DataInput, RunKind, RunRecord, TrackingConfig
    from experiments.tracking.run import Run
    from experiments.tracking.sections import metric_name, sectioned
    from experiments.tracking.traces import CONVERSATION_TAG, REPORT_TAG, TURN_TAG, Trace, TraceWriter, read_traces
    from experiments.tracking.tracker import Tracker, open_run, temporary_folder
else:
    __getattr__ = lazy_exports(__name__, __file__)

__all__ = [
    "CONVERSATION_TAG",
    "PROCESS_TAG",
    "REPORT_TAG",
    "TURN_TAG",
    "DataInput",
    "ModelVersion",
    "QuestionLog",
    "Run",
    "RunKind",
    "RunRecord",
    "SeenTurn",
    "Span",
    "Trace",
    "TraceWriter",
    "Tracker",
    "TrackingConfig",
    "TurnRecorder",
    "aliased",
    "asked",
    "describe_compilation",
    "describe_environment",
    "is_alive",
    "is_gone",
    "log_candidate",
    "log_candidates",
    "log_compilation",
    "log_spent",
    "logged_ontology",
    "metric_name",
    "model_packages",
    "open_run",
    "plan_params",
    "read_traces",
    "register",
    "register_prompts",
    "sectioned",
    "set_alias",
    "temporary_folder",
    "traced_calls",
]
