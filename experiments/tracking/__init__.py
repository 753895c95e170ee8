"""Runs, models and traces in MLflow."""

from typing import TYPE_CHECKING

from kg.lazy import lazy_exports

if TYPE_CHECKING:
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
    )
    from experiments.tracking.tracker import (
        DataInput,
        Run,
        RunKind,
        RunRecord,
        Tracker,
        TrackingConfig,
        autologged,
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
    "autologged",
    "describe_environment",
    "is_alive",
    "is_gone",
    "metric_name",
    "model_packages",
    "open_run",
    "read_traces",
    "run_tags",
    "search_traces",
    "sectioned",
    "temporary_folder",
]
