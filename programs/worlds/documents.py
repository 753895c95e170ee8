"""The conventions of DSPy's modules around a conversation: documents, histories and predictions.

>>> as_report("income.csv").id
'income.csv'
>>> past_turns(dspy.History(messages=[{"question": "revenues in 2008?", "answer": "9362.2"}]))
(PastTurn(question='revenues in 2008?', derivation=..., answer=Decimal('9362.2'), confidence=None),)
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol, TypeAlias, cast

import dspy

from kg.errors import ConfigError, DataError, ProgramError
from kg.reports import Report
from kg.search import Answer, Derivation, PastTurn
from programs.turns import AnyTurn, Failure, GraphDetail, Turn
from programs.wording import written_answer


class HoldsReport(Protocol):
    """A report with more about it, such as the places of its figures."""

    @property
    def report(self) -> Report:
        """The report."""
        ...


Document = Report | HoldsReport | Mapping[str, Any] | str | Path
"""A report, an object that holds one, its JSON object, or the path of a file."""

History: TypeAlias = "Sequence[PastTurn] | Any"
"""The earlier turns: in finpath's form, or a ``dspy.History``, whose class has no types."""

_QUESTION, _PROGRAM, _ANSWER = "question", "derivation", "answer"


def as_report(document: Document) -> Report:
    """The report of a document.

    Raises:
        DataError: The object lacks a key, or the file cannot be read.
    """
    if isinstance(document, Report):
        return document
    held = getattr(document, "report", None)
    if isinstance(held, Report):
        return held
    if isinstance(document, Mapping):
        return Report.from_dict(document)
    path = Path(cast(str, document))
    if path.suffix.lower() != ".json":
        from kg.readers import read_files

        return read_files([path]).report
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror or error}", file=str(path)) from error
    except (ValueError, RecursionError) as error:
        raise DataError(f"is not JSON: {error}", file=str(path)) from error
    if not isinstance(record, dict):
        raise DataError("must be an object with id, pre_text, table and post_text", file=str(path))
    return Report.from_dict(record)


def as_questions(question: str | None, questions: Sequence[str] | None) -> list[str]:
    """The questions of a call.

    Raises:
        ConfigError: Both or neither are given, or ``questions`` is a text.
    """
    if isinstance(questions, str):
        raise ConfigError(f"questions must be a list of texts, got the text {questions!r}; use question for one")
    if (question is None) == (questions is None):
        raise ConfigError(
            "one of question and questions must be given, got " + ("none" if question is None else "both")
        )
    return [question] if question is not None else list(questions or ())


def past_turns(history: History | None) -> tuple[PastTurn, ...]:
    """The earlier turns of a call, oldest first.

    A message of ``dspy.History`` has ``question``, and ``derivation`` or ``answer``. Of a turn that has neither a
    derivation nor a number, only the question is known.

    Raises:
        DataError: A message has no question.
    """
    if history is None:
        return ()
    if not isinstance(history, dspy.History):
        return tuple(getattr(history, "turns", history))
    return tuple(_past_turn(message) for message in history.messages)


@dataclass(frozen=True, repr=False)
class GivenTurn(Turn[Answer, None]):
    """A turn of a call's history, of which only its question and answer are known."""

    given: PastTurn | None = None

    def past(self) -> PastTurn:
        """The turn as it was given."""
        assert self.given is not None
        return self.given


def earlier_turns(history: History | None) -> tuple[AnyTurn, ...]:
    """The earlier turns of a call."""
    turns: list[AnyTurn] = []
    for past in past_turns(history):
        if isinstance(past, Turn):
            turns.append(past)
            continue
        failure: Failure | None = "not_answered" if past.answer is None else None
        turn = GivenTurn(past.question, past.answer, past.derivation, failure=failure, given=past)
        turns.append(replace(turn, confidence=past.confidence))
    return tuple(turns)


def _past_turn(message: Mapping[str, Any]) -> PastTurn:
    if not isinstance(message.get(_QUESTION), str):
        raise DataError(f"a message of the history must have a question, got the keys {', '.join(message) or 'none'}")
    for name in (_PROGRAM, _ANSWER):
        written = message.get(name)
        if written is None:
            continue
        try:
            text = str(written).replace(",", "") if name == _ANSWER else str(written)
            derivation = Derivation.parse(text)
            return PastTurn(message[_QUESTION], derivation, derivation.execute())
        except ProgramError:
            continue
    return PastTurn(message[_QUESTION], None, None)


class Answers(dspy.Prediction):
    """The prediction of a conversation (:func:`prediction_of`)."""

    def to_pandas(self) -> Any:
        """A data frame of pandas with a row a turn; ``answer`` is a text, as it states numbers exactly."""
        from pandas import DataFrame

        names = ("question", "words", "confidence", "derivation")
        rows = [{name: getattr(turn, name) for name in names} | {"answer": _answer(turn)} for turn in self.turns]
        return DataFrame(rows).astype({"derivation": "string"})


def prediction_of(turns: Sequence[AnyTurn]) -> Answers:
    """The prediction of a conversation: all ``turns``, and the last ``turn`` with its answer and grounds.

    Attributes of the prediction: ``answer`` is a text that states the number exactly, ``derivation`` the calculation,
    ``path`` the way to the figures, ``confidence`` a probability in [0, 1], ``sources`` the cells and sentences, and
    ``answers`` the answers of all turns. Without an answer they are ``None``, and ``sources`` is empty. About a graph,
    ``answers`` are those of the last turn with their confidences, and ``predictions``, ``raw_paths`` and
    ``reasoning_trace`` are its paths (:class:`programs.turns.GraphDetail`).
    """
    if not turns:
        return Answers(turns=[])
    last = turns[-1]
    picked = last.candidates[last.pick] if last.pick is not None else None
    record = ("predictions", "answers", "reasoning_trace", "raw_paths") if isinstance(last.detail, GraphDetail) else ()
    outputs: dict[str, Any] = {
        "question": last.question,
        "answer": _answer(last),
        "derivation": str(last.derivation) if last.derivation is not None else None,
        "path": picked.path if picked is not None else None,
        "confidence": last.confidence,
        "sources": list(dict.fromkeys(picked.sources)) if picked is not None else [],
        "answers": [_answer(turn) for turn in turns],
        "turns": list(turns),
        "turn": last,
        **{name: getattr(last.detail, name) for name in record},
    }
    return Answers(**outputs)


def _answer(turn: AnyTurn) -> str | None:
    return written_answer(turn) if turn.answer is not None else None
