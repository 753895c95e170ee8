"""The tools of a program by name, each with limits of time and size and a memory of its answers.

    >>> tools = ToolManager([dspy.Tool(lookup)], ToolLimits(seconds=20))
    >>> tools.call("lookup", {"name": "Helixon"}).output
    'Helixon Inc. makes chips in Dresden.'

A call never raises. An unknown tool, wrong arguments, an error and a timeout become text for the language model, marked
as failed. A repeated call is answered from memory.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import dspy

from kg.errors import ConfigError
from kg.text import nearest
from programs.turns import ToolCall

ToolFactory = Callable[[], dspy.Tool]
"""Makes a tool when it is first asked for."""


@dataclass(frozen=True)
class ToolLimits:
    """The limits of one call.

    Attributes:
        seconds: Wall time, above 0.
        characters: Characters of its output, at least 100; a longer output is cut and marked.
    """

    seconds: float = 30.0
    characters: int = 20_000

    def __post_init__(self) -> None:
        if self.seconds <= 0:
            raise ConfigError(f"seconds must be above 0, got {self.seconds}")
        if self.characters < 100:
            raise ConfigError(f"characters must be at least 100, got {self.characters}")


class ToolManager:
    """Tools by name.

    Args:
        tools: The tools.
        limits: The limits of a call.
    """

    def __init__(self, tools: Sequence[dspy.Tool], limits: ToolLimits | None = None) -> None:
        self._tools = {str(tool.name): tool for tool in tools}
        if len(self._tools) != len(tools):
            raise ConfigError("tools must have different names")
        self.limits = limits if limits is not None else ToolLimits()
        self._answers: dict[str, ToolCall] = {}
        self._lock = threading.Lock()

    @classmethod
    def load(
        cls, names: Sequence[str], available: Mapping[str, ToolFactory], limits: ToolLimits | None = None
    ) -> ToolManager:
        """Makes the tools of these names, and no others.

        Args:
            names: Names of the tools to load.
            available: The factory of each tool.
            limits: The limits of a call.

        Raises:
            ConfigError: There is no tool of a name; the message offers the nearest.
        """
        for name in names:
            if name not in available:
                raise ConfigError(f"there is no tool {name!r}; {nearest(name, available)}")
        return cls([available[name]() for name in names], limits)

    def extended(self, more: ToolManager) -> ToolManager:
        """A manager with the tools of both."""
        return ToolManager([*self._tools.values(), *more._tools.values()], self.limits)

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
        output, failed = self._timed(tool, arguments)
        if len(output) > self.limits.characters:
            output = f"{output[: self.limits.characters]}\n[cut: {len(output)} characters in all]"
        return ToolCall(name, arguments, output, time.perf_counter() - started, failed=failed)

    def _timed(self, tool: dspy.Tool, arguments: dict[str, Any]) -> tuple[str, bool]:
        """Returns the output and whether it is an error; after a timeout the call continues in an abandoned thread."""
        outcome: list[tuple[str, bool]] = []

        def run() -> None:
            try:
                outcome.append((_as_text(tool(**arguments)), False))
            except Exception as error:  # noqa: BLE001 - any error of a tool is shown to the language model
                outcome.append((f"{type(error).__name__}: {' '.join(str(error).split())[:500]}", True))

        thread = threading.Thread(target=run, name=f"tool-{tool.name}", daemon=True)
        thread.start()
        thread.join(self.limits.seconds)
        return outcome[0] if outcome else (f"the tool took longer than {self.limits.seconds:g} seconds", True)


def _as_text(output: object) -> str:
    return output if isinstance(output, str) else json.dumps(output, ensure_ascii=False, default=str)
