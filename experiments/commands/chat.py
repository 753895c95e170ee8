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
from collections.abc import Iterable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import click

from experiments.commands.ask import ABOUT, answer, asking, conversation_figures, subject_options
from experiments.commands.main import FILE, WriteFigures, finpath, json_option
from experiments.console import read_text, say, show, write_share, write_text
from experiments.lms import LMConfig
from kg.errors import ConfigError, DataError, FinpathError

if TYPE_CHECKING:
    from experiments.facade.subjects import Subject
    from experiments.traces import QuestionLog

_SAVED = "conversation.json"
_HELP = f"""\
   /why         the basis of the last answer: path, calculation, and the place of each figure
   /history     the questions so far, spelled out, with their answers
   /reset       start a new conversation
   /save FILE   save the conversation ({_SAVED})
   /load FILE   continue a saved conversation ({_SAVED})
   /help        this list
   /quit        end (as Ctrl-D does)"""


@finpath.command(
    "chat",
    epilog=r"""
    finpath chat geography
    finpath chat triples.csv --json turns.json
    finpath chat https://example.org/sparql
    finpath chat income.csv balance.xlsx notes.md
    printf 'what was the net income in 2020?\nand in 2018?\n' | finpath chat MRLW/2020/page_49.pdf
    """,
)
@click.argument("about", type=FILE, nargs=-1, required=True, metavar="ABOUT...", help=ABOUT)
@subject_options
@json_option
def chat_about(about: tuple[str, ...], lm: LMConfig, write_figures: WriteFigures, **given: Any) -> int:
    """Talks about a report, your own tables, a graph or texts.

    The exit code is 1 if the questions of a pipe have no answer.
    """
    at_terminal = sys.stdin.isatty()
    with asking(about, lm, **given) as (subject, log):
        chat = Chat(subject, log)
        if at_terminal:
            say("* ask a question; /why shows the facts of an answer, /help lists the commands, Ctrl-D ends")
            talk_at_terminal(chat)
        else:
            talk(chat, sys.stdin)
    turns = chat.conversation.turns
    write_figures(conversation_figures(subject, turns))
    return 1 if turns and not at_terminal and all(turn.failure is not None for turn in turns) else 0


class Chat:
    """A conversation about a subject, and the commands about it.

    Args:
        subject: The subject.
        log: Takes the traces of the questions.

    Attributes:
        conversation: The turns so far.
        ended: Whether ``/quit`` was given.
    """

    def __init__(self, subject: Subject, log: QuestionLog) -> None:
        from programs.turns import Conversation

        self.subject, self.log, self.ended = subject, log, False
        self.conversation = Conversation(subject.program, subject.world)

    def take(self, line: str) -> None:
        """Answers a question or follows a command; a mistake is reported, and the conversation continues."""
        try:
            if line.strip().startswith("/"):
                name, _, rest = line.strip().partition(" ")
                self._follow(name, rest.strip() or _SAVED)
            elif line.strip():
                self._answer(line.strip())
        except FinpathError as error:
            show(f"   {' '.join(str(error).split())}")

    def _answer(self, question: str) -> None:
        turn = answer(self.subject, self.conversation, question, self.log)
        if turn.canonical != question:
            show(f"   understood  {turn.canonical}")
        if turn.failure is not None:
            show(f"A  no answer: {turn.message or turn.failure}")
        else:
            confidence = f"   (confidence {write_share(turn.confidence, 0)})" if turn.confidence is not None else ""
            show(f"A  {turn.words}{confidence}")

    def _follow(self, name: str, file: str) -> None:
        from experiments.pages import describe_basis

        turns = self.conversation.turns
        match name:
            case "/why" if turns:
                show(describe_basis(turns[-1], self.subject.basis(turns[-1])))
            case "/why":
                raise ConfigError("nothing has been asked yet")
            case "/history":
                for number, (question, words) in enumerate(self.conversation.history, start=1):
                    show(f"   {number}. {question} {words or 'no answer'}")
            case "/reset":
                self.conversation.reset()
                show("   a new conversation")
            case "/save":
                write_text(file, self.conversation.to_json() + "\n")
                show(f"   saved to {file}")
            case "/load":
                self._load(file)
            case "/help":
                show(_HELP)
            case "/quit":
                self.ended = True
            case _:
                raise ConfigError(f"there is no command {name}; /help lists the commands")

    def _load(self, file: str) -> None:
        text = read_text(file)
        try:
            self.conversation = self.conversation.from_json(self.subject.program, self.subject.world, text)
        except DataError as error:
            raise DataError(error.rule, file=file) from error
        turns = self.conversation.turns
        show(f"   {len(turns)} turns" + (f", the last: {turns[-1].question}" if turns else ""))


def talk(chat: Chat, lines: Iterable[str]) -> None:
    """Takes lines until they end or the conversation does; questions are repeated."""
    for line in lines:
        if line.strip() and not line.strip().startswith("/"):
            show(f"Q  {line.strip()}")
        chat.take(line)
        if chat.ended:
            return


def talk_at_terminal(chat: Chat) -> None:
    """Ctrl-C drops the line or stops the answer; SIGTERM, a kind of KeyboardInterrupt, ends the conversation."""
    with suppress(ImportError):
        import readline  # noqa: F401 - input() edits lines and recalls earlier ones once it is imported
    while not chat.ended:
        line = ""
        try:
            line = input("> ")
            chat.take(line)
        except KeyboardInterrupt as stop:
            if type(stop) is not KeyboardInterrupt:
                raise
            show("   stopped; the question is forgotten" if line else "")
        except EOFError:
            show()
            return
