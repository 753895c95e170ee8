"""The shipped graph of countries and cities, with conversations that show its resolution of references.

$ finpath demo geography
"""

from __future__ import annotations

import json
from typing import Any

from experiments.files import SAMPLE_FOLDER
from kg.graphs import GraphStore, MemoryStore, read_turtle
from kg.questions import EntityGraph

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


def scripted_conversations() -> list[dict[str, Any]]:
    """Returns the three conversations with their expected answers."""
    found: list[dict[str, Any]] = json.loads(
        (SAMPLE_FOLDER / "geography_conversations.json").read_text(encoding="utf-8")
    )
    return found
