"""Download of a data set: resumed after a failure, and verified before its use.

    >>> fetch(CONVFINQA_URL, "convfinqa", CONVFINQA_SHA256)
    PosixPath('convfinqa/data.zip')

An incomplete file is ``data.zip.part``; a second call resumes it. A complete file with a wrong hash is renamed to
``data.zip.bad``, and the next call starts again. The command unpacks the conversations into the same folder.
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
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import unquote, urlsplit

from experiments.console import progress_bars, say
from experiments.data.sources import find_parts
from experiments.files import check_address, write_bytes
from kg.errors import ConfigError, DataError

CONVFINQA_URL = "https://github.com/czyssrs/ConvFinQA/raw/main/data.zip"
"""The address of ConvFinQA's conversations, published by its authors."""

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
    """A failure of the connection that another attempt may overcome."""


@dataclass(frozen=True)
class _Transfer:
    """The download of one file into a partial file."""

    url: str
    part: Path
    progress: bool

    def attempt(self) -> None:
        """Appends the missing bytes.

        Raises:
            _Interrupted: The connection failed or ended early; the received bytes are in the partial file.
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
        name, hidden = self.part.name.removesuffix(".part"), None if self.progress else True
        with (
            self.part.open("ab" if resumed else "wb") as file,
            progress_bars()(total=total, initial=start, unit="B", unit_scale=True, desc=name, disable=hidden) as bar,
        ):
            while block := response.read(_BLOCK):
                file.write(block)
                bar.update(len(block))
            received = file.tell()
        if total is not None and received < total:
            raise _Interrupted(f"the connection ended after {received} of {total} bytes")

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
    """Downloads a file into a folder, unless it is there already, and verifies it.

    Args:
        url: An ``http`` or ``https`` address; the file is named by the end of its path.
        destination_folder: Created if it does not exist.
        sha256: Expected hashes by name: of the file itself, or of members of the archive, without their folders.
        progress: Show a progress bar (on a terminal only).
        pause_seconds: Wait after the first failed attempt; each further wait is twice as long.

    Returns:
        The checked file.

    Raises:
        ConfigError: The address is no http or https address of a file.
        DataError: The server refuses, or five attempts in a row bring no bytes. Or a hash is wrong, also of a file that
            was there already; the file is then renamed to end with ``.bad``.
    """
    check_address(url)
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
    try:
        _transfer_whole(transfer, pause_seconds)
    except DataError:
        with suppress(OSError):
            folder.rmdir()  # where nothing came
        raise
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
    """Renames ``path`` to ``target.bad`` and raises if a hash is wrong."""
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
            return hashlib.file_digest(file, "sha256").hexdigest()
    with zipfile.ZipFile(path) as archive:
        members = [member for member in archive.namelist() if PurePosixPath(member).name == name]
        members = [member for member in members if not member.startswith("__MACOSX")]
        if len(members) != 1:
            raise DataError(f"must hold one {name}, holds {len(members)}")
        return hashlib.sha256(archive.read(members[0])).hexdigest()


def unpack(archive: Path) -> list[Path]:
    """Unpacks the files of an archive that hold conversations into its folder.

    Args:
        archive: A verified zip archive.

    Returns:
        The files, train before dev before test.

    Raises:
        DataError: The archive holds no conversations, or a file cannot be written or exists with other content.
    """
    files = []
    for part in find_parts(archive):
        file = archive.with_name(PurePosixPath(part.member or part.name).name)
        content = part.read()
        try:
            if file.exists() and file.read_bytes() != content:
                raise DataError(f"is not the {file.name} of {archive.name}; move it away first", file=str(file))
        except OSError as error:
            raise DataError(f"cannot be read: {error.strerror}", file=str(file)) from error
        write_bytes(file, content)
        files.append(file)
    return files
