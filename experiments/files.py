"""Files of the product: each one written completely or not at all, and the cache folder they may be in.

write_text("figures.json", "{}")                # a crash leaves the earlier file, never half of the new one
cache_folder() / "models"                       # $FINPATH_CACHE/models, or the user's own cache folder
"""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from platformdirs import user_cache_path

from kg.errors import DataError

SHIPPED_FOLDER = Path(__file__).parent / "shipped"
"""The folder of the programs that ship with finpath."""

SAMPLE_FOLDER = Path(__file__).parent / "sample"
"""The folder of the data that ships with finpath."""


def cache_folder() -> Path:
    """Returns the folder of models, journals and compiles: ``$FINPATH_CACHE``, or ``finpath`` in the user's cache."""
    own = os.environ.get("FINPATH_CACHE")
    return Path(own).expanduser() if own else user_cache_path("finpath", appauthor=False)


def read_text(path: str | Path) -> str:
    """Returns the text of a UTF-8 file.

    Raises:
        DataError: It cannot be read.
    """
    try:
        return Path(path).read_text(encoding="utf-8")
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}", file=str(path)) from error
    except UnicodeDecodeError as error:
        raise DataError(f"cannot be read: {error}", file=str(path)) from error


def read_object(path: str | Path, content: str) -> dict[str, Any]:
    """Returns the JSON object in a file.

    Args:
        path: The file.
        content: A description of the object, for the error.

    Raises:
        DataError: The file cannot be read, or is no such object.
    """
    try:
        found = json.loads(read_text(path))
    except ValueError as error:
        raise DataError(f"is not JSON: {error}", file=str(path)) from error
    if not isinstance(found, dict):
        raise DataError(f"must be an object with {content}", file=str(path))
    return found


def write_text(path: str | Path, text: str) -> None:
    """Writes a UTF-8 file completely or not at all; makes its folder."""
    write_bytes(path, text.encode("utf-8"))


def write_bytes(path: str | Path, content: bytes) -> None:
    """Writes a file completely or not at all; makes its folder."""
    with replacing(path) as file:
        file.write(content)


@contextmanager
def replacing(path: str | Path) -> Iterator[IO[bytes]]:
    """Gives a new file to write, which takes the place of ``path`` when the block ends without an exception."""
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(4)}")
    try:
        with temporary.open("xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    sync_folder(target.parent)


def sync_folder(folder: Path) -> None:
    """Makes renames in a folder durable, on systems where a folder can be opened."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
