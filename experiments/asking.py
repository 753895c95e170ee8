"""The run of a command that answers questions one by one: a trace in MLflow for each question.

with asked(tracker, "ask", "films.ttl") as log, log.turn("who made Alien?") as seen:
    turn = conversation.ask("who made Alien?")
    seen.outputs, seen.failure = {"answer": turn.words}, turn.failure
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from experiments.runs import REPORT_TAG
from experiments.tracking import Run, TraceFacts, Tracker, at_store, autologged, traced, write_trace
from kg.errors import ConfigError

_NAME_LENGTH = 60


@dataclass
class AnsweredQuestion:
    """A question while it is answered.

    Attributes:
        outputs: The answer and its basis as JSON.
        failure: The reason of an answer that is missing.
        trace_id: Its trace in MLflow, if there is one.
        feedback_id: The feedback of its user, if there is any.
    """

    outputs: Mapping[str, Any] = field(default_factory=dict)
    failure: str | None = None
    trace_id: str | None = None
    feedback_id: str | None = None


class QuestionLog:
    """The questions of a command while they are answered.

    Args:
        run: The run that their traces belong to; by default nothing is logged.
        command: The command.
        about: The report or graph of the questions.
    """

    def __init__(self, run: Run | None = None, command: str = "", about: str = "") -> None:
        self.run, self.command, self.about = run if run is not None else Run(None, None, ""), command, about
        self.count = self.answered = 0

    @contextmanager
    def turn(self, question: str, place: int | None = None, talk: str = "") -> Iterator[AnsweredQuestion]:
        """Records the calls inside as the trace of a question.

        Args:
            question: The question.
            place: Its place in the conversation, from 0; by default the next one.
            talk: The name of the conversation; by default what it is about.
        """
        seen, place, error = AnsweredQuestion(), place if place is not None else self.count, None
        self.count += 1
        with traced(self.run, " ".join(question.split())[:_NAME_LENGTH]) as span:
            seen.trace_id = span.trace_id if span is not None else None
            try:
                yield seen
            except Exception as problem:
                error = f"{type(problem).__name__}: {problem}"
                raise
            finally:
                is_answered = error is None and seen.failure is None
                self.answered += is_answered
                if span is not None:
                    tags = {REPORT_TAG: self.about, "finpath.command": self.command}
                    tags["finpath.answered"] = str(is_answered).lower()
                    outputs = {**seen.outputs, "failure": seen.failure}
                    facts = TraceFacts({"question": question, "about": self.about}, outputs, tags, error)
                    write_trace(span, self.run, talk or self.about, place, facts)

    def give_feedback(self, question: AnsweredQuestion, is_right: bool) -> None:
        """Writes the judgement of a user on the trace of an answer; a later one replaces it."""
        import mlflow
        from mlflow.entities import AssessmentSource

        if self.run.tracker is None or question.trace_id is None:
            raise ConfigError("a tracking store must be set for feedback, in MLFLOW_TRACKING_URI")
        with at_store(self.run.tracker):
            if question.feedback_id is not None:
                mlflow.delete_assessment(trace_id=question.trace_id, assessment_id=question.feedback_id)
            source = AssessmentSource("HUMAN", "user")
            given = mlflow.log_feedback(trace_id=question.trace_id, name="thumbs", value=is_right, source=source)
        question.feedback_id = given.assessment_id


@contextmanager
def asked(
    tracker: Tracker | None, command: str, about: str, params: Mapping[str, object] | None = None
) -> Iterator[QuestionLog]:
    """Yields a log of questions that are asked one by one, whose traces belong to a run of the kind ``ask``.

    Args:
        tracker: The tracking store; ``None`` to log nothing.
        command: The command.
        about: The report or graph of the questions.
        params: Settings of the run.
    """
    if tracker is None:
        yield QuestionLog()
        return
    with tracker.run("ask", f"{command} {about}"[:200]) as run, autologged(run):
        run.log_params({**(params or {}), "command": command, "about": about})
        log = QuestionLog(run, command, about)
        try:
            yield log
        finally:
            run.log_metrics({"questions": log.count, "answered": log.answered})
