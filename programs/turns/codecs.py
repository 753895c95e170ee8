"""Types whose JSON is not that of their fields: derivations, candidates and answers with exact numbers.

    {"answer": "25587", "score": -0.1, "program": "subtract(206588, 181001)", ...}       # of a candidate

pydantic writes and reads all other types of a turn by their fields (:mod:`programs.turns.records`).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Annotated, Any, cast

from pydantic import PlainSerializer, PlainValidator

from kg.calculations import Candidate
from kg.reports import CellSource, SentenceSource, Source
from kg.search import Answer, Derivation, Labelled, Number, Operand, Step, StepResult

Record = dict[str, Any]


def plain(value: Any) -> Any:
    """``value`` as JSON; types that JSON does not have are written as text."""
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


def write_exactly(answer: Answer | None) -> str | list[str] | None:
    """An answer as JSON: a number as text with all of its digits, names as a list."""
    if isinstance(answer, tuple):
        return list(answer)
    return None if answer is None else str(answer)


def read_exactly(text: str | Sequence[str] | None) -> Answer | None:
    """The answer that :func:`write_exactly` wrote."""
    if text is not None and not isinstance(text, str):
        return tuple(text)
    if text is None or text in ("yes", "no"):
        return cast("Answer | None", text)
    return Decimal(text)


def derivation_record(derivation: Derivation | None) -> Record | None:
    """A derivation as its program, with the path and the source of each figure."""
    if derivation is None:
        return None
    return {"program": str(derivation), "figures": [[one.path, one.source] for one in derivation.numbers]}


def read_derivation(record: Mapping[str, Any] | None) -> Derivation | None:
    """The derivation that :func:`derivation_record` wrote."""
    if record is None:
        return None
    figures = iter(record["figures"])
    steps = (
        Step(step.operation, tuple(_looked_up(operand, figures) for operand in step.operands))
        for step in Derivation.parse(record["program"]).steps
    )
    return Derivation(tuple(steps))


def _looked_up(operand: Operand, figures: Iterator[Any]) -> Operand:
    """An operand whose figures have their paths and sources again."""
    if isinstance(operand, Labelled):
        found = (_looked_up(one, figures) for one in operand.numbers)
        return Labelled(operand.label, tuple(one for one in found if isinstance(one, Number | StepResult)))
    return Number(operand.text, *next(figures)) if isinstance(operand, Number) else operand


def read_source(record: Mapping[str, Any]) -> Source:
    """The place of a figure, from its record."""
    return CellSource(**record) if "row" in record else SentenceSource(**record)


def _candidate_record(candidate: Candidate) -> Record:
    return {
        "answer": write_exactly(candidate.answer),
        "score": candidate.score,
        **cast("Record", derivation_record(candidate.derivation)),
        "path": candidate.path,
        "sources": [dataclasses.asdict(source) for source in candidate.sources],
    }


def _read_candidate(record: Mapping[str, Any]) -> Candidate:
    derivation = cast("Derivation", read_derivation(record))
    answer = cast("Answer", read_exactly(record["answer"]))
    return Candidate(derivation, answer, record["score"], record["path"], tuple(map(read_source, record["sources"])))


DerivationField = Annotated[Derivation, PlainSerializer(derivation_record), PlainValidator(read_derivation)]
CandidateField = Annotated[Candidate, PlainSerializer(_candidate_record), PlainValidator(_read_candidate)]
PlainField = Annotated[Any, PlainSerializer(plain)]
"""A value of any type, which is read as the JSON that :func:`plain` writes."""
