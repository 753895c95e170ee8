"""The memory of the advisor: what sentences answer is inserted into the graph, and the answer is retrieved from it.

>>> memory = AnswerMemory(graph)
>>> memory.inserted("Who bought Tarn?", [fact])[0].path
('News(Helixon buys Tarn) -> has_passage -> Passage(wire-17.txt 0)', ..., 'Answer(...) -> answers_question -> ...')
>>> memory.retrieved("who bought Tarn")[0].value      # without reading
'Helixon Inc.'
"""

from __future__ import annotations

from collections.abc import Sequence

from kg.growing import GrowingGraph
from kg.news import (
    AnsweredFact,
    Insertion,
    RetrievedAnswer,
    answer_insertion,
    insert_answers,
    retrieved_answers,
    state_of,
)


class AnswerMemory:
    """The answers that a graph holds.

    Args:
        graph: The graph; it grows. Of one that is only read, a copy in memory grows in its place.

    Attributes:
        insertions: What was inserted, for another copy of the graph.
    """

    def __init__(self, graph: GrowingGraph) -> None:
        self._given = graph
        self._graph: GrowingGraph | None = None if graph.read_only else graph
        self._read = state_of(graph)
        self.insertions: list[Insertion] = []

    def retrieved(self, question: str) -> list[RetrievedAnswer]:
        """Returns the facts of the graph that answer a question, if the documents are those that were read for it."""
        return retrieved_answers(self._graph if self._graph is not None else self._given, question, self._read)

    def inserted(self, question: str, facts: Sequence[AnsweredFact]) -> list[RetrievedAnswer]:
        """Inserts facts that answer a question, and retrieves them."""
        if self._graph is None:
            self._graph = self._given.copy()
        with self._graph.writing:
            insertion = answer_insertion(self._graph, question, facts, self._read)
            insert_answers(self._graph, [insertion])
            self.insertions.append(insertion)
        return self.retrieved(question)
