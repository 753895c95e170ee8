"""Locks of files and folders among processes; the system releases the lock of a process that ends.

    with locked(folder / "finpath.lock"):                     # one process at a time
    FileLock(folder / "finpath.lock", shared=True)            # many readers, or one writer
    FileLock(path, wait=False)                                # BusyError where another process has it
    with locked(path, remove=True):                           # the file is removed at the end

On Windows a shared lock is an exclusive one.
"""

from __future__ import annotations

import errno
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from kg.errors import FinpathError

_PAUSE = 0.05

_NOT_WRITABLE = (errno.EACCES, errno.EPERM, errno.EROFS)


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
