"""A reader of news by the table of frames, in addition to the rules of a collection.

>>> reading = FrameReader(graph, rules).read(document)
>>> reading.understood, reading.sentences
(3, 5)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from kg.growing import AddEdge, AddNode, GrowingGraph, NodeKey, Update
from kg.investments import DocumentReading, NewsDocument, NewsRules, RuleReader
from kg.news.memory import add_news_types, directory_of, statement_updates
from kg.news.passages import passage_updates
from kg.news.reader import NewsReading, read_news
from kg.sentences import without_dateline


class FrameReader:
    """Reads news documents by frames, and by rules where they cover a sentence.

    Args:
        graph: A graph whose names are known from the beginning; it gets the types of statements.
        rules: The patterns of a collection.
    """

    name = "rules"

    def __init__(self, graph: GrowingGraph, rules: NewsRules | None = None) -> None:
        add_news_types(graph)
        self._graph = graph
        self._rules = RuleReader(graph, rules if rules is not None else NewsRules())

    def read(self, document: NewsDocument) -> DocumentReading:
        """Returns the statements of a document as updates; the first are those of the rules."""
        by_rules = self._rules.read(document)
        directory = directory_of(self._graph)
        for update in by_rules.updates:  # the same company has one name, with or without the point of "Inc."
            if isinstance(update, AddNode) and update.type in ("Company", "Institution"):
                directory.add("company", update.name)
        reading = read_news(document, directory)
        pairs = statement_updates(self._graph, reading, document)
        ruled = [one.name for one in by_rules.updates if isinstance(one, AddNode) and one.type == "MarketEvent"]
        events = list(_events(reading, document, ruled))
        further = [*pairs, *self._assets(reading), *events, *passage_updates(document, reading.sentences)]
        spans = ("",) * len(by_rules.updates) + tuple(span for _, span in further)
        updates = (*by_rules.updates, *(update for update, _ in further))
        understood = reading.understood
        if not reading.facts and len(by_rules.updates) > 1:
            understood = 1
        return replace(by_rules, updates=updates, spans=spans, sentences=len(reading.sentences), understood=understood)

    def _assets(self, reading: NewsReading) -> Iterator[tuple[Update, str]]:
        """Yields the instruments whose symbols are stated, with their companies; the first is a company's ticker."""
        stated = [fact for fact in reading.facts if fact.relation == "ticker" and fact.subject_kind == "company"]
        main = {fact.subject: fact.object for fact in reversed(stated)}
        for fact in stated:
            issuer, symbol = NodeKey("Company", fact.subject), fact.object
            known = self._graph.node(issuer)
            has_ticker = known is not None and "ticker" in known.properties
            own = {"ticker": symbol} if main[fact.subject] == symbol and not has_ticker else {}
            yield AddNode("Asset", symbol, {"symbol": symbol}), fact.sentence
            yield AddNode("Company", issuer.name, own), fact.sentence
            yield AddEdge("issued_by", NodeKey("Asset", symbol), issuer), fact.sentence


def _events(reading: NewsReading, document: NewsDocument, ruled: Sequence[str]) -> Iterator[tuple[Update, str]]:
    """Yields the updates that add the market events of a reading: one for each sentence, company and kind.

    Args:
        reading: The reading.
        document: Its document.
        ruled: The events of rules; their sentences report no further one.
    """
    seen: set[tuple[str, str, str]] = set()
    telling = {(event.company, event.sentence) for event in reading.events if event.kind != "other"}
    for event in reading.events:
        key = (event.company, event.sentence, event.kind)
        is_ruled = any(_reports(event.sentence, name) for name in ruled)
        if key in seen or is_ruled or (event.kind == "other" and key[:2] in telling):
            continue
        summary = f"{event.company}: {without_dateline(event.sentence)}"
        name = summary if key[:2] not in {other[:2] for other in seen} else f"{summary} ({event.kind})"
        seen.add(key)
        node, affected = NodeKey("MarketEvent", name), NodeKey("Company", event.company)
        properties = {
            "type": event.kind,
            "summary": summary,
            "occurred_at": event.day or document.published.isoformat(),
        }
        if event.value:
            properties |= {"value": event.value, "measure": event.measure}
        if event.party:
            properties["party"] = event.party
        if event.ended:
            properties["outcome"] = "failed"
        updates = (
            AddNode("MarketEvent", name, properties),
            AddNode("Company", event.company),
            AddEdge("affects", node, affected, {"direction": event.direction}),
        )
        yield from ((update, event.sentence) for update in updates)


_FEWEST = 3
"""Words at the end of a rule's event that its sentence has; the words before may be the company of "it"."""


def _reports(sentence: str, event: str) -> bool:
    """Whether a sentence is the one from which a rule took an event."""
    words = event.split()
    return any(" ".join(words[start:]) in sentence for start in range(max(len(words) - _FEWEST, 0) + 1))
