"""Reports of events that an edited document no longer makes: its newer text holds.

>>> EditedTexts(graph).holds(node)          # "Shares fell 14%.", where the file now has "Shares fell 12%."
False

A document that is ingested again under its name replaces its sentences; the history has the earlier ones.
"""

from __future__ import annotations

from collections import defaultdict
from functools import cached_property

from kg.growing import GrowingGraph, Node

_PASSAGE = "Passage"


class EditedTexts:
    """The sentences of the documents of a graph, as they are and as they were.

    Args:
        graph: The graph; it is read when a report is first asked for.
    """

    def __init__(self, graph: GrowingGraph) -> None:
        self._graph = graph

    @cached_property
    def _texts(self) -> dict[str, list[str]]:
        """The present sentences of each document."""
        found: defaultdict[str, list[str]] = defaultdict(list)
        if any(kind.name == _PASSAGE for kind in self._graph.schema.types):
            for node in self._graph.nodes(_PASSAGE):
                found[str(node.properties["document"])].append(str(node.properties["text"]))
        return dict(found)

    @cached_property
    def _replaced(self) -> dict[str, list[str]]:
        """The sentences of each document that a newer text replaced."""
        found: defaultdict[str, list[str]] = defaultdict(list)
        for entry in self._graph.history():
            for one in entry.replaced if not entry.undone else ():
                if one.node.startswith(f"{_PASSAGE}(") and one.property == "text":
                    document = one.node.removeprefix(f"{_PASSAGE}(").removesuffix(")").rpartition(" ")[0]
                    found[document].append(str(one.before))
        return dict(found)

    def holds(self, report: Node) -> bool:
        """Whether a report of an event is still made: not if each of its documents has replaced its sentence."""
        summary = str(report.properties.get("summary", report.key.name))
        stated = (summary, summary.partition(": ")[2] or summary)
        return not report.sources or any(self._states(document, stated) for document in report.sources)

    def _states(self, document: str, stated: tuple[str, ...]) -> bool:
        texts = self._texts.get(document)
        if texts is None or any(one in text for text in texts for one in stated):
            return True
        return not any(one in text for text in self._replaced.get(document, ()) for one in stated)
