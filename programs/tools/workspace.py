"""The one folder that tools may read from and write to, and the unpacking of archives in it.

    >>> Workspace(Path("reports")).path("2026/q3.pdf")
    PosixPath('/home/ann/reports/2026/q3.pdf')

A path that leads out of the folder is refused. So are archives with names outside of their folder, links, encrypted
members, too many members, or more content than they could honestly hold. The real size of a member is counted while it
is written, since an archive may declare a false one.
"""

from __future__ import annotations

import shutil
import stat
import tarfile
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO

from kg.errors import DataError
from kg.files import UNREADABLE

TAR_ENDINGS = (".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz")
"""The endings of tar archives; other archives are read as zip."""

ARCHIVES = (".zip", *TAR_ENDINGS)

LARGEST = 50_000_000
"""Bytes that a file which is read may have."""

_CHUNK = 1 << 16
_Member = tuple[str, int, IO[bytes]]
"""The name of a file in an archive, its declared size, and its content."""


@dataclass(frozen=True)
class Workspace:
    """A folder.

    Attributes:
        root: The folder.
    """

    root: Path

    def path(self, name: str) -> Path:
        """Returns the path of a name in the folder, whether it exists or not.

        Raises:
            DataError: It is outside of the folder, also by a link.
        """
        root = self.root.resolve()
        path = (root / name).resolve()
        if not path.is_relative_to(root):
            raise DataError("lies outside of the folder that tools may use", file=name)
        return path

    def file(self, name: str) -> Path:
        """Returns the path of an existing file that is not too large.

        Raises:
            DataError: It is missing, too large or outside of the folder.
        """
        path = self.path(name)
        if not path.is_file():
            known = ", ".join(self.names()[:20]) or "none"
            raise DataError(f"there is no such file; there are: {known}", file=name)
        if path.stat().st_size > LARGEST:
            raise DataError(f"has {path.stat().st_size} bytes, more than the {LARGEST} allowed", file=name)
        return path

    def names(self) -> list[str]:
        """Returns the names of all files of the folder and its subfolders, without hidden ones, in their order."""
        root = self.root.resolve()
        files = (path.relative_to(root) for path in root.rglob("*") if path.is_file())
        return sorted(path.as_posix() for path in files if not any(part.startswith(".") for part in path.parts))


@dataclass(frozen=True)
class ArchiveLimits:
    """The limits of an archive.

    Attributes:
        members: Files.
        size: Bytes, unpacked.
        ratio: Unpacked bytes for each packed one.
    """

    members: int = 1000
    size: int = 200_000_000
    ratio: int = 200


def unpack(source: Path, target: Path, limits: ArchiveLimits | None = None) -> list[str]:
    """Unpacks an archive into a new folder, whole or not at all; a folder that is there already is left as it is.

    Returns:
        The names of the files, relative to ``target``.

    Raises:
        DataError: It is no archive, or breaks a limit.
    """
    if target.exists():
        return sorted(path.relative_to(target).as_posix() for path in target.rglob("*") if path.is_file())
    limits = limits if limits is not None else ArchiveLimits()
    is_tar = source.name.lower().endswith(TAR_ENDINGS)
    part = target.with_name(f".{target.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    names: list[str] = []
    # A packed file can honestly hold so much; of a zip archive each member is checked.
    left = min(limits.size, limits.ratio * max(source.stat().st_size, 1)) if is_tar else limits.size
    try:
        for name, declared, content in _tar_members(source) if is_tar else _zip_members(source, limits):
            _check_name(source.name, name)
            if len(names) >= limits.members:
                raise DataError(f"holds more than {limits.members} files", file=source.name)
            left -= _write(content, name, part, min(left, declared))
            names.append(name)
        part.mkdir(parents=True, exist_ok=True)
        part.rename(target)
    except (tarfile.TarError, *UNREADABLE) as error:
        kind = "tar" if is_tar else "zip"
        raise DataError(f"is no {kind} archive that can be read: {error}", file=source.name) from error
    finally:
        shutil.rmtree(part, ignore_errors=True)
    return names


def unpack_all(workspace: Workspace, problems: list[str]) -> list[str]:
    """Unpacks the archives of a folder, also those inside archives, and returns the names of all other files.

    Args:
        workspace: The folder.
        problems: Receives a line for each archive that cannot be unpacked.
    """
    seen: set[str] = set()
    while new := [name for name in workspace.names() if name.endswith(ARCHIVES) and name not in seen]:
        seen.update(new)
        for name in new:
            try:
                unpack(workspace.file(name), workspace.path(f"{PurePosixPath(name).with_suffix('')}-unpacked"))
            except DataError as error:
                problems.append(str(error))
    return [name for name in workspace.names() if name not in seen]


def _zip_members(source: Path, limits: ArchiveLimits) -> Iterator[_Member]:
    with zipfile.ZipFile(source) as archive:
        members = [member for member in archive.infolist() if not member.is_dir()]
        for member in members:
            if stat.S_ISLNK(member.external_attr >> 16) or member.flag_bits & 1:
                raise DataError("is a link or encrypted", file=source.name, place=member.filename)
            if member.file_size > limits.ratio * max(member.compress_size, 1):
                rule = f"unpacks to more than {limits.ratio} times its size"
                raise DataError(rule, file=source.name, place=member.filename)
            with archive.open(member) as content:
                yield member.filename, member.file_size, content


def _tar_members(source: Path) -> Iterator[_Member]:
    with tarfile.open(source) as archive:
        for member in archive:
            if member.isdir():
                continue
            content = archive.extractfile(member) if member.isfile() else None
            if content is None:
                raise DataError("is a link or a device", file=source.name, place=member.name)
            yield member.name, member.size, content


def _check_name(archive: str, name: str) -> None:
    path = PurePosixPath(name.replace("\\", "/"))
    if not path.parts or path.is_absolute() or ".." in path.parts or ":" in path.parts[0]:
        raise DataError("leads out of the folder", file=archive, place=name)


def _write(packed: IO[bytes], name: str, folder: Path, most: int) -> int:
    target = folder / name
    target.parent.mkdir(parents=True, exist_ok=True)
    written = 0
    with target.open("xb") as unpacked:
        while chunk := packed.read(_CHUNK):
            written += len(chunk)
            if written > most:
                raise DataError("unpacks to more bytes than it says or may", place=name)
            unpacked.write(chunk)
    return written
