"""Tasks of an evaluation: conversations about reports, questions about graphs, the advisor, questions with files."""

from typing import TYPE_CHECKING

from kg.lazy import lazy_exports

if TYPE_CHECKING:
    from experiments.tasks.convfinqa import ConvFinQA, OpenAnswers, answers_table, conversation_task, figures_table
    from experiments.tasks.geography import is_right, load_geography
    from experiments.tasks.kgqa import KGQuestions, kgqa_table
    from experiments.tasks.thoughts import (
        ThoughtsItem,
        ThoughtsQuestions,
        ThoughtsSetup,
        documents_folder,
        read_tasks,
        supported_answer,
        thoughts_figures,
    )
else:
    __getattr__ = lazy_exports(__name__, __file__)

__all__ = [
    "ConvFinQA",
    "KGQuestions",
    "OpenAnswers",
    "ThoughtsItem",
    "ThoughtsQuestions",
    "ThoughtsSetup",
    "answers_table",
    "conversation_task",
    "documents_folder",
    "figures_table",
    "is_right",
    "kgqa_table",
    "load_geography",
    "read_tasks",
    "supported_answer",
    "thoughts_figures",
]
