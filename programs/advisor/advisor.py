"""The advisor: news becomes knowledge, knowledge is asked, and what is new about a portfolio becomes briefings.

>>> advisor = Advisor(graph, RuleReader(graph), TypeProposals(graph, "auto"))
>>> advisor.ingest(document).applied.nodes
9
>>> [briefing.symbol for briefing in advisor.brief(portfolio, today)]
['HLXN']

The portfolio is read from tables and never enters the graph. Ingesting a document again changes nothing; what a
program that is killed half-way had taken is not taken again, and nothing of a document is taken by halves.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any, Protocol

import dspy
from dspy.utils.exceptions import AdapterParseError

from kg.errors import SchemaError
from kg.growing import (
    AddNode,
    Applied,
    EdgeType,
    GrowingGraph,
    NodeKey,
    NodeType,
    Origin,
    TypeProposals,
    Update,
    node_term,
    parse_update,
)
from kg.investments import NewsDocument, NewsRules, Reading, derive_insights, event_date, insights_about
from kg.text import tokens
from programs.thoughts import operations_type
from programs.wording import brief_types, rendered_graph
from signatures.thoughts import UpdateGraph

MOST_REPAIRS = 1
"""How often a language model writes updates again that the schema refuses."""

VERBATIM = 6
"""Words up to which a text that a model writes of a document must be the document's own; longer ones may sum it up."""

SHOWN = 8
"""Nodes of the graph that a language model is shown while it reads a document: those that the document names."""


_EXAMPLE = """Orbex sued over delays (Quay Post, 2026-03-02)
Orbex Ltd (ORBX), a shipping company based in Malta, was sued by Kestrel."""
_COMPANY = {"type": "Company", "name": "Orbex Ltd"}
_EVENT = {"type": "MarketEvent", "name": "Orbex Ltd was sued by Kestrel"}
_OPERATIONS: tuple[dict[str, Any], ...] = (
    {"op": "AddNode", **_COMPANY, "properties": {"name": "Orbex Ltd", "ticker": "ORBX", "country": "Malta"}},
    {"op": "AddNode", "type": "Sector", "name": "Shipping", "properties": {"name": "Shipping"}},
    {"op": "AddEdge", "type": "in_sector", "source": _COMPANY, "target": {"type": "Sector", "name": "Shipping"}},
    {"op": "AddNode", "type": "Asset", "name": "ORBX", "properties": {"symbol": "ORBX", "type": "stock"}},
    {"op": "AddEdge", "type": "issued_by", "source": {"type": "Asset", "name": "ORBX"}, "target": _COMPANY},
    {
        "op": "AddNode",
        **_EVENT,
        "properties": {"type": "lawsuit", "summary": _EVENT["name"], "occurred_at": "2026-03-02"},
    },
    {"op": "AddEdge", "type": "affects", "source": _EVENT, "target": _COMPANY, "properties": {"direction": "negative"}},
    {
        "op": "AddEdge",
        "type": "mentions",
        "source": {"type": "News", "name": "Orbex sued over delays"},
        "target": _COMPANY,
    },
)
"""How a document is read, for models that write one operation and stop where they have not seen it."""


class NewsReader(Protocol):
    """What reads a document."""

    name: str

    def read(self, document: NewsDocument) -> Reading:
        """What it states, as updates."""
        ...


class RuleReader:
    """Reads by rules (:mod:`kg.investments.rules`), with the names that a graph has.

    Args:
        graph: The graph.
    """

    name = "rules"

    def __init__(self, graph: GrowingGraph) -> None:
        known = [tuple(node.key.name for node in graph.nodes(kind)) for kind in ("Company", "Institution")]
        self._rules = NewsRules(*known)

    def read(self, document: NewsDocument) -> Reading:
        """See :meth:`NewsReader.read`."""
        return self._rules.read(document)


class ModelReader(dspy.Module):
    """Reads by a language model, which writes updates of the graph's types.

    Args:
        graph: The graph.

    Attributes:
        refused: What the schema refused, one line each.
    """

    name = "model"

    def __init__(self, graph: GrowingGraph) -> None:
        super().__init__()
        self.graph = graph
        self.update_graph = dspy.Predict(UpdateGraph)
        self.update_graph.demos = _reading_examples(graph)
        self.refused: list[str] = []

    def read(self, document: NewsDocument) -> Reading:
        """See :meth:`NewsReader.read`; updates that no repair saves are left out one by one.

        So is what the document does not say: new nodes with names and short texts whose words do not occur in it.
        """
        news = AddNode(
            "News", document.headline, {"source": document.source, "published_at": document.published.isoformat()}
        )
        information = f"{document.headline} ({document.source}, {document.published})\n{document.text}"
        found: list[Update] = [news]
        problem = "none"
        for _ in range(MOST_REPAIRS + 1):
            written = self._written(information, problem)
            kept, problem = self._kept([news], written, information)
            if len(kept) > len(found):
                found = kept
            if not problem:
                break
            self.refused.append(f"{document.name}: {problem}")
        return Reading(tuple(found))

    def _written(self, information: str, problem: str) -> Sequence[object]:
        schema, scope = self.graph.schema, self.graph.scope
        signature = self.update_graph.signature.with_updated_fields("updates", type_=operations_type(schema, scope))
        try:
            reply = self.update_graph(
                signature=signature,
                types=brief_types(schema, scope),
                graph=rendered_graph(self.graph, information, SHOWN),
                information=information,
                problem=problem,
            )
        except AdapterParseError as error:
            self.refused.append(f"a reply could not be read: {' '.join(str(error).split())[:200]}")
            return ()
        return [entry.model_dump() for entry in reply.updates]

    def _kept(self, before: list[Update], written: Sequence[object], text: str) -> tuple[list[Update], str]:
        """The updates that pass, one after the other, and what is wrong with the first that does not."""
        kept, problem = list(before), ""
        for place, entry in enumerate(written):
            try:
                update = parse_update(entry, place)
                self.graph.check([*kept, update])
                self._supported(update, text)
            except SchemaError as error:
                problem = problem or str(error)
                continue
            kept.append(update)
        return kept, problem

    def _supported(self, update: Update, text: str) -> None:
        """Raises SchemaError where a node says something that the document does not."""
        if not isinstance(update, AddNode) or self.graph.node(update.key) is not None:
            return
        rules = self.graph.schema.node_type(update.type, self.graph.scope).properties_schema.get("properties", {})
        said = {"name": update.name}
        said |= {
            name: value
            for name, value in update.properties.items()
            if isinstance(value, str) and not {"enum", "format"} & rules.get(name, {}).keys()
        }
        for name, value in said.items():
            strange = set(tokens(value)) - set(tokens(text))
            if strange and len(value.split()) <= VERBATIM:
                raise SchemaError(f"the {name} of {update.type} {update.name!r} is not in the document: {value!r}")


def _reading_examples(graph: GrowingGraph) -> list[dspy.Example]:
    """The example, if the graph has its types as they are."""
    try:
        with GrowingGraph(None, graph.schema) as empty:
            news = AddNode("News", "Orbex sued over delays", {"published_at": "2026-03-02"})
            empty.check([news, *(parse_update(entry, place) for place, entry in enumerate(_OPERATIONS))])
    except SchemaError:
        return []
    said = {"types": "as below", "graph": "empty", "information": _EXAMPLE, "problem": "none"}
    return [dspy.Example(**said, updates=list(_OPERATIONS)).with_inputs(*said)]


@dataclass(frozen=True)
class Ingested:
    """What became of a document.

    Attributes:
        document: Its name.
        applied: What it changed.
        proposed: The types that it needs, with what became of each: accepted, pending or the reason of the refusal.
        left_out: Updates that wait for a type.
        known: Whether it was ingested before.
    """

    document: str
    applied: Applied = field(default_factory=Applied)
    proposed: tuple[tuple[str, str], ...] = ()
    left_out: int = 0
    known: bool = False


@dataclass(frozen=True)
class Portfolio:
    """What a user holds and watches; it is read from tables and never enters the graph.

    Attributes:
        held: Symbols with the number of shares.
        watched: Symbols.
    """

    held: dict[str, float]
    watched: tuple[str, ...] = ()


@dataclass(frozen=True)
class Briefing:
    """What is new about an instrument that a user holds or watches.

    Attributes:
        symbol: The instrument.
        held: Whether it is held; else it is watched.
        text: What there is to say.
        cited: The nodes that it rests on: the insight, then its events.
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

    def ingest(self, document: NewsDocument) -> Ingested:
        """Makes what a document states part of the graph: one transaction, and one for what needs new types.

        Raises:
            SchemaError: What it states contradicts the graph.
        """
        batch = f"{self.reader.name}:{document.sha256}"
        rest = f"{batch}:further"  # what waits for a type has a name of its own, so that it can follow later
        if self.graph.has_batch(rest):
            return Ingested(document.name, known=True)
        reading = self.reader.read(document)
        origin, applied = Origin(document.name), Applied()
        if not self.graph.has_batch(batch):
            applied = self.graph.apply(reading.updates, origin, batch=batch)
        proposed = tuple((kind.name, self._propose(kind)) for kind in reading.proposals)
        if any(verdict not in ("accepted", "known") for _, verdict in proposed):
            return Ingested(document.name, applied, proposed, len(reading.further))
        further = self.graph.apply(reading.further, origin, batch=rest)
        return Ingested(document.name, applied + further, proposed)

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


def _briefing_text(symbol: str, portfolio: Portfolio, properties: Mapping[str, Any], age: int) -> str:
    whose = f"You hold {portfolio.held[symbol]:g} {symbol}" if symbol in portfolio.held else f"You watch {symbol}"
    action = f"; signal to {properties['action']}" if "action" in properties else ""
    when = "today" if age == 0 else f"{age} day{'s' if age > 1 else ''} ago"
    return f"{whose}. {properties['summary']}{action} (strength {properties['strength']}, derived {when})."
