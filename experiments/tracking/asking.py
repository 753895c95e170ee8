"""Runs of questions that are asked one by one: ``finpath ask``, ``chat``, ``thoughts``.

    with asked(tracker, "ask", "JKHY/2009/page_28.pdf", {"lm": "none"}) as log:
        with log.turn("what was the net cash in 2009?") as seen:
            turn = conversation.ask(question)
            seen.outputs = {"answer": turn.words}

Each question has a trace with the calls of modules, tools and language models, as an evaluation's turns have. The run
and its traces are written when the block ends, also by an exception: nobody waits for MLflow before an answer.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

from experiments.tracking.recorder import TurnRecorder
from experiments.tracking.traces import CONVERSATION_TAG, REPORT_TAG, TURN_TAG, Trace, TraceWriter
from experiments.tracking.tracker import Tracker

logger = logging.getLogger(__name__)

_NAMED = 60
"""Characters of a question in the name of its trace."""


@dataclass
class SeenTurn:
    """A question while it is answered.

    Attributes:
        outputs: The answer and what it rests on, as JSON; empty until it is known.
        failure: The reason of an answer that is missing.
    """

    outputs: Mapping[str, Any] = field(default_factory=dict)
    failure: str | None = None


class QuestionLog:
    """The questions of a command and their traces.

    Args:
        command: The command, such as ``ask``.
        about: The report or graph of the questions.
        tracked: Whether calls are recorded.

    Attributes:
        run_id: The run in MLflow, after it was written.
    """

    def __init__(self, command: str, about: str, *, tracked: bool) -> None:
        self.command, self.about, self.tracked = command, about, tracked
        self.traces: list[Trace] = []
        self.run_id: str | None = None
        self.answered = 0
        self._lock = Lock()

    @contextmanager
    def turn(self, question: str, place: int | None = None) -> Iterator[SeenTurn]:
        """Records the calls inside as the trace of a question; threads may do so at the same time.

        Args:
            question: The question.
            place: Its place among the questions; by default it is the next one.
        """
        seen = SeenTurn()
        if not self.tracked:
            yield seen
            return
        recorder = TurnRecorder()
        error: str | None = None
        try:
            with recorder.recording():
                yield seen
        except Exception as problem:
            error = f"{type(problem).__name__}: {problem}"
            raise
        finally:
            with self._lock:
                index = place if place is not None else len(self.traces)
                self._add(index, question, seen, recorder, error)

    def _add(self, index: int, question: str, seen: SeenTurn, recorder: TurnRecorder, error: str | None) -> None:
        right = error is None and seen.failure is None
        self.answered += right
        self.traces.append(
            Trace(
                name=" ".join(question.split())[:_NAMED],
                key=(self.about, index),
                start=recorder.start,
                end=recorder.end,
                inputs={"question": question, "about": self.about},
                outputs={**seen.outputs, "failure": seen.failure},
                spans=recorder.spans,
                tags={
                    REPORT_TAG: self.about,
                    CONVERSATION_TAG: self.about,
                    TURN_TAG: str(index),
                    "finpath.command": self.command,
                    "finpath.answered": str(right).lower(),
                },
                error=error,
            )
        )


@contextmanager
def asked(
    tracker: Tracker | None, command: str, about: str, params: Mapping[str, object] | None = None
) -> Iterator[QuestionLog]:
    """Yields a log of questions; at its end a run of the kind ``ask`` has their traces.

    A store that cannot be written costs the run, never the answers.

    Args:
        tracker: The tracking store; ``None`` to log nothing.
        command: The command.
        about: The report or graph of the questions.
        params: Settings of the run.
    """
    log = QuestionLog(command, about, tracked=tracker is not None)
    started = time.perf_counter()
    try:
        yield log
    finally:
        if tracker is not None and log.traces:
            try:
                _write(tracker, log, {**(params or {}), "command": command, "about": about}, started)
            except Exception as error:  # noqa: BLE001 - MLflow's clients raise what their backends raise
                logger.warning("the questions could not be logged: %s", error)


def _write(tracker: Tracker, log: QuestionLog, params: Mapping[str, object], started: float) -> None:
    seconds = time.perf_counter() - started
    with tracker.run("ask", f"{log.command} {log.about}"[:200]) as run:
        run.log_params(params)
        run.log_metrics({"questions": len(log.traces), "answered": log.answered, "seconds": seconds})
        writer = TraceWriter(tracker, run)
        for trace in sorted(log.traces, key=lambda one: one.key):
            writer.add(trace)
        writer.flush()
        log.run_id = run.id
