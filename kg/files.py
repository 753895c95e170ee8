"""Files and folders that are written completely or not at all.

    with replacing("figures.json") as file:                # a crash leaves the earlier file, never half of the new one
        file.write(b"{}")
    with folder_beside(target) as temporary: ...           # a folder next to it, removed at the end
    cache_folder() / "models"                              # $FINPATH_CACHE/models, or the user's own cache folder

What a killed process left behind is removed when the same file or folder is written again.
"""

from __future__ import annotations

import lzma
import os
import re
import secrets
import shutil
import stat
import time
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from platformdirs import user_cache_path

from kg.errors import DataError
from kg.locks import BusyError, FileLock, locked

_LOCK = "lock"
_NEW = 60.0
"""Seconds for which something temporary is left alone, whether its writer has locked it yet or not."""

UNREADABLE = (
    OSError,
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    EOFError,
    RuntimeError,
    NotImplementedError,
    ValueError,
    LookupError,
)
"""Errors of :mod:`zipfile` for a damaged archive; a RuntimeError is of an encrypted file, an IndexError of no name."""

OLD = "old"
"""The name of an earlier folder inside the temporary one, until the new folder has its place."""


def cache_folder() -> Path:
    """Returns the folder of models, journals and compiles: ``$FINPATH_CACHE``, or ``finpath`` in the user's cache."""
    own = os.environ.get("FINPATH_CACHE")
    return Path(own).expanduser() if own else user_cache_path("finpath", appauthor=False)


@contextmanager
def replacing(path: str | Path) -> Iterator[IO[bytes]]:
    """Gives a new file to write, which takes the place of ``path`` when the block ends without an exception.

    The file's folder is made where it is missing. Links are followed; devices and pipes are written directly.

    Raises:
        DataError: The file cannot be written.
    """
    target = Path(os.path.realpath(path))
    try:
        if target.exists() and not stat.S_ISREG(target.stat().st_mode) and not target.is_dir():
            with target.open("wb") as file:
                yield file
            return
        target.parent.mkdir(parents=True, exist_ok=True)
        _clean(target)
        temporary = target.with_name(f".{target.name[:200]}.{secrets.token_hex(4)}")
        try:
            with temporary.open("xb") as file, locked(temporary):
                yield file
                file.flush()
                os.fsync(file.fileno())
            if target.exists():
                shutil.copymode(target, temporary)
            temporary.replace(target)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
        sync_folder(target.parent)
    except OSError as error:
        raise DataError(f"cannot be written: {error.strerror or error}", file=str(path)) from error


@contextmanager
def folder_beside(target: Path) -> Iterator[Path]:
    """Gives a temporary folder in the folder of ``target``, which is removed at the end.

    A folder of the name :data:`OLD` in one that a killed process left is the target's earlier content: it returns to
    its place if the target is missing.

    Raises:
        DataError: The folder cannot be made.
    """
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        restore(target)
        temporary = target.with_name(f".{target.name[:200]}.{secrets.token_hex(4)}")
        temporary.mkdir()
    except OSError as error:
        raise DataError(f"cannot be written: {error.strerror or error}", file=str(target)) from error
    try:
        with locked(temporary / _LOCK):
            yield temporary
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def restore(target: Path) -> None:
    """Gives a folder its earlier content back if a killed process left it without any, and removes leftovers."""
    for left in _left(target):
        if left.is_dir():
            if not target.exists() and (left / OLD).is_dir():
                (left / OLD).rename(target)
            shutil.rmtree(left, ignore_errors=True)


def sync_folder(folder: Path) -> None:
    """Makes renames in a folder durable, on systems where a folder can be opened."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _clean(target: Path) -> None:
    for left in _left(target):
        if left.is_file():
            with suppress(OSError):
                left.unlink()


def _left(target: Path) -> list[Path]:
    """Returns what killed processes left of their work on a file or folder."""
    name = re.compile(rf"\.{re.escape(target.name[:200])}\.[0-9a-z_]{{8}}")
    try:
        found = [path for path in target.parent.iterdir() if name.fullmatch(path.name)]
    except OSError:
        return []
    return [path for path in found if _is_left(path)]


def _is_left(path: Path) -> bool:
    """Whether nobody works on something temporary: it is not new, and its lock is free."""
    try:
        if time.time() - path.stat().st_mtime < _NEW:
            return False
        lock = path / _LOCK if path.is_dir() else path
        if lock.exists():
            FileLock(lock, wait=False).release()
    except (OSError, BusyError):
        return False
    return True
