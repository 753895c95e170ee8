"""Data sets: their download, formats, checks and sources."""

from typing import TYPE_CHECKING

from kg.lazy import lazy_exports

if TYPE_CHECKING:
    from experiments.data.conversations import (
        ConversationRecord,
        LoadedData,
        conversation_examples,
        join_loaded,
        load_conversations,
        read_report,
    )
    from experiments.data.graphs import LoadedGraph, graph_and_questions, load_graph
    from experiments.data.news import SAMPLE_NEWS, read_documents, read_questions, recorded_replies
    from experiments.data.portfolio import read_portfolio
    from experiments.data.questions import KGQuestion, LoadedQuestions, join_questions, load_questions
    from experiments.data.reports import find_report
    from experiments.data.types import read_types, types_as_json, use_types
else:
    __getattr__ = lazy_exports(__name__, __file__)
