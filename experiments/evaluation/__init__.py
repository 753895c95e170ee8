"""Evaluation of programs on tasks: the loop, its journal, comparison and promotion."""

from typing import TYPE_CHECKING

from kg.lazy import lazy_exports

if TYPE_CHECKING:
    from experiments.evaluation.comparison import compare
    from experiments.evaluation.evaluator import (
        Journal,
        evaluate,
        evaluation_key,
        find_stopped,
        journals_folder,
        mark_killed,
    )
    from experiments.evaluation.inspection import (
        choose_turn,
        read_reports,
        read_turns,
    )
    from experiments.evaluation.promotion import PromotionConfig, promote
    from experiments.evaluation.task import (
        DETAILS,
        ONTOLOGY,
        REPORTS,
        TURNS,
        Description,
        Evaluation,
        EvaluationConfig,
        Scored,
        ScoreT,
        Task,
    )
else:
    __getattr__ = lazy_exports(__name__, __file__)

__all__ = [
    "DETAILS",
    "ONTOLOGY",
    "REPORTS",
    "TURNS",
    "Description",
    "Evaluation",
    "EvaluationConfig",
    "Journal",
    "PromotionConfig",
    "ScoreT",
    "Scored",
    "Task",
    "choose_turn",
    "compare",
    "evaluate",
    "evaluation_key",
    "find_stopped",
    "journals_folder",
    "mark_killed",
    "promote",
    "read_reports",
    "read_turns",
]
