"""The advisor: it reads news into a growing graph, draws insights, and takes documents back.

>>> advisor = Advisor(graph)
>>> advisor.ingest(document, ReadDocuments()(document=document)).applied.nodes
9
>>> advisor.reflect([NodeKey("Company", "Helixon Inc.")], today)      # why insights are refused
[]

Ingesting a document again changes nothing. What a document states is written completely or not at all, even by a
program that is killed. Without a language model its sentences are kept, and questions are answered from them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from kg.errors import SchemaError
from kg.growing import AddEdge, AddNode, Applied, BuiltOnError, GrowingGraph, HistoryEntry, NodeKey, Origin, Update
from kg.investments import events_by_company, insight_updates, is_fresh
from kg.news import NewsDocument, add_news_types, applicable, fact_updates, known_names, passage_updates
from programs.advisor.insights import DrawInsights
from programs.advisor.reading import validate

INSIGHTS = "insights"
"""The source of insights."""


@dataclass(frozen=True)
class Ingestion:
    """The result of ingesting a document.

    Attributes:
        document: Its name.
        applied: Its changes.
        known: Whether all of it was ingested before.
        changed: Whether another text was ingested before under this name; its facts stay.
        facts: The facts that a model stated and the document holds.
        events: The events.
        refused: Facts and events that the document, the schema or the graph does not hold, one line each.
    """

    document: str
    applied: Applied = field(default_factory=Applied)
    known: bool = False
    changed: bool = False
    facts: int = 0
    events: int = 0
    refused: tuple[str, ...] = ()


class Advisor:
    """The advisor over one graph.

    Args:
        graph: It grows; it gets the types of statements.
    """

    def __init__(self, graph: GrowingGraph) -> None:
        add_news_types(graph)
        self.graph = graph

    def knows(self, document: NewsDocument, *, facts: bool = False) -> bool:
        """Whether the sentences of a document, or the facts that a model states of it, were ingested before."""
        return self.graph.has_batch(_batch(document, "facts" if facts else "sentences"))

    def ingest(self, document: NewsDocument, reply: Any = None) -> Ingestion:
        """Writes the sentences of a document, and what a model states of it: one transaction for each.

        A differing value replaces the stored one, which the history keeps.

        Args:
            document: The document.
            reply: What :class:`programs.advisor.reading.ReadDocuments` returns for it; ``None`` for sentences alone.
        """
        applied = Applied()
        known = self.knows(document) and (reply is None or self.knows(document, facts=True))
        changed = not self.knows(document) and self.graph.node(NodeKey("Passage", f"{document.name} -1")) is not None
        if not self.knows(document):
            applied += self._write(document, "sentences", list(passage_updates(document)))[0]
        if reply is None or self.knows(document, facts=True):
            return Ingestion(document.name, applied, known, changed)
        facts, events, refused = validate(document, known_names(self.graph), reply)
        updates = [*fact_updates(facts, document), *events]
        news = NodeKey("News", document.headline)
        named = {one.key: span for one, span in updates if isinstance(one, AddNode) and one.type in _MENTIONED}
        updates += [(AddEdge("mentions", news, key), span) for key, span in named.items()]
        more, problems = self._write(document, "facts", updates)
        count = sum(isinstance(one, AddNode) and one.type == "MarketEvent" for one, _ in events)
        return Ingestion(document.name, applied + more, known, changed, len(facts), count, (*refused, *problems))

    def _write(self, document: NewsDocument, what: str, updates: list[tuple[Update, str]]) -> tuple[Applied, list[str]]:
        """Writes what the graph takes of some updates, each with its sentence, and returns why the rest is left out."""
        pairs, problems = applicable(self.graph, updates)
        given, spans = [update for update, _ in pairs], [span for _, span in pairs]
        return self.graph.apply(given, Origin(document.name), batch=_batch(document, what), spans=spans), problems

    def reflect(self, companies: Iterable[NodeKey], today: date) -> list[str]:
        """Draws an insight about each company with fresh events that were not shown to a model yet: one call for each.

        Args:
            companies: The companies.
            today: The current day.

        Returns:
            Why insights were refused, one line each.

        Raises:
            LMError: The model cannot be asked; the insights until then are stored.
        """
        events, refused = events_by_company(self.graph, lambda node: is_fresh(node, today)), []
        for company in companies:
            own = events.get(company, [])
            batch = f"insight: {company.name} {sorted(report.key.name for event in own for report in event.reports)}"
            if not own or self.graph.has_batch(batch):
                continue
            try:
                drawn = DrawInsights()(company=company.name, events=own, today=today)
                updates = insight_updates(self.graph, company, drawn.cited, today, **drawn.properties)
                self.graph.apply(updates, Origin(INSIGHTS, today.isoformat()), batch=batch)
            except SchemaError as error:
                refused.append(f"{company.name}: {error}")
        return refused


_MENTIONED = ("Company", "Institution", "Person", "MarketEvent")


def _batch(document: NewsDocument, what: str) -> str:
    """Returns the name of the updates of a document, so that they are written once."""
    return f"{what}:{document.sha256}"


def take_back(graph: GrowingGraph, what: int | str) -> list[HistoryEntry]:
    """Undoes an update, or all updates of a document, and returns the entries that were undone.

    Insights that build on it are undone with it. The next briefing derives them again.

    Args:
        graph: The graph.
        what: The number of an update, or the name of a document.

    Raises:
        SchemaError: There is no such update or document, it was undone before, or another document builds on it.
    """
    live = [entry for entry in graph.history() if not entry.undone]
    numbers = {what} if isinstance(what, int) else {entry.number for entry in live if entry.document == what}
    if not numbers:
        raise SchemaError(f"no update of {what!r} is known, or all were undone: see `finpath graph show --history`")
    while True:
        try:
            return graph.undo(*numbers)
        except BuiltOnError as error:
            others = [entry for entry in error.later if entry.document != INSIGHTS]
            if others or not error.later:
                raise BuiltOnError(numbers, others) from error
            numbers |= {entry.number for entry in error.later}
