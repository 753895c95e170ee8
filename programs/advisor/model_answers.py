"""Answers to questions about the advisor's graph by a language model, where rules leave them open or as it reads them.

    answers = ModelAnswers(graph, lm, date.today())
    answers.answer("Who bought Tarn?").values       # ("Helixon Inc.",)

The model reads the sentences of the graph (:mod:`programs.worlds.texts`). Where there are none, or documents are given,
the graph is asked by queries, whose rows must support the answer with all its figures and names.
"""

from __future__ import annotations

from datetime import date
from pathlib import Path

import dspy

from kg.errors import LMError
from kg.growing import GrowingGraph
from kg.questions import EntityGraph
from programs.beam import BeamQA
from programs.thoughts import KnowledgeGraphOfThoughts, ThoughtsConfig
from programs.tools import ToolSettings, load_tools
from programs.worlds.entities import EntityWorld
from programs.worlds.news.answering import (
    EMPTY,
    AnswerMemory,
    Answers,
    GraphAnswers,
    TypedAnswers,
    is_empty,
    retrieved_answers_of,
)
from programs.worlds.texts import TextsWorld, answers_of
from signatures.news import UnderstandTexts

SHOWN_NODES = 6
"""Nodes of the graph in a language model's prompt; they make up most of the prompt's tokens."""


class ModelAnswers:
    """Answers by rules and by a language model; several threads may ask.

    Args:
        graph: The graph; it grows as that of :class:`GraphAnswers`.
        lm: The language model.
        today: The date that freshness is judged by.
        folder: Documents that the model may inspect.
        typed: As of :class:`GraphAnswers`.
    """

    def __init__(
        self,
        graph: GrowingGraph,
        lm: dspy.LM,
        today: date,
        folder: str | None = None,
        typed: TypedAnswers | None = None,
    ) -> None:
        self._graph, self._lm, self._today, self._folder = graph, lm, today, folder
        self._world = TextsWorld(GraphAnswers(graph, typed))
        self._program = BeamQA(signature=UnderstandTexts)

    @property
    def memory(self) -> AnswerMemory:
        """The inserted facts."""
        return self._world.answers.memory

    def answer(self, question: str) -> Answers:
        """Answers a question.

        Raises:
            LMError: The model cannot be asked.
        """
        if is_empty(question):
            return EMPTY
        with self._world.lock:
            known = self.memory.retrieved(question)
            if known:
                return retrieved_answers_of(known)
            if self._folder is not None or self._world.answers.clauses is None:
                answer, why = answer_question(self._graph, question, self._lm, self._today, self._folder)
                return Answers((answer,), tuple(why.splitlines())) if answer is not None else Answers((), (), why)
        with dspy.context(lm=self._lm):
            turn = self._program.ask(self._world.start(), question).turns[-1]
        if turn.failure == "lm_error":
            raise LMError(turn.message)
        return answers_of(turn)


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
