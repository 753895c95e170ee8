"""Sessions of the page and of the API: each has files, a subject and a conversation of its own.

    sessions = Sessions(Backend(["annual-report.pdf"]))
    session = sessions.new()
    question = session.ask("what were net sales in 2020?")    # returns at once
    await question.wait()
    question.turn.words

A question is answered in a thread and goes on when its visitor leaves, who sees all of its steps after a return.
"""

from __future__ import annotations

import asyncio
import ctypes
import secrets
import shutil
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import dspy
from dspy.utils.callback import BaseCallback

from experiments.asking import AnsweredQuestion, QuestionLog
from experiments.facade import Subject, find_subject, kind_of, saved_program
from kg.errors import ConfigError, DataError, FinpathError
from kg.graphs import RDF_FILES
from kg.readers.own_report import READERS
from programs.turns import AnyTurn, Conversation, Turn

STEPS = {
    "Understand": "a model reads the question",
    "Aggregate": "the candidates are weighed",
    "Answer": "the answer is written",
    "GroundedReAct": "a model calls tools",
}
"""The modules of a program whose start is a step of an answer, with its words."""


@dataclass(frozen=True)
class Limits:
    """The limits of a server, by which one visitor cannot use up what others need.

    Attributes:
        sessions: Sessions at the same time.
        idle: Seconds after which a session that is not used is closed, with its files.
        spared: Seconds of rest before which a session is not closed for a new one.
        files: Files of an upload.
        upload: Bytes of an upload.
        questions: Questions of a session.
        characters: Characters of a question.
        seconds: Seconds that an answer, or the reading of files, may take.
        threads: Answers that are calculated at the same time; others wait.
        rows: Rows of a table, and sentences, that a page shows at once.
    """

    sessions: int = 200
    idle: float = 3600.0
    spared: float = 300.0
    files: int = 20
    upload: int = 50_000_000
    questions: int = 500
    characters: int = 2_000
    seconds: float = 300.0
    threads: int = 4
    rows: int = 250


class SessionBusyError(FinpathError):
    """A session that still answers, or a server without room for another session."""


class Backend:
    """The subjects that are asked about, and the threads that read and answer.

    Args:
        about: Names the subject of each new session, if any.
        program: The program for reports, or its name.
        data: Where ids of reports are looked up.
        settings: Settings of DSPy, with the language model.
        limits: The limits.
        log: Takes a trace of each question, and the feedback of its user; by default none is kept.

    Attributes:
        subject: The subject of each new session.
        files: Its files by their names.
    """

    def __init__(
        self,
        about: Sequence[str] = (),
        program: Any = "beam",
        data: str = "sample:dev",
        settings: Mapping[str, Any] | None = None,
        limits: Limits | None = None,
        log: QuestionLog | None = None,
    ) -> None:
        self.data, self.settings = data, dict(settings or {"lm": None})
        self.limits = limits if limits is not None else Limits()
        self.log = log if log is not None else QuestionLog()
        self._program = program
        self.files = {Path(word).name: Path(word) for word in about if Path(word).is_file()}
        self.subject = self.read(about) if about else None
        self._pool = ThreadPoolExecutor(self.limits.threads, thread_name_prefix="finpath")

    @property
    def model(self) -> str:
        """The name of the language model, or ``none``."""
        lm = self.settings.get("lm")
        return str(lm.model) if lm is not None else "none"

    def read(self, about: Sequence[str]) -> Subject:
        """The subject that names of files, or the id of a report, name.

        Raises:
            FinpathError: There is no such report, or a file cannot be read.
        """
        if kind_of(about) != "report":
            return find_subject(about, self.data)
        if isinstance(self._program, str):
            self._program = saved_program(self._program)
        return find_subject(about, self.data, self._program)

    async def run(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Returns what a function returns in a thread.

        Raises:
            TimeoutError: It took too long. It is stopped, or if it waits in C for a reply, once the reply is there.
        """
        work = StoppableCall(partial(copy_context().run, function, *arguments))
        try:
            call = asyncio.get_running_loop().run_in_executor(self._pool, work)
            return await asyncio.wait_for(call, self.limits.seconds)
        except TimeoutError:
            work.stop()
            raise


class StoppableCall:
    """A call that another thread can stop."""

    def __init__(self, call: Callable[[], Any]) -> None:
        self._call, self._thread, self._lock = call, 0, threading.Lock()

    def __call__(self) -> Any:
        """Returns the result of the call."""
        self._thread = threading.get_ident()
        try:
            return self._call()
        finally:
            with self._lock:
                self._thread = 0

    def stop(self) -> None:
        """Raises SystemExit inside the call, if it is under way."""
        with self._lock:
            if self._thread:
                ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(self._thread), ctypes.py_object(SystemExit))


class Question(BaseCallback):
    """A question while it is answered.

    Args:
        text: The question.

    Attributes:
        steps: What was done so far, each in a few words.
        turn: The answer, once there is one.
        model_failed: Whether a language model did not answer.
        usd: The price of the model's calls in US dollars, where DSPy knows it.
        trace: The question as it is logged.
        is_right: The judgement of the user, if there is one.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.steps: list[str] = ["the question is read and the graph is searched"]
        self.turn: AnyTurn | None = None
        self.model_failed = False
        self.usd: float | None = None
        self.trace: AnsweredQuestion | None = None
        self.is_right: bool | None = None
        self.task: asyncio.Task[None] | None = None

    def on_module_start(self, call_id: str, instance: Any, inputs: dict[str, Any]) -> None:  # noqa: ARG002
        """A module of the program begins: a step."""
        if (words := STEPS.get(type(instance).__name__)) is not None and words != self.steps[-1]:
            self.steps.append(words)

    def on_lm_start(self, call_id: str, instance: Any, inputs: dict[str, Any]) -> None:  # noqa: ARG002
        """A language model is called: a step."""
        self.steps.append(f"{getattr(instance, 'model', 'a model')} is asked")

    def on_lm_end(self, call_id: str, outputs: Any, exception: BaseException | None = None) -> None:  # noqa: ARG002
        """A call of a language model has ended, maybe without a reply: a step."""
        if exception is not None:
            self.model_failed = True
            self.steps.append("the language model does not answer")

    def on_tool_start(self, call_id: str, instance: Any, inputs: dict[str, Any]) -> None:  # noqa: ARG002
        """A tool is called: a step."""
        self.steps.append(f"{getattr(instance, 'name', 'a tool')} is called")

    async def wait(self) -> AnyTurn:
        """The turn, once it is there."""
        if self.task is not None:
            await asyncio.shield(self.task)
        assert self.turn is not None
        return self.turn


class UserSession:
    """A visitor's files, subject and conversation.

    Args:
        backend: What is read and answered with.

    Attributes:
        key: Names the session; nobody can guess it.
        name: Names the session in traces.
        questions: The questions so far, the last one maybe without its answer.
        subject: The subject.
        files: The files of a report by their names.
        used: When the session was last used, in seconds of the monotonic clock.
    """

    def __init__(self, backend: Backend) -> None:
        self.backend, self.key, self.name = backend, secrets.token_urlsafe(32), secrets.token_hex(4)
        self.questions: list[Question] = []
        self.subject: Subject | None = None
        self.files: Mapping[str, Path] = backend.files
        self.used, self._reading = time.monotonic(), False
        self._conversation: Conversation | None = None
        self._folder: Path | None = None
        if backend.subject is not None:
            self._begin(backend.subject)

    @property
    def is_busy(self) -> bool:
        """Whether files are read or a question is answered."""
        return self._reading or bool(self.questions and self.questions[-1].turn is None)

    def _begin(self, subject: Subject) -> None:
        self.subject, self.questions = subject, []
        self._conversation = Conversation(subject.program, subject.world)

    def reset(self) -> None:
        """Forgets the questions."""
        self._check_rest()
        if self.subject is not None:
            self._begin(self.subject)

    def _check_rest(self) -> None:
        if self.is_busy:
            raise SessionBusyError("the question before is still being answered")

    async def open(self, files: Mapping[str, bytes]) -> None:
        """Reads uploaded files, whose conversation begins; several texts are a collection of texts.

        Raises:
            ConfigError: There is no file.
            FinpathError: A file cannot be read, or none can be asked about; the session goes on as it was.
            TimeoutError: Reading takes too long.
        """
        self._check_rest()
        if not files:
            raise ConfigError("files must be given, got none")
        folder = Path(tempfile.mkdtemp(prefix="finpath-"))
        self._reading = True
        try:
            for name, content in files.items():
                (folder / name).write_bytes(content)
            is_texts = len(files) > 1 and all(Path(name).suffix.lower() == ".txt" for name in files)
            about = [str(folder)] if is_texts else [str(folder / name) for name in files]
            endings = {Path(name).suffix.lower() for name in files}
            if kind_of(about) == "report" and not endings <= {".json", *READERS}:
                raise DataError(
                    f"must end in one of {', '.join(sorted({*READERS, *RDF_FILES}))}", file=", ".join(files)
                )
            subject = await self.backend.run(self.backend.read, about)
            title = subject.title.replace(f"{folder}/", "").replace(str(folder), "of files")
            self._begin(replace(subject, title=title))
        except BaseException as error:
            shutil.rmtree(folder, ignore_errors=True)
            if isinstance(error, FinpathError):  # the folder's name is nothing to its reader
                raise ConfigError(str(error).replace(f"{folder}/", "").replace(str(folder), "files")) from error
            raise
        finally:
            self._reading = False
        self.close()
        self._folder, self.files = folder, {name: folder / name for name in files}

    def ask(self, text: str, *, model: bool = True) -> Question:
        """Begins to answer a question.

        Args:
            text: The question.
            model: Whether a language model is asked, if there is one.

        Raises:
            ConfigError: The question is empty or too long, there are too many, or nothing to ask about.
            SessionBusyError: The one before is not answered yet.
        """
        limits, text = self.backend.limits, text.strip()
        if self._conversation is None:
            raise ConfigError("there is nothing to ask about: open files first")
        if not 0 < len(text) <= limits.characters:
            raise ConfigError(f"question must have 1 to {limits.characters} characters, got {len(text)}")
        if len(self.questions) >= limits.questions:
            raise ConfigError(f"a session has at most {limits.questions} questions: begin another")
        self._check_rest()
        question = Question(text)
        self.questions.append(question)
        question.task = asyncio.create_task(self._answer(question, self._conversation, {} if model else {"lm": None}))
        return question

    async def _answer(self, question: Question, conversation: Conversation, changed: Mapping[str, Any]) -> None:
        settings, subject, place = {**self.backend.settings, **changed}, self.subject, len(self.questions) - 1
        assert subject is not None
        if (lm := settings["lm"]) is not None:
            lm = settings["lm"] = lm.copy()  # whose history has the calls of this question alone

        def answered() -> Any:
            log = self.backend.log.turn(question.text, place, f"{subject.title} {self.name}")
            shown = dspy.context(**settings, callbacks=[*dspy.settings.callbacks, question], disable_history=False)
            with shown, log as trace:
                state, question.trace = conversation.program.ask(conversation.state, question.text), trace
                trace.outputs, trace.failure = subject.figures(state.turns[-1]), state.turns[-1].failure
                return state

        try:
            conversation.state = await self.backend.run(answered)
            question.turn = conversation.turns[-1]
            prices = [entry.get("cost") for entry in lm.history] if lm is not None else []
            question.usd = sum(prices) if prices and None not in prices else None
        except TimeoutError:
            seconds = self.backend.limits.seconds
            question.turn = Turn(question.text, failure="error", message=f"no answer within {seconds:g} seconds")
        except Exception as error:  # noqa: BLE001 - a defect must not leave a page that waits for ever
            message = str(error) if isinstance(error, FinpathError) else f"{type(error).__name__}: a defect of finpath"
            question.turn = Turn(question.text, failure="error", message=message)
        self.used = time.monotonic()

    def close(self) -> None:
        """Removes the files."""
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)


class Sessions:
    """All sessions of a server.

    Args:
        backend: What is read and answered with.
    """

    def __init__(self, backend: Backend) -> None:
        self.backend = backend
        self._sessions: dict[str, UserSession] = {}

    def get(self, key: str | None) -> UserSession | None:
        """The session of a key, which is used now; ``None`` where there is none (any more)."""
        self._close_idle(self.backend.limits.idle)
        session = self._sessions.get(key or "")
        if session is not None:
            session.used = time.monotonic()
        return session

    def new(self) -> UserSession:
        """Another session.

        Raises:
            SessionBusyError: There is no room for it.
        """
        limits = self.backend.limits
        self._close_idle(limits.idle)
        if len(self._sessions) >= limits.sessions:
            self._close_idle(limits.spared)
        if len(self._sessions) >= limits.sessions:
            raise SessionBusyError(f"the server has {limits.sessions} sessions already: try again later")
        session = UserSession(self.backend)
        self._sessions[session.key] = session
        return session

    def _close_idle(self, seconds: float) -> None:
        last = time.monotonic() - seconds
        for session in [one for one in self._sessions.values() if one.used < last and not one.is_busy]:
            self._sessions.pop(session.key).close()

    def close(self) -> None:
        """Closes all sessions."""
        for session in self._sessions.values():
            session.close()
        self._sessions.clear()
