"""The catalogue of tools by name; a tool is made when it is loaded.

    tools = load_tools(["inspect_document", "wikipedia"], ToolSettings(folder=Path("filings")))
    tools.call("inspect_document", {"file": "q3.pdf"}).output

Loading a tool fails if its folder, search engine or language model is not set up.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import dspy

from kg.errors import ConfigError
from kg.growing import TypeProposals
from kg.text import nearest
from programs.tools.addresses import WebLimits
from programs.tools.archives import extract_archive
from programs.tools.documents import find_in_document, inspect_document, list_documents
from programs.tools.manager import ToolLimits, ToolManager
from programs.tools.models import ask_about_image, ask_model, run_python
from programs.tools.passages import search_documents
from programs.tools.prices import last_price
from programs.tools.types import edge_type_tool, node_type_tool, properties_tool
from programs.tools.web import (
    SearxSearch,
    Wikipedia,
    find_in_page,
    find_in_wikipedia,
    visit_page,
    web_search,
    wikipedia,
)
from programs.tools.workspace import Workspace


@dataclass(frozen=True)
class ToolSettings:
    """The settings of all tools.

    Attributes:
        folder: The folder that tools may read and unpack in.
        largest: Bytes that a file which is read may have.
        seconds: The time of code in the sandbox.
        search_engine: Address of a SearXNG server.
        wikipedia: Address of a MediaWiki API.
        lm: Another language model to ask.
        seeing_lm: A language model that sees.
        web: The limits of a request.
        types: Takes proposals of new types of nodes and edges.
        prices: A CSV file or an address of closing prices.
    """

    folder: Path | None = None
    largest: int = 50_000_000
    seconds: float = 30.0
    search_engine: str | None = None
    wikipedia: str = "https://en.wikipedia.org/w/api.php"
    lm: dspy.LM | None = None
    seeing_lm: dspy.LM | None = None
    web: WebLimits = field(default_factory=WebLimits)
    types: TypeProposals | None = None
    prices: str | None = None


def load_tools(
    names: Sequence[str],
    settings: ToolSettings,
    limits: ToolLimits | None = None,
    own: Mapping[str, ToolLimits] | None = None,
) -> ToolManager:
    """A manager with the tools of these names.

    Args:
        names: The tools.
        settings: Their settings.
        limits: The limits of a tool.
        own: Limits of single tools, by their names.

    Raises:
        ConfigError: There is no such tool, or its settings are missing.
    """
    usual = limits if limits is not None else ToolLimits()
    tools = []
    for name in names:
        if name not in TOOLS:
            raise ConfigError(f"there is no tool {name!r}; {nearest(name, TOOLS)}")
        limited = _limited(settings, (own or {}).get(name, usual))
        tools.append(dspy.Tool(TOOLS[name](limited), name=name))
    return ToolManager(tools, limits, own)


def _limited(settings: ToolSettings, limits: ToolLimits) -> ToolSettings:
    """Returns the settings with what a tool may read: at most the bytes of its limits."""
    size, seconds = min(settings.web.size, limits.size), min(settings.web.seconds, limits.seconds)
    web = replace(settings.web, size=size, seconds=seconds)
    return replace(settings, web=web, largest=min(settings.largest, limits.size), seconds=limits.seconds)


def _given(settings: ToolSettings, name: str, rule: str) -> Any:
    value = getattr(settings, name)
    if value is None:
        raise ConfigError(f"{name} must {rule}, got None")
    return value


def _workspace(settings: ToolSettings) -> Workspace:
    return Workspace(_given(settings, "folder", "name the folder that tools may read"), settings.largest)


def _pages(settings: ToolSettings) -> Workspace | None:
    return Workspace(settings.folder, settings.largest) if settings.folder is not None else None


def _search_engine(settings: ToolSettings) -> SearxSearch:
    return SearxSearch(_given(settings, "search_engine", "be the address of a SearXNG server"), settings.web)


def _proposals(settings: ToolSettings) -> TypeProposals:
    proposals: TypeProposals = _given(settings, "types", "take proposals of types")
    return proposals


_MODEL = "be a language model"
TOOLS: dict[str, Callable[[ToolSettings], Callable[..., object]]] = {
    "list_documents": lambda settings: list_documents(_workspace(settings)),
    "inspect_document": lambda settings: inspect_document(_workspace(settings)),
    "find_in_document": lambda settings: find_in_document(_workspace(settings)),
    "search_documents": lambda settings: search_documents(_workspace(settings)),
    "extract_archive": lambda settings: extract_archive(_workspace(settings)),
    "wikipedia": lambda settings: wikipedia(Wikipedia(settings.wikipedia, settings.web)),
    "find_in_wikipedia": lambda settings: find_in_wikipedia(Wikipedia(settings.wikipedia, settings.web)),
    "web_search": lambda settings: web_search(_search_engine(settings)),
    "visit_page": lambda settings: visit_page(settings.web, _pages(settings)),
    "find_in_page": lambda settings: find_in_page(settings.web, _pages(settings)),
    "run_python": lambda settings: run_python(settings.seconds),
    "price": lambda settings: last_price(
        _given(settings, "prices", "be a file or an address of closing prices"), settings.web
    ),
    "ask_model": lambda settings: ask_model(_given(settings, "lm", _MODEL)),
    "ask_about_image": lambda settings: ask_about_image(_given(settings, "seeing_lm", _MODEL), _workspace(settings)),
    "create_node_type": lambda settings: node_type_tool(_proposals(settings)),
    "create_edge_type": lambda settings: edge_type_tool(_proposals(settings)),
    "add_properties": lambda settings: properties_tool(_proposals(settings)),
}
"""For each name the function that makes the tool from the settings."""
