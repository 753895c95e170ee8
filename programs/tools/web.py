"""The web by tools: results of a search engine, and pages as text, of public addresses only and within limits.

    >>> tools = WebTools(WebLimits(), engine="http://localhost:8888")
    >>> tools.find_in_page("https://en.wikipedia.org/w/index.php?search=Rhine", "length")
    '[page 2] Length | 1,230 km'

A page is fetched from a public address only, also after redirects and without a proxy, so a model cannot reach this
machine's own network. A name is looked up once and the connection goes to the address that was checked; a second
look-up could give another one. The list of refused networks is the IANA's registries of special addresses. Python's
``is_global`` misses some. The search engine is a SearXNG server at an address of the user's choice.
"""

from __future__ import annotations

import asyncio
import ipaddress
import json
import socket
import urllib.request
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode, urljoin, urlsplit

import httpcore
import httpx

from kg.errors import DataError
from programs.tools.documents import NOTHING, html_text, lines_with, page_of

_AGENT = "finpath (https://w3id.org/finpath)"
_REDIRECTS = (301, 302, 303, 307, 308)

REFUSED = tuple(
    map(
        ipaddress.ip_network,
        (
            *("0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12"),
            *("192.0.0.0/24", "192.0.2.0/24", "192.31.196.0/24", "192.52.193.0/24", "192.88.99.0/24"),
            *("192.168.0.0/16", "192.175.48.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24"),
            *("224.0.0.0/4", "240.0.0.0/4"),
            *("2001::/23", "2001:db8::/32", "2002::/16", "2620:4f:8000::/48", "3fff::/20"),
        ),
    )
)
"""Networks that are no public ones."""

_PUBLIC_IPV6 = ipaddress.ip_network("2000::/3")
"""All public addresses of IPv6; translated, mapped, local and multicast ones are outside."""


@dataclass(frozen=True)
class WebLimits:
    """The limits of one request.

    Attributes:
        seconds: For the whole request, its redirects included.
        size: Bytes of the reply.
        redirects: Followed at the most.
        private: Whether addresses of this machine and its network are allowed.
    """

    seconds: float = 15.0
    size: int = 5_000_000
    redirects: int = 5
    private: bool = False


def is_public(address: str) -> bool:
    """Whether an IP address is a public one."""
    given = ipaddress.ip_address(address.partition("%")[0])
    if given.version == 6 and given not in _PUBLIC_IPV6:
        return False
    return not any(given.version == network.version and given in network for network in REFUSED)


def fetch(address: str, parameters: Mapping[str, str] | None, limits: WebLimits) -> tuple[str, bytes]:
    """Returns the type and the content of the reply of an address.

    Raises:
        DataError: The address is malformed or not allowed, does not answer in time, or the reply is too large.
    """
    if parameters:
        address = f"{address}{'&' if '?' in address else '?'}{urlencode(parameters)}"
    with ThreadPoolExecutor(1) as pool:  # the caller's thread may have a loop of its own, as in a notebook
        return pool.submit(asyncio.run, _followed(address, limits)).result()


async def _followed(address: str, limits: WebLimits) -> tuple[str, bytes]:
    try:
        async with asyncio.timeout(limits.seconds):
            for _ in range(limits.redirects + 1):
                reply = await _fetched(address, limits)
                if not isinstance(reply, str):
                    return reply
                address = reply
    except DataError:
        raise
    except (httpcore.TimeoutException, TimeoutError) as error:
        raise DataError(f"took longer than {limits.seconds:g} seconds", file=address) from error
    except (httpcore.NetworkError, httpcore.ProtocolError, httpx.InvalidURL, OSError, ValueError) as error:
        raise DataError(f"cannot be fetched: {type(error).__name__}: {error}", file=address) from error
    raise DataError(f"redirects more than {limits.redirects} times", file=address)


async def _fetched(address: str, limits: WebLimits) -> tuple[str, bytes] | str:
    """Returns the reply, or the address that it redirects to."""
    parts = urlsplit(address)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise DataError("an address must begin with http:// or https://", file=address)
    url = httpx.URL(address)  # names in other scripts, and characters that an address cannot hold
    headers = {"Host": url.netloc.decode(), "User-Agent": _AGENT, "Accept-Encoding": "identity"}
    # A pool for each request: no connection to an address that was checked earlier is used again.
    async with _pool(parts.scheme, parts.hostname, limits) as pool:
        target = httpcore.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path)
        async with pool.stream("GET", target, headers=list(headers.items())) as reply:
            named: dict[str, str] = {key.decode().lower(): value.decode("latin-1") for key, value in reply.headers}
            if reply.status in _REDIRECTS:
                if "location" not in named:
                    raise DataError("redirects to no address", file=address)
                return str(urljoin(address, named["location"]))
            if reply.status >= 300:
                raise DataError(f"the server answered {reply.status}", file=address)
            if named.get("content-encoding", "identity") != "identity":
                raise DataError(f"is packed by {named['content-encoding']}, which was not asked for", file=address)
            body = bytearray()
            async for chunk in reply.aiter_stream():
                body += chunk
                if len(body) > limits.size:
                    raise DataError(f"is larger than {limits.size} bytes", file=address)
            return named.get("content-type", "").partition(";")[0].strip().lower(), bytes(body)


def _pool(scheme: str, host: str, limits: WebLimits) -> Any:
    options: Any = {"ssl_context": httpx.create_ssl_context(), "network_backend": _Backend(limits.private)}
    proxy = urllib.request.getproxies().get(scheme) if limits.private else None
    if proxy is not None and not urllib.request.proxy_bypass(host):
        return httpcore.AsyncHTTPProxy(proxy, **options)
    # A proxy would look the name up itself: pages that a model chooses are fetched without one.
    return httpcore.AsyncConnectionPool(**options)


class _Backend(httpcore.AnyIOBackend):
    """Connects to the address that was checked.

    Args:
        private: Whether addresses of this machine and its network are allowed.
    """

    def __init__(self, private: bool) -> None:
        self._private = private

    async def connect_tcp(self, host: str, port: int, *others: Any, **options: Any) -> httpcore.AsyncNetworkStream:
        problem: Exception = httpcore.ConnectError(f"{host} has no address")
        for address in self._checked(host, port):
            try:
                stream = await super().connect_tcp(address, port, *others, **options)
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                problem = error
                continue
            peer = stream.get_extra_info("server_addr")  # whatever the name was looked up as
            if self._private or (peer and is_public(str(peer[0]))):
                return stream
            await stream.aclose()
            raise DataError("led to an address of this machine or its network, which is not allowed", file=host)
        raise problem

    def _checked(self, host: str, port: int) -> list[str]:
        """Returns the addresses of a name, looked up once; all must be public."""
        try:
            entries = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except OSError as error:
            raise DataError(f"cannot be found: {error}", file=host) from error
        addresses = list(dict.fromkeys(str(entry[4][0]) for entry in entries))
        if not self._private and not all(map(is_public, addresses)):
            raise DataError("is an address of this machine or its network, which is not allowed", file=host)
        return addresses


ARCHIVE = "https://web.archive.org"
"""The Wayback Machine of the Internet Archive."""

MOST_RESULTS = 8
"""Results of the search engine that are shown."""


class WebTools:
    """The tools for the web; their docstrings are prompts.

    Args:
        limits: The limits of a request.
        engine: The address of a SearXNG server.
    """

    def __init__(self, limits: WebLimits, engine: str = "") -> None:
        self._limits, self._engine = limits, f"{engine.rstrip('/')}/search"

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
        """Reads a page of the web by its address; long ones have pages."""
        return page_of(read_page(address, self._limits), page)

    def find_in_page(self, address: str, text: str) -> str:
        """Finds the lines of a page of the web that hold some words."""
        return lines_with(read_page(address, self._limits), text)

    def archived_page(self, address: str, day: str) -> str:
        """Reads a page of the web as it was near a day, written as 2024-05-31, from the Internet Archive."""
        return page_of(read_page(f"{ARCHIVE}/web/{day.replace('-', '')}id_/{address}", self._limits), 1)


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
