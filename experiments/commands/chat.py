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
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

import click

from experiments.commands.ask import ABOUT, following
from experiments.commands.options import (
    FILE,
    Command,
    WriteFigures,
    json_option,
    lm_options,
    report_options,
    track_option,
    written_pairs,
)
from experiments.console import printable, say, write_share
from experiments.files import read_text, write_text
from experiments.lms import LMConfig, reach_lm
from experiments.terminal import waiting, wants_colour
from kg.errors import ConfigError, DataError, FinpathError

if TYPE_CHECKING:
    from experiments.facade.subjects import Subject
    from experiments.tracking import Tracker
    from programs.turns import AnyTurn

PROMPT = "> "
_STYLES = {"answer": "1", "note": "2", "error": "31", "prompt": "36"}
_SAVED = "conversation.json"


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
    """Talks about a report, your own tables, a graph or texts.

    The exit code is 1 if the questions of a pipe have no answer.
    """
    import dspy

    from experiments.facade.subjects import find_subject
    from experiments.tracking import asked

    with waiting("read what the conversation is about"):
        subject = find_subject(about, data, program, written_pairs(settings))
    say(f"* {subject.title}")
    with dspy.context(**reach_lm(lm, subject.program)), asked(tracker, "chat", subject.title, lm.params()) as log:
        chat = ChatSession(subject, sys.stdout, colour=wants_colour(sys.stdout))
        chat.log = log
        if load:
            chat.load(Path(load))
        if sys.stdin.isatty():
            say("* ask a question; /why shows the facts of an answer, /help lists the commands, Ctrl-D ends")
        talk(chat, sys.stdin)
    turns = chat.conversation.turns
    write_figures({"kind": subject.kind, "about": subject.world.name, "turns": [*map(subject.figures, turns)]})
    return 1 if turns and not sys.stdin.isatty() and all(turn.failure is not None for turn in turns) else 0


class ChatSession:
    """A conversation, the commands about it, and the output of both.

    Args:
        subject: The subject.
        out: The output.
        colour: Whether the output is coloured.

    Attributes:
        log: The traces of the questions.
    """

    def __init__(self, subject: Subject, out: TextIO, *, colour: bool) -> None:
        from experiments.tracking import QuestionLog
        from programs.turns import Conversation

        self.subject = subject
        self.conversation = Conversation(subject.program, subject.world)
        self.out = out
        self.colour = colour
        self.ended = False
        self.log = QuestionLog(subject.title, tracked=False)
        self.commands: dict[str, tuple[Callable[[str], None], str]] = {
            "/why": (self._why, "the basis of the last answer: path, calculation, and the place of each figure"),
            "/graph": (self._graph, "the entities in play: type, properties, neighbours"),
            "/history": (self._history, "the questions so far, spelled out, with their answers"),
            "/reset": (self._reset, "start a new conversation"),
            "/save": (self._save, f"save the conversation: /save FILE ({_SAVED})"),
            "/load": (self._load, f"continue a saved conversation: /load FILE ({_SAVED})"),
            "/help": (self._help, "this list"),
            "/quit": (self._quit, "end (as Ctrl-D does)"),
        }

    def take(self, line: str) -> None:
        """Answers a question or follows a command; a mistake is reported, and the conversation continues."""
        line = line.strip()
        if not line:
            return
        try:
            if line.startswith("/"):
                self._command(line)
            else:
                self._ask(line)
        except FinpathError as error:
            self.write(f"   {' '.join(str(error).split())}", "error")

    def write(self, text: str, style: str = "") -> None:
        """Writes text, coloured where that is wanted, with control characters as escapes."""
        text = printable(text)
        if self.colour and style and text:
            text = f"\x1b[{_STYLES[style]}m{text}\x1b[0m"
        self.out.write(text + "\n")
        self.out.flush()

    def _command(self, line: str) -> None:
        name, _, rest = line.partition(" ")
        if name not in self.commands:
            raise ConfigError(f"there is no command {name}; the commands are {', '.join(self.commands)}")
        self.commands[name][0](rest.strip())

    def _ask(self, question: str) -> None:
        with waiting("answer") as step, following(step), self.log.turn(question) as seen:
            turn = self.conversation.ask(question)
            seen.outputs, seen.failure = self.subject.figures(turn), turn.failure
        if turn.resolved.kind != "none" and turn.canonical != question:
            self.write(f"   understood  {turn.canonical}", "note")
        if turn.resolved.problem:
            self.write(f"   {turn.resolved.problem}", "note")
        if turn.failure is not None:
            self.write(f"A  no answer: {turn.message or turn.failure}", "error")
        else:
            confidence = f"   (confidence {write_share(turn.confidence, 0)})" if turn.confidence is not None else ""
            self.write(f"A  {turn.words}{confidence}", "answer")

    def _last(self) -> AnyTurn:
        if not self.conversation.turns:
            raise ConfigError("nothing has been asked yet")
        return self.conversation.turns[-1]

    def _why(self, _: str) -> None:
        for line in self.subject.why(self._last()):
            self.write(f"   {line}")

    def _graph(self, _: str) -> None:
        from kg.graphs import local_name

        context = self._last().context
        if not context.entities:
            self.write("   no entity is in play yet", "note")
        for entity in context.entities:
            kinds = ", ".join(local_name(kind) for kind in entity.types)
            self.write(f"   {entity.label} ({kinds})", "answer")
            for name, value in entity.properties:
                self.write(f"      {local_name(name)} {value}")
            grouped: dict[str, list[str]] = {}
            both = {(one.relation, one.node) for one in entity.neighbours if one.outgoing}
            for one in entity.neighbours:
                if not one.outgoing and (one.relation, one.node) in both:
                    continue  # an edge in both directions is shown once
                relation = local_name(one.relation)
                grouped.setdefault(relation if one.outgoing else f"{relation} of", []).append(one.label)
            for relation, labels in grouped.items():
                more = f", and {len(labels) - 12} more" if len(labels) > 12 else ""
                self.write(f"      {relation}: {', '.join(labels[:12])}{more}")
        for failure in context.failures:
            self.write(f"   left out: {failure.node}: {failure.reason}", "note")

    def _history(self, _: str) -> None:
        for number, (question, answer) in enumerate(self.conversation.history, start=1):
            self.write(f"   {number}. {question} {answer or 'no answer'}")

    def _reset(self, _: str) -> None:
        self.conversation.reset()
        self.write("   a new conversation", "note")

    def _save(self, name: str) -> None:
        path = Path(name or _SAVED)
        write_text(path, self.conversation.to_json() + "\n")
        self.write(f"   saved to {path}", "note")

    def _load(self, name: str) -> None:
        self.load(Path(name or _SAVED))
        self.write(f"   {len(self.conversation.turns)} turns, the last: {self._last().question}", "note")

    def load(self, path: Path) -> None:
        """Continues a saved conversation.

        Raises:
            DataError: The file cannot be read, or is no conversation about this subject.
        """
        from programs.turns import Conversation

        text = read_text(path)
        try:
            self.conversation = Conversation.from_json(self.subject.program, self.subject.world, text)
        except DataError as error:
            raise DataError(error.rule, file=str(path)) from error

    def _help(self, _: str) -> None:
        width = max(map(len, self.commands))
        for name, (_function, meaning) in self.commands.items():
            self.write(f"   {name.ljust(width)}  {meaning}")

    def _quit(self, _: str) -> None:
        self.ended = True


def talk(chat: ChatSession, source: TextIO) -> None:
    """Reads lines until they end: from a terminal with a prompt, or from anything else."""
    if source is sys.stdin and source.isatty():
        with suppress(ImportError):
            import readline  # noqa: F401 - input() edits lines and recalls earlier ones once it is imported
        _talk_at_terminal(chat)
        return
    for line in source:
        if line.strip() and not line.strip().startswith("/"):
            chat.write(f"Q  {line.strip()}")
        chat.take(line)
        if chat.ended:
            return


def _talk_at_terminal(chat: ChatSession) -> None:
    prompt = f"\001\x1b[{_STYLES['prompt']}m\002{PROMPT}\001\x1b[0m\002" if chat.colour else PROMPT
    while not chat.ended:
        try:
            line = input(prompt)
        except KeyboardInterrupt as stop:
            _pass_on(stop)
            chat.write("")
            continue
        except EOFError:
            chat.write("")
            return
        try:
            chat.take(line)
        except KeyboardInterrupt as stop:
            _pass_on(stop)
            chat.write("   stopped; the question is forgotten", "note")


def _pass_on(stop: KeyboardInterrupt) -> None:
    """Raises ``stop`` again unless it is Ctrl-C: Ctrl-C ends a line, and SIGTERM ends the conversation."""
    if type(stop) is not KeyboardInterrupt:
        raise stop
