"""Extraction of facts by a language model: by an embedded one sentence by sentence, by others document by document.

>>> extraction = FactExtraction()
>>> extraction(section=section).facts
(Fact("Orvane Semiconductor", "company", "acquires", "Brightlane Photonics", ...),)

The prompt is short: the sentence, its names and the relations that may fit. What all calls share, the instructions and
the demonstrations, comes first, so an embedded model reads it once. Each fact of a reply is checked by itself.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

import dspy
from dspy.utils.exceptions import AdapterParseError
from dspy.utils.exceptions import LMError as DSPyLMError

from kg.errors import LMError, SchemaError
from kg.growing import AddNode, GrowingGraph, Update
from kg.investments import DocumentReading, NewsDocument, NewsRules
from kg.news import Fact, FrameReader, NewsReading, directory_of, sentences_of, statement_updates
from programs.advisor.document_facts import DocumentExtraction, ReadDocument
from programs.advisor.sections import NAME_KINDS, Section, distinct, sections_of
from programs.lm import concurrently
from signatures.extraction import ExtractFacts

CONFIDENCE = 0.6
"""The confidence of a fact that a language model read; those by rules have from 0.6 to 0.9."""

MOST_TOKENS = 160
"""Tokens of a reply."""

_DEMONSTRATIONS: tuple[dict[str, Any], ...] = (
    {
        "document": "Orbex sued over delays (2026-03-02)",
        "before": "none",
        "sentence": "Kestrel sued Orbex Ltd, a Malta-based ferry operator, on Monday.",
        "names": "Kestrel; Orbex Ltd; Malta; 2026-03-02",
        "relations": "sues; sued on; headquartered in",
        "facts": [
            "Kestrel | sues | Orbex Ltd",
            "Kestrel | sued on | 2026-03-02",
            "Orbex Ltd | headquartered in | Malta",
        ],
    },
    {
        "document": "New head for the Lund Museum (2025-10-09)",
        "before": "Ida Falk has run the Lund Museum for nine years.",
        "sentence": "She leaves in May and hands a collection of 300 maps to Per Wik.",
        "names": "Ida Falk; Lund Museum; Per Wik; 2026-05; 300 maps",
        "relations": "departs; end date",
        "facts": ["Ida Falk | departs | Lund Museum", "Ida Falk | end date | 2026-05", "Ida Falk | hands | Per Wik"],
    },
    {
        "document": "Traders fear a long winter (2026-01-20)",
        "before": "none",
        "sentence": '"Nobody likes to wait," one of them said.',
        "names": "none",
        "relations": "none",
        "facts": [],
    },
)
"""Sentences about invented subjects with their facts: kinds of the schema, the sentence's own verb, and none."""


class FactExtraction(dspy.Module):
    """The program that a compile fits: one call for each sentence.

    Attributes:
        extract_facts: Its predictor.
    """

    kind = "advisor"
    needs_lm = True

    def __init__(self) -> None:
        super().__init__()
        self.extract_facts = dspy.Predict(ExtractFacts)
        names = tuple(ExtractFacts.input_fields)
        self.extract_facts.demos = [dspy.Example(**one).with_inputs(*names) for one in _DEMONSTRATIONS]

    def forward(self, section: Section) -> dspy.Prediction:
        """Returns the facts of a sentence as ``facts``, and what was refused as ``refused``, one line each.

        Args:
            section: The sentence; one without a name states no fact and costs no call.

        Raises:
            LMError: The model cannot be asked.
        """
        if not section.names:
            return dspy.Prediction(facts=(), refused=())
        predict = self.extract_facts
        signature = predict.signature.with_updated_fields("facts", type_=section.facts_type())
        try:
            reply = predict(signature=signature, config={"max_tokens": MOST_TOKENS}, **section.inputs())
        except (AdapterParseError, RecursionError) as error:
            return dspy.Prediction(
                facts=(), refused=(f"a reply could not be read: {' '.join(str(error).split())[:200]}",)
            )
        facts, refused = [], []
        for written in reply.facts:
            try:
                facts.append(section.fact(written, CONFIDENCE))
            except SchemaError as error:
                refused.append(str(error))
        return dspy.Prediction(facts=distinct(facts), refused=tuple(refused))


class SentenceReader:
    """Reads news by rules, and by a language model sentence by sentence.

    Args:
        graph: A graph whose names are known from the beginning; it gets the types of statements.
        rules: The patterns of a collection.
        extraction: The program that reads a sentence; by default one that was not compiled.
        threads: Sentences that are read at a time.

    Attributes:
        refused: Facts that the model wrote and the sentence does not hold, one line each.
    """

    name = "model"

    def __init__(
        self,
        graph: GrowingGraph,
        rules: NewsRules | None = None,
        extraction: FactExtraction | None = None,
        threads: int = 1,
    ) -> None:
        self._graph = graph
        self._rules = FrameReader(graph, rules)
        self._extraction = extraction if extraction is not None else FactExtraction()
        self._threads = threads
        self.refused: list[str] = []

    def read(self, document: NewsDocument) -> DocumentReading:
        """Returns the statements of a document as updates; those of the rules come first."""
        found: list[Fact] = []
        sections = sections_of(document, directory_of(self._graph))
        replies = concurrently(lambda section: self._extraction(section=section), sections, self._threads)
        for reply in replies:
            found += reply.facts
            self.refused += [f"{document.name}: {problem}" for problem in reply.refused]
        names = {name for section in sections for name in section.names}
        return joined_reading(self._graph, document, self._rules.read(document), found, names)


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
