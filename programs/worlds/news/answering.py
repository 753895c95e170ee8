"""Answers to questions about a growing graph: by inserted facts, from its sentences, and from its types and edges.

    answers = GraphAnswers(graph)
    answers.texts.proposed("Who bought Brightlane?").values      # ("Orvane Semiconductor",)
    answers.by_edges("Which sector is Orvane in?").values      # ("Semiconductors",)

What a sentence answers is inserted first, and the answer is retrieved from the graph. :mod:`programs.worlds.texts`
asks in turn.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from kg.graphs import FactGraph
from kg.growing import GrowingGraph, graph_triples
from kg.news import (
    AnsweredFact,
    Insertion,
    SpanAnswers,
    TextAnswer,
    insert_answers,
    retrieved_answers,
    state_of,
    stored_passages,
)
from kg.parsing import QuestionReader
from programs.turns import QueryDetail
from programs.worlds.graph import GraphConfig, GraphWorld

MOST_FACTS = 5
"""Facts that are shown for an answer."""

ANSWER_FROM = 0.9
"""The confidence from which types and edges of the graph answer what its sentences leave open."""


@dataclass(frozen=True)
class SupportedAnswers:
    """The answers of a question.

    Attributes:
        values: The answers; none where it abstains.
        facts: What they rest on, one line each with the sentence and its source.
        why: The reason of an abstention.
        confidence: In [0, 1]; an abstention has that of the answer that was not given.
        retrieved: The inserted facts that the answer was retrieved from, with their paths.
    """

    values: tuple[str, ...] = ()
    facts: tuple[str, ...] = ()
    why: str = ""
    confidence: float | None = None
    retrieved: tuple[AnsweredFact, ...] = ()


class GraphAnswers:
    """Answers to several questions about one graph.

    Args:
        graph: The graph; facts that answer a question are inserted into it, or into a copy if it is only read.
        reader_of: Returns the reader of questions about types and edges; ``None`` for sentences alone.

    Attributes:
        insertions: What was inserted, for another copy of the graph.
    """

    def __init__(self, graph: GrowingGraph, reader_of: Callable[[FactGraph], QuestionReader] | None = None) -> None:
        self.insertions: list[Insertion] = []
        self._graph, self._reader_of = graph, reader_of
        self._grows: GrowingGraph | None = None if graph.read_only else graph
        self._state = state_of(graph)

    @cached_property
    def texts(self) -> SpanAnswers:
        """The answers from sentences."""
        return SpanAnswers(stored_passages(self._graph))

    def retrieved(self, question: str) -> SupportedAnswers:
        """Returns the inserted facts that answer a question, if the documents are those that were read for it."""
        graph = self._grows if self._grows is not None else self._graph
        facts = retrieved_answers(graph, question, self._state)
        if not facts:
            return SupportedAnswers()
        lines = tuple(dict.fromkeys(fact.passage.quoted for fact in facts))
        confidence = min(fact.confidence for fact in facts)
        return SupportedAnswers(tuple(fact.value for fact in facts), lines, "", confidence, tuple(facts))

    def insert(self, question: str, answer: TextAnswer, reader: str) -> SupportedAnswers:
        """Inserts the values of sentences that answer a question, and answers it from the graph.

        Args:
            question: The question.
            answer: The values, each with its sentence.
            reader: What read the sentences.
        """
        facts = tuple(
            AnsweredFact(question, value, passage, answer.confidence, reader)
            for value, passage in zip(answer.values, answer.passages, strict=True)
        )
        if self._grows is None:
            self._grows = self._graph.copy()
        with self._grows.writing:
            self.insertions.append(Insertion(question, facts, self._state))
            insert_answers(self._grows, self.insertions[-1])
        return self.retrieved(question)

    @cached_property
    def _edges(self) -> GraphWorld | None:
        """The types and edges of the graph as any graph."""
        if self._reader_of is None:
            return None
        reader = self._reader_of(FactGraph.build(graph_triples(self._graph)))
        return GraphWorld(reader, config=GraphConfig(answer_from=ANSWER_FROM))

    def by_edges(self, question: str) -> SupportedAnswers | None:
        """Returns the answer of the graph's own types and edges; ``None`` where the confidence is too low.

        That the graph does not state something is no denial.
        """
        turn = self._edges.answered(question) if self._edges is not None else None
        if turn is None or turn.answer in (None, "no") or not turn.words:
            return None
        detail = turn.detail or QueryDetail()
        values = turn.answer if isinstance(turn.answer, tuple) else (turn.words,)
        return SupportedAnswers(
            tuple(dict.fromkeys(map(str, values))),
            tuple(detail.facts[:MOST_FACTS]) or (detail.path,),
            confidence=turn.confidence,
        )
