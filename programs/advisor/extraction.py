"""The reader of news documents by rules and by a language model of an API, document by document.

>>> DocumentReader(graph).read(document).updates[0]
AddNode('News', 'Orbex sued over delays', {'source': 'Quay Post', 'published_at': '2026-03-02'})
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Protocol

import dspy
from dspy.utils.exceptions import LMError as DSPyLMError

from kg.errors import LMError
from kg.growing import AddNode, GrowingGraph, Update
from kg.investments import DocumentReading, NewsDocument, NewsRules
from kg.news import Fact, FrameReader, NewsReading, directory_of, sentences_of, statement_updates
from programs.advisor.document_facts import DocumentExtraction, ReadDocument, distinct
from programs.worlds.news.documents import NAME_KINDS


class NewsReader(Protocol):
    """A reader of news documents."""

    name: str

    def read(self, document: NewsDocument) -> DocumentReading:
        """Returns the statements of a document as updates."""
        ...


class DocumentReader:
    """Reads news by rules, and by a language model of an API document by document.

    Args:
        graph: A graph whose names are known from the beginning; it gets the types of statements.
        rules: The patterns of a collection.
        extraction: The program that reads a document.

    Attributes:
        refused: Facts that the model wrote and the document does not hold, one line each.
    """

    name = "model"

    def __init__(
        self,
        graph: GrowingGraph,
        rules: NewsRules | None = None,
        extraction: DocumentExtraction | None = None,
    ) -> None:
        self._graph = graph
        self._rules = FrameReader(graph, rules)
        self._extraction = extraction if extraction is not None else DocumentExtraction()
        self._ahead: dict[str, dspy.Prediction | LMError] = {}
        self.refused: list[str] = []

    def read_ahead(self, document: NewsDocument) -> dspy.Prediction | None:
        """Asks the model about a document, which :meth:`read` then does no more; threads may do so at the same time.

        Returns the reply; ``None`` where the model could not be asked, which :meth:`read` then raises.
        """
        try:
            reply = self._extraction(document=document)
        except (DSPyLMError, LMError) as error:
            self._ahead[document.sha256] = LMError(f"the language model failed: {error}")
            return None
        self._ahead[document.sha256] = reply
        return reply

    def read(self, document: NewsDocument) -> DocumentReading:
        """Returns the statements of a document as updates; those of the rules come first.

        Raises:
            LMError: The model cannot be asked.
        """
        if document.sha256 not in self._ahead:
            self.read_ahead(document)
        reply = self._ahead.pop(document.sha256)
        if isinstance(reply, LMError):
            raise reply
        facts, refused = ReadDocument(document, directory_of(self._graph)).facts(reply.stated)
        self.refused += [f"{document.name}: {problem}" for problem in (*reply.refused, *refused)]
        names = {name for fact in facts for name in (fact.subject, fact.object)}
        by_rules = _doubted(self._rules.read(document), facts)
        return joined_reading(self._graph, document, by_rules, facts, names)


UNCONFIRMED = 0.4
"""What the confidence of a fact of rules is multiplied by if a model states others of its sentence, and not this."""


def _doubted(by_rules: DocumentReading, facts: Sequence[Fact]) -> DocumentReading:
    """Returns what rules read, with less confidence in what a model that read the same sentences does not state."""
    read = {fact.sentence for fact in facts}
    stated = {_statement_name(fact) for fact in facts}

    def weighed(update: Update) -> Update:
        if not isinstance(update, AddNode) or update.type != "Statement" or update.name.casefold() in stated:
            return update
        given = update.properties
        if given.get("sentence") not in read:
            return update
        return replace(update, properties={**given, "confidence": round(UNCONFIRMED * float(given["confidence"]), 2)})

    return replace(by_rules, updates=tuple(map(weighed, by_rules.updates)))


def _statement_name(fact: Fact) -> str:
    """Returns the name of a fact's node, in lower case, as names are compared."""
    return f"{fact} ({fact.document})".casefold()


def joined_reading(
    graph: GrowingGraph,
    document: NewsDocument,
    by_rules: DocumentReading,
    found: Sequence[Fact],
    names: Collection[str],
) -> DocumentReading:
    """Returns what rules and a model read in a document; a fact that both read is that of the rules.

    Args:
        graph: The graph.
        document: The document.
        by_rules: What rules read.
        found: What a model read.
        names: The names of the document, which become nodes.
    """
    stated = {update.name.casefold() for update in by_rules.updates if isinstance(update, AddNode)}
    facts = tuple(fact for fact in distinct(found) if _statement_name(fact) not in stated)
    ends = {(fact.subject_kind, fact.subject) for fact in facts} | {(fact.object_kind, fact.object) for fact in facts}
    entities = tuple((kind, name, ()) for kind, name in sorted(ends) if name in names and kind in NAME_KINDS)
    sentences = tuple(sentences_of(document.text))
    understood = {fact.sentence for fact in found}
    reading = NewsReading(facts, entities, sentences, len(understood))
    pairs = statement_updates(graph, reading, document)
    spans = by_rules.spans or ("",) * len(by_rules.updates)
    return replace(
        by_rules,
        updates=(*by_rules.updates, *(update for update, _ in pairs)),
        spans=(*spans, *(span for _, span in pairs)),
        sentences=max(by_rules.sentences, len(sentences)),
        understood=max(by_rules.understood, len(understood & set(sentences))),
    )
