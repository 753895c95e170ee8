"""Growing graphs as worlds that are asked about, and their folders.

>>> KnowledgeQA().ask(State(Knowledge(graph, "news")), "Who bought Tarn?").turns[-1].words
'Helixon Inc.'
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import dspy

from experiments.console import say
from kg.errors import DataError, FinpathError
from kg.growing import GrowingGraph, TypeProposals
from kg.investments import investment_schema
from kg.locks import BusyError
from programs.advisor import Advisor, GraphAnswers, ModelAnswers, TypedAnswers
from programs.lm import failure_of, metered
from programs.turns import Kept, QueryDetail, State, Turn

if TYPE_CHECKING:
    from programs.worlds.graph import QueryTurn

_SECONDS, _PAUSE = 2.0, 0.05


def open_graph(path: str, *, new: bool = False, read_only: bool = False, seconds: float | None = None) -> GrowingGraph:
    """The graph of a folder.

    Args:
        path: The folder.
        new: Whether it is created where it is missing.
        read_only: Whether nothing is written.
        seconds: The longest wait for another process that has it open (2).

    Raises:
        DataError: There is none and ``new`` is not set, or another process keeps it open.
    """
    if not new and not Path(path).is_dir():
        raise DataError("is no graph: create one with `finpath ingest`", file=path)
    last = time.monotonic() + (seconds if seconds is not None else _SECONDS)
    while True:
        try:
            return GrowingGraph(path, investment_schema(), read_only=read_only)
        except DataError as error:
            if not isinstance(error.__cause__, BusyError) or time.monotonic() > last:
                raise
            time.sleep(_PAUSE)


def copied_graph(path: str) -> GrowingGraph:
    """A copy of the graph of a folder in memory: other processes may use it while a language model answers."""
    with open_graph(path, read_only=True) as stored:
        return stored.copy()


def graph_of_texts(folder: str) -> GrowingGraph:
    """A graph in memory of the texts of a folder, as rules read them; what cannot be read is named.

    Raises:
        DataError: No text can be read.
    """
    from experiments.data import news_rules, read_documents
    from kg.news import FrameReader

    documents, problems = read_documents([folder])
    graph = GrowingGraph(None, investment_schema())
    advisor = Advisor(graph, FrameReader(graph, news_rules()), TypeProposals(graph, "never"))
    for document in sorted(documents, key=lambda document: document.published):
        try:
            advisor.ingest(document)
        except FinpathError as error:
            problems.append(f"{document.name}: {error}")
    for problem in problems:
        say(f"left out: {problem}")
    if not documents:
        raise DataError("has no text that can be read", file=folder)
    return graph


@dataclass(frozen=True, eq=False)
class Knowledge:
    """A growing graph that questions are asked about; what answers them is inserted into it.

    Attributes:
        graph: The graph.
        name: The name of its folder.
    """

    graph: GrowingGraph
    name: str
    kind: Literal["growing graph"] = "growing graph"

    @cached_property
    def answers(self) -> GraphAnswers | ModelAnswers:
        """The rules that answer, or rules and the language model that is set in DSPy."""
        from experiments.lms.reader import fetch_reader
        from experiments.saved import question_reader

        fetch_reader()
        typed = TypedAnswers(question_reader)
        if dspy.settings.lm is None:
            return GraphAnswers(self.graph, typed)
        return ModelAnswers(self.graph, dspy.settings.lm, date.today(), None, typed)


class KnowledgeQA:
    """Answers questions from a growing graph; no question depends on those before it."""

    kind = "advisor"
    needs_lm = False

    def start(
        self,
        world: Knowledge,
        turns: Sequence[QueryTurn] = (),
        kept: Kept = (),  # noqa: ARG002
    ) -> State[Knowledge]:
        """See :class:`programs.turns.program.TurnProgram`."""
        return State(world, tuple(turns))

    def ask(self, state: State[Knowledge], question: str) -> State[Knowledge]:
        """See :class:`programs.turns.program.TurnProgram`."""
        turn: QueryTurn = Turn(question)
        with metered() as measured:
            try:
                answers = state.world.answers.answer(question)
            except Exception as error:  # noqa: BLE001 - failure_of raises all but the model's and the data's again
                failure, message = failure_of(error, measured)
                return state.after(replace(turn, failure=failure, message=message))
        path = "; ".join(edge for fact in answers.retrieved for edge in fact.path)
        turn = replace(turn, confidence=answers.confidence, detail=QueryDetail(path, answers.facts, answers.values))
        if answers.values:
            turn = replace(turn, answer=answers.values, words="; ".join(answers.values))
        else:
            turn = replace(turn, failure="not_answered", message=answers.why)
        return state.after(replace(turn, usage=measured.usage))


def keep_answers(knowledge: Knowledge) -> None:
    """Writes the facts that answered into the graph's folder; another process may have it open."""
    from kg.news import insert_answers

    insertions = knowledge.answers.memory.insertions
    if not insertions:
        return
    try:
        with open_graph(knowledge.name) as opened:
            insert_answers(opened, insertions)
    except FinpathError as error:
        say(f"the facts of {len(insertions)} answers are not inserted: {error}")
