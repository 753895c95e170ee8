"""Traces of questions in MLflow: one a turn, with its calls of modules, tools and models, linked to the turn's run.

    recorder, writer = TurnRecorder(), TraceWriter(tracker, run)
    with recorder.recording():
        turn = program.ask(state, question).turns[-1]
    writer.add((conversation, 2), facts, recorder.spans, recorder.start, recorder.end)
    writer.flush()
    read_traces(tracker, tracker.find("latest"), conversation="...", turn_index=2)

Each turn has its own recorder, which DSPy's settings pass on to every thread that the turn starts. MLflow's
autologging writes each span in a transaction of its own: it takes three to four times the processor time of a trace
(``docs/design/evaluation.md``).
"""

from __future__ import annotations

import base64
import json
import logging
import re
import secrets
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import Any

from dspy.utils.callback import ACTIVE_CALL_ID, BaseCallback

from experiments.console import without_password
from experiments.tracking import Run, RunRecord, Tracker
from kg.errors import TrackingError
from programs.turns import plain

logger = logging.getLogger(__name__)

REPORT_TAG, CONVERSATION_TAG, TURN_TAG = "finpath.report", "finpath.conversation", "finpath.turn"

_BATCH, _SECONDS = 50, 10.0
_NAME_LENGTH = 60
_NO_SESSION = re.compile(r"[^\w.-]+")

Span = dict[str, Any]
"""``id``, ``parent``, ``name``, ``type`` (one of MLflow's), ``start`` and ``end`` in nanoseconds since 1970,
``inputs``, ``outputs``, ``error`` and, of a call to a language model, ``usage``: all as JSON knows them."""


class TurnRecorder(BaseCallback):
    """Keeps the spans of one turn.

    Attributes:
        spans: In the order of their start.
        start: Start of the turn, in nanoseconds since 1970.
        end: Its end.
    """

    def __init__(self) -> None:
        self.spans: list[Span] = []
        self.start = self.end = time.time_ns()
        self._open: dict[str, Span] = {}

    @contextmanager
    def recording(self) -> Iterator[None]:
        """Records the calls inside, in this thread and in those that DSPy starts from it."""
        import dspy

        self.start = time.time_ns()
        try:
            with dspy.context(callbacks=[*dspy.settings.callbacks, self]):
                yield
        finally:
            self.end = time.time_ns()

    def on_module_start(self, call_id: str, instance: Any, inputs: dict[str, Any]) -> None:
        """A module is called."""
        signature, kind = getattr(instance, "signature", None), type(instance).__name__
        name = f"{kind}({signature.__name__})" if isinstance(signature, type) else kind
        self._begin(call_id, str(getattr(instance, "span_name", None) or name), "CHAIN", inputs.get("kwargs") or inputs)

    def on_lm_start(self, call_id: str, instance: Any, inputs: dict[str, Any]) -> None:
        """A language model is asked."""
        settings = {key: value for key, value in {**instance.kwargs, **inputs.get("kwargs", {})}.items() if value}
        settings = {key: value for key, value in settings.items() if "key" not in key}
        prompt = inputs["messages"] if inputs.get("messages") is not None else inputs.get("prompt")
        self._begin(call_id, str(instance.model), "CHAT_MODEL", {"messages": prompt, "settings": settings})

    def on_tool_start(self, call_id: str, instance: Any, inputs: dict[str, Any]) -> None:
        """A tool is called."""
        self._begin(call_id, str(instance.name), "TOOL", inputs.get("kwargs", inputs))

    def _begin(self, call_id: str, name: str, kind: str, inputs: Any) -> None:
        start, given = time.time_ns(), plain(_readable(inputs))
        span: Span = {"id": call_id, "parent": ACTIVE_CALL_ID.get(), "name": name, "type": kind, "start": start}
        self._open[call_id] = span | {"end": None, "inputs": given, "outputs": None, "error": None, "usage": None}
        self.spans.append(self._open[call_id])

    def on_module_end(self, call_id: str, outputs: Any, exception: BaseException | None = None) -> None:
        """A module, a language model or a tool has returned or raised."""
        span = self._open.pop(call_id, None)
        if span is None:
            return
        span["end"], span["outputs"] = time.time_ns(), plain(_readable(outputs))
        if exception is not None:
            span["error"] = f"{type(exception).__name__}: {exception}"

    def on_lm_end(self, call_id: str, outputs: Any, exception: BaseException | None = None) -> None:
        """A language model has answered or failed; a call that the cache answers has no usage."""
        import dspy

        usage = getattr(dspy.settings.usage_tracker, "usage", None)
        if usage and call_id in self._open:
            self._open[call_id]["usage"] = plain(usage)
        self.on_module_end(call_id, outputs, exception)

    on_tool_end = on_module_end


def _readable(value: Any) -> Any:
    """DSPy's examples and predictions as mappings, signatures by name, reports by id: a trace is to be read."""
    if hasattr(value, "toDict"):
        return value.toDict()
    if isinstance(value, dict):
        return {name: _readable(item) for name, item in value.items()}
    if isinstance(value, type):
        return value.__name__
    if hasattr(value, "pre_text") and hasattr(value, "id"):
        return f"report {value.id}"
    return value


@dataclass(frozen=True)
class TraceFacts:
    """The parts of a trace in addition to its calls.

    Attributes:
        name: Its name in MLflow's list.
        inputs: The question and its subject.
        outputs: The answer and its basis.
        tags: To search by; texts.
        error: The error, if it is the reason of a missing answer.
        verdicts: Scores of the answer by name, each with its reason: MLflow shows and filters them as assessments.
        expected: The gold by name, as assessments too.
        spans: Spans in addition to those of the recorder.
    """

    name: str
    inputs: Mapping[str, Any]
    outputs: Mapping[str, Any]
    tags: Mapping[str, str] = field(default_factory=dict)
    error: str | None = None
    verdicts: Mapping[str, tuple[bool | float, str]] = field(default_factory=dict)
    expected: Mapping[str, Any] = field(default_factory=dict)
    spans: Sequence[Span] = ()


class TraceWriter:
    """Writes traces some dozens at a time: one transaction each costs more than a turn without a language model.

    Args:
        tracker: The store.
        run: The run that the traces belong to.

    Attributes:
        failed: The number of traces that the store did not take.
    """

    def __init__(self, tracker: Tracker, run: Run) -> None:
        self._tracker, self._run = tracker, run
        self._waiting: list[tuple[Any, list[dict[str, Any]]]] = []
        self._lock, self._last = threading.Lock(), time.monotonic()
        self.failed = 0

    def add(self, key: tuple[str, int], facts: TraceFacts, spans: Sequence[Span], start: int, end: int) -> None:
        """Takes the trace of a turn, and writes those that wait when there are enough or some seconds have passed.

        Args:
            key: The conversation and the turn's index in it.
            facts: Its question, answer and gold.
            spans: Its calls.
            start: Its start, in nanoseconds since 1970.
            end: Its end.
        """
        tags = {CONVERSATION_TAG: key[0], TURN_TAG: str(key[1]), "finpath.run": str(self._run.id), **facts.tags}
        tags["mlflow.traceName"] = facts.name
        trace_id = secrets.token_hex(16)
        root: Span = {"id": "", "parent": None, "name": facts.name, "type": "CHAIN", "start": start, "end": end}
        root |= {"inputs": facts.inputs, "outputs": facts.outputs, "error": facts.error, "usage": None}
        ids = {span["id"]: secrets.token_hex(8) for span in (root, *spans, *facts.spans)}
        written = [_span(trace_id, ids, span) for span in (root, *spans, *facts.spans)]
        # MLflow reads a trace's tags from its root, and its pages put the session into an address.
        session = _NO_SESSION.sub("-", f"{str(self._run.id)[:8]}-{key[0]}")
        attributes = {"session.id": session, **{f"mlflow.traceTag.{name}": value for name, value in tags.items()}}
        written[0]["attributes"] |= {name: json.dumps(value) for name, value in attributes.items()}
        info = _info(f"tr-{trace_id}", facts, tags, (start, end), self._tracker.experiment_id)
        with self._lock:
            self._waiting.append((info, written))
            due = len(self._waiting) >= _BATCH or time.monotonic() - self._last > _SECONDS
        if due:
            self.flush()

    def flush(self) -> None:
        """Writes the traces that wait. A store that takes none costs the traces, never the evaluation."""
        with self._lock:
            waiting, self._waiting = self._waiting, []
            self._last = time.monotonic()
            try:
                self._write(waiting)
            except Exception as error:  # noqa: BLE001 - MLflow's clients raise what their backends raise; it is counted
                self.failed += len(waiting)
                reason = without_password(str(error).partition("\n")[0])
                logger.warning("%d traces could not be written: %s", len(waiting), reason)

    def _write(self, traces: Sequence[tuple[Any, list[dict[str, Any]]]]) -> None:
        from mlflow.entities import Span as MlflowSpan
        from mlflow.tracing.client import TracingClient

        if not traces:
            return
        client = TracingClient(self._tracker.config.uri)
        for info, _ in traces:
            client.start_trace(info)
        spans = [MlflowSpan.from_dict(span) for _, spans in traces for span in spans]
        client.log_spans(self._tracker.experiment_id, spans)
        self._tracker.client.link_traces_to_run([info.trace_id for info, _ in traces], self._run.id)


def _info(name: str, facts: TraceFacts, tags: dict[str, str], times: tuple[int, int], experiment_id: str) -> Any:
    """A trace's head as MLflow's ``TraceInfo``: question and answer in short, tags, and assessments."""
    from mlflow.entities import AssessmentSource, Expectation, Feedback, TraceInfo, TraceLocation, TraceState

    ours, gold = AssessmentSource("CODE", "finpath"), AssessmentSource("HUMAN", "gold")
    verdicts = [
        Feedback(name=title, value=value, rationale=reason, source=ours, trace_id=name)
        for title, (value, reason) in facts.verdicts.items()
    ]
    expected = [Expectation(name=key, value=value, source=gold, trace_id=name) for key, value in facts.expected.items()]
    return TraceInfo(
        trace_id=name,
        trace_location=TraceLocation.from_experiment_id(experiment_id),
        request_time=times[0] // 1_000_000,
        execution_duration=max(0, times[1] - times[0]) // 1_000_000,
        state=TraceState.ERROR if facts.error is not None else TraceState.OK,
        request_preview=str(facts.inputs.get("question") or ""),
        response_preview=str(facts.outputs.get("answer") or facts.outputs.get("failure") or ""),
        tags=tags,
        assessments=[*verdicts, *expected],
    )


def _span(trace_id: str, ids: Mapping[str, str], span: Span) -> dict[str, Any]:
    """A span as MLflow's ``Span.from_dict`` takes it; ``ids`` are those of the trace's spans, of the root first."""
    attributes = {
        "mlflow.traceRequestId": f"tr-{trace_id}",
        "mlflow.spanType": span["type"],
        "mlflow.spanInputs": span["inputs"],
        "mlflow.spanOutputs": span["outputs"],
    }
    if span["type"] == "CHAT_MODEL":
        attributes["mlflow.llm.model"] = span["name"]
        read, written = (int((span["usage"] or {}).get(name) or 0) for name in ("prompt_tokens", "completion_tokens"))
        tokens = {"input_tokens": read, "output_tokens": written, "total_tokens": read + written}
        attributes["mlflow.chat.tokenUsage"] = tokens if span["usage"] else None
    failed = span["error"] is not None
    return {
        "trace_id": _base64(trace_id),
        "span_id": _base64(ids[span["id"]]),
        "parent_span_id": _base64(ids.get(span["parent"], ids[""])) if span["id"] else None,
        "name": span["name"],
        "start_time_unix_nano": span["start"],
        "end_time_unix_nano": max(span["end"] or span["start"], span["start"] + 1),
        "events": [],
        "status": {"code": "STATUS_CODE_ERROR" if failed else "STATUS_CODE_OK", "message": span["error"] or ""},
        "attributes": {name: json.dumps(value, ensure_ascii=False) for name, value in attributes.items() if value},
    }


def _base64(hexadecimal: str) -> str:
    return base64.b64encode(bytes.fromhex(hexadecimal)).decode()


def search_traces(
    tracker: Tracker, record: RunRecord, where: str | None = None, *, with_spans: bool = False
) -> list[Any]:
    """MLflow's traces of a run's turns, in the order of their start.

    Args:
        tracker: The store.
        record: The run.
        where: MLflow's filter.
        with_spans: Whether they come with their spans.
    """
    traces: list[Any] = []
    token = None
    while True:
        page = tracker.client.search_traces(
            locations=[tracker.experiment_id],
            filter_string=where,
            run_id=record.id,
            max_results=100,
            order_by=["timestamp_ms ASC"],
            page_token=token,
            include_spans=with_spans,
        )
        traces += page
        token = page.token
        if not token:
            return traces


def read_traces(
    tracker: Tracker, record: RunRecord, *, conversation: str | None = None, turn_index: int | None = None
) -> list[dict[str, Any]]:
    """The traces of a run's turns, as MLflow's ``Trace.to_dict`` gives them; only of a conversation, or of a turn.

    Raises:
        TrackingError: The conversation's id has a quote.
    """
    values = {CONVERSATION_TAG: conversation, TURN_TAG: turn_index}
    conditions = [f"tags.`{name}` = '{value}'" for name, value in values.items() if value is not None]
    if "'" in (conversation or ""):
        raise TrackingError(f"an id cannot have a quote here: {conversation!r}")
    traces = search_traces(tracker, record, " AND ".join(conditions) or None, with_spans=True)
    return [trace.to_dict() for trace in traces]


@dataclass
class AnsweredQuestion:
    """A question while it is answered.

    Attributes:
        question: The question.
        place: Its place among the questions.
        outputs: The answer and its basis, as JSON; empty until it is known.
        failure: The reason of an answer that is missing.
        error: The error that ended it.
        recorder: The calls.
    """

    question: str
    place: int
    outputs: Mapping[str, Any] = field(default_factory=dict)
    failure: str | None = None
    error: str | None = None
    recorder: TurnRecorder = field(default_factory=TurnRecorder)


class QuestionLog:
    """The questions of a command while they are answered.

    Args:
        tracked: Whether their calls are recorded.

    Attributes:
        questions: Those that were answered.
        run_id: The run in MLflow, after it was written.
    """

    def __init__(self, *, tracked: bool) -> None:
        self.tracked, self.questions = tracked, list[AnsweredQuestion]()
        self.run_id: str | None = None

    @contextmanager
    def turn(self, question: str, place: int | None = None) -> Iterator[AnsweredQuestion]:
        """Records the calls inside as the trace of a question; threads may do so at the same time.

        Args:
            question: The question.
            place: Its place among the questions; by default it is the next one.
        """
        turn = AnsweredQuestion(question, place if place is not None else len(self.questions))
        try:
            with turn.recorder.recording() if self.tracked else nullcontext():
                yield turn
        except Exception as problem:
            turn.error = f"{type(problem).__name__}: {problem}"
            raise
        finally:
            self.questions.append(turn)


@contextmanager
def asked(
    tracker: Tracker | None, command: str, about: str, params: Mapping[str, object] | None = None
) -> Iterator[QuestionLog]:
    """Yields a log of questions that are asked one by one; at its end a run of the kind ``ask`` has their traces.

    The run is written at the end, also by an exception: nobody waits for MLflow before an answer. A store that cannot
    be written costs the run, never the answers.

    Args:
        tracker: The tracking store; ``None`` to log nothing.
        command: The command.
        about: The report or graph of the questions.
        params: Settings of the run.
    """
    log, started = QuestionLog(tracked=tracker is not None), time.perf_counter()
    try:
        yield log
    finally:
        if tracker is not None and log.questions:
            try:
                seconds = time.perf_counter() - started
                with tracker.run("ask", f"{command} {about}"[:200]) as run:
                    run.log_params({**(params or {}), "command": command, "about": about})
                    answered = sum(turn.error is None and turn.failure is None for turn in log.questions)
                    run.log_metrics({"questions": len(log.questions), "answered": answered, "seconds": seconds})
                    _write_questions(TraceWriter(tracker, run), log.questions, command, about)
                    log.run_id = run.id
            except Exception as error:  # noqa: BLE001 - MLflow's clients raise what their backends raise
                logger.warning("the questions could not be logged: %s", error)


def _write_questions(writer: TraceWriter, questions: Sequence[AnsweredQuestion], command: str, about: str) -> None:
    for turn in sorted(questions, key=lambda turn: turn.place):
        answered = str(turn.error is None and turn.failure is None).lower()
        facts = TraceFacts(
            " ".join(turn.question.split())[:_NAME_LENGTH],
            {"question": turn.question, "about": about},
            {**turn.outputs, "failure": turn.failure},
            {REPORT_TAG: about, "finpath.answered": answered, "finpath.command": command},
            turn.error,
        )
        writer.add((about, turn.place), facts, turn.recorder.spans, turn.recorder.start, turn.recorder.end)
    writer.flush()
