"""The web tools over real HTTP, against a server on loopback that answers as pages and SearXNG do."""

from __future__ import annotations

import asyncio
import gzip
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_address
from urllib.parse import parse_qs, urlsplit

import dspy
import pytest

from kg.errors import ConfigError, DataError
from programs.tools.manager import ToolSettings, load_tools
from programs.tools.search import STEPS, SearchAgent
from programs.tools.web import WebLimits, WebTools, is_public, read_page

OWN = WebLimits(seconds=2, size=2_000, redirects=2, private=True)


class _Web(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        asked = {name: values[0] for name, values in parse_qs(parts.query).items()}
        answer = {
            "/search": lambda: self._search(asked),
            "/page": lambda: self._say("text/html; charset=utf-8", "<h1>Varna</h1><script>x()</script><p>A port.</p>"),
            "/image": lambda: self._say("image/png", "\x89PNG"),
            "/large": lambda: self._say("text/plain", "x" * 5_000),
            "/web/20240531id_/http://wire.example/1": lambda: self._say("text/plain", "Varna was fined 3 million."),
            "/broken/search": lambda: self._say("application/json", "{"),
        }.get(parts.path)
        if parts.path == "/loop":
            self._redirect("/loop")
        elif parts.path == "/moved":
            self._redirect("/page")
        elif answer is None:
            self.send_error(404)
        else:
            answer()

    def _search(self, asked: dict[str, str]) -> None:
        assert asked["format"] == "json"
        found = {"title": "Insurer fined", "url": "http://wire.example/1", "content": f"about {asked['q']}"}
        self._json({"results": [found] * 20})

    def _json(self, content: object) -> None:
        self._say("application/json", json.dumps(content))

    def _redirect(self, target: str) -> None:
        self.send_response(302)
        self.send_header("Location", target)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def _say(self, kind: str, text: str) -> None:
        body = text.encode()
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments: object) -> None:
        """Keeps the tests' output clean."""


@pytest.fixture(scope="module")
def web() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Web)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def test_a_search_engine(web: str) -> None:
    tools = load_tools(["web_search"], ToolSettings(search_engine=web))
    line = "Insurer fined (http://wire.example/1): about insurer of Varna"
    assert tools.call("web_search", {"query": "insurer of Varna"}).output == "\n".join([line] * 8)
    for name in ("inspect_document", "web_search", "create_node_type"):
        with pytest.raises(ConfigError, match="got None"):
            load_tools([name], ToolSettings())


def test_the_search_agent_searches_reads_and_sums_up(
    web: str, scripted_lm: Callable[..., dspy.LM], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("programs.tools.web.ARCHIVE", web)

    def step(tool: str, **arguments: str) -> dict[str, str]:
        return {"next_thought": "on", "next_tool_name": tool, "next_tool_args": json.dumps(arguments)}

    page = f"{web}/page"
    script = [
        step("web_search", query="fine of Varna"),
        step("archived_page", address="http://wire.example/1", day="2024-05-31"),
        step("visit_page", address=page),
        step("find_in_page", address=page, text="port"),
        step("finish"),
        {"reasoning": "read", "summary": "Varna is a port.", "addresses": json.dumps([page, "http://never.read"])},
    ]
    agent = SearchAgent(WebTools(OWN, engine=web))
    with dspy.context(lm=scripted_lm(script), adapter=dspy.ChatAdapter(use_json_adapter_fallback=False)):
        found = agent(question="Was Varna fined?")
    assert (found.summary, found.addresses) == ("Varna is a port.", [page])
    seen = [found.trajectory[f"observation_{place}"] for place in range(4)]
    assert seen[0].startswith("Insurer fined")
    assert seen[1:] == ["Varna was fined 3 million.", "Varna\nA port.", "[page 1] A port."]


def test_the_search_agent_has_a_budget_of_steps(web: str, scripted_lm: Callable[..., dspy.LM]) -> None:
    again = {"next_thought": "on", "next_tool_name": "web_search", "next_tool_args": '{"query": "Varna"}'}
    script = [*[again] * STEPS, {"reasoning": "none", "summary": "nothing", "addresses": "[]"}]
    agent = SearchAgent(WebTools(OWN, engine=web))
    with dspy.context(lm=scripted_lm(script), adapter=dspy.ChatAdapter(use_json_adapter_fallback=False)):
        assert agent.search_agent("Was Varna fined?").startswith("nothing found")


def test_a_page_is_read_as_text_and_redirects_are_followed(web: str) -> None:
    assert read_page(f"{web}/page", OWN) == "Varna\nA port."
    assert read_page(f"{web}/moved", OWN) == "Varna\nA port."


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("/gone", "404"),
        ("/loop", "redirects more than 2 times"),
        ("/image", "image/png, not a page of text"),
        ("/large", "larger than 2000 bytes"),
    ],
)
def test_what_cannot_be_fetched_is_said(web: str, path: str, message: str) -> None:
    with pytest.raises(DataError, match=message):
        read_page(web + path, OWN)


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("http://localhost:80/", "of this machine or its network"),
        ("http://[::1]/", "of this machine or its network"),
        ("http://169.254.169.254/latest/meta-data", "of this machine or its network"),
        ("file:///etc/passwd", "must begin with http"),
    ],
)
def test_addresses_of_the_own_network_are_refused(address: str, message: str) -> None:
    with pytest.raises(DataError, match=message):
        read_page(address, WebLimits(seconds=1))


def test_a_page_is_read_where_an_event_loop_runs(web: str) -> None:
    async def read() -> str:
        return read_page(f"{web}/page", OWN)

    assert "A port." in asyncio.run(read())


def test_a_broken_engine_is_said(web: str) -> None:
    for address, message in ((f"{web}/broken", "no results as JSON"), ("http://127.0.0.1:9", "cannot be fetched")):
        with pytest.raises(DataError, match=message):
            WebTools(OWN, engine=address).web_search("x")


@pytest.fixture
def names(monkeypatch: pytest.MonkeyPatch) -> dict[str, list[str]]:
    """A stub in place of look-ups, and a guard that lets sockets connect to loopback alone."""
    known: dict[str, list[str]] = {}
    connect = socket.socket.connect

    def look_up(host: str, port: int, *_: object, **__: object) -> list[tuple[object, ...]]:
        with suppress(ValueError):
            known.setdefault(str(ip_address(host)), [host])  # an address is its own name
        if host not in known:
            raise OSError(f"{host} is not known")
        address = known[host].pop(0) if len(known[host]) > 1 else known[host][0]
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port))]

    def guarded(self: socket.socket, address: tuple[str, int]) -> None:
        known.setdefault("connected", []).append(address[0])
        if address[0] not in ("127.0.0.1", "::1"):
            raise OSError(f"the test would connect to {address[0]}")
        connect(self, address)

    monkeypatch.setattr("programs.tools.web.socket.getaddrinfo", look_up)
    monkeypatch.setattr(socket.socket, "connect", guarded)
    return known


def test_a_connection_that_ends_at_loopback_is_not_used(
    web: str, names: dict[str, list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever led there: the system's own table of addresses, a tunnel."""
    names["redirected.example"] = ["93.184.216.34"]
    connect = socket.socket.connect
    monkeypatch.setattr(socket.socket, "connect", lambda one, address: connect(one, ("127.0.0.1", address[1])))
    with pytest.raises(DataError, match="led to an address of this machine"):
        read_page(f"http://redirected.example:{urlsplit(web).port}/page", WebLimits(seconds=2))


def test_a_name_is_looked_up_once_and_connected_to_as_checked(web: str, names: dict[str, list[str]]) -> None:
    """Rebinding: the second look-up would give loopback."""
    port = urlsplit(web).port
    names["rebound.example"] = ["93.184.216.34", "127.0.0.1"]
    with pytest.raises(DataError, match="cannot be fetched"):
        read_page(f"http://rebound.example:{port}/page", WebLimits(seconds=2))
    assert names["connected"] == ["93.184.216.34"]
    names["loopback.example"] = ["127.0.0.1"]
    with pytest.raises(DataError, match="not allowed"):
        read_page(f"http://loopback.example:{port}/page", WebLimits(seconds=2))


@pytest.mark.parametrize(
    "address",
    [
        *("127.0.0.1", "10.1.2.3", "169.254.169.254", "100.64.0.1", "192.0.0.192", "192.88.99.1", "198.18.0.1"),
        *("224.0.0.1", "255.255.255.255", "0.0.0.0", "::", "::1", "::127.0.0.1", "::ffff:8.8.8.8", "fe80::1%eth0"),
        *("64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "2002:7f00:1::", "fec0::1", "fc00::1", "ff02::1", "2001::1"),
        *("2001:db8::1", "3fff::1"),
    ],
)
def test_addresses_that_are_not_public_are_refused(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize("address", ["93.184.216.34", "8.8.8.8", "2606:4700::1111", "2a00:1450:4001:800::200e"])
def test_public_addresses_are_allowed(address: str) -> None:
    assert is_public(address)


class _Slow(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200 if self.path != "/nowhere" else 302)
        self.send_header("Content-Type", "text/html")
        if self.path == "/packed":
            self.send_header("Content-Encoding", "gzip")
        self.end_headers()
        if self.path == "/slow":
            with suppress(OSError):
                for _ in range(300):
                    self.wfile.write(b"<p>")
                    time.sleep(0.05)
        if self.path == "/divs":
            self.wfile.write(b"<div>" * 400_000)
        if self.path == "/packed":
            self.wfile.write(gzip.compress(b" " * 50_000_000))

    def log_message(self, *arguments: object) -> None:
        """Keeps the tests' output clean."""


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("/slow", "took longer than 1 seconds"),
        ("/packed", "is packed by gzip, which was not asked for"),
        ("/divs", "has 400000 tags, more than"),
        ("/nowhere", "redirects to no address"),
    ],
)
def test_a_hostile_page_ends_in_time(path: str, message: str) -> None:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Slow)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    start = time.monotonic()
    try:
        with pytest.raises(DataError, match=message):
            read_page(f"http://127.0.0.1:{server.server_port}{path}", WebLimits(seconds=1, private=True))
    finally:
        server.shutdown()
        server.server_close()
    assert time.monotonic() - start < 5


@pytest.mark.parametrize(
    "address",
    [
        *("http://[::1", "http://host:abc/", "http://host:99999/", "http://xn--\u00fc.example/", "http://a..b/"),
        *("http://\u0000/", "ftp://host/", "http:///x", "http://" + "a" * 70 + ".example/"),
    ],
)
def test_a_malformed_address_is_refused(address: str, names: dict[str, list[str]]) -> None:
    assert names == {}
    with pytest.raises(DataError):
        read_page(address, WebLimits(seconds=1))


@pytest.mark.parametrize("reply", ['{"results": [5, null, []]}', '{"query": []}', '{"results": 7}', "[" * 9999])
def test_a_reply_of_another_shape_is_no_raw_error(reply: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("programs.tools.web.fetch", lambda *_: ("application/json", reply.encode()))
    with suppress(DataError):
        assert WebTools(OWN, engine="http://x").web_search("varna") == "nothing found"


def test_text_is_found_in_a_page_and_its_pages_are_counted(web: str) -> None:
    tools = load_tools(["visit_page", "find_in_page"], ToolSettings(web=OWN))
    assert tools.call("find_in_page", {"address": f"{web}/page", "text": "port"}).output == "[page 1] A port."
    assert "page must be from 1 to 1, got 2" in tools.call("visit_page", {"address": f"{web}/page", "page": 2}).output
    assert "larger than 2000 bytes" in tools.call("visit_page", {"address": f"{web}/large"}).output
