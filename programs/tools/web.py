"""Clients for the web: Wikipedia, a search engine, single pages.

    Wikipedia().summary("Rhine")                  MediaWiki's action API
    SearxSearch("http://localhost:8888").search("port of Varna insurer")      SearXNG's JSON
    read_page("https://example.org/report.html", WebLimits())

Replies are bounded in time and size. A page is fetched from a public address only, also after redirects and without a
proxy. A model thus cannot reach this machine's own network.
``WebLimits(private=True)`` allows that for one's own server.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from kg.errors import DataError
from programs.tools.addresses import WebLimits, fetch
from programs.tools.documents import html_text, read_document
from programs.tools.paging import NOTHING, found_in, page_of
from programs.tools.workspace import Workspace


@dataclass(frozen=True)
class Hit:
    """One result of a search."""

    title: str
    address: str
    excerpt: str


class SearxSearch:
    """A SearXNG server, which asks many engines and answers in JSON.

    Args:
        base: Its address.
        limits: The limits of a request; the address itself is the user's choice and always allowed.
        most: Results at the most.
    """

    def __init__(self, base: str, limits: WebLimits | None = None, most: int = 8) -> None:
        self._address = base.rstrip("/") + "/search"
        self._limits = limits if limits is not None else WebLimits()
        self._most = most

    def search(self, query: str) -> Sequence[Hit]:
        """Returns the results, best first.

        Raises:
            DataError: The server cannot be reached, or its reply cannot be read.
        """
        found = _json(self._address, {"q": query, "format": "json"}, self._limits).get("results")
        if not isinstance(found, list):
            raise DataError("the search engine's reply has no results", file=self._address)
        entries = [entry for entry in found if isinstance(entry, dict)]
        hits = [Hit(*(str(entry.get(key) or "") for key in ("title", "url", "content"))) for entry in entries]
        return hits[: self._most]


class Wikipedia:
    """Articles of Wikipedia, by MediaWiki's action API.

    Args:
        base: The address of the API.
        limits: The limits of a request.
    """

    def __init__(self, base: str = "https://en.wikipedia.org/w/api.php", limits: WebLimits | None = None) -> None:
        self._base = base
        self._limits = limits if limits is not None else WebLimits()

    def search(self, query: str) -> list[str]:
        """Titles of articles, best first."""
        wanted = {"action": "query", "list": "search", "srsearch": query, "srlimit": "5", "format": "json"}
        found = _json(self._base, wanted, self._limits)
        try:
            return [str(entry["title"]) for entry in found["query"]["search"]]
        except (KeyError, TypeError) as error:
            raise DataError("the reply has no search results", file=self._base) from error

    def article(self, title: str) -> str:
        """The text of the article with a title, redirects followed.

        Raises:
            DataError: There is none.
        """
        wanted = {
            "action": "query",
            "prop": "extracts",
            "explaintext": "1",
            "redirects": "1",
            "titles": title,
            "format": "json",
            "formatversion": "2",
        }
        found = _json(self._base, wanted, self._limits)
        try:
            text = found["query"]["pages"][0].get("extract")
        except (KeyError, TypeError, IndexError, AttributeError):
            text = None
        if not text:
            raise DataError(f"there is no article {title!r}", file=self._base)
        return str(text)


def web_search(engine: SearxSearch) -> Callable[[str], str]:
    """The tool that searches the web."""

    def search(query: str) -> str:
        """Searches the web and lists pages with their titles, addresses and excerpts."""
        hits = engine.search(query)
        return "\n".join(f"{hit.title} ({hit.address}): {hit.excerpt}" for hit in hits) or NOTHING

    return search


def wikipedia(client: Wikipedia) -> Callable[..., str]:
    """The tool that reads Wikipedia."""

    def read(topic: str, page: int = 1) -> str:
        """Reads a page of the Wikipedia article that is nearest to a topic."""
        titles = client.search(topic)
        if not titles:
            return NOTHING
        text = page_of(client.article(titles[0]), page)
        return f"{titles[0]}\n{text}\n[other articles: {', '.join(titles[1:]) or 'none'}]"

    return read


def find_in_wikipedia(client: Wikipedia) -> Callable[[str, str], str]:
    """The tool that finds text in an article of Wikipedia."""

    def find(topic: str, text: str) -> str:
        """Finds the lines of the Wikipedia article nearest to a topic that hold some words."""
        titles = client.search(topic)
        return f"{titles[0]}\n{found_in(client.article(titles[0]), text)}" if titles else NOTHING

    return find


def visit_page(limits: WebLimits, workspace: Workspace | None = None) -> Callable[..., str]:
    """The tool that reads pages of the web, or of a folder."""

    def visit(address: str, page: int = 1) -> str:
        """Reads a page of the web by its address, or an HTML file of the folder by its name; long ones have pages."""
        return page_of(_page_text(address, limits, workspace), page)

    return visit


def find_in_page(limits: WebLimits, workspace: Workspace | None = None) -> Callable[[str, str], str]:
    """The tool that finds text in a page of the web, or of a folder."""

    def find(address: str, text: str) -> str:
        """Finds the lines of a page of the web, or of an HTML file of the folder, that hold some words."""
        return found_in(_page_text(address, limits, workspace), text)

    return find


def _page_text(address: str, limits: WebLimits, workspace: Workspace | None) -> str:
    if workspace is not None and "://" not in address:
        return read_document(workspace.file(address))
    return read_page(address, limits)


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


def _json(address: str, parameters: dict[str, str], limits: WebLimits) -> dict[str, Any]:
    own = WebLimits(limits.seconds, limits.size, 0, private=True)  # the address was set up by the user
    _, body = fetch(address, parameters, own)
    try:
        found = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise DataError("the reply is not JSON", file=address) from error
    if not isinstance(found, dict):
        raise DataError("the reply is no JSON object", file=address)
    return found
