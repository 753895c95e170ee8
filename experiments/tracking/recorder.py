"""The calls of a program for one turn as spans: prompts, replies and tools.

    recorder = TurnRecorder()
    with recorder.recording():
        turn = program.ask(state, question).turns[-1]
    [span["name"] for span in recorder.spans]      # ['Predict(Understand)', 'openai/gpt-4o-mini', ...]

Each turn has its own recorder, which DSPy's settings pass on to every thread that the turn starts. So spans belong to
their turn and run, also with ``dspy.Parallel`` inside a program. MLflow's autologging has one recorder for the process
and ensures neither.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from dspy.utils.callback import ACTIVE_CALL_ID, BaseCallback

from programs.turns import plain

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
        self._lock = threading.Lock()

    @contextmanager
    def recording(self) -> Iterator[None]:
        """Records what happens inside, in this thread and in those that DSPy starts from it."""
        import dspy

        self.start = time.time_ns()
        try:
            with dspy.context(callbacks=[*dspy.settings.callbacks, self]):
                yield
        finally:
            self.end = time.time_ns()

    def on_module_start(self, call_id: str, instance: Any, inputs: dict[str, Any]) -> None:
        """A module is called."""
        given = inputs.get("kwargs") or {name: value for name, value in inputs.items() if name != "args"}
        self._begin(call_id, _name_of(instance), "CHAIN", given)

    def on_module_end(self, call_id: str, outputs: Any, exception: BaseException | None = None) -> None:
        """A module has returned or raised."""
        self._finish(call_id, outputs, exception)

    def on_lm_start(self, call_id: str, instance: Any, inputs: dict[str, Any]) -> None:
        """A language model is asked."""
        messages = inputs.get("messages")
        prompt = messages if messages is not None else inputs.get("prompt")
        settings = {name: value for name, value in {**instance.kwargs, **inputs.get("kwargs", {})}.items() if value}
        settings = {name: value for name, value in settings.items() if "key" not in name}
        self._begin(call_id, str(instance.model), "CHAT_MODEL", {"messages": prompt, "settings": settings})

    def on_lm_end(self, call_id: str, outputs: Any, exception: BaseException | None = None) -> None:
        """A language model has answered or failed."""
        import dspy

        # A call that the cache answers has no usage.
        usage = getattr(dspy.settings.usage_tracker, "usage", None)
        self._finish(call_id, outputs, exception, plain(usage) if usage else None)

    def on_tool_start(self, call_id: str, instance: Any, inputs: dict[str, Any]) -> None:
        """A tool is called."""
        self._begin(call_id, str(instance.name), "TOOL", inputs.get("kwargs", inputs))

    def on_tool_end(self, call_id: str, outputs: Any, exception: BaseException | None = None) -> None:
        """A tool has returned or raised."""
        self._finish(call_id, outputs, exception)

    def _begin(self, call_id: str, name: str, kind: str, inputs: Any) -> None:
        span: Span = {
            "id": call_id,
            "parent": ACTIVE_CALL_ID.get(),
            "name": name,
            "type": kind,
            "start": time.time_ns(),
            "end": None,
            "inputs": plain(_readable(inputs)),
            "outputs": None,
            "error": None,
            "usage": None,
        }
        with self._lock:
            self._open[call_id] = span
        self._keep(span)

    def _finish(self, call_id: str, outputs: Any, exception: BaseException | None, usage: Any = None) -> None:
        with self._lock:
            span = self._open.pop(call_id, None)
        if span is None:
            return
        span["end"] = time.time_ns()
        span["outputs"] = plain(_readable(outputs))
        span["usage"] = usage
        if exception is not None:
            span["error"] = f"{type(exception).__name__}: {exception}"
        self._close(span)

    def _keep(self, span: Span) -> None:
        """Takes a span that has begun."""
        with self._lock:
            self.spans.append(span)

    def _close(self, span: Span) -> None:
        """Takes a span that has ended."""


def _name_of(instance: Any) -> str:
    """Returns a module's own name for its spans, or its class with the signature of its prompt."""
    named = getattr(instance, "span_name", None)
    signature = getattr(instance, "signature", None)
    kind = type(instance).__name__
    return str(named) if named else f"{kind}({signature.__name__})" if isinstance(signature, type) else kind


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
