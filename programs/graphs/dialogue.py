"""A graph of entities as something to hold a conversation with.

>>> Conversation(EntityTurns(EntityQA(), graph)).ask("What is the capital of Norway?").answer
'Oslo'
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from decimal import Decimal
from typing import Any

from kg.questions import EntityAnswer, EntityGraph, Value
from programs.graphs.entity_qa import EntityQA, EntityState, EntityTurn
from programs.turns import Exchange, Usage, read_resolution, resolution_record


class EntityTurns:
    """The turn program over a graph of entities.

    Args:
        program: The program.
        graph: The graph.
    """

    kind = "graph"

    def __init__(self, program: EntityQA, graph: EntityGraph) -> None:
        self.program = program
        self.graph = graph
        self.source = graph.name

    def begin(self) -> EntityState:
        """See :class:`programs.turns.conversation.TurnProgram`."""
        return self.program.start(self.graph)

    def reply(
        self,
        state: EntityState,
        question: str,
        exchanges: Sequence[Exchange],  # noqa: ARG002 - the state has them
    ) -> tuple[EntityState, Exchange]:
        """See :class:`programs.turns.conversation.TurnProgram`."""
        state = self.program.ask(state, question)
        return state, _exchange(state.turns[-1])

    def record(
        self,
        state: EntityState,
        exchanges: Sequence[Exchange],  # noqa: ARG002 - the state has them
    ) -> Mapping[str, Any]:
        """See :class:`programs.turns.conversation.TurnProgram`."""
        return {"turns": [_turn_record(turn) for turn in state.turns]}

    def restore(self, record: Mapping[str, Any]) -> tuple[EntityState, tuple[Exchange, ...]]:
        """See :class:`programs.turns.conversation.TurnProgram`; the graph context is fetched anew."""
        state = self.begin()
        turns = []
        for one in record["turns"]:
            context = state.retriever.retrieve(one["context"])
            turns.append(replace(_read_turn(one), context=context))
        state = replace(state, turns=tuple(turns))
        return state, tuple(map(_exchange, turns))


def _exchange(turn: EntityTurn) -> Exchange:
    return Exchange(turn.question, turn.resolution, turn.words, turn.failure, turn.message, turn.context, turn)


def _turn_record(turn: EntityTurn) -> dict[str, Any]:
    return {
        "question": turn.question,
        "resolution": resolution_record(turn.resolution),
        "found": None if turn.found is None else _found_record(turn.found),
        "labels": list(turn.labels),
        "words": turn.words,
        "context": [entity.node for entity in turn.context.entities],
        "failure": turn.failure,
        "message": turn.message,
        "usage": asdict(turn.usage),
        "named": list(turn.named),
    }


def _found_record(found: EntityAnswer) -> dict[str, Any]:
    return {
        "entities": list(found.entities),
        "values": [[one.entity, one.property, str(one.value), isinstance(one.value, Decimal)] for one in found.values],
        "answer": None if found.answer is None else str(found.answer),
        "subjects": list(found.subjects),
        "properties": list(found.properties),
        "facts": list(found.facts),
    }


def _read_turn(record: Mapping[str, Any]) -> EntityTurn:
    found = record["found"]
    return EntityTurn(
        question=record["question"],
        resolution=read_resolution(record["resolution"]),
        found=None if found is None else _read_found(found),
        labels=tuple(record["labels"]),
        words=record["words"],
        failure=record["failure"],
        message=record["message"],
        usage=Usage(**record["usage"]),
        named=tuple(record["named"]),
    )


def _read_found(record: Mapping[str, Any]) -> EntityAnswer:
    answer = record["answer"]
    return EntityAnswer(
        tuple(record["entities"]),
        tuple(
            Value(entity, name, Decimal(value) if numeric else value)
            for entity, name, value, numeric in record["values"]
        ),
        answer if answer is None or answer in ("yes", "no") else Decimal(answer),
        tuple(record["subjects"]),
        tuple(record["properties"]),
        tuple(record["facts"]),
    )
