"""The web by tools: results of a search engine, and pages as text.

    >>> tools = WebTools(WebLimits(), engine="http://localhost:8888")
    >>> tools.find_in_page("https://en.wikipedia.org/w/index.php?search=Rhine", "length")
    '[page 2] Length | 1,230 km'

A page is fetched from a public address only, also after redirects and without a proxy, so a model cannot reach this
machine's own network. The search engine is a SearXNG server at an address of the user's choice.
"""

from __future__ import annotations

import json
from typing import Any

from kg.errors import DataError
from programs.tools.addresses import WebLimits, fetch
from programs.tools.documents import NOTHING, html_text, lines_with, page_of, read_document
from programs.tools.workspace import Workspace

MOST_RESULTS = 8
"""Results of the search engine that are shown."""


class WebTools:
    """The tools for the web; their docstrings are prompts.

    Args:
        limits: The limits of a request.
        workspace: A folder whose HTML files are pages too, by their names.
        engine: The address of a SearXNG server.
    """

    def __init__(self, limits: WebLimits, workspace: Workspace | None = None, engine: str = "") -> None:
        self._limits, self._workspace = limits, workspace
        self._engine = f"{engine.rstrip('/')}/search"

    def web_search(self, query: str) -> str:
        """Searches the web and lists pages with their titles, addresses and excerpts."""
        limits = WebLimits(self._limits.seconds, self._limits.size, 0, private=True)  # the user set the address up
        _, body = fetch(self._engine, {"q": query, "format": "json"}, limits)
        try:
            results: Any = json.loads(body)["results"]
            hits = [entry for entry in results if isinstance(entry, dict)][:MOST_RESULTS]
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise DataError("the search engine's reply has no results as JSON", file=self._engine) from error
        fields = ([str(hit.get(key) or "") for key in ("title", "url", "content")] for hit in hits)
        return "\n".join("{} ({}): {}".format(*field) for field in fields) or NOTHING

    def visit_page(self, address: str, page: int = 1) -> str:
        """Reads a page of the web by its address, or an HTML file of the folder by its name; long ones have pages."""
        return page_of(self._text(address), page)

    def find_in_page(self, address: str, text: str) -> str:
        """Finds the lines of a page of the web, or of an HTML file of the folder, that hold some words."""
        return lines_with(self._text(address), text)

    def _text(self, address: str) -> str:
        if self._workspace is not None and "://" not in address:
            return read_document(self._workspace.file(address))
        return read_page(address, self._limits)


def read_page(address: str, limits: WebLimits) -> str:
    """A page's text.

    Raises:
        DataError: The address is not allowed, does not answer, or is no text.
    """
    kind, body = fetch(address, None, limits)
    if kind in ("text/html", "application/xhtml+xml"):
        return html_text(body)
    if kind.startswith("text/") or kind == "application/json":
        return body.decode("utf-8", errors="replace")
    raise DataError(f"is {kind or 'of no stated type'}, not a page of text", file=address)
