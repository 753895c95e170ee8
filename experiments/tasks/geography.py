"""The graph of countries and cities that ships, and the conversations that show how references are resolved on it.

    $ finpath demo geography

Nothing here knows what the questions mean: the program reads the graph's own labels.
"""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

from experiments.files import SAMPLE_FOLDER
from kg.graphs import GraphStore, MemoryStore, read_turtle
from kg.questions import EntityGraph
from programs.graphs import EntityQA, EntityTurn, GraphWorld
from programs.turns import Conversation

GEOGRAPHY = "https://w3id.org/finpath/geography"
"""The name of the graph."""


def load_geography(store: GraphStore | None = None) -> EntityGraph:
    """The graph of countries and cities.

    Args:
        store: Where to put it; ``None`` for a store in memory.
    """
    store = store if store is not None else MemoryStore()
    text = (SAMPLE_FOLDER / "geography.ttl").read_text(encoding="utf-8")
    store.put_graph(GEOGRAPHY, read_turtle(text, what="geography.ttl"))
    return EntityGraph(store, GEOGRAPHY)


def geography_conversation(graph: EntityGraph | None = None) -> Conversation:
    """A new conversation about the graph."""
    graph = graph if graph is not None else load_geography()
    return Conversation(EntityQA(), GraphWorld(graph, graph.name))


def is_right(turn: EntityTurn, expected: dict[str, Any]) -> bool:
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


def scripted_conversations() -> list[dict[str, Any]]:
    """The three conversations with the answers that are expected."""
    found: list[dict[str, Any]] = json.loads(
        (SAMPLE_FOLDER / "geography_conversations.json").read_text(encoding="utf-8")
    )
    return found
