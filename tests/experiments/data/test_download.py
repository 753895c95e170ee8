"""A data set is fetched once, checked against its hashes, and named where it is not what it should be."""

from __future__ import annotations

import hashlib
import io
import re
import threading
import zipfile
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from experiments.console import SAMPLE_FOLDER
from experiments.data import fetch, load_conversations, unpack
from kg.errors import ConfigError, DataError


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *args: object) -> None:
        pass


def archive_of(files: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return buffer.getvalue()


TRAIN, DEV = ((SAMPLE_FOLDER / name).read_bytes() for name in ("train.json", "dev.json"))
HASHES = {"train.json": hashlib.sha256(TRAIN).hexdigest(), "dev.json": hashlib.sha256(DEV).hexdigest()}
ARCHIVE = archive_of({"data/train.json": TRAIN, "data/dev.json": DEV, "__MACOSX/data/dev.json": b"shadow"})


@pytest.fixture
def served(tmp_path: Path) -> Path:
    """The file that the server sends."""
    (tmp_path / "served").mkdir()
    return tmp_path / "served" / "data.zip"


@pytest.fixture
def url(served: Path) -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(served.parent))) as running:
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield f"http://127.0.0.1:{running.server_address[1]}/data.zip?raw=true"
        running.shutdown()
        thread.join()


def test_fetches_once_and_loads(served: Path, url: str, tmp_path: Path) -> None:
    served.write_bytes(ARCHIVE)
    target = fetch(url, tmp_path / "new" / "folder", HASHES)
    assert target == tmp_path / "new" / "folder" / "data.zip"
    loaded = load_conversations(target, "dev")
    assert (loaded.name, loaded.sha256) == ("data.zip/data/dev.json", HASHES["dev.json"])
    served.unlink()
    assert fetch(url, target.parent, HASHES) == target
    assert [file.name for file in unpack(target)] == ["train.json", "dev.json"]
    assert load_conversations(target.parent, "dev").conversations == loaded.conversations


def test_errors_of_the_server_are_named_and_leave_nothing(url: str, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"/data\.zip\?raw=true: the server answered 404"):
        fetch(url, tmp_path / "new", HASHES)
    with pytest.raises(DataError, match="could not be fetched: "):
        fetch("http://127.0.0.1:9/data.zip", tmp_path / "new", HASHES)
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"<html>sign in</html>", "is not a zip archive that can be read"),
        (archive_of({"dev.json": DEV}), r"must hold one train\.json, holds 0"),
        (archive_of({"a/train.json": TRAIN, "b/train.json": TRAIN}), r"must hold one train\.json, holds 2"),
        (archive_of({"train.json": TRAIN, "dev.json": b"[]"}), r"data\.zip: dev\.json must have the sha256 .*, found"),
    ],
)
def test_what_is_no_such_archive_is_refused(
    served: Path, url: str, tmp_path: Path, content: bytes, message: str
) -> None:
    served.write_bytes(content)
    with pytest.raises(DataError, match=message):
        fetch(url, tmp_path / "new", HASHES)
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("url", ["file:///etc/hosts", "data.zip", "http://host/", "ftp://host/data.zip"])
def test_addresses_that_cannot_be_fetched(url: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=re.escape(f"url must be an http or https address of a file, got {url!r}")):
        fetch(url, tmp_path, HASHES)
