"""Turns as JSON and back: the records of a journal, a run's tables and a saved conversation.

    record = turn_record(turn)
    record["candidates"][0]["program"]     # 'subtract(206588, 181001)'
    read_turn(record) == turn              # except the understanding and the evidence, which stay JSON

A number is written exactly, as text. A figure has its path and its observation next to the program that uses it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

from pydantic import TypeAdapter

from kg.search import Answer
from programs.turns.codecs import Record, derivation_record, read_derivation
from programs.turns.details import PathDetail, QueryDetail, TextDetail
from programs.turns.turn import Turn

if TYPE_CHECKING:
    from kg.calculations import ReportIndex, WeightedHistory

KEPT_CANDIDATES = 20
"""The number of candidates that a record keeps, the largest k of ``recall_at_k``."""

_NOT_OF_REPORTS: Record = {"resolution": None, "context": None, "detail": None}


@cache
def _adapter() -> TypeAdapter[Turn[Any, Any]]:
    return TypeAdapter(Turn[Answer | tuple[str, ...], PathDetail | QueryDetail | TextDetail])


def turn_record(turn: Turn[Any, Any], candidates: int = KEPT_CANDIDATES) -> Record:
    """A turn as JSON, with at most ``candidates`` of its candidates and always those up to the pick."""
    kept = turn.candidates[: max(candidates, (turn.pick if turn.pick is not None else -1) + 1)]
    record: Record = _adapter().dump_python(replace(turn, candidates=kept), mode="json")
    if not turn.context.entities:
        record["context"] = None
    return {name: value for name, value in record.items() if value is not None or name not in _NOT_OF_REPORTS}


def read_turn(record: Mapping[str, Any]) -> Turn[Any, Any]:
    """The turn that :func:`turn_record` wrote; its understanding and evidence stay JSON."""
    return _adapter().validate_python(dict(record))


def history_records(histories: Sequence[WeightedHistory]) -> list[Record]:
    """The histories from which a conversation continues: the derivation of each earlier turn, and the weight."""
    return [
        {
            "log_probability": float(one.log_probability),
            "turns": [derivation_record(turn.derivation) for turn in one.turns],
        }
        for one in histories
    ]


def read_histories(
    records: Sequence[Mapping[str, Any]], index: ReportIndex, questions: Sequence[str]
) -> tuple[WeightedHistory, ...]:
    """The histories that :func:`history_records` wrote, for the same report and questions."""
    from kg.calculations import fixed_history
    from kg.search import PastTurn

    histories = []
    for record in records:
        derivations = [read_derivation(one) for one in record["turns"]]
        past = [
            PastTurn(question, derivation, derivation.execute() if derivation is not None else None)
            # A long conversation's histories hold its last turns.
            for question, derivation in zip(questions[-len(derivations) :], derivations, strict=False)
        ]
        histories.append(replace(fixed_history(index, past)[0], log_probability=record["log_probability"]))
    return tuple(histories)
