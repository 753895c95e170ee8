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
from programs.graphs import EntityQA, EntityTurn, EntityTurns
from programs.turns import Conversation, Exchange

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


def geography_turns(graph: EntityGraph | None = None) -> EntityTurns:
    """What a conversation about the graph is held with."""
    return EntityTurns(EntityQA(), graph if graph is not None else load_geography())


def is_right(turn: EntityTurn, expected: dict[str, Any]) -> bool:
    """Whether a turn's answer is the expected one.

    Args:
        turn: The turn.
        expected: ``entities`` (names, in any order), ``value`` (to five decimal places), ``values`` (by name) or
            ``answer`` (yes or no).
    """
    if turn.found is None:
        return False
    if "entities" in expected:
        return turn.found.answer is None and sorted(turn.labels) == sorted(expected["entities"])
    if "values" in expected:
        names = {one.entity.rpartition("#")[2].replace("_", " "): str(one.value) for one in turn.found.values}
        return names == dict(expected["values"])
    if "answer" in expected:
        return bool(turn.found.answer == expected["answer"])
    wanted, answer = Decimal(expected["value"]), turn.found.answer
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
        conversation = Conversation(geography_turns(graph))
        for expected in script["turns"]:
            exchange = conversation.ask(expected["question"])
            right = is_right(exchange.turn, expected)
            show(_shown(exchange, right) + "\n")
            told.append({"conversation": script["name"], **_plain(exchange), "right": right})
    count = sum(turn["right"] for turn in told)
    show(f"{count} of {len(told)} answers are right; talk on with `finpath chat geography`")
    if options.json:
        write_json(options.json, {"turns": len(told), "right": count, "asked": told})
    return 0 if count == len(told) else 1


def _shown(exchange: Exchange, right: bool) -> str:
    lines = [f"   Q  {exchange.question}"]
    if exchange.resolution.kind != "none":
        lines.append(f"      {exchange.resolution.kind}: {exchange.resolution.canonical}")
    lines.append(f"   A  {exchange.answer or exchange.message}{'' if right else '   (wrong)'}")
    lines.append(f"      in play: {', '.join(entity.label for entity in exchange.context.entities) or 'nothing yet'}")
    return "\n".join(lines)


def _plain(exchange: Exchange) -> dict[str, Any]:
    return {
        "question": exchange.question,
        "kind": exchange.resolution.kind,
        "canonical": exchange.resolution.canonical,
        "answer": exchange.answer or None,
        "facts": list(exchange.turn.found.facts) if exchange.turn.found is not None else [],
        "context": [entity.label for entity in exchange.context.entities],
    }
