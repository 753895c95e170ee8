"""Download of a data set, verified before it is written.

>>> fetch(CONVFINQA_URL, "convfinqa", CONVFINQA_SHA256)
PosixPath('convfinqa/data.zip')
"""

from __future__ import annotations

import hashlib
import io
import zipfile
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from urllib.parse import unquote, urlsplit

from experiments.console import check_address
from experiments.data.conversations import find_parts
from kg.errors import ConfigError, DataError
from kg.files import replacing

CONVFINQA_URL = "https://github.com/czyssrs/ConvFinQA/raw/main/data.zip"
"""The address of ConvFinQA's conversations, published by its authors."""

CONVFINQA_SHA256: Mapping[str, str] = {
    "train.json": "c100932b73f3237f0474cbb6baa04e1662050cba948791f2e3a5d496b78e0b50",
    "dev.json": "9665dd60f106e5cd41d37537edac97bbd26eb7629ad63ca2390b19d4619ba51b",
    "test_private.json": "a481528da0d4680d0318e2d400a9f2b5eb5fb0c625e431b0699225a4bedcd7dd",
}
"""The hashes of the archive's members that finpath reads."""

_TIMEOUT_SECONDS = 60


def fetch(url: str, destination_folder: str | Path, sha256: Mapping[str, str]) -> Path:
    """Downloads a file into a folder, unless it is there already, and verifies it.

    Args:
        url: An ``http`` or ``https`` address; the file is named by the end of its path.
        destination_folder: Created if it does not exist.
        sha256: Expected hashes by name: of the file itself, or of members of the archive, without their folders.

    Returns:
        The checked file.

    Raises:
        ConfigError: The address is no http or https address of a file.
        DataError: The file cannot be fetched, or a hash is wrong, also of a file that is there already.
    """
    check_address(url)
    parts = urlsplit(url)
    name = PurePosixPath(unquote(parts.path)).name
    if parts.scheme not in ("http", "https") or not parts.netloc or not name:
        raise ConfigError(f"url must be an http or https address of a file, got {url!r}")
    target = Path(destination_folder) / name
    try:
        content = target.read_bytes() if target.exists() else _received(url)
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}", file=str(target)) from error
    for member, expected in sha256.items():
        found = hashlib.sha256(content if member == name else _member(content, member, url)).hexdigest()
        if found != expected.lower():
            raise DataError(f"{member} must have the sha256 {expected}, found {found}", file=str(target))
    with replacing(target) as written:
        written.write(content)
    return target


def _received(url: str) -> bytes:
    import httpx

    try:
        response = httpx.get(url, follow_redirects=True, timeout=_TIMEOUT_SECONDS)
    except httpx.HTTPError as error:
        raise DataError(f"could not be fetched: {error}", file=url) from error
    if response.is_error:
        raise DataError(f"the server answered {response.status_code} {response.reason_phrase}", file=url)
    return response.content


def _member(archive: bytes, name: str, url: str) -> bytes:
    try:
        with zipfile.ZipFile(io.BytesIO(archive)) as opened:
            members = [one for one in opened.namelist() if PurePosixPath(one).name == name]
            members = [one for one in members if not one.startswith("__MACOSX")]
            if len(members) != 1:
                raise DataError(f"must hold one {name}, holds {len(members)}", file=url)
            return opened.read(members[0])
    except zipfile.BadZipFile as error:
        raise DataError(f"is not a zip archive that can be read ({error})", file=url) from error


def unpack(archive: Path) -> list[Path]:
    """Unpacks the files of an archive that hold conversations into its folder.

    Args:
        archive: A verified zip archive.

    Returns:
        The files, train before dev before test.

    Raises:
        DataError: The archive holds no conversations, or a file cannot be written or exists with other content.
    """
    files = {archive.with_name(PurePosixPath(part.name).name): part.read() for part in find_parts(archive)}
    for file, content in files.items():
        if file.exists() and file.read_bytes() != content:
            raise DataError(f"is not the {file.name} of {archive.name}; move it away first", file=str(file))
        with replacing(file) as written:
            written.write(content)
    return list(files)
