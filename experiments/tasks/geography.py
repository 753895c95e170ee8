"""The shipped graph of countries and cities, and the check of an answer about it.

>>> is_right(ConversationQA.for_graphs()(graph=load_geography(), questions=[question]).turns[0], {"value": "5550203"})
True
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from experiments.files import SAMPLE_FOLDER
from kg.graphs import GraphStore, MemoryStore, read_turtle
from kg.questions import EntityGraph
from programs.worlds.entities import EntityTurn

GEOGRAPHY = "https://w3id.org/finpath/geography"
"""The name of the graph."""


def load_geography(store: GraphStore | None = None) -> EntityGraph:
    """Returns the graph of countries and cities.

    Args:
        store: The store for it; ``None`` for one in memory.
    """
    store = store if store is not None else MemoryStore()
    text = (SAMPLE_FOLDER / "geography.ttl").read_text(encoding="utf-8")
    store.put_graph(GEOGRAPHY, read_turtle(text, what="geography.ttl"))
    return EntityGraph(store, GEOGRAPHY)


def is_right(turn: EntityTurn, expected: Mapping[str, Any]) -> bool:
    """Whether a turn's answer is the expected one.

    Args:
        turn: The turn.
        expected: ``entities`` (names, in any order), ``value`` (to five decimal places), ``values`` (by name) or
            ``answer`` (yes or no).
    """
    detail = turn.detail
    if detail is None or detail.found is None:
        return False
    if "entities" in expected:
        return detail.found.answer is None and sorted(detail.labels) == sorted(expected["entities"])
    if "values" in expected:
        names = {one.entity.rpartition("#")[2].replace("_", " "): str(one.value) for one in detail.found.values}
        return names == dict(expected["values"])
    if "answer" in expected:
        return bool(detail.found.answer == expected["answer"])
    wanted, answer = Decimal(expected["value"]), detail.found.answer
    return isinstance(answer, Decimal) and abs(answer - wanted) <= abs(wanted) * Decimal("0.00001")
