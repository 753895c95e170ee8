"""Fetching a data set over the network: resumed where it broke off, and checked before it is used.

    >>> fetch(CONVFINQA_URL, "convfinqa", CONVFINQA_SHA256)
    PosixPath('convfinqa/data.zip')

While it runs, the file is ``data.zip.part``; a second call goes on from there. What is whole but wrong is set aside as
``data.zip.bad``, so that the next call starts anew. The command puts the conversations of an archive beside it:
``convfinqa/dev.json``.
"""

from __future__ import annotations

import hashlib
import http.client
import re
import time
import urllib.error
import urllib.request
import zipfile
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, Any
from urllib.parse import unquote, urlsplit

from experiments.console import say
from experiments.data.sources import find_parts
from experiments.files import write_bytes
from kg.errors import ConfigError, DataError

CONVFINQA_URL = "https://github.com/czyssrs/ConvFinQA/raw/main/data.zip"
"""Where the authors of ConvFinQA publish its conversations."""

CONVFINQA_SHA256: Mapping[str, str] = {
    "train.json": "c100932b73f3237f0474cbb6baa04e1662050cba948791f2e3a5d496b78e0b50",
    "dev.json": "9665dd60f106e5cd41d37537edac97bbd26eb7629ad63ca2390b19d4619ba51b",
    "test_private.json": "a481528da0d4680d0318e2d400a9f2b5eb5fb0c625e431b0699225a4bedcd7dd",
}
"""The hashes of the archive's members that finpath reads."""

_BLOCK = 1 << 16
_ATTEMPTS = 5
_TIMEOUT_SECONDS = 30


class _Interrupted(Exception):  # noqa: N818 - a state of the transfer that is tried again, not an error of its own
    """The connection failed in a way that another attempt may overcome."""


@dataclass(frozen=True)
class _Transfer:
    """One file on its way: what is being fetched, and the partial file that it is collected in."""

    url: str
    part: Path
    progress: bool

    def attempt(self) -> None:
        """Appends what is missing.

        Raises:
            _Interrupted: The connection failed or ended early; what came is kept.
            DataError: The server refuses the request.
        """
        done = self.part.stat().st_size if self.part.exists() else 0
        headers = {"User-Agent": "finpath", "Accept-Encoding": "identity"}
        if done:
            headers["Range"] = f"bytes={done}-"
        try:
            # The scheme was checked by fetch().
            with urllib.request.urlopen(  # noqa: S310
                urllib.request.Request(self.url, headers=headers),  # noqa: S310
                timeout=_TIMEOUT_SECONDS,
            ) as response:
                self._receive(response, done)
        except urllib.error.HTTPError as error:
            self._refused(error, done)
        except (OSError, http.client.HTTPException) as error:
            raise _Interrupted(str(getattr(error, "reason", error)) or type(error).__name__) from error

    def _receive(self, response: Any, done: int) -> None:
        # A server that does not know ranges sends the whole file again, with status 200.
        resumed = response.status == http.HTTPStatus.PARTIAL_CONTENT
        start = done if resumed else 0
        length = response.headers.get("Content-Length")
        total = start + int(length) if length is not None else None
        with self.part.open("ab" if resumed else "wb") as file, self._bar(start, total) as bar:
            while block := response.read(_BLOCK):
                file.write(block)
                if bar is not None:
                    bar.update(len(block))
            received = file.tell()
        if total is not None and received < total:
            raise _Interrupted(f"the connection ended after {received} of {total} bytes")

    def _bar(self, start: int, total: int | None) -> AbstractContextManager[Any]:
        if not self.progress:
            return nullcontext()
        from tqdm import tqdm

        name = self.part.name.removesuffix(".part")
        return tqdm(total=total, initial=start, unit="B", unit_scale=True, desc=name, disable=None)  # type: ignore[no-any-return]

    def _refused(self, error: urllib.error.HTTPError, done: int) -> None:
        if error.code == http.HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE and done:
            total = re.fullmatch(r"bytes \*/(\d+)", error.headers.get("Content-Range", ""))
            if total and int(total[1]) == done:
                return
            self.part.unlink()
            raise _Interrupted("the partial file did not fit and is fetched anew") from error
        if error.code >= http.HTTPStatus.INTERNAL_SERVER_ERROR or error.code == http.HTTPStatus.TOO_MANY_REQUESTS:
            raise _Interrupted(f"the server answered {error.code} {error.reason}") from error
        raise DataError(f"the server answered {error.code} {error.reason}", file=self.url) from error


def fetch(
    url: str,
    destination_folder: str | Path,
    sha256: Mapping[str, str],
    progress: bool = True,
    *,
    pause_seconds: float = 1.0,
) -> Path:
    """Fetches a file into a folder, unless it is there already, and checks it.

    Args:
        url: An ``http`` or ``https`` address; the file is named by the end of its path.
        destination_folder: Made if it is not there.
        sha256: What must hash to what: the file by its own name, or members of the archive by theirs, without folders.
        progress: Show a progress bar (on a terminal only).
        pause_seconds: Wait after the first failed attempt; each further wait is twice as long.

    Returns:
        The checked file.

    Raises:
        ConfigError: The address is not one that can be fetched.
        DataError: The server refuses, five attempts in a row bring nothing, or a hash is not as expected, also of a
            file that was there already: it is then kept with ``.bad`` at its end.
    """
    parts = urlsplit(url)
    name = PurePosixPath(unquote(parts.path)).name
    if parts.scheme not in ("http", "https") or not parts.netloc or not name:
        raise ConfigError(f"url must be an http or https address of a file, got {url!r}")
    folder = Path(destination_folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(f"cannot be made a folder: {error.strerror}", file=str(folder)) from error
    target = folder / name
    if target.exists():
        _check(target, target, sha256)
        return target
    transfer = _Transfer(url, folder / f"{name}.part", progress)
    _transfer_whole(transfer, pause_seconds)
    _check(transfer.part, target, sha256)
    transfer.part.replace(target)
    return target


def _transfer_whole(transfer: _Transfer, pause_seconds: float) -> None:
    failures = 0
    while True:
        before = transfer.part.stat().st_size if transfer.part.exists() else 0
        try:
            transfer.attempt()
        except _Interrupted as reason:
            moved = transfer.part.exists() and transfer.part.stat().st_size > before
            failures = 1 if moved else failures + 1
            if failures == _ATTEMPTS:
                rule = f"could not be fetched in {_ATTEMPTS} attempts: {reason}"
                raise DataError(f"{rule}; the next call goes on from there", file=transfer.url) from reason
            pause = pause_seconds * 2 ** (failures - 1)
            say(f"  {reason}; trying again in {pause:.0f} s")
            time.sleep(pause)
        else:
            return


def _check(path: Path, target: Path, sha256: Mapping[str, str]) -> None:
    """Sets ``path`` aside as ``target.bad`` and raises if it is not what it must be."""
    try:
        for name, expected in sha256.items():
            found = _hash_of(path, target.name, name)
            if found != expected.lower():
                raise DataError(f"{name} must have the sha256 {expected}, found {found}")
    except (DataError, zipfile.BadZipFile) as error:
        bad = target.with_name(f"{target.name}.bad")
        path.replace(bad)
        rule = str(error) if isinstance(error, DataError) else f"is not a zip archive that can be read ({error})"
        raise DataError(f"{rule}; it was set aside as {bad.name}", file=str(target)) from error


def _hash_of(path: Path, file_name: str, name: str) -> str:
    if name == file_name:
        with path.open("rb") as file:
            return _hash(file)
    with zipfile.ZipFile(path) as archive:
        members = [member for member in archive.namelist() if PurePosixPath(member).name == name]
        members = [member for member in members if not member.startswith("__MACOSX")]
        if len(members) != 1:
            raise DataError(f"must hold one {name}, holds {len(members)}")
        with archive.open(members[0]) as file:
            return _hash(file)


def _hash(file: IO[bytes]) -> str:
    digest = hashlib.sha256()
    while block := file.read(_BLOCK):
        digest.update(block)
    return digest.hexdigest()


def unpack(archive: Path) -> list[Path]:
    """Puts the files of an archive that hold conversations beside it.

    Args:
        archive: A zip archive that was checked.

    Returns:
        The files, train before dev before test.

    Raises:
        DataError: The archive holds no conversations, or a file cannot be written, or is there with other content.
    """
    files = []
    for part in find_parts(archive):
        file = archive.with_name(PurePosixPath(part.member or part.name).name)
        content = part.read()
        try:
            if file.exists() and file.read_bytes() != content:
                raise DataError(f"is not the {file.name} of {archive.name}; move it away first", file=str(file))
            write_bytes(file, content)
        except OSError as error:
            raise DataError(f"cannot be written: {error.strerror}", file=str(file)) from error
        files.append(file)
    return files
