"""Asks about one report: the answer, the arithmetic, the path, and the cells and sentences that the figures stand in.

$ finpath ask JKHY/2009/page_28.pdf --data dev.json "what was the net cash in 2009?" "and the change from 2008?"
$ finpath ask income.csv balance.xlsx notes.md "what was the net cash in 2009?"
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from experiments.commands.options import lm_config_of
from experiments.console import format_table, say, shorten, show, write_answer, write_json
from experiments.data.conversations import load_conversations
from experiments.data.files import is_file_list, read_files
from experiments.lms.config import LMConfig, reach_lm
from experiments.saved.programs import SavedProgram, find_program
from experiments.tracking.tracker import Tracker, TrackingConfig
from kg.errors import ConfigError, DataError
from kg.reports import CellSource, Report, Source
from programs.turns import ToolCall, Turn

_WIDTH = 100


@dataclass(frozen=True)
class FoundReport:
    """A report, and how to say where its figures stand.

    Attributes:
        report: The report.
        describe: Where a figure stands, with the text around it.
        problems: What could not be read.
    """

    report: Report
    describe: Callable[[Source], str]
    problems: tuple[str, ...] = ()


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
    """What to ask about, and the questions: the first word, and files that follow it, are what to ask about."""
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
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}", file=str(path)) from error
    except ValueError as error:
        raise DataError(f"is not JSON: {error}", file=str(path)) from error
    if not isinstance(record, dict):
        raise DataError("must be an object with id, pre_text, table and post_text", file=str(path))
    try:
        return Report.from_dict(record)
    except DataError as error:
        raise DataError(error.rule, file=str(path), place=error.place) from error


def ask(saved: SavedProgram, report: Report, questions: Sequence[str], lm: LMConfig) -> list[Turn]:
    """The program's turn for each question, each seeing its own answers to those before."""
    import dspy

    with dspy.context(**reach_lm(lm, saved.program)):
        turns: list[Turn] = saved.program(report=report, questions=list(questions)).turns
    return turns


def describe_source(source: Source, report: Report) -> str:
    """Where a figure stands, with the text of the cell or sentence and the figure marked by brackets."""
    if isinstance(source, CellSource):
        text = _marked(report.table[source.row][source.column], source.start, source.end)
        row, column = report.table[source.row][0], report.table[0][source.column]
        return f'table, row {source.row} "{row}", column {source.column} "{column}": {text}'
    text = _marked(report.sentences[source.sentence], source.start, source.end)
    start = max(0, text.index("[") - 60)
    cut = ("..." if start else "") + text[start:]
    return f"sentence {source.sentence}: {shorten(cut, 160)}"


def _marked(text: str, start: int, end: int) -> str:
    return f"{text[:start]}[{text[start:end]}]{text[end:]}"


def describe_turn(
    turn: Turn, report: Report, candidates: int = 0, describe: Callable[[Source], str] | None = None
) -> str:
    """A turn for a reader: the answer, then what it rests on; ``describe`` says where a figure stands."""
    describe = describe if describe is not None else lambda source: describe_source(source, report)
    lines = [f"Q  {turn.question}"]
    exact = write_answer(turn.answer)
    beside = [f"exactly {exact}"] if turn.words and turn.words != exact else []
    if turn.confidence is not None:
        beside.append(f"confidence {100 * turn.confidence:.0f}%")
    lines.append(f"A  {turn.words or exact}" + (f"   ({', '.join(beside)})" if beside else ""))
    if turn.failure is not None:
        lines.append(f"   no answer: {turn.message or turn.failure}")
    lines += [_wrapped("asked", f"{call.tool} {_arguments(call)} -> {call.output}") for call in turn.tool_calls]
    if turn.reading is not None:
        lines += [_wrapped("read", f"{one.path}, {describe(one.source)}") for one in turn.reading.inserted]
    if turn.derivation is not None and not turn.derivation.is_look_up and turn.answer is not None:
        lines.append(_wrapped("calculated", f"{turn.derivation} = {exact}"))
    if turn.pick is not None:
        picked = turn.candidates[turn.pick]
        paths = dict.fromkeys(number.path for number in picked.derivation.numbers if number.path is not None)
        lines += [_wrapped("path", path) for path in paths or [picked.path]]
        lines += [_wrapped("read in", describe(source)) for source in dict.fromkeys(picked.sources)]
    if candidates:
        rows = [
            [place, f"{one.score:.2f}", write_answer(one.answer), one.derivation]
            for place, one in enumerate(turn.candidates[:candidates], start=1)
        ]
        lines.append(format_table(["", "score", "answer", "calculation"], rows, right={1}))
    return "\n".join(lines)


def _wrapped(title: str, text: str) -> str:
    """A line under its title, continued below itself; the steps of a path are kept together where they fit."""
    lead = f"   {title:<12}"
    # A space that does not break holds an arrow to the name that it leads to.
    held = text.replace(" -> ", "\u00a0-> ")
    whole: dict[str, Any] = {"break_on_hyphens": False, "break_long_words": False}
    lines = textwrap.wrap(held, _WIDTH, initial_indent=lead, subsequent_indent=" " * 17, **whole)
    return "\n".join(lines).replace("\u00a0", " ")


def _arguments(call: ToolCall) -> str:
    return json.dumps(call.arguments, ensure_ascii=False)


def _plain(turn: Turn, describe: Callable[[Source], str]) -> dict[str, Any]:
    picked = turn.candidates[turn.pick] if turn.pick is not None else None
    return {
        "question": turn.question,
        "answer": write_answer(turn.answer) if turn.answer is not None else None,
        "exact": str(turn.answer) if turn.answer is not None else None,
        "words": turn.words or None,
        "program": str(turn.derivation) if turn.derivation is not None else None,
        "path": picked.path if picked is not None else None,
        "sources": [describe(source) for source in picked.sources] if picked is not None else [],
        "confidence": turn.confidence,
        "failure": turn.failure,
        "message": turn.message,
        "tool_calls": [dataclasses.asdict(call) for call in turn.tool_calls],
        "escalated": turn.escalated,
        "inserted": [describe(one.source) for one in turn.reading.inserted] if turn.reading is not None else [],
        "lm_calls": turn.usage.lm_calls,
        "seconds": turn.usage.seconds,
    }


def run_command(options: argparse.Namespace) -> int:
    """``finpath ask``."""
    from experiments.compiling.compile import with_program_settings

    lm = lm_config_of(options)
    targets, questions = split_targets([options.report, *options.questions])
    if not questions:
        raise ConfigError(f"questions must follow {', '.join(targets)}, got none")
    if not all(question.strip() for question in questions):
        raise ConfigError("a question must not be empty")
    found = resolve_report(targets, options.data)
    for problem in found.problems:
        say(f"finpath: {problem}")
    report = found.report
    saved = find_program(options.program, Tracker(TrackingConfig.from_environment()))
    saved = dataclasses.replace(saved, program=with_program_settings(saved.program, options.set))
    say(f"* report {report.id}: {len(report.table)} table rows, {len(report.sentences)} sentences")
    turns = ask(saved, report, questions, lm)
    show("\n\n".join(describe_turn(turn, report, options.candidates, found.describe) for turn in turns))
    if options.json:
        write_json(options.json, {"report": report.id, "turns": [_plain(turn, found.describe) for turn in turns]})
    return 0
