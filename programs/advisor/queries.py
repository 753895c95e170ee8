"""Answers to questions about the advisor's graph by queries that a language model writes.

>>> answer_question(graph, "Who bought Tarn?", lm, date.today())[0]
'Helixon Inc.'

An answer counts only if rows of the graph support it, with all its figures and names.
"""

from __future__ import annotations

from datetime import date
from pathlib import Path

import dspy

from kg.growing import GrowingGraph
from programs.thoughts import KnowledgeGraphOfThoughts, ThoughtsConfig
from programs.tools import ToolSettings, load_tools
from programs.worlds.news.answering import GraphAnswers

SHOWN_NODES = 6
"""Nodes of the graph in a language model's prompt; they make up most of the prompt's tokens."""


def answer_question(
    graph: GrowingGraph,
    question: str,
    lm: dspy.LM | None,
    today: date,
    folder: str | None = None,
    answers: GraphAnswers | None = None,
) -> tuple[str | None, str]:
    """Returns an answer and its support, or ``None`` and the reason.

    Args:
        graph: The graph; it stays as it is. A language model may add facts to a copy.
        question: The question.
        lm: The language model; ``None`` for an answer without one.
        today: The date that freshness is judged by.
        folder: Documents that a language model may inspect.
        answers: The answers of the graph without a language model, for several questions.
    """
    if lm is None:
        supported = (answers if answers is not None else GraphAnswers(graph)).answer(question)
        return ("; ".join(supported.values) or None), "\n".join(supported.facts) or supported.why
    tools = load_tools(["inspect_document"] if folder else [], ToolSettings(folder=Path(folder) if folder else None))
    program = KnowledgeGraphOfThoughts(tools, ThoughtsConfig(shown=SHOWN_NODES, retrieve="both"))
    with graph.copy() as scratch:  # what a question adds is forgotten after its answer
        found = program(question=question, graph=scratch, today=today).thoughts
    why = found.query or "\n".join(found.paths) or "; ".join(found.refused)
    if found.answer is None or found.answer.casefold().rstrip(".") == "unknown":
        return None, why or "nothing was found"
    if found.retrieved is None or not found.retrieved.rows:
        return None, f"nothing in the graph says so; the model alone says {found.answer!r}"
    if not found.grounded:
        return None, f"what was found does not say so; the model alone says {found.answer!r}"
    return found.answer, why
