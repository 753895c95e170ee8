"""Unpacking of zip and tar archives that may be hostile.

Refused are names outside of the folder, links, encrypted members, too many members, and content larger than allowed or
than its archive could honestly hold. The real size of a member is counted while it is written, since an archive may
declare a false one.
"""

from __future__ import annotations

import shutil
import stat
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO

from kg.errors import DataError
from kg.files import UNREADABLE
from programs.tools.workspace import Workspace

_CHUNK = 1 << 16

TAR_ENDINGS = (".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz")
"""The endings of tar archives; other archives are read as zip."""

_Member = tuple[str, int, IO[bytes]]
"""The name of a file, its declared size, and its content."""


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
    if target.exists():
        return sorted(path.relative_to(target).as_posix() for path in target.rglob("*") if path.is_file())
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


def _zip_members(source: Path, limits: ArchiveLimits) -> Iterator[_Member]:
    with zipfile.ZipFile(source) as archive:
        members = [member for member in archive.infolist() if not member.is_dir()]
        if len(members) > limits.members:
            raise DataError(f"holds {len(members)} files, more than {limits.members}", file=source.name)
        for member in members:
            if stat.S_ISLNK(member.external_attr >> 16):
                raise DataError("is a link", file=source.name, place=member.filename)
            if member.flag_bits & 1:
                raise DataError("is encrypted", file=source.name, place=member.filename)
            if member.file_size > limits.ratio * max(member.compress_size, 1):
                rule = f"unpacks to more than {limits.ratio} times its size"
                raise DataError(rule, file=source.name, place=member.filename)
        if sum(member.file_size for member in members) > limits.size:
            raise DataError(f"unpacks to more than {limits.size} bytes", file=source.name)
        for member in members:
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
