"""Answers to questions about a growing graph: from its sentences, and from its types and edges.

    answers = GraphAnswers(graph)
    answers.texts.proposed("Who bought Brightlane?").values      # ("Orvane Semiconductor",)
    answers.by_edges("Which sector is Orvane in?").values      # ("Semiconductors",)

:mod:`programs.worlds.texts` asks in turn.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from kg.graphs import FactGraph
from kg.growing import GrowingGraph, graph_triples
from kg.news import SpanAnswers, TextAnswer, stored_passages
from kg.parsing import QuestionReader
from programs.turns import GraphDetail
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
        paths: The edges from the documents to these sentences.
        why: The reason of an abstention.
        confidence: In [0, 1]; an abstention has that of the answer that was not given.
    """

    values: tuple[str, ...] = ()
    facts: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    why: str = ""
    confidence: float | None = None


class GraphAnswers:
    """Answers to several questions about one graph, which is only read.

    Args:
        graph: The graph.
        reader_of: Returns the reader of questions about types and edges; ``None`` for sentences alone.
        texts: The answers from sentences; by default from those of the graph.
    """

    def __init__(
        self,
        graph: GrowingGraph,
        reader_of: Callable[[FactGraph], QuestionReader] | None = None,
        texts: SpanAnswers | None = None,
    ) -> None:
        self._graph, self._reader_of = graph, reader_of
        self.texts = texts if texts is not None else SpanAnswers(stored_passages(graph))

    def by_sentences(self, answer: TextAnswer) -> SupportedAnswers:
        """Returns the values of sentences with these sentences and the edges that lead to them.

        Args:
            answer: The values, and the sentences that have them.
        """
        passages = dict.fromkeys(answer.passages)
        steps = (answer.steps,) if answer.steps else ()
        edges = (edge for one in passages for edge in self._graph.edges(one.key, kind="has_passage"))
        paths = tuple(f"{edge.source} -> {edge.type} -> {edge.target}" for edge in edges)
        facts = (*steps, *(one.quoted for one in passages))
        return SupportedAnswers(answer.values, facts, paths, confidence=answer.confidence)

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
        detail = turn.detail or GraphDetail()
        values = turn.answer if isinstance(turn.answer, tuple) else (turn.words,)
        return SupportedAnswers(
            tuple(dict.fromkeys(map(str, values))),
            tuple(detail.facts[:MOST_FACTS]) or (detail.path,),
            confidence=turn.confidence,
        )
