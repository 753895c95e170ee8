"""A SPARQL 1.1 endpoint on loopback for the tests of stores and tools: pyoxigraph behind Python's own HTTP server."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

import pytest


class _Handler(BaseHTTPRequestHandler):
    server: SparqlServer

    def do_GET(self) -> None:
        self._answer(parse_qs(urlsplit(self.path).query).get("query", [""])[0])

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
        kind = self.headers.get("Content-Type", "").partition(";")[0]
        if kind == "application/x-www-form-urlencoded":
            body = parse_qs(body).get("query", [""])[0]
        self._answer(body)

    def _answer(self, text: str) -> None:
        try:
            result = self.server.store.query(text)
            self._send(200, result.serialize(format=self.server.json_format()), "application/sparql-results+json")
        except SyntaxError as error:
            self._send(400, str(error).encode(), "text/plain")

    def _send(self, status: int, body: bytes, kind: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002 - the base class calls it so
        pass


class SparqlServer(ThreadingHTTPServer):
    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        import pyoxigraph

        self.store = pyoxigraph.Store()

    @staticmethod
    def json_format() -> object:
        import pyoxigraph

        return pyoxigraph.QueryResultsFormat.JSON

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


@pytest.fixture
def sparql_server() -> Callable[[], AbstractContextManager[SparqlServer]]:
    """A function that starts an endpoint."""
    return _running_server


@contextmanager
def _running_server() -> Iterator[SparqlServer]:
    """Starts the endpoint on a free port and stops it at the end."""
    server = SparqlServer()
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
