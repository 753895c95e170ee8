"""``finpath ask`` and ``chat``: the answer, the calculation, the path, and the cells and sentences of the figures.

    $ finpath ask income.csv balance.xlsx notes.md "what was the net cash in 2009?" "and the change from 2008?"
    $ finpath chat geography
    > Which countries border Portugal?
    A  Spain
    > What is its capital?
       understood  What is Portugal's capital?
    A  Lisbon

In a chat, a line is a question, or ``/why`` or ``/reset``. Through a pipe, each
question is repeated before its answer. Ctrl-C drops the line or stops the answer, and Ctrl-D ends the conversation.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import click

from experiments.commands.main import (
    FILE,
    PROGRAM_SETTINGS,
    WriteFigures,
    data_option,
    finpath,
    json_option,
    lm_options,
    program_option,
    set_option,
    threads_option,
    track_option,
)
from experiments.console import say, show, waiting, write_share
from experiments.lms import LMConfig, reach_lm
from kg.errors import ConfigError, FinpathError

if TYPE_CHECKING:
    from experiments.asking import QuestionLog
    from experiments.facade import Subject
    from experiments.tracking import Tracker
    from programs.turns import AnyTurn, Conversation

ABOUT = (
    "the id of a report in --data, or a unique part of it; a JSON file with id, pre_text, table and post_text; files "
    "with tables (CSV, Excel, HTML, Markdown, Parquet, PDF) and text; a graph: files of RDF, or of three columns of "
    "names, a folder of them, a SPARQL address, or geography; the folder of `finpath ingest`; or a folder of texts"
)


def _subject_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """The options of questions about a subject: what :func:`_asking` takes."""
    for option in (track_option, lm_options, set_option(PROGRAM_SETTINGS), program_option, data_option):
        function = option(function)
    return function


@contextmanager
def _asking(
    words: Sequence[str],
    lm: LMConfig | None,
    *,
    data: str,
    program: str,
    settings: dict[str, str],
    tracker: Tracker | None,
) -> Iterator[tuple[Subject, QuestionLog]]:
    """Yields the subject that some words name and the log of its questions, with the language model set in DSPy."""
    import dspy

    from experiments.asking import asked
    from experiments.facade import find_subject

    with waiting("read what the questions are about"):
        subject = find_subject(words, data, program, settings)
    say(f"* {subject.title}")
    verb, params = str(click.get_current_context().info_name), lm.params() if lm is not None else {}
    params["program"] = program
    with dspy.context(**reach_lm(lm, subject.program)), asked(tracker, verb, subject.title, params) as log:
        yield subject, log


def _figures(subject: Subject, turns: Sequence[AnyTurn]) -> dict[str, Any]:
    return {"kind": subject.kind, "about": subject.world.name, "turns": [*map(subject.figures, turns)]}


@finpath.command(
    "ask",
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
    help="many questions, each by itself: one a line, as text or as a JSON object with `question`",
)
@_subject_options
@threads_option
@json_option
def ask_questions(
    about: str,
    questions: tuple[str, ...],
    file: str | None,
    threads: int | None,
    lm: LMConfig | None,
    write_figures: WriteFigures,
    **given: Any,
) -> int:
    """Answers questions about a report, a graph or texts, with the calculation or path and its sources.

    The kind of subject is seen from the files, and printed. The exit code is 1 if no question was answered.
    """
    from experiments.data import read_questions
    from experiments.facade import split_words
    from experiments.pages import describe_turn

    words, own = split_words([about, *questions])
    if (not own) == (file is None) or not all(question.strip() for question in own):
        rule = "questions must follow, or be in a file (--questions), and must not be empty"
        raise ConfigError(f"{rule}; the subject is {', '.join(filter(None, words))}")
    with _asking(words, lm, **given) as (subject, log):
        if file is None:
            chat = Chat(subject, log)
            for place, question in enumerate(own):
                turn = chat.answer(question)
                show("\n" * (place > 0) + describe_turn(turn, subject.basis(turn)))
            turns: Sequence[AnyTurn] = chat.conversation.turns
            write_figures(_figures(subject, turns))
        else:
            entries = read_questions(file)
            threads = threads or (lm.default_threads if lm is not None else 1)
            turns = _ask_each(subject, [entry["question"] for entry in entries], threads, log)
            write_figures([{**entry, **subject.figures(turn)} for entry, turn in zip(entries, turns, strict=True)])
    return 0 if any(turn.failure is None for turn in turns) else 1


def _ask_each(subject: Subject, questions: Sequence[str], threads: int, log: QuestionLog) -> list[AnyTurn]:
    """Asks each question by itself; shows and returns the turns."""
    from programs.turns import concurrently

    start = subject.program.start(subject.world)

    def answered(numbered: tuple[int, str]) -> AnyTurn:
        with log.turn(numbered[1], numbered[0]) as seen:
            turn: AnyTurn = subject.program.ask(start, numbered[1]).turns[-1]
            seen.outputs, seen.failure = subject.figures(turn), turn.failure
        return turn

    turns = []
    for turn in concurrently(answered, enumerate(questions), threads):
        show(f"{turn.question}  {turn.words if turn.failure is None else _without_answer(turn)}")
        turns.append(turn)
    return turns


def _without_answer(turn: AnyTurn) -> str:
    return f"no answer: {turn.message or turn.failure}"


@finpath.command(
    "chat",
    epilog=r"""
    finpath chat geography
    finpath chat triples.csv --json turns.json
    printf 'what was the net income in 2020?\nand in 2018?\n' | finpath chat MRLW/2020/page_49.pdf
    """,
)
@click.argument("about", type=FILE, nargs=-1, required=True, metavar="ABOUT...", help=ABOUT)
@_subject_options
@json_option
def chat_about(about: tuple[str, ...], lm: LMConfig | None, write_figures: WriteFigures, **given: Any) -> int:
    """Talks about a report, your own tables, a graph or texts.

    The exit code is 1 if the questions of a pipe have no answer.
    """
    at_terminal = sys.stdin.isatty()
    with _asking(about, lm, **given) as (subject, log):
        chat = Chat(subject, log)
        if at_terminal:
            say("* ask a question; /why shows the facts of an answer, /reset begins again, Ctrl-D ends")
            talk_at_terminal(chat)
        else:
            talk(chat, sys.stdin)
    turns = chat.conversation.turns
    write_figures(_figures(subject, turns))
    return 1 if turns and not at_terminal and all(turn.failure is not None for turn in turns) else 0


class Chat:
    """A conversation about a subject, and the commands about it.

    Args:
        subject: The subject.
        log: Takes the traces of the questions.

    Attributes:
        conversation: The turns so far.
    """

    def __init__(self, subject: Subject, log: QuestionLog) -> None:
        from programs.turns import Conversation

        self.subject, self.log = subject, log
        self.conversation: Conversation = Conversation(subject.program, subject.world)

    def answer(self, question: str) -> AnyTurn:
        """The turn of the next question, with a sign of life while it is answered."""
        with waiting("answer"), self.log.turn(question) as seen:
            turn = self.conversation.ask(question)
            seen.outputs, seen.failure = self.subject.figures(turn), turn.failure
        return turn

    def take(self, line: str) -> None:
        """Answers a question or follows a command; a mistake is reported, and the conversation continues."""
        try:
            if line.strip().startswith("/"):
                self._follow(line.strip())
            elif line.strip():
                self._ask(line.strip())
        except FinpathError as error:
            show(f"   {' '.join(str(error).split())}")

    def _ask(self, question: str) -> None:
        turn = self.answer(question)
        if turn.canonical != question:
            show(f"   understood  {turn.canonical}")
        confidence = f"   (confidence {write_share(turn.confidence, 0)})" if turn.confidence is not None else ""
        show(f"A  {turn.words}{confidence}" if turn.failure is None else f"A  {_without_answer(turn)}")

    def _follow(self, name: str) -> None:
        from experiments.pages import describe_basis

        turns = self.conversation.turns
        match name:
            case "/why" if turns:
                show(describe_basis(turns[-1], self.subject.basis(turns[-1])))
            case "/reset":
                self.conversation.reset()
                show("   a new conversation")
            case _:
                raise ConfigError(f"there are /why, after a question, and /reset, got {name}; Ctrl-D ends")


def talk(chat: Chat, lines: Iterable[str]) -> None:
    """Takes lines until they end or the conversation does; questions are repeated."""
    for line in lines:
        if line.strip() and not line.strip().startswith("/"):
            show(f"Q  {line.strip()}")
        chat.take(line)


def talk_at_terminal(chat: Chat) -> None:
    """Ctrl-C drops the line or stops the answer; SIGTERM, a kind of KeyboardInterrupt, ends the conversation."""
    with suppress(ImportError):
        import readline  # noqa: F401 - input() edits lines and recalls earlier ones once it is imported
    while True:
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
