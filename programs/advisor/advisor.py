"""The advisor: it ingests news into a graph, derives insights, and briefs about a portfolio.

>>> advisor = Advisor(graph, RuleReader(graph, rules), TypeProposals(graph, "auto"))
>>> advisor.ingest(document).applied.nodes
9
>>> [briefing.symbol for briefing in advisor.brief(portfolio, today)]
['HLXN']

The portfolio is read from tables and never enters the graph. Ingesting a document again changes nothing. A document is
written completely or not at all, even by a program that is killed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date

from kg.errors import SchemaError
from kg.growing import (
    AddNode,
    Applied,
    BuiltOnError,
    EdgeType,
    GrowingGraph,
    HistoryEntry,
    NodeType,
    Origin,
    TypeProposals,
    Update,
    likely_span,
    node_term,
)
from kg.investments import (
    Freshness,
    NewsDocument,
    derive_correlations,
    derive_insights,
    derive_patterns,
    event_date,
    insights_about,
)
from kg.news import ANSWER_TO, EarlierText, EventSources, applicable, earlier_text
from programs.advisor.briefings import Briefing, briefed_events, briefing_text, price_note
from programs.advisor.extraction import NewsReader
from programs.advisor.portfolio import Portfolio
from programs.advisor.shaping import shaped
from programs.tools import Prices

BY_RULES = "insights by rules"
"""The source of insights."""


@dataclass(frozen=True)
class Ingestion:
    """The result of ingesting a document.

    Attributes:
        document: Its name.
        applied: Its changes.
        proposed: The types that it needs, with what became of each: accepted, pending or the reason of the refusal.
        left_out: Updates that wait for a type.
        known: Whether it was ingested before.
        sentences: Its sentences, where the reader counts them.
        understood: The sentences that gave facts.
        problems: Facts that the graph did not take, one line each.
        earlier: Another text that was ingested before under this name; its facts stay.
    """

    document: str
    applied: Applied = field(default_factory=Applied)
    proposed: tuple[tuple[str, str], ...] = ()
    left_out: int = 0
    known: bool = False
    sentences: int = 0
    understood: int = 0
    problems: tuple[str, ...] = ()
    earlier: EarlierText | None = None


class Advisor:
    """The advisor over one graph.

    Args:
        graph: It grows.
        reader: Reads documents.
        proposals: Takes the types that documents need.
    """

    def __init__(self, graph: GrowingGraph, reader: NewsReader, proposals: TypeProposals) -> None:
        self.graph = graph
        self.reader = reader
        self.proposals = proposals

    def knows(self, document: NewsDocument) -> bool:
        """Whether a document was ingested whole before."""
        return self.graph.has_batch(self._batches(document)[1])

    def _batches(self, document: NewsDocument) -> tuple[str, str]:
        """The names of its updates; what waits for a type has a name of its own, so that it can follow later."""
        batch = f"{self.reader.name}:{document.sha256}"
        return batch, f"{batch}:further"

    def ingest(self, document: NewsDocument) -> Ingestion:
        """Makes what a document states part of the graph: one transaction, and one for what needs new types.

        A fact that the graph does not take is left out by itself. A differing value replaces the stored one, which the
        history keeps.
        """
        batch, rest = self._batches(document)
        if self.knows(document):
            return Ingestion(document.name, known=True)
        reading = self.reader.read(document)
        waits = bool(reading.further or reading.proposals)
        origin, applied = Origin(document.name), Applied()
        problems: list[str] = []
        earlier = None
        if not self.graph.has_batch(batch):
            spans = [
                given or likely_span(update, f"{document.headline}\n{document.text}")
                for update, given in zip(reading.updates, reading.spans or ("",) * len(reading.updates), strict=True)
            ]
            kept, problems = applicable(self.graph, list(zip(reading.updates, spans, strict=True)))
            updates = [update for update, _ in kept]
            written = batch if waits else rest
            earlier = earlier_text(self.graph, reading.updates)
            applied = self.graph.apply(updates, origin, batch=written, spans=[span for _, span in kept])
        proposed = tuple((kind.name, self._propose(kind)) for kind in reading.proposals)
        is_accepted = all(verdict in ("accepted", "known") for _, verdict in proposed)
        if is_accepted and not self.graph.has_batch(rest):
            spans = _spans(reading.further, document)
            applied += self.graph.apply(reading.further, origin, batch=rest, spans=spans)
        return Ingestion(
            document.name,
            applied,
            proposed,
            0 if is_accepted else len(reading.further),
            sentences=reading.sentences,
            understood=reading.understood,
            problems=tuple(problems),
            earlier=earlier,
        )

    def _propose(self, kind: NodeType | EdgeType) -> str:
        if kind.name in {known.name for known in self.graph.schema.types}:
            return "known"
        try:
            return self.proposals.propose(kind)
        except SchemaError as error:
            return str(error)

    def reflect(
        self,
        today: date,
        freshness: Freshness | None = None,
        closes: Mapping[str, Mapping[date, float]] | None = None,
    ) -> int:
        """Derives insights from fresh events, patterns and prices, and returns how many are new.

        Args:
            today: The current day.
            freshness: For how many days events of each kind count.
            closes: The closing prices of each symbol by day, for correlations.
        """
        count = 0
        steps = [derive_insights(self.graph, today, freshness), derive_patterns(self.graph, today)]
        if closes is not None:
            steps.append(derive_correlations(self.graph, closes, today))
        for step in steps:
            for updates in list(step):
                self.graph.apply(updates, Origin(BY_RULES, today.isoformat()))
                count += any(isinstance(update, AddNode) for update in updates)
        return count

    def brief(
        self, portfolio: Portfolio, today: date, prices: Prices | None = None, freshness: Freshness | None = None
    ) -> list[Briefing]:
        """One briefing for each fresh insight about what is held or watched; what is held comes first.

        Args:
            portfolio: What is held and watched; its profile, if any, orders and annotates the briefings.
            today: The current day.
            prices: Closing prices, which are added as notes.
            freshness: For how many days events of each kind count.
        """
        briefings = []
        sources = EventSources(self.graph)
        for symbol in (*portfolio.held, *(s for s in portfolio.watched if s not in portfolio.held)):
            note = () if prices is None else (price_note(symbol, prices.close(symbol, today), prices.source),)
            for insight, edges in insights_about(self.graph, symbol, today, freshness):
                cited = (insight.key, *(edge.target for edge in edges))
                text = briefing_text(symbol, portfolio, insight, (today - event_date(insight)).days)
                citations = tuple(node_term(key).value for key in cited)
                events = briefed_events(self.graph, cited[1:], sources)
                if edges and not events:
                    continue  # of an earlier version, from reports without content
                briefings.append(
                    Briefing(
                        symbol,
                        symbol in portfolio.held,
                        text,
                        cited,
                        citations,
                        action=str(insight.properties.get("action") or ""),
                        strength=float(insight.properties.get("strength", 0)),
                        kinds=tuple(sorted({event.kind for event in events})),
                        notes=note,
                        events=events,
                    )
                )
        return briefings if portfolio.profile is None else shaped(briefings, portfolio.profile)


def take_back(graph: GrowingGraph, what: int | str) -> list[HistoryEntry]:
    """Undoes an update, or all updates of a document, and returns the entries that were undone.

    Insights and inserted answers that build on it are undone before it. The next briefing or question derives them
    again.

    Args:
        graph: The graph.
        what: The number of an update, or the name of a document.

    Raises:
        SchemaError: There is no such update or document, it was undone before, or another document builds on it.
    """
    live = [entry for entry in graph.history() if not entry.undone]
    numbers = [what] if isinstance(what, int) else [entry.number for entry in live if entry.document == what][::-1]
    if not numbers:
        raise SchemaError(f"no update of {what!r} is known, or all were undone: see `finpath graph show --history`")
    undone: list[HistoryEntry] = []
    for number in numbers:
        if number not in {entry.number for entry in undone}:
            undone += _undone(graph, number)
    return undone


def _undone(graph: GrowingGraph, number: int) -> list[HistoryEntry]:
    """Undoes an update after what is derived from it; nothing is undone if a document builds on it too."""
    entries = {entry.number: entry for entry in graph.history()}
    undone: list[HistoryEntry] = []
    while True:
        try:
            return [*undone, graph.undo(number)]
        except BuiltOnError as error:
            others = [entries[one] for one in error.later if not _is_derived(entries[one])]
            if others or not error.later:
                raise BuiltOnError(number, others) from error
            undone.append(graph.undo(error.later[0]))


def _is_derived(entry: HistoryEntry) -> bool:
    """Whether an update holds what the program derived from documents."""
    return entry.document == BY_RULES or entry.place.startswith(ANSWER_TO)


def _spans(updates: Sequence[Update], document: NewsDocument) -> list[str]:
    """Returns for each update the passage that has most of its words."""
    text = f"{document.headline}\n{document.text}"
    return [likely_span(update, text) for update in updates]
