"""Sentences of documents in a growing graph, as they were published.

graph.apply([update for update, _ in passage_updates(document)], Origin("wire-17.txt"))
stored_passages(graph)      # the headline and the sentences of all documents
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date

from kg.growing import AddEdge, AddNode, GrowingGraph, Node, NodeKey, Update
from kg.news.documents import NewsDocument


@dataclass(frozen=True)
class Passage:
    """A sentence of a document.

    Attributes:
        document: The document's name.
        published: Its day.
        place: The number of the sentence; -1 for the headline.
        text: The sentence.
        publisher: Who published the document, where the graph has it.
    """

    document: str
    published: date
    place: int
    text: str
    publisher: str = ""

    @property
    def key(self) -> NodeKey:
        """The node of the sentence."""
        return NodeKey("Passage", f"{self.document} {self.place}")

    @property
    def quoted(self) -> str:
        """The sentence with its document and day."""
        return f"{self.document}, {self.published}: {self.text}"


def passages_of(document: NewsDocument) -> list[Passage]:
    """Returns the headline and the sentences of a document."""
    lines = enumerate((document.headline, *document.sentences), -1)
    return [Passage(document.name, document.published, place, text, document.source) for place, text in lines]


def passage_updates(document: NewsDocument) -> Iterator[tuple[Update, str]]:
    """Yields the updates that write the headline and the sentences of a document, each with its text."""
    news = NodeKey("News", document.headline)
    published = document.published.isoformat()
    yield AddNode("News", news.name, {"source": document.source, "published_at": published}), document.headline
    for passage in passages_of(document):
        properties = {
            "document": passage.document,
            "published_at": published,
            "place": passage.place,
            "text": passage.text,
            "publisher": passage.publisher,
        }
        yield AddNode("Passage", passage.key.name, properties), passage.text
        yield AddEdge("has_passage", news, passage.key), passage.text


def stored_passages(graph: GrowingGraph) -> list[Passage]:
    """Returns the sentences of all documents of a graph."""
    return [passage_of(node) for node in graph.nodes("Passage")]


def passage_of(node: Node) -> Passage:
    """Returns the sentence of a node."""
    given = node.properties
    day = date.fromisoformat(published_day(node))
    return Passage(
        str(given["document"]), day, int(given["place"]), str(given["text"]), str(given.get("publisher", ""))
    )


def published_day(node: Node) -> str:
    """Returns the day of a sentence, statement or answer: ``2026-03-02``."""
    return str(node.properties["published_at"])[:10]
