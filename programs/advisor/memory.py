"""The memory of the advisor: what sentences answer is inserted into the graph, and the answer is retrieved from it.

>>> memory = AnswerMemory(graph)
>>> memory.inserted("Who bought Tarn?", [fact])[0].path
('News(Helixon buys Tarn) -> has_passage -> Passage(wire-17.txt 0)', ..., 'Answer(...) -> answers_question -> ...')
>>> memory.retrieved("who bought Tarn")[0].value      # without reading
'Helixon Inc.'
"""

from __future__ import annotations

from collections.abc import Sequence

from kg.comprehension import Asked
from kg.growing import GrowingGraph, Origin, Update
from kg.news import (
    AnsweredFact,
    RetrievedAnswer,
    add_news_types,
    answer_updates,
    retrieved_answers,
    state_of,
)

Insertion = tuple[list[Update], Origin, list[str]]
"""Updates that are written together, their origin, and the sentence of each."""

_WORDS = frozenset(("NOUN", "PROPN", "VERB", "ADJ", "ADV", "NUM", "ADP", "PART"))
_JOINING = frozenset(("ADP", "PART"))
_ASKING = frozenset(("who", "whom", "whose", "what", "which", "where", "when", "how", "many", "much", "why"))


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
        graph = self._graph
        with graph.writing:
            add_news_types(graph)
            updates, origin, spans = answer_updates(graph, question, facts, self._read)
            graph.apply(updates, origin, spans=spans)
            self.insertions.append((updates, origin, spans))
        return self.retrieved(question)


def insert_again(graph: GrowingGraph, insertions: Sequence[Insertion]) -> None:
    """Writes what was inserted into a copy of a graph into the graph itself.

    Raises:
        SchemaError: The graph has changed so that it does not fit.
    """
    add_news_types(graph)
    for updates, origin, spans in insertions:
        graph.apply(updates, origin, spans=spans)


def subject_of(asked: Asked, headline: str) -> tuple[str, str]:
    """Returns the kind and the name of what a question is about: its first name, else the document's headline."""
    return asked.entities[0][0] if asked.entities else ("news", headline)


def relation_of(asked: Asked) -> str:
    """Returns the relation in the words of a question: "pay for Brightlane" of "How much did Orvane pay for ...?"."""
    subject = _subject_words(asked)
    kept = [
        token
        for token in asked.parse.tokens
        if token.part in _WORDS and token.text.lower() not in _ASKING and token.place not in subject
    ]
    while kept and kept[0].part in _JOINING:
        kept = kept[1:]
    while kept and kept[-1].part in _JOINING:
        kept = kept[:-1]
    return " ".join(token.text for token in kept) or "is"


def _subject_words(asked: Asked) -> frozenset[int]:
    """Returns the words of the first name, with its compounds."""
    if not asked.entities:
        return frozenset()
    head = asked.entities[0][1]
    children = asked.parse.children[head]
    parts = (place for place in children if asked.parse.tokens[place].relation in ("compound", "flat", "case"))
    return frozenset((head, *parts))
