"""Readers of news documents: by rules, or by a language model that is held to the graph's types.

>>> ModelReader(graph).read(document).updates[0]
AddNode('News', 'Orbex sued over delays', {'source': 'Quay Post', 'published_at': '2026-03-02'})
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import dspy
from dspy.utils.exceptions import AdapterParseError

from kg.errors import SchemaError
from kg.growing import AddNode, GrowingGraph, Update, parse_update, supporting_span
from kg.investments import NewsDocument, Reading
from programs.thoughts import operations_type
from programs.wording import brief_types, rendered_graph
from signatures.thoughts import UpdateGraph

MOST_REPAIRS = 1
"""How often a language model writes updates again that the schema refuses."""

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
    """A reader of news documents."""

    name: str

    def read(self, document: NewsDocument) -> Reading:
        """Returns the statements of a document as updates."""
        ...


class ModelReader(dspy.Module):
    """Reads by a language model, which writes updates of the graph's types.

    Args:
        graph: The graph.

    Attributes:
        refused: Refusals of the schema, one line each.
    """

    name = "model"

    def __init__(self, graph: GrowingGraph) -> None:
        super().__init__()
        self.graph = graph
        self.update_graph = dspy.Predict(UpdateGraph)
        self.update_graph.demos = _reading_examples(graph)
        self.refused: list[str] = []

    def read(self, document: NewsDocument) -> Reading:
        """See :meth:`NewsReader.read`; invalid updates are left out one by one.

        So is what no passage of the document states, see :func:`kg.growing.supporting_span`.
        """
        news = AddNode(
            "News", document.headline, {"source": document.source, "published_at": document.published.isoformat()}
        )
        information = f"{document.headline} ({document.source}, {document.published})\n{document.text}"
        found: list[Update] = [news]
        spans = [document.headline]
        problem = "none"
        for _ in range(MOST_REPAIRS + 1):
            written = self._written(information, problem)
            kept, passages, problem = self._kept([news], written, information)
            if len(kept) > len(found):
                found, spans = kept, [document.headline, *passages[1:]]
            if not problem:
                break
            self.refused.append(f"{document.name}: {problem}")
        return Reading(tuple(found), spans=tuple(spans))

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
        except (AdapterParseError, RecursionError) as error:
            self.refused.append(f"a reply could not be read: {' '.join(str(error).split())[:200]}")
            return ()
        return [entry.model_dump() for entry in reply.updates]

    def _kept(self, before: list[Update], written: Sequence[object], text: str) -> tuple[list[Update], list[str], str]:
        """The updates that pass with their passages, and what is wrong with the first that does not."""
        kept, spans, problem = list(before), [""] * len(before), ""
        for place, entry in enumerate(written):
            try:
                update = parse_update(entry, place)
                self.graph.check([*kept, update])
                added = [one.key for one in kept if isinstance(one, AddNode)]
                span = supporting_span(update, text, self.graph, added)
            except SchemaError as error:
                problem = problem or str(error)
                continue
            kept.append(update)
            spans.append(span)
        return kept, spans, problem


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
