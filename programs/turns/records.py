"""Turns as JSON and back: what a journal, a run's tables and a report's page are made from.

    record = turn_record(turn)
    record["candidates"][0]["program"]     # 'subtract(206588, 181001)'
    read_turn(record) == turn              # but for the understanding, which stays as its JSON

A number is written exactly, as text; a figure keeps its path and its observation beside the program that uses it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any, cast

from kg.derivations import Answer, Candidate, Derivation, Number, Step
from kg.reports import CellSource, Observation, SentenceSource, Source
from kg.text import Quantity
from programs.turns.turn import FactReading, ToolCall, Turn, Usage

if TYPE_CHECKING:
    from kg.derivations import ReportIndex, WeightedHistory

Record = dict[str, Any]

KEPT_CANDIDATES = 20
"""Candidates of a turn that are kept, as many as the largest ``recall_at_k`` looks at."""


def turn_record(turn: Turn, candidates: int = KEPT_CANDIDATES) -> Record:
    """A turn as JSON knows it, with at most ``candidates`` of its candidates and always those up to the pick."""
    kept = turn.candidates[: max(candidates, (turn.pick if turn.pick is not None else -1) + 1)]
    return {
        "question": turn.question,
        "answer": write_exactly(turn.answer),
        "derivation": _derivation_record(turn.derivation),
        "candidates": [_candidate_record(one) for one in kept],
        "pick": turn.pick,
        "confidence": turn.confidence,
        "failure": turn.failure,
        "message": turn.message,
        "understanding": plain(turn.understanding),
        "usage": dataclasses.asdict(turn.usage),
        "tool_calls": [plain(dataclasses.asdict(call)) for call in turn.tool_calls],
        "words": turn.words,
        "evidence": plain(turn.evidence),
        "escalated": turn.escalated,
        "reading": _reading_record(turn.reading),
    }


def read_turn(record: Mapping[str, Any]) -> Turn:
    """The turn that :func:`turn_record` wrote; its understanding and evidence are what JSON made of them."""
    return Turn(
        question=record["question"],
        answer=read_exactly(record["answer"]),
        derivation=_read_derivation(record["derivation"]),
        candidates=tuple(_read_candidate(one) for one in record["candidates"]),
        pick=record["pick"],
        confidence=record["confidence"],
        failure=record["failure"],
        message=record["message"],
        understanding=record["understanding"],
        usage=Usage(**record["usage"]),
        tool_calls=tuple(ToolCall(**call) for call in record["tool_calls"]),
        words=record["words"],
        evidence=record.get("evidence"),
        escalated=record.get("escalated"),
        reading=_read_reading(record.get("reading")),
    )


def history_records(histories: Sequence[WeightedHistory]) -> list[Record]:
    """The histories from which a conversation goes on: the derivation of each earlier turn, and the weight."""
    return [
        {
            "log_probability": float(one.log_probability),
            "turns": [_derivation_record(turn.derivation) for turn in one.turns],
        }
        for one in histories
    ]


def read_histories(
    records: Sequence[Mapping[str, Any]], index: ReportIndex, questions: Sequence[str]
) -> tuple[WeightedHistory, ...]:
    """The histories that :func:`history_records` wrote, for the same report and questions."""
    from kg.derivations import PastTurn, fixed_history

    histories = []
    for record in records:
        derivations = [_read_derivation(one) for one in record["turns"]]
        past = [
            PastTurn(question, derivation, derivation.execute() if derivation is not None else None)
            for question, derivation in zip(questions, derivations, strict=False)
        ]
        histories.append(dataclasses.replace(fixed_history(index, past)[0], log_probability=record["log_probability"]))
    return tuple(histories)


def plain(value: Any) -> Any:
    """``value`` as JSON knows it; what JSON does not know is written as text."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if value == value and abs(value) != float("inf") else str(value)
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(item) for item in value]
    if hasattr(value, "model_dump"):
        return plain(value.model_dump(mode="json"))
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return plain(dataclasses.asdict(value))
    return str(value)


def write_exactly(answer: Answer | None) -> str | None:
    """An answer as text, with all of its digits."""
    return None if answer is None else str(answer)


def read_exactly(text: str | None) -> Answer | None:
    """The answer that :func:`write_exactly` wrote."""
    if text is None or text in ("yes", "no"):
        return cast("Answer | None", text)
    return Decimal(text)


def _derivation_record(derivation: Derivation | None) -> Record | None:
    if derivation is None:
        return None
    return {"program": str(derivation), "figures": [[one.path, one.source] for one in derivation.numbers]}


def _read_derivation(record: Mapping[str, Any] | None) -> Derivation | None:
    if record is None:
        return None
    figures = iter(record["figures"])
    steps = []
    for step in Derivation.parse(record["program"]).steps:
        operands = tuple(Number(one.text, *next(figures)) if isinstance(one, Number) else one for one in step.operands)
        steps.append(Step(step.operation, operands))
    return Derivation(tuple(steps))


def _reading_record(reading: FactReading | None) -> Record | None:
    if reading is None:
        return None
    inserted = [
        {**plain(dataclasses.asdict(one)), "source": dataclasses.asdict(one.source)} for one in reading.inserted
    ]
    return {**plain(dataclasses.asdict(reading)), "inserted": inserted}


def _read_reading(record: Mapping[str, Any] | None) -> FactReading | None:
    if record is None:
        return None
    inserted = []
    for one in record["inserted"]:
        quantity = Quantity(**{**one["quantity"], "value": Decimal(one["quantity"]["value"])})
        inserted.append(Observation(**{**one, "quantity": quantity, "source": read_source(one["source"])}))
    return FactReading(
        tuple(inserted),
        record["iterations"],
        record["repairs"],
        tuple(record["refused"]),
        forced=record["forced"],
        usage=Usage(**record["usage"]),
    )


def _candidate_record(candidate: Candidate) -> Record:
    derivation = _derivation_record(candidate.derivation)
    assert derivation is not None
    return {
        "answer": write_exactly(candidate.answer),
        "score": candidate.score,
        **derivation,
        "path": candidate.path,
        "sources": [dataclasses.asdict(source) for source in candidate.sources],
    }


def _read_candidate(record: Mapping[str, Any]) -> Candidate:
    derivation, answer = _read_derivation(record), read_exactly(record["answer"])
    assert derivation is not None
    assert answer is not None
    sources = tuple(read_source(one) for one in record["sources"])
    return Candidate(derivation, answer, record["score"], record["path"], sources)


def read_source(record: Mapping[str, Any]) -> Source:
    """Where a figure stands, from its record."""
    return CellSource(**record) if "row" in record else SentenceSource(**record)
