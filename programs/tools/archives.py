"""Unpacking of zip archives that may be hostile.

Some archives are refused before anything is written: names outside of the folder, links, encrypted members, and too
many members. Content larger than allowed, or than its archive could honestly hold, is refused too. The real size of a
member is counted while it is written, since an archive may declare a false one.
"""

from __future__ import annotations

import shutil
import stat
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from kg.errors import DataError
from programs.tools.workspace import Workspace

_CHUNK = 1 << 16


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
        """Unpacks a zip archive of the folder, given by its name, and lists the files that came out of it."""
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
    try:
        with zipfile.ZipFile(source) as archive:
            members = [member for member in archive.infolist() if not member.is_dir()]
            _check(source.name, members, limits)
            if target.exists():
                return [member.filename for member in members]
            part = target.with_name(f".{target.name}.part")
            shutil.rmtree(part, ignore_errors=True)
            try:
                left = limits.size
                for member in members:
                    left -= _write(archive, member, part, left)
                part.rename(target)
            finally:
                shutil.rmtree(part, ignore_errors=True)
            return [member.filename for member in members]
    except (zipfile.BadZipFile, NotImplementedError, EOFError) as error:
        raise DataError(f"is no zip archive that can be read: {error}", file=source.name) from error


def _check(name: str, members: list[zipfile.ZipInfo], limits: ArchiveLimits) -> None:
    if len(members) > limits.members:
        raise DataError(f"holds {len(members)} files, more than {limits.members}", file=name)
    for member in members:
        path = PurePosixPath(member.filename.replace("\\", "/"))
        if path.is_absolute() or ".." in path.parts or ":" in path.parts[0]:
            raise DataError("leads out of the folder", file=name, place=member.filename)
        if stat.S_ISLNK(member.external_attr >> 16):
            raise DataError("is a link", file=name, place=member.filename)
        if member.flag_bits & 1:
            raise DataError("is encrypted", file=name, place=member.filename)
        if member.file_size > limits.ratio * max(member.compress_size, 1):
            raise DataError(f"unpacks to more than {limits.ratio} times its size", file=name, place=member.filename)
    if sum(member.file_size for member in members) > limits.size:
        raise DataError(f"unpacks to more than {limits.size} bytes", file=name)


def _write(archive: zipfile.ZipFile, member: zipfile.ZipInfo, folder: Path, left: int) -> int:
    target = folder / member.filename
    target.parent.mkdir(parents=True, exist_ok=True)
    written = 0
    with archive.open(member) as packed, target.open("xb") as unpacked:
        while chunk := packed.read(_CHUNK):
            written += len(chunk)
            if written > left or written > member.file_size:
                raise DataError("unpacks to more bytes than it says or may", place=member.filename)
            unpacked.write(chunk)
    return written
