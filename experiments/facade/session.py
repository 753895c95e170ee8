"""A conversation at the terminal or through a pipe, its commands, and the sign of life while a question is answered.

>>> talk(ChatSession(find_subject(["geography"]), sys.stdout, colour=False), ["What is the capital of Norway?"])
Q  What is the capital of Norway?
A  Oslo
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import dspy
from dspy.utils.callback import BaseCallback

from experiments.console import printable, read_text, waiting, write_share, write_text
from experiments.traces import QuestionLog
from kg.errors import ConfigError, DataError, FinpathError
from programs.turns import Conversation

if TYPE_CHECKING:
    from experiments.facade.subjects import Subject
    from programs.turns import AnyTurn

PROMPT = "> "
_STYLES = {"answer": "1", "note": "2", "error": "31", "prompt": "36"}
_SAVED = "conversation.json"


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
        self.subject = subject
        self.conversation = Conversation(subject.program, subject.world)
        self.out = out
        self.colour = colour
        self.ended = False
        self.log = QuestionLog(subject.title, tracked=False)
        self.commands: dict[str, tuple[Callable[[str], None], str]] = {
            "/why": (self._why, "the basis of the last answer: path, calculation, and the place of each figure"),
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
        try:
            if line.startswith("/"):
                name, _, rest = line.partition(" ")
                if name not in self.commands:
                    raise ConfigError(f"there is no command {name}; the commands are {', '.join(self.commands)}")
                self.commands[name][0](rest.strip())
            elif line:
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

    def _ask(self, question: str) -> None:
        with waiting("answer") as step, following(step), self.log.turn(question) as seen:
            turn = self.conversation.ask(question)
            seen.outputs, seen.failure = self.subject.figures(turn), turn.failure
        if turn.canonical != question:
            self.write(f"   understood  {turn.canonical}", "note")
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
        path = Path(name or _SAVED)
        text = read_text(path)
        try:
            self.conversation = Conversation.from_json(self.subject.program, self.subject.world, text)
        except DataError as error:
            raise DataError(error.rule, file=str(path)) from error
        self.write(f"   {len(self.conversation.turns)} turns, the last: {self._last().question}", "note")

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
    """Ctrl-C drops the line or stops the answer; SIGTERM, a kind of KeyboardInterrupt, ends the conversation."""
    prompt = f"\001\x1b[{_STYLES['prompt']}m\002{PROMPT}\001\x1b[0m\002" if chat.colour else PROMPT
    while not chat.ended:
        line = ""
        try:
            line = input(prompt)
            chat.take(line)
        except KeyboardInterrupt as stop:
            if type(stop) is not KeyboardInterrupt:
                raise
            chat.write("   stopped; the question is forgotten" if line else "", "note")
        except EOFError:
            chat.write("")
            return


@contextmanager
def following(step: Callable[[str], None]) -> Iterator[None]:
    """Passes each call of a language model or a tool inside to ``step``, as a sign of life."""

    class Steps(BaseCallback):
        count = 0

        def on_lm_start(self, call_id: str, instance: Any, inputs: dict[str, Any]) -> None:  # noqa: ARG002
            self.count += 1
            step(f"asking {instance.model}, call {self.count}")

        def on_tool_start(self, call_id: str, instance: Any, inputs: dict[str, Any]) -> None:  # noqa: ARG002
            arguments = inputs.get("kwargs", inputs).items()
            words = ", ".join(f"{name}={json.dumps(value, default=str)}" for name, value in arguments)
            step(f"tool {instance.name}({words})")

    with dspy.context(callbacks=[*dspy.settings.callbacks, Steps()]):
        yield
