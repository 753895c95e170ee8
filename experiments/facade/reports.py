"""Reports of a user's own, questions about them, and answers with the place of each figure.

>>> report = read("annual-report.pdf")
>>> ask(report, "what were net sales in 2020?")
Turn('what were net sales in 2020?' -> '$4,120 million', confidence 97%)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any, overload

from experiments.console import read_object
from experiments.data import find_report, read_report
from experiments.pages import describe_source
from kg.errors import ConfigError, DataError
from kg.readers import is_file_list, read_files
from kg.reports import Report, Source

if TYPE_CHECKING:
    from programs.conversation import ConversationQA
    from programs.turns import Turn


@dataclass(frozen=True)
class ReportFiles:
    """A report, and descriptions of the places of its figures.

    Attributes:
        report: The report.
        describe: The place of a figure, with the text around it.
        problems: Parts that could not be read.
    """

    report: Report
    describe: Callable[[Source], str] = field(repr=False)
    problems: tuple[str, ...] = ()


def resolve_report(targets: Sequence[str], data: str) -> ReportFiles:
    """The report that the words of a command line name.

    Args:
        targets: Files with tables and text, which make one report; or a JSON file with one report, or an id as
            :func:`experiments.data.reports.find_report` takes it.
        data: Where an id is looked up.

    Raises:
        DataError: A file cannot be read or holds nothing, or the words name no report or several.
    """
    if is_file_list(targets):
        own = read_files(targets)
        return ReportFiles(own.report, own.describe, own.problems)
    if len(targets) != 1:
        raise DataError(f"one report or files of tables and text must be named, got {', '.join(targets)}")
    if not targets[0].endswith(".json"):
        return _plain(find_report(targets[0], data))
    record = read_object(targets[0], "id, pre_text, table and post_text")
    try:
        return _plain(read_report(record))
    except DataError as error:
        raise DataError(error.rule, file=targets[0], place=error.place) from error


def _plain(report: Report) -> ReportFiles:
    return ReportFiles(report, lambda source: describe_source(source, report))


def read(*documents: Any) -> ReportFiles:
    """A report of a user's own, read from files; several files make one report.

    Args:
        documents: Paths of files, the id of a report of the sample, the JSON object of a report, a ``Report``, or what
            this function returned.

    Raises:
        DataError: A file cannot be read or holds nothing, or there is no such report.
    """
    match documents:
        case (ReportFiles() as report,):
            return report
        case (Report() as report,):
            return _plain(report)
        case (Mapping() as record,):
            return _plain(Report.from_dict(record))
    return resolve_report(list(map(str, documents)), "sample:dev")


@dataclass(frozen=True, repr=False)
class ReportAnswer:
    """The answer to a question about a report.

    Attributes:
        turn: The exact answer, its words, confidence and calculation, and all candidates.
        sources: The place and text of each figure.
    """

    turn: Turn
    sources: tuple[str, ...]

    def __str__(self) -> str:
        return self.turn.words or self.turn.message

    def __repr__(self) -> str:
        return repr(self.turn)


def saved_program(reference: str) -> Any:
    """A program by its name, its folder, or its place in the tracking store that the environment names.

    Raises:
        TrackingError: There is no such program.
    """
    from experiments.saved import find_program
    from experiments.tracking import Tracker, TrackingConfig

    return find_program(reference, Tracker(TrackingConfig.from_environment())).program


def load(program: str = "beam") -> ConversationQA:
    """A program of the caller's own: one that ships with finpath, a folder, or a model or run of the MLflow store.

    Args:
        program: ``beam``, ``agent``, a folder of ``finpath compile``, ``models:/NAME/1``, or a run's name.

    Raises:
        TrackingError: There is no such program.
        ConfigError: It does not answer questions about reports.
    """
    from programs.conversation import ConversationQA

    loaded = saved_program(program)
    if not isinstance(loaded, ConversationQA):
        raise ConfigError(f"program must answer questions about reports, got {type(loaded).__name__}")
    return loaded


_shipped = lru_cache(maxsize=4)(load)
"""A shipped program for :func:`ask`, which does not give it away; so it is loaded once."""


@overload
def ask(report: Any, question: str, /, *, program: ConversationQA | str = "beam") -> ReportAnswer: ...


@overload
def ask(
    report: Any, first: str, second: str, /, *more: str, program: ConversationQA | str = "beam"
) -> tuple[ReportAnswer, ...]: ...


def ask(
    report: Any, *questions: str, program: ConversationQA | str = "beam"
) -> ReportAnswer | tuple[ReportAnswer, ...]:
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
    from programs.turns import Conversation

    if not questions or not all(isinstance(question, str) and question.strip() for question in questions):
        raise ConfigError(f"questions must be one text or more, got {questions!r}")
    document = read(report)
    if isinstance(program, str):
        program = _shipped(program) if program in shipped_programs() else load(program)
    conversation = Conversation(program, program.world(report=document.report))
    answers = []
    for question in questions:
        turn = conversation.ask(question)
        sources = dict.fromkeys(turn.candidates[turn.pick].sources) if turn.pick is not None else ()
        answers.append(ReportAnswer(turn, tuple(map(document.describe, sources))))
    return answers[0] if len(answers) == 1 else tuple(answers)
