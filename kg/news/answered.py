"""Answers as facts of a growing graph: what a sentence states in answer to a question is inserted and retrieved.

    insert_answers(graph, Insertion("How much did Orvane pay for Brightlane?", (fact,), state_of(graph)))
    retrieved_answers(graph, "how much did Orvane pay for Brightlane", state_of(graph))[0].path
    # ('News(Orvane buys Brightlane) -> has_passage -> Passage(wire-17.txt 3)', ...)

An answer holds while the documents and the names of the graph are those that were read. After a new document the
question is read again, and another answer replaces the earlier one, which stays with its last day.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from kg.growing import AddEdge, AddNode, GrowingGraph, Node, NodeKey, Origin, SetProperty, Update
from kg.news.documents import Passage, passage_of
from kg.news.facts import add_news_types

ANSWER_TO = "in answer to: "
"""What begins the place of the origin of an inserted answer."""

_ARTICLES = frozenset(("a", "an", "the"))
_WORD = re.compile(r"[$€£¥]?\w+(?:[.,'’-]\w+)*%?")


@dataclass(frozen=True)
class AnsweredFact:
    """A fact that answers a question.

    Attributes:
        question: The question.
        value: The answer.
        passage: The sentence that states it.
        confidence: In [0, 1].
        reader: What read the sentence: ``spans``, or the name of a model.
        path: The edges from the document to the question, one text each; of a retrieved fact.
    """

    question: str
    value: str
    passage: Passage
    confidence: float
    reader: str = "spans"
    path: tuple[str, ...] = ()

    @property
    def key(self) -> NodeKey:
        """Its node."""
        place = f"({self.passage.document} {self.passage.place})"
        return NodeKey("Answer", f"{self.question} -> {self.value} {place}")


class Insertion(NamedTuple):
    """At least one fact that answers a question, and the state of the graph that was read, of :func:`state_of`."""

    question: str
    facts: tuple[AnsweredFact, ...]
    state: str


def question_key(question: str) -> NodeKey:
    """Returns the node of a question: its words without case, punctuation and articles."""
    words = (word.casefold() for word in _WORD.findall(question))
    return NodeKey("Question", " ".join(word for word in words if word not in _ARTICLES))


def state_of(graph: GrowingGraph) -> str:
    """Returns the state of what is read: the sentences of a graph, and the names that stand for others."""
    names = sorted(node.key.name for kind in ("Passage", "Alias") for node in graph.nodes(kind))
    return hashlib.sha256("\n".join(names).encode()).hexdigest()[:16]


def insert_answers(graph: GrowingGraph, insertion: Insertion) -> None:
    """Writes facts that answer a question; earlier answers that are not among them get their last day.

    Args:
        graph: The graph that was read, or another copy of it; the types that it lacks are added.
        insertion: The facts.

    Raises:
        SchemaError: They do not fit the graph, which has changed.
    """
    add_news_types(graph)
    question, facts, state = insertion
    key = question_key(question)
    updates: list[tuple[Update, str]] = [(SetProperty(key, "read", state), "")]
    if graph.node(key) is None:
        updates.insert(0, (AddNode("Question", key.name, {"text": question, "read": state}), ""))
    for place, fact in enumerate(facts):
        updates += [(update, fact.passage.text) for update in _fact_updates(graph, key, fact, place)]
    day = max(fact.passage.published for fact in facts).isoformat()
    earlier = (node.key for node in _answers(graph, key) if node.key not in {fact.key for fact in facts})
    updates += [(SetProperty(node, "valid_to", day), facts[0].passage.text) for node in earlier]
    documents = "; ".join(dict.fromkeys(fact.passage.document for fact in facts))
    origin = Origin(documents, f"{ANSWER_TO}{question}")
    graph.apply([update for update, _ in updates], origin, spans=[span for _, span in updates])


def retrieved_answers(graph: GrowingGraph, question: str, state: str) -> list[AnsweredFact]:
    """Returns the facts that answer a question by the graph's edges; none where the question must be read again.

    Args:
        graph: The graph.
        question: The question.
        state: The graph's state now, of :func:`state_of`.
    """
    key = question_key(question)
    known = graph.node(key)
    if known is None or known.properties.get("read") != state:
        return []
    return [_retrieved(graph, node, key) for node in _answers(graph, key)]


def _fact_updates(graph: GrowingGraph, question: NodeKey, fact: AnsweredFact, place: int) -> Iterator[Update]:
    known = graph.node(fact.key)
    if known is None:
        properties = {
            "subject": fact.passage.document,
            "relation": fact.question,
            "value": fact.value,
            "sentence": fact.passage.text,
            "document": fact.passage.document,
            "published_at": fact.passage.published.isoformat(),
            "confidence": round(fact.confidence, 4),
            "reader": fact.reader,
            "place": place,
        }
        yield AddNode("Answer", fact.key.name, properties)
    elif "valid_to" in known.properties:
        yield SetProperty(fact.key, "valid_to", None)
    yield AddEdge("answers_question", fact.key, question)
    yield AddEdge("shown_by_passage", fact.key, fact.passage.key)


def _answers(graph: GrowingGraph, key: NodeKey) -> list[Node]:
    """Returns the facts that answer a question now, in their order."""
    edges = graph.edges(key, kind="answers_question")
    nodes = [node for edge in edges if (node := graph.node(edge.source)) is not None]
    now = (node for node in nodes if "valid_to" not in node.properties)
    return sorted(now, key=lambda node: (int(node.properties.get("place", 0)), node.key.name))


def _retrieved(graph: GrowingGraph, node: Node, question: NodeKey) -> AnsweredFact:
    given = node.properties
    edge = next(graph.edges(node.key, kind="shown_by_passage"))
    passage = graph.node(edge.target)
    assert passage is not None  # a document is undone after the answers that build on it
    edges = (*graph.edges(edge.target, kind="has_passage"), edge)
    path = tuple(f"{one.source} -> {one.type} -> {one.target}" for one in edges)
    return AnsweredFact(
        str(given["relation"]),
        str(given["value"]),
        passage_of(passage),
        float(given["confidence"]),
        str(given.get("reader", "spans")),
        (*path, f"{node.key} -> answers_question -> {question}"),
    )
