"""Traces of a program's calls while it is compiled: one for each outermost call that asks a language model.

    with traced_calls(tracker, run):
        compile_program(...)

An optimizer calls the program on training turns, and other programs that write instructions. Each of these calls is a
trace of the compile's run, with the prompts and replies inside it, as in an evaluation. Calls without a language model
leave none.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from typing import Any

from experiments.tracking.recorder import Span, TurnRecorder
from experiments.tracking.run import Run
from experiments.tracking.traces import Trace, TraceWriter
from experiments.tracking.tracker import Tracker

MOST_TRACES = 5_000
"""Traces of a compile; further calls are counted in the metric ``traces_left_out``."""


class CallRecorder(TurnRecorder):
    """Keeps the spans of each outermost call, and hands them over when it has ended.

    Args:
        ended: Takes the spans of a call, the outermost first.
    """

    def __init__(self, ended: Callable[[list[Span]], None]) -> None:
        super().__init__()
        self._ended = ended
        self._outermost: dict[str, str] = {}
        self._groups: dict[str, list[Span]] = {}
        self._guard = threading.Lock()

    def _keep(self, span: Span) -> None:
        with self._guard:
            root = str(self._outermost.get(str(span["parent"]), span["id"]))
            self._outermost[str(span["id"])] = root
            self._groups.setdefault(root, []).append(span)

    def _close(self, span: Span) -> None:
        with self._guard:
            if self._outermost.get(span["id"]) != span["id"]:
                return
            group = self._groups.pop(span["id"])
            for one in group:
                self._outermost.pop(one["id"], None)
        if any(one["type"] == "CHAT_MODEL" for one in group):
            self._ended(group)


@contextmanager
def traced_calls(tracker: Tracker | None, run: Run) -> Iterator[None]:
    """Writes a trace of each outermost call inside; with no tracker nothing is recorded."""
    if tracker is None or run.id is None:
        yield
        return
    writer, numbers = TraceWriter(tracker, run), count()
    left_out = 0

    def ended(spans: list[Span]) -> None:
        nonlocal left_out
        number = next(numbers)
        if number >= MOST_TRACES:
            left_out += 1
            return
        writer.add(_trace(run, number, spans))

    try:
        with CallRecorder(ended).recording():
            yield
    finally:
        writer.flush()
        if left_out or writer.failed:
            run.log_metrics({"traces_left_out": left_out, "traces_failed": writer.failed})


def _trace(run: Run, number: int, spans: list[Span]) -> Trace:
    root = spans[0]
    inner = [{**one, "parent": None if one["parent"] == root["id"] else one["parent"]} for one in spans[1:]]
    inputs: Any = root["inputs"] if isinstance(root["inputs"], dict) else {"inputs": root["inputs"]}
    outputs: Any = root["outputs"] if isinstance(root["outputs"], dict) else {"outputs": root["outputs"]}
    return Trace(
        name=root["name"],
        key=(f"{run.name}/{number}", 0),
        start=root["start"],
        end=root["end"] or root["start"],
        inputs=inputs,
        outputs=outputs,
        spans=inner if inner else spans,
        tags={"finpath.run": str(run.id), "finpath.command": "compile"},
        error=root["error"],
    )
