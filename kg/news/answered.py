"""Answers as facts of a growing graph: what a sentence states in answer to a question is inserted and retrieved.

    insertion = answer_insertion(graph, "How much did Orvane pay for Brightlane?", [fact], state_of(graph))
    insert_answers(graph, [insertion])
    retrieved_answers(graph, "how much did Orvane pay for Brightlane", state_of(graph))[0].path
    # ('News(Orvane buys Brightlane) -> has_passage -> Passage(wire-17.txt 3)', ...)

An answer holds while the documents and the names of the graph are those that were read. After a new document the
question is read again, and another answer replaces the earlier one, which stays with its last day.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date

from kg.growing import AddEdge, AddNode, GrowingGraph, Node, NodeKey, Origin, SetProperty, Update
from kg.news.facts import add_news_types
from kg.news.passages import Passage, passage_of, published_day

Insertion = tuple[list[Update], Origin, list[str]]
"""Updates that are written together, their origin, and the sentence of each."""

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


def question_key(question: str) -> NodeKey:
    """Returns the node of a question: its words without case, punctuation and articles."""
    words = (word.casefold() for word in _WORD.findall(question))
    return NodeKey("Question", " ".join(word for word in words if word not in _ARTICLES))


def state_of(graph: GrowingGraph) -> str:
    """Returns the state of what is read: the sentences of a graph, and the names that stand for others."""
    types = {kind.name for kind in graph.schema.types} & {"Passage", "Alias"}
    names = sorted(node.key.name for kind in types for node in graph.nodes(kind))
    return hashlib.sha256("\n".join(names).encode()).hexdigest()[:16]


def answer_insertion(graph: GrowingGraph, question: str, facts: Sequence[AnsweredFact], read: str) -> Insertion:
    """Returns what writes the facts that answer a question, for :func:`insert_answers`.

    Facts that answered the question before and are not among these get their last day.

    Args:
        graph: The graph.
        question: The question.
        facts: At least one fact that answers it.
        read: The state of the graph that was read, of :func:`state_of`.
    """
    key = question_key(question)
    is_known = _is_known(graph, key)
    updates: list[tuple[Update, str]] = [
        (AddNode("Question", key.name, {} if is_known else {"text": question, "read": read}), ""),
        (SetProperty(key, "read", read), ""),
    ]
    for place, fact in enumerate(facts):
        updates += [(update, fact.passage.text) for update in _fact_updates(graph, key, fact, place)]
    day = max(fact.passage.published for fact in facts).isoformat()
    for node in _answers(graph, key) if is_known else ():
        if node.key not in {fact.key for fact in facts}:
            updates.append((SetProperty(node.key, "valid_to", day), facts[0].passage.text))
    documents = "; ".join(dict.fromkeys(fact.passage.document for fact in facts))
    origin = Origin(documents, f"{ANSWER_TO}{question}")
    return [update for update, _ in updates], origin, [span for _, span in updates]


def insert_answers(graph: GrowingGraph, insertions: Iterable[Insertion]) -> None:
    """Writes facts that answer questions, into the graph that they were made for or into another copy of it.

    Args:
        graph: The graph; the types that it lacks are added.
        insertions: Those of :func:`answer_insertion`, in their order.

    Raises:
        SchemaError: They do not fit the graph, which has changed.
    """
    add_news_types(graph)
    for updates, origin, spans in insertions:
        graph.apply(updates, origin, spans=spans)


def retrieved_answers(graph: GrowingGraph, question: str, read: str) -> list[AnsweredFact]:
    """Returns the facts that answer a question by the graph's edges; none where the question must be read again.

    Args:
        graph: The graph.
        question: The question.
        read: The graph's state now, of :func:`state_of`.
    """
    key = question_key(question)
    known = graph.node(key) if _is_known(graph, key) else None
    if known is None or known.properties.get("read") != read:
        return []
    return [_retrieved(graph, node, key) for node in _answers(graph, key)]


def _is_known(graph: GrowingGraph, key: NodeKey) -> bool:
    return any(kind.name == "Question" for kind in graph.schema.types) and graph.node(key) is not None


def _fact_updates(graph: GrowingGraph, question: NodeKey, fact: AnsweredFact, place: int) -> Iterator[Update]:
    known = graph.node(fact.key) if _is_known(graph, question) else None
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
    edges = (edge for edge in graph.edges(key) if edge.type == "answers_question")
    nodes = [node for edge in edges if (node := graph.node(edge.source)) is not None]
    now = (node for node in nodes if "valid_to" not in node.properties)
    return sorted(now, key=lambda node: (int(node.properties.get("place", 0)), node.key.name))


def _retrieved(graph: GrowingGraph, node: Node, question: NodeKey) -> AnsweredFact:
    given = node.properties
    passage = Passage(str(given["document"]), date.fromisoformat(published_day(node)), 0, str(given["sentence"]))
    edges = [edge for edge in graph.edges(node.key) if edge.type == "shown_by_passage"]
    for edge in edges:
        stored = graph.node(edge.target)
        passage = passage_of(stored) if stored is not None else passage
    news = [edge for shown in edges for edge in graph.edges(shown.target) if edge.type == "has_passage"]
    path = tuple(f"{edge.source} -> {edge.type} -> {edge.target}" for edge in (*news, *edges))
    return AnsweredFact(
        str(given["relation"]),
        str(given["value"]),
        passage,
        float(given["confidence"]),
        str(given.get("reader", "spans")),
        (*path, f"{node.key} -> answers_question -> {question}"),
    )
