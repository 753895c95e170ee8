r"""The tools of a program by name, each with limits of time and size.

    >>> tools = load_tools(["inspect_document", "visit_page"], ToolSettings(folder=Path("filings")))
    >>> tools.call("inspect_document", {"file": "q3.pdf"}).output
    '[page 1]\\nHelixon lifts its outlook'

A call never raises. An unknown tool, wrong arguments, an error and a timeout become text for the language model, marked
as failed. Loading a tool fails if its folder, search engine or graph is not set up.
"""

from __future__ import annotations

import contextvars
import json
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, wait
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import dspy

from kg.errors import ConfigError
from kg.growing import EdgeType, NodeType, TypeProposals
from kg.text import nearest
from programs.tools.documents import DocumentTools
from programs.tools.search import SearchAgent
from programs.tools.web import WebLimits, WebTools
from programs.tools.workspace import Workspace
from programs.turns import ToolCall

_CREATED = {
    "accepted": "{} is a type now",
    "pending": "{} is pending: a person will decide; use an existing type until then",
}


class TypeTools:
    """The tools that propose types; their docstrings are prompts.

    Args:
        proposals: Takes the proposals, and decides by its policy.
    """

    def __init__(self, proposals: TypeProposals) -> None:
        self._proposals = proposals

    def create_node_type(
        self,
        name: str,
        description: str,
        properties_schema: dict[str, Any],
        example: dict[str, Any],
        justification: str,
        labels: list[str] | None = None,
        differs_from: list[str] | None = None,
    ) -> str:
        """Proposes a node type (PascalCase) where no existing one fits.

        properties_schema is a JSON Schema, in which a property may have x-labels; labels are what people call it;
        differs_from names types of a near meaning, if a proposal was refused for them and still is another.
        """
        about: dict[str, Any] = {"justification": justification, "labels": tuple(labels or ())}
        new = NodeType(name, description, properties_schema, example, "agent", **about)
        return _CREATED[self._proposals.propose(new, differs_from or ())].format(name)

    def create_edge_type(
        self,
        name: str,
        description: str,
        source_types: list[str],
        target_types: list[str],
        justification: str,
        properties_schema: dict[str, Any] | None = None,
        example: dict[str, Any] | None = None,
        labels: list[str] | None = None,
        inverse_labels: list[str] | None = None,
        differs_from: list[str] | None = None,
    ) -> str:
        """Proposes an edge type (snake_case) where no existing one fits; source and target are node types.

        labels are verbs and nouns by which people say it, inverse_labels those from target to source.
        """
        schema = properties_schema if properties_schema is not None else {"type": "object", "properties": {}}
        about: dict[str, Any] = {
            "justification": justification,
            "source_types": tuple(source_types),
            "target_types": tuple(target_types),
            "labels": tuple(labels or ()),
            "inverse_labels": tuple(inverse_labels or ()),
        }
        new = EdgeType(name, description, schema, example if example is not None else {}, "agent", **about)
        return _CREATED[self._proposals.propose(new, differs_from or ())].format(name)


AGENT, AGENT_SECONDS = "search_agent", 600.0
"""The tool that asks a language model itself, and the time that it may take at least."""

LONGEST_OUTPUT = 20_000
"""Characters of an output; a longer one is cut and marked."""


class ToolManager:
    """Tools by name.

    Args:
        tools: The tools.
        seconds: Wall time of a call, above 0.
    """

    def __init__(self, tools: Sequence[dspy.Tool], seconds: float = 30.0) -> None:
        self._tools = {str(tool.name): tool for tool in tools}
        if len(self._tools) != len(tools):
            raise ConfigError("tools must have different names")
        if seconds <= 0:
            raise ConfigError(f"seconds must be above 0, got {seconds}")
        self._seconds = seconds

    @property
    def names(self) -> tuple[str, ...]:
        """The tools' names."""
        return tuple(self._tools)

    def described(self) -> str:
        """Every tool with its arguments, one line each, for a prompt."""
        lines = []
        for name, tool in self._tools.items():
            arguments = ", ".join(f"{key}: {rule.get('type', 'any')}" for key, rule in (tool.args or {}).items())
            lines.append(f"{name}({arguments}): {' '.join(str(tool.desc or '').split())}")
        return "\n".join(lines) if lines else "none"

    def call(self, name: str, arguments: Mapping[str, Any]) -> ToolCall:
        """Calls a tool."""
        tool = self._tools.get(name)
        if tool is None:
            refusal = f"there is no tool {name!r}; {nearest(name, self._tools)}"
            return ToolCall(name, dict(arguments), refusal, 0.0, failed=True)
        started = time.perf_counter()
        seconds = self._seconds if name != AGENT else max(self._seconds, AGENT_SECONDS)
        output, failed = _timed(tool, dict(arguments), seconds)
        if len(output) > LONGEST_OUTPUT:
            output = f"{output[:LONGEST_OUTPUT]}\n[cut: {len(output)} characters in all]"
        return ToolCall(name, dict(arguments), output, time.perf_counter() - started, failed=failed)


def _timed(tool: dspy.Tool, arguments: dict[str, Any], seconds: float) -> tuple[str, bool]:
    """Returns the output and whether it is an error."""
    try:
        output = within(seconds, lambda: tool(**arguments))
        return output if isinstance(output, str) else json.dumps(output, ensure_ascii=False, default=str), False
    except TimeoutError as error:
        return f"the tool {error}", True
    except Exception as error:  # noqa: BLE001 - any error of a tool is shown to the language model
        return f"{type(error).__name__}: {' '.join(str(error).split())[:500]}", True


def within(seconds: float, call: Callable[[], Any]) -> Any:
    """Returns what a call returns; after a timeout it continues in an abandoned thread.

    Raises:
        TimeoutError: It took longer than so many seconds.
        Exception: What the call raises.
    """
    outcome: Future[Any] = Future()

    def run() -> None:
        try:
            outcome.set_result(call())
        except BaseException as error:  # noqa: BLE001 - raised again in the thread that waits
            outcome.set_exception(error)

    # DSPy's settings, with the recorders of a trace, reach the thread by its context.
    threading.Thread(target=contextvars.copy_context().run, args=(run,), daemon=True).start()
    done, _ = wait([outcome], seconds)
    if not done:
        raise TimeoutError(f"took longer than {seconds:g} seconds")
    return outcome.result()


@dataclass(frozen=True)
class ToolSettings:
    """The settings of all tools.

    Attributes:
        folder: The folder that tools may read and unpack in.
        search_engine: Address of a SearXNG server.
        web: The limits of a request.
        types: Takes proposals of new types of nodes and edges.
        seconds: Wall time of a call.
    """

    folder: Path | None = None
    search_engine: str | None = None
    web: WebLimits = field(default_factory=WebLimits)
    types: TypeProposals | None = None
    seconds: float = 30.0


def load_tools(names: Sequence[str], settings: ToolSettings) -> ToolManager:
    """A manager with the tools of these names.

    Args:
        names: The tools.
        settings: Their settings.

    Raises:
        ConfigError: There is no such tool, or its settings are missing.
    """
    tools = []
    for name in names:
        if name not in TOOLS:
            raise ConfigError(f"there is no tool {name!r}; {nearest(name, TOOLS)}")
        setting, rule, maker = TOOLS[name]
        if getattr(settings, setting) is None:
            raise ConfigError(f"{setting} must {rule}, got None")
        tools.append(dspy.Tool(getattr(maker(settings), name), name=name))
    return ToolManager(tools, settings.seconds)


def _web(settings: ToolSettings) -> WebTools:
    return WebTools(settings.web, settings.search_engine or "")


_ENGINE = "be the address of a SearXNG server"

FILE_TOOLS = ("list_documents", "inspect_document", "find_in_document")
"""The tools over the files of a folder."""

_KINDS: tuple[tuple[str, str, Callable[[Any], object], tuple[str, ...]], ...] = (
    (
        "folder",
        "name the folder that tools may read",
        lambda settings: DocumentTools(Workspace(settings.folder)),
        FILE_TOOLS,
    ),
    ("web", "limit requests", _web, ("visit_page", "find_in_page", "archived_page")),
    ("search_engine", _ENGINE, _web, ("web_search",)),
    ("search_engine", _ENGINE, lambda settings: SearchAgent(_web(settings)), (AGENT,)),
    (
        "types",
        "take proposals of types",
        lambda settings: TypeTools(settings.types),
        ("create_node_type", "create_edge_type"),
    ),
)

TOOLS = {name: (setting, rule, maker) for setting, rule, maker, names in _KINDS for name in names}
"""For each name the setting that it needs, the rule of that, and the maker of the object that has it as a method."""
