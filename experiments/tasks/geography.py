"""The graph of countries and cities that ships, and the conversations that show how references are resolved on it.

    $ finpath demo geography

Nothing here knows what the questions mean: the program reads the graph's own labels.
"""

from __future__ import annotations

import json
from typing import Any

from experiments.files import SAMPLE_FOLDER
from kg.graphs import GraphStore, MemoryStore, read_turtle
from kg.questions import EntityGraph
from programs.graphs import EntityQA, GraphWorld
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


def scripted_conversations() -> list[dict[str, Any]]:
    """The three conversations with the answers that are expected."""
    found: list[dict[str, Any]] = json.loads(
        (SAMPLE_FOLDER / "geography_conversations.json").read_text(encoding="utf-8")
    )
    return found
