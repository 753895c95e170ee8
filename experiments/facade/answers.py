"""Questions about a document, and their answers with the place of each figure.

>>> report = read("annual-report.pdf")
>>> ask(report, "what were net sales in 2020?")
ReportAnswer('what were net sales in 2020?' -> '$4,120 million', confidence 97%)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from html import escape
from typing import TYPE_CHECKING, Any, overload

from experiments.facade.documents import FoundReport, read
from kg.errors import ConfigError

if TYPE_CHECKING:
    from decimal import Decimal

    from programs.conversation import ConversationQA
    from programs.turns import Turn


@dataclass(frozen=True, repr=False)
class ReportAnswer:
    """The answer to a question.

    Attributes:
        question: The question.
        value: The exact answer: a number, yes or no, or names; ``None`` without one.
        words: The answer with its unit, sign and scale; without an answer, the reason.
        confidence: The probability in [0, 1] that it is right, if known.
        derivation: The calculation; ``None`` without an answer.
        path: The path to its figures; ``None`` without an answer.
        sources: The place and text of each figure.
        turn: All details.
    """

    question: str
    value: Decimal | str | tuple[str, ...] | None
    words: str
    confidence: float | None
    derivation: str | None
    path: str | None
    sources: tuple[str, ...]
    turn: Turn

    def __str__(self) -> str:
        return self.words

    def __repr__(self) -> str:
        confidence = f", confidence {self.confidence:.0%}" if self.confidence is not None else ""
        return f"ReportAnswer({self.question!r} -> {self.words!r}{confidence})"

    def _repr_html_(self) -> str:
        rows = [("question", self.question), ("answer", self.words)]
        rows += [("confidence", f"{self.confidence:.0%}")] if self.confidence is not None else []
        rows += [("calculated", self.derivation)] if self.derivation else []
        rows += [("path", self.path)] if self.path else []
        rows += [("read in", source) for source in self.sources]
        cells = "".join(f"<tr><th>{name}</th><td>{escape(str(text))}</td></tr>" for name, text in rows)
        return f"<table>{cells}</table>"


class Answers(tuple[ReportAnswer, ...]):
    """The answers of a conversation, in order."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        return "".join(one._repr_html_() for one in self)


def load(program: str = "beam") -> ConversationQA:
    """A program of the caller's own: one that ships with finpath, a folder, or a model or run of the MLflow store.

    Args:
        program: ``beam``, ``agent``, a folder of ``finpath compile``, ``models:/NAME/1``, or a run's name.

    Raises:
        TrackingError: There is no such program.
        ConfigError: It does not answer questions about reports.
    """
    from experiments.saved import find_program
    from experiments.tracking import Tracker, TrackingConfig
    from programs.conversation import ConversationQA

    found = find_program(program, Tracker(TrackingConfig.from_environment())).program
    if not isinstance(found, ConversationQA):
        raise ConfigError(f"program must answer questions about reports, got {type(found).__name__}")
    return found


@lru_cache(maxsize=4)
def _shipped(program: str) -> ConversationQA:
    """A shipped program for :func:`ask`, which does not give it away; so it is loaded once."""
    return load(program)


@overload
def ask(report: Any, question: str, /, *, program: ConversationQA | str = "beam") -> ReportAnswer: ...


@overload
def ask(report: Any, first: str, second: str, /, *more: str, program: ConversationQA | str = "beam") -> Answers: ...


def ask(report: Any, *questions: str, program: ConversationQA | str = "beam") -> ReportAnswer | Answers:
    """Answers questions about a document; each sees the answers before it.

    Args:
        report: What :func:`read` returns, a file's path, a report's id, its JSON object, or a ``Report``.
        questions: One question, or those of a conversation.
        program: A program or its name.

    Returns:
        The answer to one question, or the answers to several.

    Raises:
        ConfigError: There is no question.
        FinpathError: The document cannot be read.
    """
    from experiments.saved import shipped_programs

    if not questions or not all(isinstance(one, str) and one.strip() for one in questions):
        raise ConfigError(f"questions must be one text or more, got {questions!r}")
    document = read(report)
    if isinstance(program, str):
        program = _shipped(program) if program in shipped_programs() else load(program)
    turns = program(report=document.report, questions=list(questions)).turns
    answers = Answers(_answer(turn, document) for turn in turns)
    return answers[0] if len(questions) == 1 else answers


def _answer(turn: Turn, document: FoundReport) -> ReportAnswer:
    picked = turn.candidates[turn.pick] if turn.pick is not None else None
    sources: Sequence[str] = [document.describe(one) for one in dict.fromkeys(picked.sources)] if picked else ()
    return ReportAnswer(
        question=turn.question,
        value=turn.answer,
        words=turn.words or (str(turn.answer) if turn.answer is not None else turn.message),
        confidence=turn.confidence,
        derivation=str(turn.derivation) if turn.derivation is not None else None,
        path=picked.path if picked is not None else None,
        sources=tuple(sources),
        turn=turn,
    )
