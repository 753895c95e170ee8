"""All tools by name, each made when it is asked for.

    tools = load_tools(["inspect_document", "wikipedia"], ToolSettings(folder=Path("filings")))
    tools.call("inspect_document", {"file": "q3.pdf"}).output

A tool that needs something which is not set up (a folder, a search engine, a second model) says so when it is loaded.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import dspy

from kg.errors import ConfigError
from programs.tools.archives import extract_archive
from programs.tools.documents import inspect_document
from programs.tools.manager import ToolLimits, ToolManager
from programs.tools.models import ask_about_image, ask_model, run_python
from programs.tools.web import SearxSearch, WebLimits, Wikipedia, visit_page, web_search, wikipedia
from programs.tools.workspace import Workspace


@dataclass(frozen=True)
class ToolSettings:
    """What tools need.

    Attributes:
        folder: The folder that tools may read and unpack in.
        search_engine: Address of a SearXNG server.
        wikipedia: Address of a MediaWiki API.
        lm: Another language model to ask.
        seeing_lm: A language model that sees.
        web: What a request may take.
    """

    folder: Path | None = None
    search_engine: str | None = None
    wikipedia: str = "https://en.wikipedia.org/w/api.php"
    lm: dspy.LM | None = None
    seeing_lm: dspy.LM | None = None
    web: WebLimits = field(default_factory=WebLimits)


def load_tools(names: Sequence[str], settings: ToolSettings, limits: ToolLimits | None = None) -> ToolManager:
    """A manager with the tools of these names.

    Raises:
        ConfigError: There is no such tool, or it needs what is not set up.
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


TOOLS: dict[str, Callable[[ToolSettings], Callable[..., object]]] = {
    "inspect_document": lambda settings: inspect_document(_workspace(settings)),
    "extract_archive": lambda settings: extract_archive(_workspace(settings)),
    "wikipedia": lambda settings: wikipedia(Wikipedia(settings.wikipedia, settings.web)),
    "web_search": lambda settings: web_search(_search_engine(settings)),
    "visit_page": lambda settings: visit_page(settings.web),
    "run_python": lambda _: run_python(),
    "ask_model": lambda settings: ask_model(_model(settings.lm, "lm")),
    "ask_about_image": lambda settings: ask_about_image(_model(settings.seeing_lm, "seeing_lm"), _workspace(settings)),
}
"""How each tool is made of the settings."""
