"""An MCP server: the tools by which an assistant reads reports and graphs, asks them and sees every source.

    server = make_server(Backend(), root=Path("reports"))
    server.run("stdio")

An assistant calls ``read_report`` with files below ``root``, then ``ask``. A source of the answer has a place in words,
and ``show_source`` gives the lines around it. ``report://NAME`` and ``graph://NAME`` are the text and the Turtle of
what was read.
"""

from __future__ import annotations

import functools
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal

import dspy
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ResourceNotFoundError, ToolError
from pydantic import Field

from experiments.facade import Subject
from experiments.mcp.graph_tools import GraphTools
from experiments.ui.answers import sentences_of, turn_content
from experiments.ui.graphs import turtle_of, typed_graph
from experiments.ui.sessions import Backend
from kg.errors import ConfigError, DataError, FinpathError, QueryError
from programs.agent.tools import Session as ReportTools
from programs.turns import Conversation

KEPT = 50
"""Reports and graphs that a server keeps; the one that was asked least recently goes first."""

_AROUND = 3
_INSTRUCTIONS = (
    "finpath answers questions about financial reports and graphs, and each figure leads back to its cell or sentence. "
    "Read files with read_report, then ask. Without an answer it says so: do not guess one. For figures and "
    "calculations of your own use query_kg and calculate. Cite the places of sources."
)
Name = Annotated[str | None, Field(description="the name that read_report returned; by default the last one")]


@dataclass
class OpenSubject:
    """A report or graph with its conversation, and the tools over a report's figures."""

    subject: Subject
    conversation: Conversation
    lock: threading.Lock = field(default_factory=threading.Lock)

    @functools.cached_property
    def tools(self) -> ReportTools | GraphTools:
        """The agent's tools over the figures of a report, or over a graph.

        Raises:
            ConfigError: The subject is neither.
        """
        if self.subject.kind != "report":
            return GraphTools(typed_graph(self.subject))
        world = self.subject.world
        _, index = world.reader.read(world.report)
        return ReportTools(index, world.reader.ontology, "", ())


class Shelf:
    """The reports and graphs that an assistant has read.

    Args:
        backend: What is read and answered with; its subject is there from the start, as ``given``.
        root: The folder whose files may be read; the text of a report must not lead an assistant to others.
    """

    def __init__(self, backend: Backend, root: Path) -> None:
        self.backend, self.root = backend, root.resolve()
        self._open: OrderedDict[str, OpenSubject] = OrderedDict()
        if backend.subject is not None:
            self.add("given", backend.subject)

    def add(self, name: str, subject: Subject) -> OpenSubject:
        """Keeps a subject under a name, as the last one."""
        opened = self._open[name] = OpenSubject(subject, Conversation(subject.program, subject.world))
        self._open.move_to_end(name)
        if len(self._open) > KEPT:
            self._open.popitem(last=False)
        return opened

    def read(self, files: list[str]) -> tuple[str, OpenSubject]:
        """Reads files of the root, or a report of the sample by its id.

        Raises:
            DataError: A file is not below the root, or cannot be read.
        """
        paths = {file: (self.root / file).resolve() for file in files}
        for file, path in paths.items():
            if not path.is_relative_to(self.root) or "://" in file:
                raise DataError(f"is not below {self.root}, whose files may be read", file=file)
        about = [str(path) if path.exists() else Path(file).as_posix() for file, path in paths.items()]
        name = f"{Path(files[0]).name or 'folder'}-{len(self._open) + 1}"
        return name, self.add(name, self.backend.read(about))

    def get(self, name: str | None) -> OpenSubject:
        """The subject of a name, or the last one.

        Raises:
            QueryError: There is none.
        """
        key = name if name is not None else next(reversed(self._open), "")
        if key not in self._open:
            raise QueryError(f"{key!r} is not open: call read_report; there are: {', '.join(self._open) or 'none'}")
        self._open.move_to_end(key)
        return self._open[key]


def refusing(function: Callable[..., Any]) -> Callable[..., Any]:
    """A tool whose errors are messages for the assistant."""

    @functools.wraps(function)
    def call(*arguments: Any, **named: Any) -> Any:
        try:
            return function(*arguments, **named)
        except FinpathError as error:
            raise ToolError(" ".join(str(error).split())) from error

    return call


def make_server(backend: Backend, root: Path) -> MCPServer:
    """The server.

    Args:
        backend: What is read and answered with.
        root: The folder whose files may be read.
    """
    server, shelf = MCPServer("finpath", instructions=_INSTRUCTIONS, log_level="WARNING"), Shelf(backend, root)

    def tool(function: Callable[..., Any]) -> Callable[..., Any]:
        return server.tool()(refusing(function))

    @tool
    def read_report(files: list[str]) -> dict[str, Any]:
        """Reads files of tables and text (PDF, HTML, Excel, CSV, Markdown) as one report, or files of a graph."""
        if not files:
            raise ConfigError("files must be named, got none")
        name, opened = shelf.read(files)
        problems = list(opened.subject.document.problems) if opened.subject.document is not None else []
        return {"name": name, "kind": opened.subject.kind, "title": opened.subject.title, "problems": problems}

    @tool
    def ask(question: str, name: Name = None) -> dict[str, Any]:
        """Answers a question, or a follow-up, with confidence, sources and derivation; abstains if nothing answers."""
        opened = shelf.get(name)
        with opened.lock, dspy.context(**backend.settings):
            turn = opened.conversation.ask(question)
            return {"turn": len(opened.conversation.turns), **turn_content(opened.subject, turn)}

    @tool
    def query_kg(
        entity_type: str,
        property: str | None = None,  # noqa: A002 - as the agent's own tool
        filters: Mapping[str, Any] | None = None,
        name: Name = None,
    ) -> str:
        """Finds figures or facts by entity type; filters: entity, and of reports also year, section, column and row."""
        return _called(shelf, name, "query_kg", entity_type=entity_type, property=property, filters=filters)

    @tool
    def list_entities(entity_type: str, name: Name = None) -> str:
        """Lists the instances of an entity type, such as CashFlow_2009 of CashFlow."""
        return _called(shelf, name, "list_entities", entity_type=entity_type)

    @tool
    def introspect_ontology(
        action: Literal["list_types", "get_properties"], entity_type: str | None = None, name: Name = None
    ) -> str:
        """Lists the entity types (list_types), or the properties of one (get_properties)."""
        return _called(shelf, name, "introspect_ontology", action=action, entity_type=entity_type)

    @tool
    def calculate(operation: str, values: list[str | int | float], name: Name = None) -> str:
        """Calculates with figures of query_kg and earlier results by name: subtract, divide, percentage_change ..."""
        return _called(shelf, name, "calculate", operation=operation, values=values)

    @tool
    def show_source(turn: int, source: int = 1, name: Name = None) -> str:
        """Shows the cell or sentence of a source of an answer with the lines around it; both count from 1."""
        opened = shelf.get(name)
        if not 1 <= turn <= len(opened.conversation.turns):
            raise QueryError(f"turn must be from 1 to {len(opened.conversation.turns)}, got {turn}")
        content = turn_content(opened.subject, opened.conversation.turns[turn - 1])
        places = content["sources"]
        if not places and content["facts"]:
            return "\n".join(content["facts"])
        if not 1 <= source <= len(places):
            raise QueryError(f"source must be from 1 to {len(places)}, got {source}")
        return "\n".join([places[source - 1]["place"], "", *_around(opened.subject, places[source - 1])])

    @server.resource("report://{name}", mime_type="text/plain")
    def report_text(name: str) -> str:
        """The tables and sentences of a report, as finpath read them."""
        subject = _resource(shelf, name)
        rows = map(_line, subject.world.report.table) if subject.kind == "report" else ()
        return "\n".join([*rows, *(text for _, text, _ in sentences_of(subject))]) or subject.title

    @server.resource("graph://{name}", mime_type="text/turtle")
    def graph_text(name: str) -> str:
        """The graph of a report, or a graph, as Turtle."""
        return turtle_of(_resource(shelf, name))

    return server


def _resource(shelf: Shelf, name: str) -> Subject:
    try:
        return shelf.get(name).subject
    except QueryError as error:
        raise ResourceNotFoundError(str(error)) from error


def _called(shelf: Shelf, name: str | None, tool: str, **arguments: Any) -> str:
    """The output of one of the agent's tools; its error is one of the call."""
    opened = shelf.get(name)
    with opened.lock:
        tools = opened.tools
        output = tools.call(tool, {key: value for key, value in arguments.items() if value is not None})
    if isinstance(tools, ReportTools) and tools.calls[-1].failed:
        raise ToolError(output.removeprefix("error: "))
    return output


def _around(subject: Subject, source: Mapping[str, Any]) -> list[str]:
    """The header and the rows, or the sentences, next to a source."""
    if "row" not in source:
        first = max(0, source["sentence"] - _AROUND)
        return [text for _, text, _ in sentences_of(subject)[first : source["sentence"] + _AROUND + 1]]
    report = subject.world.report
    start = max((start for start, _ in report.tables if start <= source["row"]), default=0)
    rows = range(max(start + 1, source["row"] - _AROUND), min(source["row"] + _AROUND + 1, len(report.table)))
    return [_line(report.table[row]) for row in dict.fromkeys([start, *rows])]


def _line(row: Any) -> str:
    return " | ".join(row)
