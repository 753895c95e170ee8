"""``finpath ask``: the answer, the calculation, the path, and the cells and sentences of the figures.

$ finpath ask JKHY/2009/page_28.pdf --data dev.json "what was the net cash in 2009?" "and the change from 2008?"
$ finpath ask income.csv balance.xlsx notes.md "what was the net cash in 2009?"
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from experiments.commands.groups import Command
from experiments.commands.options import (
    FILE,
    WHOLE,
    WriteFigures,
    json_option,
    lm_options,
    open_tracker,
    option,
    report_options,
)
from experiments.console import say, show
from experiments.data.conversations import load_conversations
from experiments.data.files import is_file_list, read_files
from experiments.files import read_object
from experiments.lms import LMConfig, reach_lm
from experiments.rendering.turn_text import describe_source, describe_turn, turn_figures
from experiments.saved.programs import SavedProgram, find_program
from kg.errors import ConfigError, DataError
from kg.reports import Report, Source
from programs.turns import Turn


@click.command(
    cls=Command,
    epilog="""
    finpath ask MRLW/2020/page_49.pdf "what was the net income in 2020?" "and in 2018?"
    finpath ask my-report.json "what was the net income in 2009?"
    finpath ask income.csv balance.xlsx notes.md "what was the net income in 2009?"
    """,
)
@click.argument(
    "report",
    type=FILE,
    metavar="REPORT",
    help="the id of a report in --data, or a unique part of it; a JSON file with id, pre_text, table and post_text; "
    "or files with tables (CSV, Excel, HTML, Markdown) and text",
)
@click.argument(
    "questions",
    type=FILE,
    nargs=-1,
    required=True,
    metavar="QUESTION...",
    help="a question, then its follow-up questions",
)
@option("--candidates", type=WHOLE, default=0, help="show the first N candidates too")
@report_options
@lm_options
@json_option
def command(
    report: str,
    questions: tuple[str, ...],
    candidates: int,
    data: str,
    program: str,
    settings: tuple[str, ...],
    lm: LMConfig,
    write_figures: WriteFigures,
) -> None:
    """Answers questions about one report, with the calculation and the source of each figure."""
    from experiments.compiling.compile import with_program_settings

    targets, asked = split_targets([report, *questions])
    if not asked:
        raise ConfigError(f"questions must follow {', '.join(targets)}, got none")
    if not all(question.strip() for question in asked):
        raise ConfigError("a question must not be empty")
    found = resolve_report(targets, data)
    for problem in found.problems:
        say(f"finpath: {problem}")
    saved = find_program(program, open_tracker())
    saved = dataclasses.replace(saved, program=with_program_settings(saved.program, settings))
    say(f"* {found.title}")
    turns = ask(saved, found.report, asked, lm)
    show("\n\n".join(describe_turn(turn, found.report, candidates, found.describe) for turn in turns))
    write_figures({"report": found.report.id, "turns": [turn_figures(turn, found.describe) for turn in turns]})


@dataclass(frozen=True)
class FoundReport:
    """A report, and descriptions of the places of its figures.

    Attributes:
        report: The report.
        describe: The place of a figure, with the text around it.
        problems: Parts that could not be read.
    """

    report: Report
    describe: Callable[[Source], str]
    problems: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """The report in one line."""
        sizes = f"{len(self.report.table)} table rows, {len(self.report.sentences)} sentences"
        return f"report {self.report.id}: {sizes}"


def resolve_report(targets: Sequence[str], data: str) -> FoundReport:
    """The report that the words of a command line name.

    Args:
        targets: Files with tables and text, which make one report; or one reference as :func:`find_report` takes it.
        data: Where an id is looked up.

    Raises:
        DataError: A file cannot be read or holds nothing, or the words name no report or several.
    """
    if is_file_list(targets):
        own = read_files(targets)
        return FoundReport(own.report, own.describe, own.problems)
    if len(targets) != 1:
        raise DataError(f"one report or files of tables and text must be named, got {', '.join(targets)}")
    report = find_report(targets[0], data)
    return FoundReport(report, lambda source: describe_source(source, report))


def split_targets(words: Sequence[str]) -> tuple[list[str], list[str]]:
    """The names of the report and the questions: the first word and the files after it name the report."""
    count = next((place for place, word in enumerate(words) if place and not is_file_list([word])), len(words))
    count = count if is_file_list(words[:1]) else 1
    return list(words[:count]), list(words[count:])


def find_report(reference: str, source: str) -> Report:
    """The report that ``reference`` names.

    Args:
        reference: A JSON file with one report, a report's or conversation's id in ``source``, or a part of an id that
            only one report has.
        source: Conversations as :func:`experiments.data.conversations.load_conversations` takes them.

    Raises:
        DataError: The file is no report, or the id names none or several.
    """
    path = Path(reference)
    if path.suffix == ".json":
        return _read_report(path)
    conversations = load_conversations(source).conversations
    exact = {one.report.id: one.report for one in conversations if reference in (one.id, one.report.id)}
    partly = {one.report.id: one.report for one in conversations if reference in one.id}
    found = exact or partly
    if len(found) != 1:
        some = ", ".join(list(found or {one.report.id: one.report for one in conversations})[:3])
        raise DataError(f"{reference!r} names {len(found)} reports, it must name one ({some}, ...)", file=source)
    return next(iter(found.values()))


def _read_report(path: Path) -> Report:
    record = read_object(path, "id, pre_text, table and post_text")
    try:
        return Report.from_dict(record)
    except DataError as error:
        raise DataError(error.rule, file=str(path), place=error.place) from error


def ask(saved: SavedProgram, report: Report, questions: Sequence[str], lm: LMConfig) -> list[Turn]:
    """The program's turn for each question; later turns see its earlier answers."""
    import dspy

    with dspy.context(**reach_lm(lm, saved.program)):
        turns: list[Turn] = saved.program(report=report, questions=list(questions)).turns
    return turns
