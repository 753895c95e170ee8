"""Files and folders that are written completely or not at all, and locks among processes.

    with replacing("figures.json") as file:                # a crash leaves the earlier file, never half of the new one
        file.write(b"{}")
    with folder_beside(target) as temporary: ...           # a folder next to it, removed at the end
    cache_folder() / "models"                              # $FINPATH_CACHE/models, or the user's own cache folder
    with locked(folder / "finpath.lock"): ...              # one process at a time
    FileLock(folder / "finpath.lock", shared=True)         # many readers, or one writer

What a killed process left behind is removed when the same file or folder is written again. The system releases the
lock of a process that ends. On Windows a shared lock is an exclusive one.
"""

from __future__ import annotations

import errno
import lzma
import os
import re
import secrets
import shutil
import stat
import sys
import time
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from platformdirs import user_cache_path

from kg.errors import DataError, FinpathError

_PAUSE = 0.05
_NOT_WRITABLE = (errno.EACCES, errno.EPERM, errno.EROFS)
_LOCK = "lock"
_PART = "finpath-part"
"""The ending of temporary names, which no file of a user has."""
_NEW = 60.0
"""Seconds for which a temporary file, or a folder without a lock, stays: its writer may be between two steps."""

UNREADABLE = (OSError, zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, RuntimeError, ValueError, LookupError)
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
        temporary = _beside(target)
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
        temporary = _beside(target)
        temporary.mkdir()
    except OSError as error:
        raise DataError(f"cannot be written: {error.strerror or error}", file=str(target)) from error
    try:
        with locked(temporary / _LOCK):
            yield temporary
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _beside(target: Path) -> Path:
    return target.with_name(f".{target.name[:200]}.{secrets.token_hex(4)}.{_PART}")


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
    name = re.compile(rf"\.{re.escape(target.name[:200])}\.[0-9a-f]{{8}}\.{_PART}")
    try:
        found = [path for path in target.parent.iterdir() if name.fullmatch(path.name)]
    except OSError:
        return []
    return [path for path in found if _is_left(path)]


def _is_left(path: Path) -> bool:
    """Whether nobody works on something temporary: its lock is free, and a file is not new."""
    try:
        lock = path / _LOCK if path.is_dir() else path
        is_locked_folder = path.is_dir() and lock.exists()
        if not is_locked_folder and time.time() - path.stat().st_mtime < _NEW:
            return False
        if lock.exists():
            FileLock(lock, wait=False).release()
    except (OSError, BusyError):
        return False
    return True


class BusyError(FinpathError):
    """Another process has the lock."""


class FileLock:
    """A lock that is held from its making until :meth:`release`.

    Args:
        path: The lock's file, made if it is not there; it stays.
        shared: Whether other processes may hold it too, if they share it.
        wait: Whether to wait for other processes.

    Raises:
        BusyError: Another process has it, and ``wait`` is not set.
        OSError: The file cannot be made; a shared lock needs none in a folder that cannot be written.
    """

    def __init__(self, path: Path, *, shared: bool = False, wait: bool = True) -> None:
        self._handle: int | None = None
        self._path = path
        while self._handle is None:
            try:
                self._handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
            except OSError as error:
                if not shared or error.errno not in _NOT_WRITABLE:
                    raise
                return  # a folder that cannot be written has no writers to wait for
            try:
                while not _try_lock(self._handle, shared=shared):
                    if not wait:
                        raise BusyError(f"{path} is in use by another process")
                    time.sleep(_PAUSE)
            except BaseException:
                self.release()
                raise
            if not self._is_there():
                self.release()  # its earlier holder removed the file, and the next process makes another

    def _is_there(self) -> bool:
        """Whether the file that is locked has the path."""
        assert self._handle is not None
        try:
            return os.path.samestat(os.fstat(self._handle), self._path.stat())
        except FileNotFoundError:
            return False

    def release(self, *, remove: bool = False) -> None:
        """Gives the lock back; again does nothing.

        Args:
            remove: Whether to remove the lock's file, which only its holder may do.
        """
        if self._handle is not None:
            if remove:
                with suppress(OSError):
                    self._path.unlink(missing_ok=True)
            os.close(self._handle)
            self._handle = None


@contextmanager
def locked(path: Path, *, remove: bool = False) -> Iterator[None]:
    """Holds a :class:`FileLock` inside the context; ``remove`` removes its file at the end."""
    lock = FileLock(path)
    try:
        yield
    finally:
        lock.release(remove=remove)


if sys.platform == "win32":
    import msvcrt

    def _try_lock(handle: int, *, shared: bool) -> bool:  # noqa: ARG001 - Windows has no shared locks here
        try:
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:
    import fcntl

    def _try_lock(handle: int, *, shared: bool) -> bool:
        try:
            fcntl.flock(handle, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True
