"""Fetching against a local server that can hang up half-way."""

from __future__ import annotations

import hashlib
import io
import re
import threading
import zipfile
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from experiments.data import fetch, load_conversations
from kg.errors import ConfigError, DataError

SAMPLE = Path(__file__).parent.parent.parent.parent / "experiments" / "sample"


class Server(ThreadingHTTPServer):
    """Serves one file; hangs up after so many bytes, or answers with an error, for one request after the other."""

    def __init__(self, content: bytes) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.content = content
        self.drops: list[int] = []
        self.statuses: list[int] = []
        self.requests = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/files/data.zip?raw=true"


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        self.server.requests += 1
        if self.server.statuses:
            self.send_error(self.server.statuses.pop(0))
            return
        self.send_response(200)
        self.send_header("Content-Length", str(len(self.server.content)))
        self.end_headers()
        self.wfile.write(self.server.content[: self.server.drops.pop(0)] if self.server.drops else self.server.content)

    def log_message(self, *args: object) -> None:
        pass


def archive_of(files: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


TRAIN, DEV = ((SAMPLE / name).read_bytes() for name in ("train.json", "dev.json"))
HASHES = {"train.json": sha256(TRAIN), "dev.json": sha256(DEV)}


@pytest.fixture
def server() -> Iterator[Server]:
    content = archive_of({"data/train.json": TRAIN, "data/dev.json": DEV, "__MACOSX/data/dev.json": b"shadow"})
    with Server(content) as running:
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield running
        running.shutdown()
        thread.join()


def test_fetches_once_and_loads(server: Server, tmp_path: Path) -> None:
    target = fetch(server.url, tmp_path / "new" / "folder", HASHES)
    assert target == tmp_path / "new" / "folder" / "data.zip"
    assert target.read_bytes() == server.content
    loaded = load_conversations(target, "dev")
    assert loaded.name == "data.zip/data/dev.json"
    assert loaded.sha256 == HASHES["dev.json"]
    assert load_conversations(target.parent, "dev").conversations == loaded.conversations
    assert fetch(server.url, target.parent, HASHES) == target
    assert server.requests == 1


def test_a_broken_connection_leaves_nothing(server: Server, tmp_path: Path) -> None:
    server.drops = [1000]
    with pytest.raises(DataError, match="could not be fetched: "):
        fetch(server.url, tmp_path / "new", HASHES)
    assert not (tmp_path / "new").exists()


def test_errors_of_the_server_are_named(server: Server, tmp_path: Path) -> None:
    server.statuses = [404]
    with pytest.raises(DataError, match=r"/files/data\.zip\?raw=true: the server answered 404 Not Found"):
        fetch(server.url, tmp_path, HASHES)


def test_a_wrong_member_is_refused(server: Server, tmp_path: Path) -> None:
    server.content = archive_of({"data/train.json": TRAIN, "data/dev.json": b"[]"})
    message = f"data.zip: dev.json must have the sha256 {HASHES['dev.json']}, found {sha256(b'[]')}"
    with pytest.raises(DataError, match=re.escape(message)):
        fetch(server.url, tmp_path, HASHES)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"<html>sign in</html>", "is not a zip archive that can be read"),
        (archive_of({"dev.json": DEV}), r"must hold one train\.json, holds 0"),
        (archive_of({"a/train.json": TRAIN, "b/train.json": TRAIN}), r"must hold one train\.json, holds 2"),
    ],
)
def test_what_is_no_such_archive_is_refused(server: Server, tmp_path: Path, content: bytes, message: str) -> None:
    server.content = content
    with pytest.raises(DataError, match=message):
        fetch(server.url, tmp_path, HASHES)


@pytest.mark.parametrize("url", ["file:///etc/hosts", "data.zip", "http://host/", "ftp://host/data.zip"])
def test_addresses_that_cannot_be_fetched(url: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=re.escape(f"url must be an http or https address of a file, got {url!r}")):
        fetch(url, tmp_path, HASHES)
