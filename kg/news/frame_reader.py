"""A reader of news by the table of frames, in addition to the rules of a collection.

>>> reading = FrameReader(graph, rules).read(document)
>>> reading.understood, reading.sentences
(3, 5)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from kg.growing import AddEdge, AddNode, GrowingGraph, NodeKey, Update
from kg.investments import NewsDocument, NewsRules, Reading, RuleReader
from kg.news.memory import add_news_types, directory_of, statement_updates
from kg.news.passages import passage_updates
from kg.news.reader import NewsReading, read_news
from kg.sentences import Frame, frames

_EVENTS = frozenset(
    (
        "earnings",
        "guidance",
        "merger",
        "offering",
        "dividend",
        "lawsuit",
        "product",
        "management",
        "rating",
        "rate_decision",
        "other",
    )
)
_PEOPLE = frozenset(("appointed_at", "departs"))
_EVENT_OF = {"rating_change": "rating", "fine": "lawsuit", "investigation": "lawsuit", "approval": "product"}


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

    def read(self, document: NewsDocument) -> Reading:
        """Returns the statements of a document as updates; the first are those of the rules."""
        by_rules = self._rules.read(document)
        directory = directory_of(self._graph)
        for update in by_rules.updates:  # the same company has one name, with or without the point of "Inc."
            if isinstance(update, AddNode) and update.type in ("Company", "Institution"):
                directory.add("company", update.name)
        reading = read_news(document, directory)
        pairs = statement_updates(self._graph, reading, document)
        events: list[tuple[Update, str]] = []
        if not any(isinstance(update, AddNode) and update.type == "MarketEvent" for update in by_rules.updates):
            events = list(_events(reading, document))
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


def _event_frames() -> dict[str, Frame]:
    """Returns the frames that report events, by relation; a relation of another frame too, such as a seat, is none."""
    stated = {relation for frame in frames().frames if not frame.event for _, relation, _ in frame.facts}
    reporting = [frame for frame in reversed(frames().frames) if frame.event]
    return {rel: frame for frame in reporting for _, rel, _ in frame.facts if rel not in stated}


def _events(reading: NewsReading, document: NewsDocument) -> list[tuple[Update, str]]:
    """Returns the market events of a reading: one for each sentence and company, of the most telling kind."""
    table = _event_frames()
    events: dict[str, tuple[str, str, str, str]] = {}
    for fact in reading.facts:
        frame = table.get(fact.relation)
        people = fact.relation in _PEOPLE and fact.company
        if not people and (frame is None or fact.subject_kind != "company"):
            continue
        kind = "management" if people or frame is None else _EVENT_OF.get(frame.event, frame.event)
        kind = kind if kind in _EVENTS else "other"
        company = fact.object if fact.relation in ("downgrades", "upgrades") else fact.company or fact.subject
        stated = "neutral" if people or frame is None else frame.direction
        direction = {"up": "positive", "down": "negative"}.get(fact.direction, stated)
        summary = f"{company}: {fact.sentence}"
        if summary not in events or events[summary][1] == "other":
            events[summary] = (company, kind, direction, fact.sentence)
    return [entry for summary, event in events.items() for entry in _event_updates(summary, *event, document)]


def _event_updates(
    summary: str, company: str, kind: str, direction: str, sentence: str, document: NewsDocument
) -> list[tuple[Update, str]]:
    """Returns the updates that add an event, each with its sentence."""
    event, affected = NodeKey("MarketEvent", summary), NodeKey("Company", company)
    properties = {"type": kind, "summary": summary, "occurred_at": document.published.isoformat()}
    updates = (
        AddNode("MarketEvent", summary, properties),
        AddNode("Company", company),
        AddEdge("affects", event, affected, {"direction": direction}),
    )
    return [(update, sentence) for update in updates]
