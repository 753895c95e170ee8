"""The graph of countries and cities that ships, and the conversations that show how references are resolved on it.

    $ finpath demo geography

Nothing here knows what the questions mean: the program reads the graph's own labels.
"""

from __future__ import annotations

import argparse
import json
from decimal import Decimal
from typing import Any

from experiments.console import say, show, write_json
from experiments.files import SAMPLE_FOLDER
from kg.graphs import GraphStore, MemoryStore, read_turtle
from kg.questions import EntityGraph
from programs.graphs import EntityQA, EntityTurn, GraphWorld
from programs.turns import Conversation, EntityDetail

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


def run_demo(options: argparse.Namespace) -> int:
    """``finpath demo geography``: exit code 1 if an answer is not the expected one."""
    graph = load_geography()
    say(f"* {len(graph.lexicon.types)} entities, no language model")
    told: list[dict[str, Any]] = []
    for number, script in enumerate(scripted_conversations(), start=1):
        show(f"{number}. {script['name']}")
        conversation = geography_conversation(graph)
        for expected in script["turns"]:
            turn = conversation.ask(expected["question"])
            right = is_right(turn, expected)
            show(_shown(turn, right) + "\n")
            told.append({"conversation": script["name"], **_plain(turn), "right": right})
    count = sum(turn["right"] for turn in told)
    show(f"{count} of {len(told)} answers are right; talk on with `finpath chat geography`")
    if options.json:
        write_json(options.json, {"turns": len(told), "right": count, "asked": told})
    return 0 if count == len(told) else 1


def _shown(turn: EntityTurn, right: bool) -> str:
    lines = [f"   Q  {turn.question}"]
    if turn.resolved.kind != "none":
        lines.append(f"      {turn.resolved.kind}: {turn.canonical}")
    lines.append(f"   A  {turn.words or turn.message}{'' if right else '   (wrong)'}")
    lines.append(f"      in play: {', '.join(entity.label for entity in turn.context.entities) or 'nothing yet'}")
    return "\n".join(lines)


def _plain(turn: EntityTurn) -> dict[str, Any]:
    found = (turn.detail or EntityDetail()).found
    return {
        "question": turn.question,
        "kind": turn.resolved.kind,
        "canonical": turn.canonical,
        "answer": turn.words or None,
        "facts": list(found.facts) if found is not None else [],
        "context": [entity.label for entity in turn.context.entities],
    }
