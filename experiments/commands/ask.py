"""``finpath ask``: the answer, the calculation, the path, and the cells and sentences of the figures.

$ finpath ask JKHY/2009/page_28.pdf --data dev.json "what was the net cash in 2009?" "and the change from 2008?"
$ finpath ask income.csv balance.xlsx notes.md "what was the net cash in 2009?"
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from experiments.commands.options import (
    FILE,
    Command,
    WriteFigures,
    json_option,
    lm_options,
    report_options,
    threads_option,
    track_option,
)
from experiments.console import say, show, terminal_width, waiting
from experiments.lms import LMConfig, reach_lm
from kg.errors import ConfigError

if TYPE_CHECKING:
    from experiments.facade.subjects import Subject
    from experiments.traces import QuestionLog
    from experiments.tracking import Tracker
    from programs.turns import AnyTurn

ABOUT = (
    "the id of a report in --data, or a unique part of it; a JSON file with id, pre_text, table and post_text; files "
    "with tables (CSV, Excel, HTML, Markdown, Parquet, PDF) and text; a graph: files of RDF, or of three columns of "
    "names, a folder of them, a SPARQL address, or geography; the folder of `finpath ingest`; or a folder of texts"
)


@click.command(
    cls=Command,
    epilog="""
    finpath ask MRLW/2020/page_49.pdf "what was the net income in 2020?" "and in 2018?"
    finpath ask income.csv balance.xlsx notes.md "what was the net income in 2009?"
    finpath ask films.ttl "who made Alien?" "when was she born?" --json answers.json
    finpath ask sample:graph "where was Runa Falk born?" --program my-kgqa
    finpath ask knowledge "who is the chief executive of Helixon Inc.?"
    finpath ask knowledge --questions questions.jsonl --json answers.json
    """,
)
@click.argument("about", type=FILE, metavar="ABOUT", help=ABOUT)
@click.argument("questions", type=FILE, nargs=-1, metavar="QUESTION...", help="a question, then follow-up questions")
@click.option(
    "--questions",
    "file",
    type=FILE,
    metavar="FILE",
    help="many questions, each by itself: JSON lines or a JSON list with `question`, or one question a line",
)
@click.option(
    "--insert",
    is_flag=True,
    help="keep the facts of sentences that answer a question in the growing graph; otherwise asking writes nothing",
)
@report_options
@threads_option
@lm_options
@track_option
@json_option
def command(
    about: str,
    questions: tuple[str, ...],
    file: str | None,
    insert: bool,
    data: str,
    program: str,
    settings: dict[str, str],
    threads: int | None,
    lm: LMConfig,
    tracker: Tracker | None,
    write_figures: WriteFigures,
) -> int:
    """Answers questions about a report, a graph or texts, with the calculation or path and its sources.

    The kind of subject is seen from the files, and printed. The exit code is 1 if no question was answered.
    """
    import dspy

    from experiments.facade.subjects import find_subject, split_words
    from experiments.traces import asked

    words, own = split_words([about, *questions])
    if (not own) == (file is None) or not all(question.strip() for question in own):
        rule = "questions must follow, or be in a file (--questions), and must not be empty"
        raise ConfigError(f"{rule}; the subject is {', '.join(filter(None, words))}")
    with waiting("read what the questions are about"):
        subject = find_subject(words, data, program, settings)
    if insert and subject.kind != "growing graph":
        raise ConfigError(f"insert is for a growing graph, got a {subject.kind}")
    say(f"* {subject.title}")
    params = {**lm.params(), "program": program}
    with dspy.context(**reach_lm(lm, subject.program)), asked(tracker, "ask", subject.title, params) as log:
        if file is not None:
            answered = _ask_each(subject, file, threads or lm.default_threads, log, write_figures)
        else:
            answered = _ask_in_order(subject, own, log, write_figures)
    if insert:
        from experiments.facade.knowledge import keep_answers
        from programs.worlds.texts import TextsWorld

        assert isinstance(subject.world, TextsWorld)
        keep_answers(subject.world.answers, words[0])
    return 0 if answered else 1


def _ask_in_order(subject: Subject, questions: Sequence[str], log: QuestionLog, write_figures: WriteFigures) -> bool:
    """Shows the turns of one conversation, and returns whether a question was answered."""
    from experiments.facade.session import following

    state = subject.program.start(subject.world)
    width = terminal_width()
    for place, question in enumerate(questions):
        with waiting("answer") as step, following(step), log.turn(question) as seen:
            state = subject.program.ask(state, question)
            seen.outputs, seen.failure = subject.figures(state.turns[-1]), state.turns[-1].failure
        show(("\n" if place else "") + subject.describe(state.turns[-1], width))
    write_figures({"kind": subject.kind, "about": subject.world.name, "turns": [*map(subject.figures, state.turns)]})
    return any(turn.failure is None for turn in state.turns)


def _ask_each(subject: Subject, file: str, threads: int, log: QuestionLog, write_figures: WriteFigures) -> bool:
    """Shows the answer of each question of a file, and returns whether one was answered."""
    from experiments.data import read_questions
    from programs.lm import concurrently

    start = subject.program.start(subject.world)

    def answer(numbered: tuple[int, dict[str, Any]]) -> tuple[dict[str, Any], AnyTurn]:
        place, entry = numbered
        with log.turn(entry["question"], place) as seen:
            turn = subject.program.ask(start, entry["question"]).turns[-1]
            seen.outputs, seen.failure = subject.figures(turn), turn.failure
        return {**entry, **seen.outputs}, turn

    rows, answered = [], False
    for row, turn in concurrently(answer, enumerate(read_questions(file)), threads):
        answered |= turn.failure is None
        show(f"{turn.question}  {turn.words if turn.failure is None else f'no answer: {turn.message or turn.failure}'}")
        rows.append(row)
    write_figures(rows)
    return answered
