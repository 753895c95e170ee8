"""The tools of a program by name, each with limits of time and size and a memory of its answers.

    >>> tools = ToolManager([dspy.Tool(lookup)], ToolLimits(seconds=20))
    >>> tools.call("lookup", {"name": "Helixon"}).output
    'Helixon Inc. makes chips in Dresden.'

A call never raises. An unknown tool, wrong arguments, an error and a timeout become text for the language model, marked
as failed. A repeated call is answered from memory.
"""

from __future__ import annotations

import contextvars
import json
import threading
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import dspy

from kg.errors import ConfigError
from kg.text import nearest
from programs.turns import ToolCall


@dataclass(frozen=True)
class ToolLimits:
    """The limits of a tool.

    Attributes:
        seconds: Wall time of a call, above 0.
        characters: Characters of its output, at least 100; a longer output is cut and marked.
        size: Bytes of a file or page that it reads, at least 1.
        calls: Calls for one question, at least 1; ``None`` for any number. A repeated call is answered from memory and
            does not count.
    """

    seconds: float = 30.0
    characters: int = 20_000
    size: int = 50_000_000
    calls: int | None = None

    def __post_init__(self) -> None:
        if self.seconds <= 0:
            raise ConfigError(f"seconds must be above 0, got {self.seconds}")
        if self.characters < 100:
            raise ConfigError(f"characters must be at least 100, got {self.characters}")
        for name, value in (("size", self.size), ("calls", self.calls)):
            if value is not None and value < 1:
                raise ConfigError(f"{name} must be at least 1, got {value}")


class ToolManager:
    """Tools by name.

    Args:
        tools: The tools.
        limits: The limits of a tool.
        own: Limits of single tools, by their names, in place of ``limits``.
    """

    def __init__(
        self,
        tools: Sequence[dspy.Tool],
        limits: ToolLimits | None = None,
        own: Mapping[str, ToolLimits] | None = None,
    ) -> None:
        self._tools = {str(tool.name): tool for tool in tools}
        if len(self._tools) != len(tools):
            raise ConfigError("tools must have different names")
        self.limits = limits if limits is not None else ToolLimits()
        self._own = dict(own) if own is not None else {}
        for name in self._own:
            if name not in self._tools:
                raise ConfigError(f"limits are given for {name!r}, which is not loaded; {nearest(name, self._tools)}")
        self._made: Counter[str] = Counter()
        self._answers: dict[str, ToolCall] = {}
        self._lock = threading.Lock()

    def for_question(self) -> ToolManager:
        """Returns the same tools with their limits of calls unspent; the memory of answers is shared."""
        made = ToolManager(list(self._tools.values()), self.limits, self._own)
        made._answers, made._lock = self._answers, self._lock
        return made

    @property
    def names(self) -> tuple[str, ...]:
        """The tools' names."""
        return tuple(self._tools)

    def arguments(self) -> dict[str, dict[str, Any]]:
        """For each tool the JSON Schema of each of its arguments."""
        return {name: dict(tool.args or {}) for name, tool in self._tools.items()}

    def described(self) -> str:
        """Every tool with its arguments, one line each, for a prompt."""
        lines = []
        for name, tool in self._tools.items():
            arguments = ", ".join(f"{key}: {rule.get('type', 'any')}" for key, rule in (tool.args or {}).items())
            lines.append(f"{name}({arguments}): {' '.join(str(tool.desc or '').split())}")
        return "\n".join(lines) if lines else "none"

    def call(self, name: str, arguments: Mapping[str, Any]) -> ToolCall:
        """Calls a tool, or gives again what it answered to the same call."""
        key = json.dumps([name, arguments], sort_keys=True, default=str)
        with self._lock:
            known = self._answers.get(key)
        if known is not None:
            return known
        made = self._call(name, dict(arguments))
        if not made.failed:  # what failed may work the next time
            with self._lock:
                self._answers[key] = made
        return made

    def _call(self, name: str, arguments: dict[str, Any]) -> ToolCall:
        started = time.perf_counter()
        tool = self._tools.get(name)
        if tool is None:
            return ToolCall(
                name, arguments, f"there is no tool {name!r}; {nearest(name, self._tools)}", 0.0, failed=True
            )
        limits = self._own.get(name, self.limits)
        with self._lock:
            self._made[name] += 1
            made = self._made[name]
        if limits.calls is not None and made > limits.calls:
            said = f"{name} may be called {limits.calls} times for a question: use what it has returned"
            return ToolCall(name, arguments, said, 0.0, failed=True)
        output, failed = self._timed(tool, arguments, limits.seconds)
        if len(output) > limits.characters:
            output = f"{output[: limits.characters]}\n[cut: {len(output)} characters in all]"
        return ToolCall(name, arguments, output, time.perf_counter() - started, failed=failed)

    def _timed(self, tool: dspy.Tool, arguments: dict[str, Any], seconds: float) -> tuple[str, bool]:
        """Returns the output and whether it is an error; after a timeout the call continues in an abandoned thread."""
        outcome: list[tuple[str, bool]] = []

        def run() -> None:
            try:
                outcome.append((_as_text(tool(**arguments)), False))
            except Exception as error:  # noqa: BLE001 - any error of a tool is shown to the language model
                outcome.append((f"{type(error).__name__}: {' '.join(str(error).split())[:500]}", True))

        # DSPy's settings, with the recorders of a trace, reach the thread by its context.
        context = contextvars.copy_context()
        thread = threading.Thread(target=context.run, args=(run,), name=f"tool-{tool.name}", daemon=True)
        thread.start()
        thread.join(seconds)
        return outcome[0] if outcome else (f"the tool took longer than {seconds:g} seconds", True)


def _as_text(output: object) -> str:
    return output if isinstance(output, str) else json.dumps(output, ensure_ascii=False, default=str)
