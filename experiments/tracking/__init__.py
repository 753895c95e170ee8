"""Runs, models and traces in MLflow."""

from typing import TYPE_CHECKING

from kg.lazy import lazy_exports

if TYPE_CHECKING:
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
    from experiments.tracking.environment import (
        PROCESS_TAG,
        REVISION_TAG,
        describe_environment,
        is_alive,
        is_gone,
        model_packages,
        run_tags,
    )
    from experiments.tracking.traces import (
        CONVERSATION_TAG,
        REPORT_TAG,
        TURN_TAG,
        QuestionLog,
        SeenTurn,
        Span,
        TraceFacts,
        TraceWriter,
        TurnRecorder,
        asked,
        read_traces,
        search_traces,
        traced_calls,
    )
    from experiments.tracking.tracker import (
        DataInput,
        Run,
        RunKind,
        RunRecord,
        Tracker,
        TrackingConfig,
        metric_name,
        open_run,
        sectioned,
        temporary_folder,
    )
else:
    __getattr__ = lazy_exports(__name__, __file__)

__all__ = [
    "CONVERSATION_TAG",
    "PROCESS_TAG",
    "REPORT_TAG",
    "REVISION_TAG",
    "TURN_TAG",
    "DataInput",
    "QuestionLog",
    "Run",
    "RunKind",
    "RunRecord",
    "SeenTurn",
    "Span",
    "TraceFacts",
    "TraceWriter",
    "Tracker",
    "TrackingConfig",
    "TurnRecorder",
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
    "register_prompts",
    "run_tags",
    "search_traces",
    "sectioned",
    "temporary_folder",
    "traced_calls",
]
