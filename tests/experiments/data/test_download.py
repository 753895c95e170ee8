"""Fetching against a local server that knows ranges and can hang up half-way."""

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
    """Serves one file, and remembers what was asked of it.

    Attributes:
        content: The file.
        drops: After how many bytes of the body to hang up, for one request after the other.
        statuses: Errors to answer with instead, for one request after the other.
        ranges: Whether it knows the Range header.
        asked: The Range header of each request.
    """

    def __init__(self, content: bytes) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.content = content
        self.drops: list[int] = []
        self.statuses: list[int] = []
        self.ranges = True
        self.asked: list[str | None] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/files/data.zip?raw=true"


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        asked = self.headers.get("Range")
        self.server.asked.append(asked)
        if self.server.statuses:
            self.send_error(self.server.statuses.pop(0))
            return
        content = self.server.content
        start = int(re.fullmatch(r"bytes=(\d+)-", asked)[1]) if asked and self.server.ranges else 0
        if start >= len(content):
            self.send_response(416)
            self.send_header("Content-Range", f"bytes */{len(content)}")
            self.end_headers()
            return
        self.send_response(206 if asked and self.server.ranges else 200)
        self.send_header("Content-Length", str(len(content) - start))
        self.end_headers()
        body = content[start:]
        self.wfile.write(body[: self.server.drops.pop(0)] if self.server.drops else body)

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


def test_fetches_and_loads(server: Server, tmp_path: Path) -> None:
    target = fetch(server.url, tmp_path / "new" / "folder", HASHES, progress=False)
    assert target == tmp_path / "new" / "folder" / "data.zip"
    assert target.read_bytes() == server.content
    assert not list(target.parent.glob("*.part"))
    loaded = load_conversations(target, "dev")
    assert loaded.name == "data.zip/data/dev.json"
    assert loaded.sha256 == HASHES["dev.json"]
    assert load_conversations(target.parent, "dev").conversations == loaded.conversations


def test_a_broken_connection_is_resumed(server: Server, tmp_path: Path) -> None:
    server.drops = [1000, 0, 500]
    target = fetch(server.url, tmp_path, HASHES, progress=False, pause_seconds=0)
    assert target.read_bytes() == server.content
    assert server.asked == [None, "bytes=1000-", "bytes=1000-", "bytes=1500-"]


def test_a_second_call_resumes_and_a_third_fetches_nothing(server: Server, tmp_path: Path) -> None:
    server.drops = [2000] + [0] * 4
    server.statuses = []
    with pytest.raises(
        DataError, match=r"could not be fetched in 5 attempts: the connection ended after 2000 of \d+ bytes"
    ):
        fetch(server.url, tmp_path, HASHES, progress=False, pause_seconds=0)
    assert (tmp_path / "data.zip.part").stat().st_size == 2000
    server.asked.clear()
    fetch(server.url, tmp_path, HASHES, progress=False)
    assert server.asked == ["bytes=2000-"]
    fetch(server.url, tmp_path, HASHES, progress=False)
    assert len(server.asked) == 1


def test_a_server_without_ranges_starts_over(server: Server, tmp_path: Path) -> None:
    server.ranges = False
    server.drops = [1000]
    assert fetch(server.url, tmp_path, HASHES, progress=False, pause_seconds=0).read_bytes() == server.content


def test_a_whole_part_needs_no_more_bytes(server: Server, tmp_path: Path) -> None:
    (tmp_path / "data.zip.part").write_bytes(server.content)
    assert fetch(server.url, tmp_path, HASHES, progress=False).read_bytes() == server.content


def test_a_part_that_is_too_long_is_fetched_anew(server: Server, tmp_path: Path) -> None:
    (tmp_path / "data.zip.part").write_bytes(server.content + b"more")
    assert fetch(server.url, tmp_path, HASHES, progress=False, pause_seconds=0).read_bytes() == server.content


def test_errors_that_pass_are_tried_again(server: Server, tmp_path: Path) -> None:
    server.statuses = [503, 429]
    fetch(server.url, tmp_path, HASHES, progress=False, pause_seconds=0)
    assert len(server.asked) == 3


def test_errors_that_stay_are_raised_at_once(server: Server, tmp_path: Path) -> None:
    server.statuses = [404]
    with pytest.raises(DataError, match=r"/files/data\.zip\?raw=true: the server answered 404 Not Found"):
        fetch(server.url, tmp_path, HASHES, progress=False)
    assert len(server.asked) == 1


def test_no_server(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(DataError, match=r"could not be fetched in 5 attempts: .*[Cc]onnection refused"):
        fetch("http://127.0.0.1:9/data.zip", tmp_path / "new", HASHES, progress=False, pause_seconds=0)
    assert not (tmp_path / "new").exists()
    assert capsys.readouterr().err.count("trying again in 0 s") == 4


def test_a_wrong_member_is_set_aside(server: Server, tmp_path: Path) -> None:
    server.content = archive_of({"data/train.json": TRAIN, "data/dev.json": b"[]"})
    message = (
        f"dev.json must have the sha256 {HASHES['dev.json']}, found {sha256(b'[]')}; it was set aside as data.zip.bad"
    )
    with pytest.raises(DataError, match=re.escape(message)):
        fetch(server.url, tmp_path, HASHES, progress=False)
    assert [path.name for path in tmp_path.iterdir()] == ["data.zip.bad"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"<html>sign in</html>", r"is not a zip archive that can be read .*set aside as data\.zip\.bad"),
        (archive_of({"dev.json": DEV}), r"must hold one train\.json, holds 0"),
        (archive_of({"a/train.json": TRAIN, "b/train.json": TRAIN}), r"must hold one train\.json, holds 2"),
    ],
)
def test_what_is_no_such_archive_is_set_aside(server: Server, tmp_path: Path, content: bytes, message: str) -> None:
    server.content = content
    with pytest.raises(DataError, match=message):
        fetch(server.url, tmp_path, HASHES, progress=False)
    assert (tmp_path / "data.zip.bad").read_bytes() == content


def test_a_wrong_file_that_is_there_already_is_set_aside(server: Server, tmp_path: Path) -> None:
    (tmp_path / "data.zip").write_bytes(b"old")
    with pytest.raises(DataError, match=r"set aside as data\.zip\.bad"):
        fetch(server.url, tmp_path, HASHES, progress=False)
    assert fetch(server.url, tmp_path, HASHES, progress=False).read_bytes() == server.content


@pytest.mark.parametrize("url", ["file:///etc/hosts", "data.zip", "http://host/", "ftp://host/data.zip"])
def test_addresses_that_cannot_be_fetched(url: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=re.escape(f"url must be an http or https address of a file, got {url!r}")):
        fetch(url, tmp_path, HASHES)
