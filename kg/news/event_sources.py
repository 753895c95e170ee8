"""Sources of market events: the document of each report, its publisher, its day and the sentence that states it.

>>> EventSources(graph).of(event)
(EventSource('wire-17.txt', 'Harbour Wire', '2026-11-03', 'Calderstone will cut 1,200 jobs.'),)
>>> differing_figures(events, EventSources(graph))
('1,200 (Harbour Wire, 3 Nov) / 900 (Quay Post, 4 Nov)',)
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from kg.growing import GrowingGraph, Node
from kg.investments import EditedTexts, event_date
from kg.news.facts import Fact, number_of, unit_of
from kg.news.memory import stored_facts
from kg.news.passages import Passage, stored_passages
from kg.sentences import without_dateline
from kg.text import STOPWORDS, tokens

_AMOUNTS = ("money", "count", "percent")


@dataclass(frozen=True)
class EventSource:
    """A document that reports an event.

    Attributes:
        document: Its name.
        publisher: Who published it; empty where the graph has no name.
        day: The day of its publication, ``2026-11-03``.
        sentence: The sentence that states the event; the event's summary where the graph has no sentences.
    """

    document: str
    publisher: str
    day: str
    sentence: str

    @property
    def label(self) -> str:
        """The publisher, else the document, and the day in short: "Harbour Wire, 3 Nov"."""
        day = date.fromisoformat(self.day)
        return f"{self.publisher or self.document}, {day.day} {day:%b}"


class EventSources:
    """The sources of the events of a graph.

    Args:
        graph: The graph; its sentences are read once.
    """

    def __init__(self, graph: GrowingGraph) -> None:
        self._passages: defaultdict[str, list[Passage]] = defaultdict(list)
        for passage in stored_passages(graph):
            self._passages[passage.document].append(passage)
        self._news = {document: node for node in graph.nodes("News") for document in node.sources}
        self._facts: defaultdict[tuple[str, str], list[Fact]] = defaultdict(list)
        for fact in stored_facts(graph):
            if fact.object_kind in _AMOUNTS:
                self._facts[fact.document, without_dateline(fact.sentence)].append(fact)
        self._edits = EditedTexts(graph)

    def holds(self, report: Node) -> bool:
        """Whether a document still makes a report: a newer text of the same file holds."""
        return self._edits.holds(report)

    def facts_of(self, source: EventSource) -> list[Fact]:
        """Returns the amounts that the sentence of a source states."""
        return self._facts[source.document, source.sentence]

    def of(self, event: Node) -> tuple[EventSource, ...]:
        """Returns the sources of an event, the earliest first."""
        found = (self._source(event, document) for document in event.sources)
        return tuple(sorted(filter(None, found), key=lambda one: (one.day, one.document)))

    def _source(self, event: Node, document: str) -> EventSource | None:
        """Returns a source of an event; ``None`` for what is no document of news, as a correction by hand."""
        passages, news = self._passages.get(document), self._news.get(document)
        if not passages and news is None:
            return None
        summary = str(event.properties.get("summary", event.key.name))
        publisher = str(news.properties.get("source", "")) if news is not None else ""
        publisher = publisher if publisher != document else ""  # the file's name stands for an unknown one
        if not passages:
            day = event_date(news if news is not None else event)
            return EventSource(document, publisher, day.isoformat(), summary)
        stated = _nearest(summary, passages)
        known = stated.publisher if stated.publisher != document else ""
        published, sentence = stated.published.isoformat(), without_dateline(stated.text)
        return EventSource(document, known or publisher, published, sentence)


def _nearest(summary: str, passages: Sequence[Passage]) -> Passage:
    """Returns the sentence that a summary holds, or that has most of its words; a headline only where it has more."""
    wanted = set(tokens(summary)) - STOPWORDS
    return max(
        passages,
        key=lambda one: (one.text in summary and one.place >= 0, len(wanted & set(tokens(one.text))), one.place >= 0),
    )


def differing_figures(reports: Sequence[Node], sources: EventSources) -> tuple[str, ...]:
    """Returns the figures that documents state differently of one event, one text for each measure.

    Two documents differ if they give one measure amounts of one unit and share none of them. The figures are those of
    the reports, and the other amounts of the sentences that report the event.

    Args:
        reports: The reports of one event.
        sources: Their sources.
    """
    stated: defaultdict[tuple[str, ...], dict[str, list[tuple[str, EventSource]]]] = defaultdict(dict)
    for node in reports:
        for source in sources.of(node):
            given = [("", *_figure(node))] if "value" in node.properties and "measure" in node.properties else []
            given += [(fact.subject, fact.relation, fact.object) for fact in sources.facts_of(source)]
            for subject, measure, value in given:
                by_document = stated[subject, measure, unit_of(value)]
                by_document.setdefault(source.document, []).append((value, source))
    texts = []
    for by_document in stated.values():
        numbers = [{number_of(value) for value, _ in given} for given in by_document.values()]
        if any(one.isdisjoint(other) for one in numbers for other in numbers):
            firsts = [given[0] for given in by_document.values()]
            distinct: dict[Decimal | None, str] = {}
            for value, source in sorted(firsts, key=lambda pair: (pair[1].day, pair[1].document)):
                written = f"{int(value):,}" if value.isdigit() else value
                distinct.setdefault(number_of(value), f"{written} ({source.label})")
            texts.append(" / ".join(distinct.values()))
    return tuple(dict.fromkeys(texts))


def _figure(node: Node) -> tuple[str, str]:
    """Returns the measure and the figure of a report."""
    return str(node.properties["measure"]), str(node.properties["value"])
