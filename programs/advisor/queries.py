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
from kg.questions import EntityGraph
from programs.thoughts import KnowledgeGraphOfThoughts, ThoughtsConfig
from programs.tools import ToolSettings, load_tools
from programs.worlds.entities import EntityWorld
from programs.worlds.news.answering import GraphAnswers

SHOWN_NODES = 6
"""Nodes of the graph in a language model's prompt; they make up most of the prompt's tokens."""


def answer_question(
    graph: GrowingGraph,
    question: str,
    lm: dspy.LM | None,
    today: date,
    folder: str | None = None,
    view: EntityGraph | None = None,
) -> tuple[str | None, str]:
    """Returns an answer and its support, or ``None`` and the reason.

    Args:
        graph: The graph; it stays as it is. A language model may add facts to a copy.
        question: The question.
        lm: The language model; ``None`` parses the question with the graph's lexicon.
        today: The date that freshness is judged by.
        folder: Documents that a language model may inspect.
        view: The current view of the graph, for several questions without a language model.
    """
    if lm is None:
        if view is None:
            answers = GraphAnswers(graph).answer(question)
            return ("; ".join(answers.values) or None), "\n".join(answers.facts) or answers.why
        turn = EntityWorld(view).answered(question)
        if turn.detail is None or turn.detail.found is None:
            return None, turn.message
        return turn.words, "\n".join(turn.detail.found.facts[:5])
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
