"""Traces of an evaluation's turns in MLflow: one a turn, tagged with report and turn, linked to the evaluation's run.

    writer = TraceWriter(tracker, run)
    writer.add(trace)                   # buffered in memory, written some dozens at a time
    writer.flush()
    read_traces(tracker, tracker.find("latest"), conversation="...", turn_index=2)

The spans come from recorders of one turn each, and are written to the store without changes. MLflow's live spans take
the run from the process's state. That is wrong where evaluations share a process or a turn has threads. They are also
written one by one, which takes twenty times as long.
"""

from __future__ import annotations

import base64
import json
import logging
import re
import secrets
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from experiments.console import without_password
from experiments.tracking.recorder import Span
from experiments.tracking.records import RunRecord
from experiments.tracking.tracker import Run, Tracker
from kg.errors import TrackingError

logger = logging.getLogger(__name__)

REPORT_TAG, CONVERSATION_TAG, TURN_TAG = "finpath.report", "finpath.conversation", "finpath.turn"

_BATCH = 50
_NO_SESSION = re.compile(r"[^\w.-]+")
_SECONDS = 10.0


@dataclass(frozen=True)
class Trace:
    """A turn's trace.

    Attributes:
        name: Its name in MLflow's list.
        key: Conversation and index of the turn.
        start: Start of the turn, in nanoseconds since 1970.
        end: Its end.
        inputs: The question and what came before it.
        outputs: The answer and how it was found.
        spans: Its calls.
        tags: To search by; texts.
        attributes: Further facts, on the trace's root.
        error: Why there is no answer, if an error was the reason.
        verdicts: Scores of the answer by name, each with its reason: MLflow shows and filters them as assessments.
        expected: The gold by name, as assessments too.
    """

    name: str
    key: tuple[str, int]
    start: int
    end: int
    inputs: Mapping[str, Any]
    outputs: Mapping[str, Any]
    spans: Sequence[Span] = ()
    tags: Mapping[str, str] = field(default_factory=dict)
    attributes: Mapping[str, Any] = field(default_factory=dict)
    error: str | None = None
    verdicts: Mapping[str, tuple[bool | float, str]] = field(default_factory=dict)
    expected: Mapping[str, Any] = field(default_factory=dict)


class TraceWriter:
    """Writes traces some dozens at a time: one transaction each costs more than a turn without a language model.

    Args:
        tracker: The store.
        run: The run that the traces belong to.
        written: Called with the turns whose traces are in the store.
    """

    def __init__(
        self, tracker: Tracker, run: Run, written: Callable[[list[tuple[str, int]]], None] | None = None
    ) -> None:
        self._tracker = tracker
        self._run = run
        self._written = written
        self._waiting: list[Trace] = []
        self._lock = threading.Lock()
        self._last = time.monotonic()
        self.failed = 0

    def add(self, trace: Trace) -> None:
        """Takes a trace, and writes those that wait when there are enough of them or some seconds have passed."""
        with self._lock:
            self._waiting.append(trace)
            due = len(self._waiting) >= _BATCH or time.monotonic() - self._last > _SECONDS
        if due:
            self.flush()

    def flush(self) -> None:
        """Writes the traces that wait. A store that takes none costs the traces, never the evaluation."""
        with self._lock:
            waiting, self._waiting = self._waiting, []
            self._last = time.monotonic()
            if not waiting:
                return
            try:
                self._write(waiting)
            except Exception as error:  # noqa: BLE001 - MLflow's clients raise what their backends raise; it is counted
                self.failed += len(waiting)
                reason = without_password(str(error).partition("\n")[0])
                logger.warning("%d traces could not be written: %s", len(waiting), reason)
                return
            if self._written is not None:
                self._written([trace.key for trace in waiting])

    def _write(self, traces: Sequence[Trace]) -> None:
        from mlflow.entities import Span as MlflowSpan
        from mlflow.tracing.client import TracingClient

        ids = [secrets.token_hex(16) for _ in traces]
        session = str(self._run.id)[:8]
        spans = [span for trace_id, trace in zip(ids, traces, strict=True) for span in _spans(trace_id, trace, session)]
        client = TracingClient(self._tracker.config.uri)
        for trace_id, trace in zip(ids, traces, strict=True):
            client.start_trace(_info(trace_id, trace, self._tracker.experiment_id))
        client.log_spans(self._tracker.experiment_id, [MlflowSpan.from_dict(span) for span in spans])
        self._tracker.client.link_traces_to_run([f"tr-{trace_id}" for trace_id in ids], self._run.id)


def _info(trace_id: str, trace: Trace, experiment_id: str) -> Any:
    """A trace's head as MLflow's ``TraceInfo``: question and answer in short, tags, and assessments."""
    from mlflow.entities import AssessmentSource, Expectation, Feedback, TraceInfo, TraceLocation, TraceState

    ours, gold = AssessmentSource("CODE", "finpath"), AssessmentSource("HUMAN", "gold")
    name = f"tr-{trace_id}"
    assessments: list[Any] = [
        Feedback(name=title, value=value, rationale=reason, source=ours, trace_id=name)
        for title, (value, reason) in trace.verdicts.items()
    ]
    assessments += [
        Expectation(name=title, value=value, source=gold, trace_id=name) for title, value in trace.expected.items()
    ]
    return TraceInfo(
        trace_id=name,
        trace_location=TraceLocation.from_experiment_id(experiment_id),
        request_time=trace.start // 1_000_000,
        execution_duration=max(0, trace.end - trace.start) // 1_000_000,
        state=TraceState.ERROR if trace.error is not None else TraceState.OK,
        request_preview=str(trace.inputs.get("question", "")),
        response_preview=str(trace.outputs.get("answer") or trace.outputs.get("failure") or ""),
        tags={**trace.tags, "mlflow.traceName": trace.name},
        assessments=assessments,
    )


def _spans(trace_id: str, trace: Trace, session: str) -> list[dict[str, Any]]:
    """A trace's spans as MLflow's ``Span.from_dict`` takes them; tags travel as attributes of the root."""
    root = secrets.token_hex(8)
    ids = {span["id"]: secrets.token_hex(8) for span in trace.spans}
    attributes = {
        **{f"mlflow.traceTag.{name}": value for name, value in trace.tags.items()},
        "mlflow.traceTag.mlflow.traceName": trace.name,
        # MLflow's pages put it into an address, which a slash would break.
        "session.id": _NO_SESSION.sub("-", f"{session}-{trace.key[0]}"),
        **trace.attributes,
    }
    whole = {
        "name": trace.name,
        "type": "CHAIN",
        "start": trace.start,
        "end": trace.end,
        "inputs": trace.inputs,
        "outputs": trace.outputs,
        "error": trace.error,
    }
    parts = [
        _span(trace_id, ids[span["id"]], ids.get(span["parent"], root), span, _lm_attributes(span))
        for span in trace.spans
    ]
    return [_span(trace_id, root, None, whole, attributes), *parts]


def _lm_attributes(span: Span) -> dict[str, Any]:
    """Returns MLflow's attributes of a call to a language model: its name and its tokens."""
    if span["type"] != "CHAT_MODEL":
        return {}
    usage = span["usage"] or {}
    read, written = (int(usage.get(name) or 0) for name in ("prompt_tokens", "completion_tokens"))
    tokens = {"input_tokens": read, "output_tokens": written, "total_tokens": read + written}
    return {"mlflow.llm.model": span["name"], **({"mlflow.chat.tokenUsage": tokens} if usage else {})}


def _span(
    trace_id: str, span_id: str, parent: str | None, span: Mapping[str, Any], attributes: Mapping[str, Any]
) -> dict[str, Any]:
    own = {
        "mlflow.traceRequestId": f"tr-{trace_id}",
        "mlflow.spanType": span["type"],
        "mlflow.spanInputs": span["inputs"],
        "mlflow.spanOutputs": span["outputs"],
        **attributes,
    }
    failed = span["error"] is not None
    return {
        "trace_id": _base64(trace_id),
        "span_id": _base64(span_id),
        "parent_span_id": _base64(parent) if parent is not None else None,
        "name": span["name"],
        "start_time_unix_nano": span["start"],
        "end_time_unix_nano": max(span["end"] or span["start"], span["start"] + 1),
        "events": [],
        "status": {"code": "STATUS_CODE_ERROR" if failed else "STATUS_CODE_OK", "message": span["error"] or ""},
        "attributes": {name: json.dumps(value, ensure_ascii=False) for name, value in own.items() if value is not None},
    }


def _base64(hexadecimal: str) -> str:
    return base64.b64encode(bytes.fromhex(hexadecimal)).decode()


def read_traces(
    tracker: Tracker, record: RunRecord, *, conversation: str | None = None, turn_index: int | None = None
) -> list[dict[str, Any]]:
    """The traces of a run's turns, as MLflow's ``Trace.to_dict`` gives them, in the order of their start.

    Args:
        tracker: The store.
        record: The run.
        conversation: Only those of this conversation.
        turn_index: Only those of this turn.

    Raises:
        TrackingError: A conversation's id holds a quote.
    """
    where = []
    if conversation is not None:
        if "'" in conversation:
            raise TrackingError(f"a conversation's id cannot hold a quote here: {conversation!r}")
        where.append(f"tags.`{CONVERSATION_TAG}` = '{conversation}'")
    if turn_index is not None:
        where.append(f"tags.`{TURN_TAG}` = '{turn_index}'")
    found: list[dict[str, Any]] = []
    token = None
    while True:
        page = tracker.client.search_traces(
            locations=[tracker.experiment_id],
            filter_string=" AND ".join(where) or None,
            run_id=record.id,
            max_results=100,
            order_by=["timestamp_ms ASC"],
            page_token=token,
        )
        found += [trace.to_dict() for trace in page]
        token = page.token
        if not token:
            return found
