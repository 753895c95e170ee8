"""Download of ConvFinQA, verified before it is written.

>>> fetch("convfinqa")
[PosixPath('convfinqa/train.json'), PosixPath('convfinqa/dev.json'), PosixPath('convfinqa/test_private.json')]
"""

from __future__ import annotations

import hashlib
import io
import zipfile
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from kg.errors import DataError
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


def fetch(folder: str | Path, *, url: str = CONVFINQA_URL, sha256: Mapping[str, str] = CONVFINQA_SHA256) -> list[Path]:
    """Fetches the files of conversations, unless they are all in the folder already, and verifies them.

    Args:
        folder: Created if it does not exist.
        url: The address of a zip archive.
        sha256: The expected hashes of the files, by their names without folders.

    Raises:
        DataError: The archive cannot be fetched or read, or a file is missing or has another hash.
    """
    files = {name: Path(folder) / name for name in sha256}
    if all(file.is_file() for file in files.values()):
        contents = {name: file.read_bytes() for name, file in files.items()}
    else:
        contents = _received(url)
    for name, expected in sha256.items():
        digest = hashlib.sha256(contents.get(name, b"")).hexdigest()
        if digest != expected:
            raise DataError(f"{name} must have the sha256 {expected}, got {digest}", file=str(files[name]))
    for name, file in files.items():
        with replacing(file) as written:
            written.write(contents[name])
    return list(files.values())


def _received(url: str) -> dict[str, bytes]:
    """The files of an archive by name; a Mac's archiver adds a shadow of every file under ``__MACOSX``."""
    import httpx

    try:
        response = httpx.get(url, follow_redirects=True, timeout=_TIMEOUT_SECONDS).raise_for_status()
        with zipfile.ZipFile(io.BytesIO(response.content)) as archive:
            names = [name for name in archive.namelist() if not name.startswith("__MACOSX")]
            return {PurePosixPath(name).name: archive.read(name) for name in names if not name.endswith("/")}
    except (httpx.HTTPError, httpx.InvalidURL, zipfile.BadZipFile) as error:
        raise DataError(f"could not be fetched and read as a zip archive: {error}", file=url) from error
