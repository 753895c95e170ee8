"""``finpath chat``: a conversation at the terminal or through a pipe about all that ``finpath ask`` takes.

    $ finpath chat geography
    > Which countries border Portugal?
    A  Spain
    > What is its capital?
       understood  What is Portugal's capital?
    A  Lisbon

A line is a question, or a command that begins with a slash (``/help`` lists them). A terminal has a prompt,
the lines before (arrow keys) and colours. Through a pipe, each question is repeated before its answer, without
colours. Ctrl-C drops the line or stops the current answer, and Ctrl-D ends the conversation.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from experiments.commands.ask import ABOUT
from experiments.commands.options import (
    FILE,
    Command,
    WriteFigures,
    json_option,
    lm_options,
    report_options,
    track_option,
)
from experiments.console import say, waiting, wants_colour
from experiments.lms import LMConfig, reach_lm

if TYPE_CHECKING:
    from experiments.tracking import Tracker


@click.command(
    cls=Command,
    epilog=r"""
    finpath chat geography
    finpath chat triples.csv --json turns.json
    finpath chat https://example.org/sparql
    finpath chat income.csv balance.xlsx notes.md
    printf 'what was the net income in 2020?\nand in 2018?\n' | finpath chat MRLW/2020/page_49.pdf
    """,
)
@click.argument("about", type=FILE, nargs=-1, required=True, metavar="ABOUT...", help=ABOUT)
@report_options
@lm_options
@track_option
@json_option
def command(
    about: tuple[str, ...],
    data: str,
    program: str,
    settings: dict[str, str],
    lm: LMConfig,
    tracker: Tracker | None,
    write_figures: WriteFigures,
) -> int:
    """Talks about a report, your own tables, a graph or texts.

    The exit code is 1 if the questions of a pipe have no answer.
    """
    import dspy

    from experiments.facade.session import ChatSession, talk
    from experiments.facade.subjects import find_subject
    from experiments.traces import asked

    with waiting("read what the conversation is about"):
        subject = find_subject(about, data, program, settings)
    say(f"* {subject.title}")
    with dspy.context(**reach_lm(lm, subject.program)), asked(tracker, "chat", subject.title, lm.params()) as log:
        chat = ChatSession(subject, sys.stdout, colour=wants_colour(sys.stdout))
        chat.log = log
        if sys.stdin.isatty():
            say("* ask a question; /why shows the facts of an answer, /help lists the commands, Ctrl-D ends")
        talk(chat, sys.stdin)
    turns = chat.conversation.turns
    write_figures({"kind": subject.kind, "about": subject.world.name, "turns": [*map(subject.figures, turns)]})
    return 1 if turns and not sys.stdin.isatty() and all(turn.failure is not None for turn in turns) else 0
