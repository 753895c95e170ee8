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
from typing import Any

from kg.errors import SchemaError
from kg.growing import (
    Applied,
    EdgeType,
    GrowingGraph,
    NodeKey,
    NodeType,
    Origin,
    TypeProposals,
    Update,
    likely_span,
    node_term,
)
from kg.investments import NewsDocument, derive_insights, event_date, insights_about
from kg.news import applicable
from programs.advisor.readers import NewsReader


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
    """

    document: str
    applied: Applied = field(default_factory=Applied)
    proposed: tuple[tuple[str, str], ...] = ()
    left_out: int = 0
    known: bool = False
    sentences: int = 0
    understood: int = 0
    problems: tuple[str, ...] = ()


@dataclass(frozen=True)
class Portfolio:
    """The instruments that a user holds and watches; they are read from tables and never enter the graph.

    Attributes:
        held: Symbols with the number of shares.
        watched: Symbols.
    """

    held: dict[str, float]
    watched: tuple[str, ...] = ()


@dataclass(frozen=True)
class Briefing:
    """News about an instrument that a user holds or watches.

    Attributes:
        symbol: The instrument.
        held: Whether it is held; else it is watched.
        text: The news in words.
        cited: The nodes that support it: the insight, then its events.
        citations: Their IRIs in the graph, in the same order.
    """

    symbol: str
    held: bool
    text: str
    cited: tuple[NodeKey, ...]
    citations: tuple[str, ...]


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

    def ingest(self, document: NewsDocument) -> Ingestion:
        """Makes what a document states part of the graph: one transaction, and one for what needs new types.

        A fact that the graph does not take is left out by itself. A differing value replaces the stored one, which the
        history keeps.
        """
        batch = f"{self.reader.name}:{document.sha256}"
        rest = f"{batch}:further"  # what waits for a type has a name of its own, so that it can follow later
        if self.graph.has_batch(rest):
            return Ingestion(document.name, known=True)
        reading = self.reader.read(document)
        origin, applied = Origin(document.name), Applied()
        problems: list[str] = []
        if not self.graph.has_batch(batch):
            spans = [
                given or likely_span(update, f"{document.headline}\n{document.text}")
                for update, given in zip(reading.updates, reading.spans or ("",) * len(reading.updates), strict=True)
            ]
            kept, problems = applicable(self.graph, list(zip(reading.updates, spans, strict=True)))
            updates = [update for update, _ in kept]
            applied = self.graph.apply(updates, origin, batch=batch, spans=[span for _, span in kept])
        proposed = tuple((kind.name, self._propose(kind)) for kind in reading.proposals)
        if any(verdict not in ("accepted", "known") for _, verdict in proposed):
            return Ingestion(
                document.name,
                applied,
                proposed,
                len(reading.further),
                sentences=reading.sentences,
                understood=reading.understood,
                problems=tuple(problems),
            )
        further = self.graph.apply(reading.further, origin, batch=rest, spans=_spans(reading.further, document))
        return Ingestion(
            document.name,
            applied + further,
            proposed,
            sentences=reading.sentences,
            understood=reading.understood,
            problems=tuple(problems),
        )

    def _propose(self, kind: NodeType | EdgeType) -> str:
        if kind.name in {known.name for known in self.graph.schema.types}:
            return "known"
        try:
            return self.proposals.propose(kind)
        except SchemaError as error:
            return str(error)

    def reflect(self, today: date) -> int:
        """Derives insights from fresh events, and returns how many are new."""
        count = 0
        for updates in list(derive_insights(self.graph, today)):
            self.graph.apply(updates, Origin("insights by rules", today.isoformat()))
            count += 1
        return count

    def brief(self, portfolio: Portfolio, today: date) -> list[Briefing]:
        """One briefing for each fresh insight about what is held or watched; what is held comes first."""
        briefings = []
        for symbol in (*portfolio.held, *(s for s in portfolio.watched if s not in portfolio.held)):
            for insight, edges in insights_about(self.graph, symbol, today):
                cited = (insight.key, *(edge.target for edge in edges))
                text = _briefing_text(symbol, portfolio, insight.properties, (today - event_date(insight)).days)
                citations = tuple(node_term(key).value for key in cited)
                briefings.append(Briefing(symbol, symbol in portfolio.held, text, cited, citations))
        return briefings


def _spans(updates: Sequence[Update], document: NewsDocument) -> list[str]:
    """Returns for each update the passage that has most of its words."""
    text = f"{document.headline}\n{document.text}"
    return [likely_span(update, text) for update in updates]


def _briefing_text(symbol: str, portfolio: Portfolio, properties: Mapping[str, Any], age: int) -> str:
    whose = f"You hold {portfolio.held[symbol]:g} {symbol}" if symbol in portfolio.held else f"You watch {symbol}"
    action = f"; signal to {properties['action']}" if "action" in properties else ""
    when = "today" if age == 0 else f"{age} day{'s' if age > 1 else ''} ago"
    return f"{whose}. {properties['summary']}{action} (strength {properties['strength']}, derived {when})."
