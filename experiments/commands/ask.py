"""``finpath ask``: the answer, the calculation, the path, and the cells and sentences of the figures.

$ finpath ask JKHY/2009/page_28.pdf --data dev.json "what was the net cash in 2009?" "and the change from 2008?"
$ finpath ask income.csv balance.xlsx notes.md "what was the net cash in 2009?"
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from experiments.commands.options import (
    FILE,
    WHOLE,
    Command,
    WriteFigures,
    json_option,
    lm_options,
    open_tracker,
    report_options,
    take_unmapped,
    track_option,
    written_pairs,
)
from experiments.console import say, show
from experiments.lms import LMConfig, reach_lm
from experiments.terminal import terminal_width, waiting
from kg.errors import ConfigError, FinpathError

if TYPE_CHECKING:
    from experiments.commands.chat_session import Subject
    from experiments.saved import SavedProgram
    from experiments.tracking import QuestionLog, Tracker
    from kg.reports import Report
    from programs.turns import AnyTurn, Turn


@click.command(
    cls=Command,
    epilog="""
    finpath ask MRLW/2020/page_49.pdf "what was the net income in 2020?" "and in 2018?"
    finpath ask my-report.json "what was the net income in 2009?"
    finpath ask income.csv balance.xlsx notes.md "what was the net income in 2009?"
    finpath ask films.ttl "who made Alien?" "when was she born?" --json answers.json
    """,
)
@click.argument(
    "report",
    type=FILE,
    metavar="REPORT",
    help="the id of a report in --data, or a unique part of it; a JSON file with id, pre_text, table and post_text; "
    "files with tables (CSV, Excel, HTML, Markdown, Parquet, PDF) and text; or a graph: files of RDF or of triples, a "
    "folder of them, a SPARQL address, or geography",
)
@click.argument(
    "questions",
    type=FILE,
    nargs=-1,
    required=True,
    metavar="QUESTION...",
    help="a question, then its follow-up questions",
)
@click.option("--candidates", type=WHOLE, default=0, help="show the first N candidates too")
@report_options
@lm_options
@track_option
@json_option
def command(
    report: str,
    questions: tuple[str, ...],
    candidates: int,
    data: str,
    program: str,
    settings: dict[str, str],
    lm: LMConfig,
    tracker: Tracker | None,
    write_figures: WriteFigures,
) -> None:
    """Answers questions about one report or graph, with the calculation and the source of each figure."""
    from experiments.commands.graph_files import GEOGRAPHY, is_graph
    from experiments.facade.documents import resolve_report, split_targets
    from experiments.rendering import describe_turn, turn_figures
    from experiments.saved import find_program, with_program_settings
    from experiments.tracking import asked as asked_of

    unmapped, own = take_unmapped(settings), written_pairs(settings)
    words = [report, *questions]
    graphs = list(itertools.takewhile(is_graph, words)) or [word for word in words[:1] if word == GEOGRAPHY]
    if graphs:
        from experiments.commands.subjects import find_subject

        with waiting("read the graph"):
            subject = find_subject(graphs, data, program, own, unmapped)
        ask_graph(subject, words[len(graphs) :], lm, write_figures, tracker)
        return
    targets, asked = split_targets(words)
    if not asked:
        raise ConfigError(f"questions must follow {', '.join(targets)}, got none")
    if not all(question.strip() for question in asked):
        raise ConfigError("a question must not be empty")
    with waiting("read the report") as step:
        found = resolve_report(targets, data)
        step("load the program")
        saved = find_program(program, open_tracker())
    for problem in found.problems:
        say(f"finpath: {problem}")
    saved = dataclasses.replace(saved, program=with_program_settings(saved.program, own, unmapped))
    say(f"* {found.title}")
    with asked_of(tracker, "ask", found.report.id, {**lm.params(), "program": saved.name}) as log:
        turns = ask(saved, found.report, asked, lm, log)
        width = terminal_width()
        show("\n\n".join(describe_turn(turn, found.report, candidates, found.describe, width) for turn in turns))
        write_figures({"report": found.report.id, "turns": [turn_figures(turn, found.describe) for turn in turns]})
    _end(turns)


def ask_graph(
    subject: Subject,
    questions: Sequence[str],
    lm: LMConfig,
    write_figures: WriteFigures,
    tracker: Tracker | None = None,
) -> None:
    """Shows the answers to questions of a conversation about a graph.

    Raises:
        ConfigError: There is no question, or one is empty.
    """
    import dspy

    from experiments.commands.steps import following
    from experiments.rendering import answer_figures
    from experiments.tracking import asked
    from programs.turns import Conversation

    if not questions or not all(question.strip() for question in questions):
        raise ConfigError("questions must follow the graph and must not be empty")
    say(f"* {subject.title}")
    conversation = Conversation(subject.program, subject.world)
    with dspy.context(**reach_lm(lm, None)), asked(tracker, "ask", subject.title, lm.params()) as log:
        for question in questions:
            with waiting("answer") as step, following(step), log.turn(question) as seen:
                turn = conversation.ask(question)
                seen.outputs, seen.failure = answer_figures(turn), turn.failure
            answer = turn.words if turn.failure is None else f"none\n   no answer: {turn.message or turn.failure}"
            show("\n".join((f"Q  {question}", f"A  {answer}", *(f"   {line}" for line in subject.why(turn)), "")))
    write_figures({"about": subject.title, "turns": [answer_figures(turn) for turn in conversation.turns]})
    _end(conversation.turns)


def _end(turns: Sequence[AnyTurn]) -> None:
    """Ends the command with code 1 where no question was answered."""
    if all(turn.failure is not None for turn in turns):
        raise click.exceptions.Exit(1)


def ask(
    saved: SavedProgram, report: Report, questions: Sequence[str], lm: LMConfig, log: QuestionLog | None = None
) -> list[Turn]:
    """The program's turn for each question; later turns see its earlier answers."""
    import dspy

    from experiments.commands.steps import following
    from experiments.rendering import answer_figures
    from experiments.tracking import QuestionLog

    seen_by = log if log is not None else QuestionLog("ask", report.id, tracked=False)
    with waiting("answer") as step, dspy.context(**reach_lm(lm, saved.program)), following(step):
        try:
            state = saved.program.start(saved.program.world(report=report))
        except FinpathError:  # the program makes a failed turn of each question
            turns: list[Turn] = saved.program(report=report, questions=list(questions)).turns
            return turns
        for question in questions:
            with seen_by.turn(question) as seen:
                state = saved.program.ask(state, question)
                seen.outputs, seen.failure = answer_figures(state.turns[-1]), state.turns[-1].failure
    return list(state.turns)
