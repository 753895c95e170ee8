"""Evaluation of programs on tasks: the loop, its journal, comparison and promotion."""

from typing import TYPE_CHECKING

from kg.lazy import lazy_exports

if TYPE_CHECKING:
    from experiments.evaluation.comparison import compare
    from experiments.evaluation.evaluator import evaluate, evaluation_key
    from experiments.evaluation.inspection import (
        choose_conversation,
        choose_turn,
        read_reports,
        read_turns,
        report_graph,
    )
    from experiments.evaluation.journal import Journal, journals_folder
    from experiments.evaluation.log import (
        DETAILS,
        ONTOLOGY,
        REPORTS,
        REVISION_TAG,
        TURNS,
        figures_table,
        run_tags,
        summary_table,
    )
    from experiments.evaluation.promotion import PromotionConfig, promote
    from experiments.evaluation.records import Evaluation, EvaluationConfig, TracesKept
    from experiments.evaluation.stopped import find_finished, find_stopped, mark_killed
    from experiments.evaluation.task import Answered, Description, Scored, ScoreT, Task, trace_of
else:
    __getattr__ = lazy_exports(__name__, __file__)

__all__ = [
    "DETAILS",
    "ONTOLOGY",
    "REPORTS",
    "REVISION_TAG",
    "TURNS",
    "Answered",
    "Description",
    "Evaluation",
    "EvaluationConfig",
    "Journal",
    "PromotionConfig",
    "ScoreT",
    "Scored",
    "Task",
    "TracesKept",
    "choose_conversation",
    "choose_turn",
    "compare",
    "evaluate",
    "evaluation_key",
    "figures_table",
    "find_finished",
    "find_stopped",
    "journals_folder",
    "mark_killed",
    "promote",
    "read_reports",
    "read_turns",
    "report_graph",
    "run_tags",
    "summary_table",
    "trace_of",
]
