"""A data set is fetched once, checked against its hashes, and named where it is not what it should be."""

from __future__ import annotations

import hashlib
import io
import threading
import zipfile
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from experiments.console import SAMPLE_FOLDER
from experiments.data import load_conversations
from experiments.data.download import Download, downloads, fetch
from kg.errors import DataError


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


def files_at(url: str) -> list[Download]:
    return [Download("set", name, None, digest, "MIT", archive=url) for name, digest in HASHES.items()]


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
    files = fetch(tmp_path / "new" / "folder", *files_at(url))
    assert files == [tmp_path / "new" / "folder" / name for name in ("train.json", "dev.json")]
    loaded = load_conversations(files[1].parent, "dev")
    assert (loaded.name, loaded.sha256) == ("folder/dev.json", HASHES["dev.json"])
    served.unlink()
    assert fetch(files[1].parent, *files_at(url)) == files
    files[1].write_bytes(b"[]")
    with pytest.raises(DataError, match=r"dev\.json: must have the sha256"):
        fetch(files[1].parent, *files_at(url))


def test_errors_of_the_server_are_named_and_leave_nothing(url: str, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"could not be fetched .*404"):
        fetch(tmp_path / "new", *files_at(url))
    for address in ("http://127.0.0.1:9/data.zip", "file:///etc/hosts", "data.zip", "ftp://host/data.zip"):
        with pytest.raises(DataError, match="could not be fetched "):
            fetch(tmp_path / "new", *files_at(address))
    assert list((tmp_path / "new").iterdir()) == []


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"<html>sign in</html>", "could not be fetched and read as a zip archive"),
        (archive_of({"dev.json": DEV}), r"train\.json: must have the sha256"),
        (archive_of({"train.json": TRAIN, "dev.json": b"[]"}), r"dev\.json: must have the sha256 .*, got"),
    ],
)
def test_what_is_no_such_archive_is_refused(
    served: Path, url: str, tmp_path: Path, content: bytes, message: str
) -> None:
    served.write_bytes(content)
    with pytest.raises(DataError, match=message):
        fetch(tmp_path / "new", *files_at(url))
    assert {path.name for path in (tmp_path / "new").iterdir()} <= {"train.json"}


def test_the_table_names_size_hash_licence_and_source_of_all_that_is_fetched() -> None:
    for file in (file for files in downloads().values() for file in files):
        assert len(file.sha256) == 64
        assert file.license in ("Apache-2.0", "MIT")
        assert file.repository or file.archive or file.parts
        assert (file.size is None) == (file.archive is not None)
