"""The catalogue of tools by name; a tool is made when it is loaded.

    tools = load_tools(["inspect_document", "wikipedia"], ToolSettings(folder=Path("filings")))
    tools.call("inspect_document", {"file": "q3.pdf"}).output

Loading a tool fails if its folder, search engine or language model is not set up.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import dspy

from kg.errors import ConfigError
from kg.growing import TypeProposals
from programs.tools.addresses import WebLimits
from programs.tools.archives import extract_archive
from programs.tools.documents import inspect_document
from programs.tools.manager import ToolLimits, ToolManager
from programs.tools.models import ask_about_image, ask_model, run_python
from programs.tools.types import edge_type_tool, node_type_tool, properties_tool
from programs.tools.web import SearxSearch, Wikipedia, visit_page, web_search, wikipedia
from programs.tools.workspace import Workspace


@dataclass(frozen=True)
class ToolSettings:
    """The settings of all tools.

    Attributes:
        folder: The folder that tools may read and unpack in.
        search_engine: Address of a SearXNG server.
        wikipedia: Address of a MediaWiki API.
        lm: Another language model to ask.
        seeing_lm: A language model that sees.
        web: The limits of a request.
        types: Takes proposals of new types of nodes and edges.
    """

    folder: Path | None = None
    search_engine: str | None = None
    wikipedia: str = "https://en.wikipedia.org/w/api.php"
    lm: dspy.LM | None = None
    seeing_lm: dspy.LM | None = None
    web: WebLimits = field(default_factory=WebLimits)
    types: TypeProposals | None = None


def load_tools(names: Sequence[str], settings: ToolSettings, limits: ToolLimits | None = None) -> ToolManager:
    """A manager with the tools of these names.

    Raises:
        ConfigError: There is no such tool, or its settings are missing.
    """
    available = {name: _factory(name, make, settings) for name, make in TOOLS.items()}
    return ToolManager.load(names, available, limits)


def _factory(
    name: str, make: Callable[[ToolSettings], Callable[..., object]], settings: ToolSettings
) -> Callable[[], dspy.Tool]:
    return lambda: dspy.Tool(make(settings), name=name)


def _workspace(settings: ToolSettings) -> Workspace:
    if settings.folder is None:
        raise ConfigError("folder must name the folder that tools may read, got None")
    return Workspace(settings.folder)


def _search_engine(settings: ToolSettings) -> SearxSearch:
    if settings.search_engine is None:
        raise ConfigError("search_engine must be the address of a SearXNG server, got None")
    return SearxSearch(settings.search_engine, settings.web)


def _model(lm: dspy.LM | None, what: str) -> dspy.LM:
    if lm is None:
        raise ConfigError(f"{what} must be a language model, got None")
    return lm


def _proposals(settings: ToolSettings) -> TypeProposals:
    if settings.types is None:
        raise ConfigError("types must take proposals of types, got None")
    return settings.types


TOOLS: dict[str, Callable[[ToolSettings], Callable[..., object]]] = {
    "inspect_document": lambda settings: inspect_document(_workspace(settings)),
    "extract_archive": lambda settings: extract_archive(_workspace(settings)),
    "wikipedia": lambda settings: wikipedia(Wikipedia(settings.wikipedia, settings.web)),
    "web_search": lambda settings: web_search(_search_engine(settings)),
    "visit_page": lambda settings: visit_page(settings.web),
    "run_python": lambda _: run_python(),
    "ask_model": lambda settings: ask_model(_model(settings.lm, "lm")),
    "ask_about_image": lambda settings: ask_about_image(_model(settings.seeing_lm, "seeing_lm"), _workspace(settings)),
    "create_node_type": lambda settings: node_type_tool(_proposals(settings)),
    "create_edge_type": lambda settings: edge_type_tool(_proposals(settings)),
    "add_properties": lambda settings: properties_tool(_proposals(settings)),
}
"""For each name the function that makes the tool from the settings."""
