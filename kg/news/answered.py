"""Answers as facts of a growing graph: what a sentence states in answer to a question is inserted and retrieved.

    fact = AnsweredFact("Orvane", "company", "pay for Brightlane", "$340 million", "money", passage, 0.81)
    insertion = answer_insertion(graph, "How much did Orvane pay for Brightlane?", [fact], read)
    insert_answers(graph, [insertion])
    retrieved_answers(graph, "how much did Orvane pay for Brightlane", read)[0].path
    # ('News(Orvane buys Brightlane) -> has_passage -> Passage(wire-17.txt 3)', ...)

An answer holds while the documents and the names of the graph are those that were read. After a new document the
question is read again, and another answer replaces the earlier one, which stays with its last day.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from kg.growing import AddEdge, AddNode, Edge, GrowingGraph, Node, NodeKey, Origin, SetProperty, Update
from kg.news.memory import add_news_types
from kg.news.passages import Passage, passage_key, published_day
from kg.sentences import plain_name

Insertion = tuple[list[Update], Origin, list[str]]
"""Updates that are written together, their origin, and the sentence of each."""

ANSWER_TO = "in answer to: "
"""What begins the place of the origin of an inserted answer."""

_NODE_TYPES = {"company": "Company", "person": "Person", "place": "Place", "product": "Product"}
_ARTICLES = frozenset(("a", "an", "the"))
_WORD = re.compile(r"[$€£¥]?\w+(?:[.,'’-]\w+)*%?")


@dataclass(frozen=True)
class AnsweredFact:
    """A fact that answers a question.

    Attributes:
        subject: The name that the question is about; a headline where it has none.
        subject_kind: Its kind; empty if it is not known.
        relation: The relation, in the words of the question.
        value: The answer.
        value_kind: Its kind: company, person, place, product, money, date and others.
        passage: The sentence that states it.
        confidence: In [0, 1].
        reader: What read the sentence.
        against: Sentences of the same day with another value.
    """

    subject: str
    subject_kind: str
    relation: str
    value: str
    value_kind: str
    passage: Passage
    confidence: float
    reader: str = "rules"
    against: tuple[Passage, ...] = ()

    def __str__(self) -> str:
        return f"{self.subject} -> {self.relation} -> {self.value}"


@dataclass(frozen=True)
class RetrievedAnswer:
    """A fact as the graph has it.

    Attributes:
        subject: Its subject.
        relation: Its relation.
        value: The answer.
        sentence: The sentence that states it.
        document: The document.
        published_at: Its day.
        confidence: In [0, 1].
        reader: What read the sentence.
        path: The edges from the document to the question, one text each.
        against: Sentences of the same day with another value, each with its document and day.
    """

    subject: str
    relation: str
    value: str
    sentence: str
    document: str
    published_at: str
    confidence: float
    reader: str
    path: tuple[str, ...]
    against: tuple[str, ...] = ()

    @property
    def quoted(self) -> str:
        """The sentence with its document and day."""
        return _quoted(self.document, self.published_at, self.sentence)


def question_key(question: str) -> NodeKey:
    """Returns the node of a question: its words without case, punctuation and articles."""
    words = (word.casefold() for word in _WORD.findall(question))
    return NodeKey("Question", " ".join(word for word in words if word not in _ARTICLES))


def state_of(graph: GrowingGraph) -> str:
    """Returns the state of what is read: the sentences of a graph, and the names that stand for others."""
    read = sorted(node.key.name for kind in ("Passage", "Alias") for node in _nodes(graph, kind))
    return hashlib.sha256("\n".join(read).encode()).hexdigest()[:16]


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
    known = graph.node(key)
    written: list[tuple[Update, str]] = [
        (AddNode("Question", key.name, {} if known else {"text": question, "read": read}), ""),
        (SetProperty(key, "read", read), ""),
    ]
    for place, fact in enumerate(facts):
        written += [(update, fact.passage.text) for update in _fact_updates(graph, key, fact, place)]
    names = {_answer_key(fact).name for fact in facts}
    for node, _ in _answers(graph, key):
        if node.key.name not in names:
            day = max(fact.passage.published for fact in facts).isoformat()
            written.append((SetProperty(node.key, "valid_to", day), facts[0].passage.text))
    documents = "; ".join(dict.fromkeys(fact.passage.document for fact in facts))
    origin = Origin(documents, f"{ANSWER_TO}{question}")
    return [update for update, _ in written], origin, [span for _, span in written]


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


def retrieved_answers(graph: GrowingGraph, question: str, read: str) -> list[RetrievedAnswer]:
    """Returns the facts that answer a question by the graph's edges; none where the question must be read again.

    Args:
        graph: The graph.
        question: The question.
        read: The graph's state now, of :func:`state_of`.
    """
    key = question_key(question)
    known = graph.node(key) if _has_type(graph, "Question") else None
    if known is None or known.properties.get("read") != read:
        return []
    found = sorted(_answers(graph, key), key=lambda one: (int(one[0].properties.get("place", 0)), one[0].key.name))
    return [_retrieved(graph, node, edge) for node, edge in found]


def _fact_updates(graph: GrowingGraph, question: NodeKey, fact: AnsweredFact, place: int) -> Iterator[Update]:
    key = _answer_key(fact)
    known = graph.node(key)
    if known is None:
        properties = {
            "subject": fact.subject,
            "relation": fact.relation,
            "value": fact.value,
            "sentence": fact.passage.text,
            "document": fact.passage.document,
            "published_at": fact.passage.published.isoformat(),
            "confidence": round(fact.confidence, 4),
            "reader": fact.reader,
            "place": place,
        }
        yield AddNode("Answer", key.name, properties)
    elif "valid_to" in known.properties:
        yield SetProperty(key, "valid_to", None)
    yield AddEdge("answers_question", key, question)
    shown = ("shown_by_passage", fact.passage), *(("contested_by_passage", one) for one in fact.against)
    for edge, passage in ((edge, passage_key(one)) for edge, one in shown):
        if graph.node(passage) is not None:
            yield AddEdge(edge, key, passage)
    ends = ("answer_about", fact.subject_kind, fact.subject), ("answer_value", fact.value_kind, fact.value)
    for edge, kind, name in ends:
        entity = _entity(graph, kind, name)
        if entity is not None:
            yield AddNode(entity.type, entity.name)
            yield AddEdge(edge, key, entity)


def _answer_key(fact: AnsweredFact) -> NodeKey:
    return NodeKey("Answer", f"{fact} ({fact.passage.document} {fact.passage.place})")


def _entity(graph: GrowingGraph, kind: str, name: str) -> NodeKey | None:
    """Returns the node of a name: one that the graph has, else a new one of its kind."""
    if kind == "news":
        return NodeKey("News", name) if graph.node(NodeKey("News", name)) is not None else None
    if kind == "company" and graph.node(NodeKey("Institution", name)) is not None:
        return NodeKey("Institution", name)
    return NodeKey(_NODE_TYPES[kind], name) if kind in _NODE_TYPES and plain_name(name) else None


def _answers(graph: GrowingGraph, question: NodeKey) -> Iterator[tuple[Node, Edge]]:
    """Yields the facts that answer a question now."""
    if not _has_type(graph, "Question") or graph.node(question) is None:
        return
    for edge in graph.edges(question):
        node = graph.node(edge.source) if edge.type == "answers_question" else None
        if node is not None and "valid_to" not in node.properties:
            yield node, edge


def _retrieved(graph: GrowingGraph, node: Node, answers: Edge) -> RetrievedAnswer:
    edges = [edge for edge in graph.edges(node.key) if edge.type != "answers_question"]
    passages = [edge.target for edge in edges if edge.type == "shown_by_passage"]
    others = [graph.node(edge.target) for edge in edges if edge.type == "contested_by_passage"]
    news = [edge for key in passages for edge in graph.edges(key) if edge.type == "has_passage"]
    given = node.properties
    texts = {name: str(given[name]) for name in ("subject", "relation", "value", "sentence", "document")}
    return RetrievedAnswer(
        **texts,
        published_at=published_day(node),
        confidence=float(given["confidence"]),
        reader=str(given.get("reader", "rules")),
        path=tuple(f"{edge.source} -> {edge.type} -> {edge.target}" for edge in (*news, *edges, answers)),
        against=tuple(_quoted_passage(one) for one in others if one is not None),
    )


def _quoted_passage(passage: Node) -> str:
    given = passage.properties
    return _quoted(str(given["document"]), published_day(passage), str(given["text"]))


def _quoted(document: str, day: str, sentence: str) -> str:
    return f"{document}, {day}: {sentence}"


def _nodes(graph: GrowingGraph, kind: str) -> Iterator[Node]:
    return graph.nodes(kind) if _has_type(graph, kind) else iter(())


def _has_type(graph: GrowingGraph, name: str) -> bool:
    return any(kind.name == name for kind in graph.schema.types)
