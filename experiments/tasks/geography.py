"""Conversations about the shipped graph of countries and cities, scored by the answers of a script.

    task = GraphConversations(scripted_conversations(), EntityWorld(graph, graph.name), name="geography")
    evaluate(SavedProgram(ConversationQA.for_graphs(), "entity", Path()), task).figures["accuracy"]

A script is a mapping with ``name`` and ``turns``; a turn has ``question`` and one of ``entities``, ``value``,
``values`` and ``answer``.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from experiments.evaluation.task import Description, EvaluationConfig, Scored, Task, accuracy_figures
from experiments.files import SAMPLE_FOLDER
from experiments.saved import SavedProgram
from experiments.tracking import DataInput, Run, TraceFacts
from kg.errors import DataError
from kg.graphs import GraphStore, MemoryStore, read_turtle
from kg.questions import EntityGraph
from programs.turns import AnyWorld, TurnProgram
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


def scripted_conversations() -> list[dict[str, Any]]:
    """Returns the three conversations with their expected answers."""
    path = SAMPLE_FOLDER / "geography_conversations.json"
    found: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))
    return found


@dataclass(frozen=True)
class Script:
    """A conversation with its expected answers.

    Attributes:
        id: Its name.
        turns: Each question with its expected answer.
    """

    id: str
    turns: tuple[Mapping[str, Any], ...]


class GraphConversations(Task[Script, EntityTurn, bool]):
    """Conversations about one graph.

    Args:
        scripts: The conversations.
        world: The graph.
        name: The data's name.
    """

    run_kind = "conversations"

    def __init__(self, scripts: Sequence[Mapping[str, Any]], world: AnyWorld, name: str) -> None:
        self.scripts = [Script(one["name"], tuple(one["turns"])) for one in scripts]
        self.world, self.name = world, name
        content = json.dumps([[one.id, one.turns] for one in self.scripts], sort_keys=True)
        self.sha256 = hashlib.sha256(content.encode()).hexdigest()

    def items(self, limit: int | None = None) -> Sequence[Script]:
        """Returns the conversations."""
        if not self.scripts:
            raise DataError("has no conversation that can be evaluated", file=self.name)
        return self.scripts[:limit]

    def size(self, item: Script) -> int:
        """Returns the number of questions."""
        return len(item.turns)

    def source(self, item: Script) -> str:  # noqa: ARG002
        """Returns the graph's name."""
        return self.world.name

    def describe(self, saved: SavedProgram, config: EvaluationConfig) -> Description:
        """Returns program, model, graph and data."""
        figures = {
            "program": saved.name,
            "lm": config.lm.name,
            "graph": self.world.name,
            "data": self.name,
            "data_sha256": self.sha256,
            "limit": config.limit,
        }
        params = {**figures, **config.lm.params(), "seed": config.seed, "threads": config.thread_count}
        tags = {"finpath.data": self.name, "finpath.data_sha256": self.sha256}
        data = DataInput(self.name, self.sha256, "dev", len(self.items(config.limit)))
        return Description(figures, params, tags, figures, data)

    def answer(
        self,
        program: TurnProgram,
        item: Script,
        config: EvaluationConfig,  # noqa: ARG002
    ) -> Iterator[tuple[EntityTurn, bool, bool]]:
        """Yields the turns of a conversation."""
        state = program.start(self.world)
        for expected in item.turns:
            state = program.ask(state, expected["question"])
            right = is_right(state.turns[-1], expected)
            yield state.turns[-1], right, right

    def figures(self, scored: Sequence[Scored[EntityTurn, bool]], *, seed: int) -> dict[str, Any]:
        """Returns turns, right turns, and the accuracy in [0, 1] with its interval over conversations."""
        failed = sum(one.turn.failure is not None for one in scored)
        return {**accuracy_figures(scored, seed=seed), "failed_turns": failed}

    def log(self, run: Run, figures: Mapping[str, Any], scored: Sequence[Scored[EntityTurn, bool]]) -> None:
        """Logs figures and a row for each question."""
        run.log_metrics(figures)
        rows = [
            {
                "conversation_id": one.item,
                "turn_index": one.index,
                "question": one.turn.question,
                "answer": one.turn.words or None,
                "right": one.right,
                "message": one.turn.message,
            }
            for one in scored
        ]
        run.log_table("questions", rows)

    def trace(self, scored: Scored[EntityTurn, bool]) -> TraceFacts:
        """Returns the turn's trace."""
        turn = scored.turn
        outputs = {"answer": turn.words, "canonical": turn.canonical, "failure": turn.message or turn.failure}
        inputs = {"question": turn.question, "graph": scored.source}
        return TraceFacts(f"{scored.item} turn {scored.index + 1}", inputs, outputs)


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
