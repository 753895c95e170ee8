"""Tasks of an evaluation: conversations about reports, questions about graphs."""

from typing import TYPE_CHECKING

from kg.lazy import lazy_exports

if TYPE_CHECKING:
    from experiments.tasks.convfinqa import ConvFinQA, OpenAnswers, answers_table, conversation_task
    from experiments.tasks.kgqa import KGQuestions, kgqa_table
else:
    __getattr__ = lazy_exports(__name__, __file__)
