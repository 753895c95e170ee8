"""Clients for the web: Wikipedia, a search engine, single pages.

    Wikipedia().summary("Rhine")                  MediaWiki's action API
    SearxSearch("http://localhost:8888").search("port of Varna insurer")      SearXNG's JSON
    read_page("https://example.org/report.html", WebLimits())

Replies are bounded in time and size. A page is fetched from a public address only, also after redirects, so a model
cannot reach this machine's own network. ``WebLimits(private=True)`` allows that for one's own server.
"""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol
from urllib.parse import urljoin, urlsplit

import httpx

from kg.errors import DataError
from programs.tools.documents import html_text

_AGENT = "finpath (https://w3id.org/finpath)"


@dataclass(frozen=True)
class WebLimits:
    """The limits of one request.

    Attributes:
        seconds: For connecting, and for each part of the reply.
        size: Bytes of the reply.
        redirects: Followed at the most.
        private: Whether addresses of this machine and its network are allowed.
    """

    seconds: float = 15.0
    size: int = 5_000_000
    redirects: int = 5
    private: bool = False


@dataclass(frozen=True)
class Hit:
    """One result of a search."""

    title: str
    address: str
    excerpt: str


class SearchEngine(Protocol):
    """A search engine."""

    def search(self, query: str) -> Sequence[Hit]:
        """The results, best first.

        Raises:
            DataError: The engine cannot be reached or its reply cannot be read.
        """
        ...


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
        """See :meth:`SearchEngine.search`."""
        found = _json(self._address, {"q": query, "format": "json"}, self._limits).get("results")
        if not isinstance(found, list):
            raise DataError("the search engine's reply has no results", file=self._address)
        hits = [Hit(*(str(entry.get(key) or "") for key in ("title", "url", "content"))) for entry in found]
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
        pages = found.get("query", {}).get("pages", [])
        text = pages[0].get("extract") if pages and isinstance(pages[0], dict) else None
        if not text:
            raise DataError(f"there is no article {title!r}", file=self._base)
        return str(text)


def web_search(engine: SearchEngine) -> Callable[[str], str]:
    """The tool that searches the web."""

    def search(query: str) -> str:
        """Searches the web and lists pages with their titles, addresses and excerpts."""
        hits = engine.search(query)
        return "\n".join(f"{hit.title} ({hit.address}): {hit.excerpt}" for hit in hits) or "nothing found"

    return search


def wikipedia(client: Wikipedia) -> Callable[[str], str]:
    """The tool that reads Wikipedia."""

    def read(topic: str) -> str:
        """Reads the Wikipedia article that is nearest to a topic."""
        titles = client.search(topic)
        if not titles:
            return "nothing found"
        return f"{titles[0]}\n{client.article(titles[0])}\n[other articles: {', '.join(titles[1:]) or 'none'}]"

    return read


def visit_page(limits: WebLimits) -> Callable[[str], str]:
    """The tool that reads one page."""

    def visit(address: str) -> str:
        """Reads a page of the web, given by its address, as text."""
        return read_page(address, limits)

    return visit


def read_page(address: str, limits: WebLimits) -> str:
    """A page's text.

    Raises:
        DataError: The address is not allowed, does not answer, or is no text.
    """
    kind, body = _fetch(address, None, limits)
    if kind in ("text/html", "application/xhtml+xml"):
        return html_text(body)
    if kind.startswith("text/") or kind == "application/json":
        return body.decode("utf-8", errors="replace")
    raise DataError(f"is {kind or 'of no stated type'}, not a page of text", file=address)


def _json(address: str, parameters: dict[str, str], limits: WebLimits) -> dict[str, Any]:
    own = WebLimits(limits.seconds, limits.size, 0, private=True)  # the address was set up by the user
    _, body = _fetch(address, parameters, own)
    try:
        found = httpx.Response(200, content=body).json()
    except ValueError as error:
        raise DataError("the reply is not JSON", file=address) from error
    if not isinstance(found, dict):
        raise DataError("the reply is no JSON object", file=address)
    return found


def _fetch(address: str, parameters: dict[str, str] | None, limits: WebLimits) -> tuple[str, bytes]:
    """The type and content of what an address answers with."""
    with httpx.Client(timeout=limits.seconds, headers={"User-Agent": _AGENT}, trust_env=True) as client:
        for _ in range(limits.redirects + 1):
            _check_address(address, limits)
            try:
                with client.stream("GET", address, params=parameters) as reply:
                    if reply.is_redirect:
                        address, parameters = urljoin(address, reply.headers["location"]), None
                        continue
                    reply.raise_for_status()
                    kind = reply.headers.get("content-type", "").partition(";")[0].strip().lower()
                    return kind, _body(reply, address, limits)
            except httpx.HTTPError as error:
                raise DataError(f"cannot be fetched: {type(error).__name__}: {error}", file=address) from error
    raise DataError(f"redirects more than {limits.redirects} times", file=address)


def _body(reply: httpx.Response, address: str, limits: WebLimits) -> bytes:
    body = bytearray()
    for chunk in reply.iter_bytes():
        body += chunk
        if len(body) > limits.size:
            raise DataError(f"is larger than {limits.size} bytes", file=address)
    return bytes(body)


def _check_address(address: str, limits: WebLimits) -> None:
    parts = urlsplit(address)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise DataError("an address must begin with http:// or https://", file=address)
    if limits.private:
        return
    try:
        found = socket.getaddrinfo(parts.hostname, parts.port or 443, type=socket.SOCK_STREAM)
    except OSError as error:
        raise DataError(f"cannot be found: {error}", file=address) from error
    for entry in found:
        if not ipaddress.ip_address(entry[4][0]).is_global:
            raise DataError("is an address of this machine or its network, which is not allowed", file=address)
