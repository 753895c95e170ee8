"""Unpacking of zip and tar archives that may be hostile.

Some archives are refused before anything is written: names outside of the folder, links, encrypted members, and too
many members. Content larger than allowed, or than its archive could honestly hold, is refused too. The real size of a
member is counted while it is written, since an archive may declare a false one.
"""

from __future__ import annotations

import shutil
import stat
import tarfile
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO

from kg.errors import DataError
from kg.files import UNREADABLE
from programs.tools.workspace import Workspace

_CHUNK = 1 << 16

TAR_ENDINGS = (".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz")
"""The endings of tar archives; other archives are read as zip."""


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


def extract_archive(workspace: Workspace, limits: ArchiveLimits | None = None) -> Callable[[str], list[str]]:
    """The tool that unpacks archives of a folder."""
    allowed = limits if limits is not None else ArchiveLimits()

    def extract(file: str) -> list[str]:
        """Unpacks a zip or tar archive of the folder, given by its name, and lists the files that came out of it."""
        source = workspace.file(file)
        target = workspace.path(f"{PurePosixPath(file).with_suffix('')}-unpacked")
        names = unpack(source, target, allowed)
        root = workspace.root.resolve()
        return [(target / name).relative_to(root).as_posix() for name in names]

    return extract


def unpack(source: Path, target: Path, limits: ArchiveLimits) -> list[str]:
    """Unpacks an archive into a new folder, whole or not at all; a folder that is there already is left as it is.

    Returns:
        The names of the files, relative to ``target``.

    Raises:
        DataError: It is no archive, or breaks a limit.
    """
    is_tar = source.name.lower().endswith(TAR_ENDINGS)
    try:
        return _unpack_tar(source, target, limits) if is_tar else _unpack_zip(source, target, limits)
    except (tarfile.TarError, *UNREADABLE) as error:
        kind = "tar" if is_tar else "zip"
        raise DataError(f"is no {kind} archive that can be read: {error}", file=source.name) from error


def _unpack_zip(source: Path, target: Path, limits: ArchiveLimits) -> list[str]:
    with zipfile.ZipFile(source) as archive:
        members = [member for member in archive.infolist() if not member.is_dir()]
        _check(source.name, members, limits)

        def write(folder: Path) -> None:
            left = limits.size
            for member in members:
                with archive.open(member) as packed:
                    left -= _write(packed, member.filename, folder, min(left, member.file_size))

        _whole(target, write)
        return [member.filename for member in members]


def _unpack_tar(source: Path, target: Path, limits: ArchiveLimits) -> list[str]:
    """Unpacks the plain files of a tar archive; the real size of the archive bounds what may come out of it."""
    most = min(limits.size, limits.ratio * max(source.stat().st_size, 1))
    names: list[str] = []

    def write(folder: Path) -> None:
        left = most
        with tarfile.open(source) as archive:
            for member in archive:
                if member.isdir():
                    continue
                if not member.isfile():
                    raise DataError("is a link or a device", file=source.name, place=member.name)
                _check_name(source.name, member.name)
                if len(names) >= limits.members:
                    raise DataError(f"holds more than {limits.members} files", file=source.name)
                packed = archive.extractfile(member)
                assert packed is not None
                left -= _write(packed, member.name, folder, min(left, member.size))
                names.append(member.name)

    if target.exists():
        return sorted(path.relative_to(target).as_posix() for path in target.rglob("*") if path.is_file())
    _whole(target, write)
    return names


def _whole(target: Path, write: Callable[[Path], None]) -> None:
    """Writes a folder that is not there, whole or not at all."""
    if target.exists():
        return
    part = target.with_name(f".{target.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    try:
        write(part)
        part.rename(target)
    finally:
        shutil.rmtree(part, ignore_errors=True)


def _check(name: str, members: list[zipfile.ZipInfo], limits: ArchiveLimits) -> None:
    if len(members) > limits.members:
        raise DataError(f"holds {len(members)} files, more than {limits.members}", file=name)
    for member in members:
        _check_name(name, member.filename)
        if stat.S_ISLNK(member.external_attr >> 16):
            raise DataError("is a link", file=name, place=member.filename)
        if member.flag_bits & 1:
            raise DataError("is encrypted", file=name, place=member.filename)
        if member.file_size > limits.ratio * max(member.compress_size, 1):
            raise DataError(f"unpacks to more than {limits.ratio} times its size", file=name, place=member.filename)
    if sum(member.file_size for member in members) > limits.size:
        raise DataError(f"unpacks to more than {limits.size} bytes", file=name)


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
