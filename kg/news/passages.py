"""Sentences of documents in a growing graph, as they were published.

graph.apply(passage_updates(document, sentences), Origin("wire-17.txt"))
stored_passages(graph)      # the headline and the sentences of all documents
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from kg.growing import AddEdge, AddNode, GrowingGraph, Node, NodeKey, Update
from kg.investments import NewsDocument


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


@dataclass(frozen=True)
class EarlierText:
    """Another text that was read before under the name of a document.

    Attributes:
        replaced: Its sentences that get another text or day; the headline counts as one.
        kept: Its sentences that stay, as the new text has the same one or fewer sentences.
    """

    replaced: int
    kept: int

    def __str__(self) -> str:
        return f"{_counted(self.replaced, 'is', 'are')} replaced, and {self.kept} kept"


def earlier_text(graph: GrowingGraph, updates: Iterable[Update]) -> EarlierText | None:
    """Returns the text that was read before under a document's name, or ``None`` if there is none or it is the same.

    Args:
        graph: The graph before the updates are applied.
        updates: Those of a document, with its passages.
    """
    new = [one for one in updates if isinstance(one, AddNode) and one.type == "Passage"]
    stored = [(node, one) for one in new if (node := graph.node(one.key)) is not None]
    if not stored:
        return None
    replaced = sum(_content(node.properties) != _content(one.properties) for node, one in stored)
    rest, name = 0, str(new[0].properties["document"])
    while graph.node(NodeKey("Passage", _name(name, len(new) - 1 + rest))) is not None:
        rest += 1
    is_same = not replaced and not rest and len(stored) == len(new)
    return None if is_same else EarlierText(replaced, len(stored) - replaced + rest)


def _content(properties: Mapping[str, Any]) -> tuple[str, str]:
    """Returns the text and the day of a passage."""
    return str(properties["text"]), str(properties["published_at"])[:10]


def _counted(count: int, one: str, many: str) -> str:
    return f"{count} sentence{'' if count == 1 else 's'} {one if count == 1 else many}"


def passage_updates(document: NewsDocument, sentences: Sequence[str]) -> Iterator[tuple[Update, str]]:
    """Yields the updates that write the headline and the sentences of a document, each with its text.

    Args:
        document: The document.
        sentences: Its sentences.
    """
    news = NodeKey("News", document.headline)
    day = document.published.isoformat()
    for place, text in enumerate((document.headline, *sentences), -1):
        name = _name(document.name, place)
        properties = {"document": document.name, "published_at": day, "place": place, "text": text}
        properties["publisher"] = document.source
        yield AddNode("Passage", name, properties), text
        yield AddEdge("has_passage", news, NodeKey("Passage", name)), text


def passage_key(passage: Passage) -> NodeKey:
    """Returns the node of a sentence."""
    return NodeKey("Passage", _name(passage.document, passage.place))


def stored_passages(graph: GrowingGraph) -> list[Passage]:
    """Returns the sentences of all documents of a graph."""
    if all(kind.name != "Passage" for kind in graph.schema.types):
        return []
    found = []
    for node in graph.nodes("Passage"):
        given = node.properties
        day = date.fromisoformat(published_day(node))
        publisher = str(given.get("publisher", ""))
        found.append(Passage(str(given["document"]), day, int(given["place"]), str(given["text"]), publisher))
    return found


def published_day(node: Node) -> str:
    """Returns the day of a sentence, statement or answer: ``2026-03-02``."""
    return str(node.properties["published_at"])[:10]


def _name(document: str, place: int) -> str:
    return f"{document} {place}"
