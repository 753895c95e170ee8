"""``finpath chat``: a conversation about a graph, a report, or tables."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from experiments.commands.options import (
    FILE,
    Command,
    WriteFigures,
    json_option,
    lm_options,
    report_options,
    take_unmapped,
    track_option,
    written_pairs,
)
from experiments.console import say
from experiments.lms import LMConfig, reach_lm
from experiments.terminal import waiting, wants_colour

if TYPE_CHECKING:
    from experiments.tracking import Tracker


@click.command(
    cls=Command,
    epilog=r"""
    finpath chat geography
    finpath chat films.ttl
    finpath chat triples.csv --json turns.json
    finpath chat https://example.org/sparql
    finpath chat MRLW/2020/page_49.pdf
    finpath chat income.csv balance.xlsx notes.md
    printf 'what was the net income in 2020?\nand in 2018?\n' | finpath chat MRLW/2020/page_49.pdf
    """,
)
@click.argument(
    "about",
    type=FILE,
    nargs=-1,
    required=True,
    metavar="ABOUT...",
    help="a graph: files of RDF (.ttl, .nt, .jsonld and others) or of triples (.csv, .tsv), a folder of them, a SPARQL "
    "address, or geography for the shipped one; the id of a report in --data; or files: tables as CSV, Excel, HTML, "
    "Markdown, Parquet or PDF with text, or a report as JSON",
)
@report_options
@click.option("--load", type=FILE, metavar="FILE", help="continue a conversation that /save wrote")
@lm_options
@track_option
@json_option
def command(
    about: tuple[str, ...],
    data: str,
    program: str,
    settings: dict[str, str],
    load: str | None,
    lm: LMConfig,
    tracker: Tracker | None,
    write_figures: WriteFigures,
) -> int:
    """Talks about a report, your own tables, or a graph.

    The exit code is 1 if the questions of a pipe have no answer.
    """
    import dspy

    from experiments.commands.chat_session import Chat, talk
    from experiments.commands.steps import following
    from experiments.commands.subjects import find_subject
    from experiments.rendering import answer_figures
    from experiments.tracking import asked

    unmapped, own = take_unmapped(settings), written_pairs(settings)
    with waiting("read what the conversation is about"):
        subject = find_subject(about, data, program, own, unmapped)
    chat = Chat(subject, sys.stdout, colour=wants_colour(sys.stdout), following=following)
    if load:
        chat.load(Path(load))
    say(f"* {subject.title}")
    if sys.stdin.isatty():
        say("* ask a question; /why shows the facts of an answer, /help lists the commands, Ctrl-D ends")
    model = reach_lm(lm, getattr(subject.program, "program", None))
    with dspy.context(**model), asked(tracker, "chat", subject.title, lm.params()) as chat.log:
        talk(chat, sys.stdin)
    turns = chat.conversation.turns
    write_figures({"about": subject.title, "turns": [answer_figures(turn) for turn in turns]})
    return 1 if turns and not sys.stdin.isatty() and all(turn.failure is not None for turn in turns) else 0
