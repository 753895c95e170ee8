"""Sources of conversations: a file, a folder, an archive as published by the authors, a data set, or the sample.

>>> [(part.split, part.name) for part in find_parts("data.zip")]
[('train', 'data.zip/data/train.json'), ('dev', 'data.zip/data/dev.json'), ('test', 'data.zip/data/test_private.json')]
>>> find_part("sample:dev").name
'sample/dev.json'
"""

from __future__ import annotations

import zipfile
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from experiments.data.typed import ENDINGS, HUB, is_dataset, is_saved, json_of, rows_as_json, splits_of
from experiments.files import SAMPLE_FOLDER
from kg.errors import ConfigError, DataError
from kg.files import UNREADABLE

SAMPLE = "sample"
"""The name of the conversations that ship with finpath."""

SPLIT_OF_FILE = {
    "train.json": "train",
    "dev.json": "dev",
    "test.json": "test",
    "test_private.json": "test",
    "test_without_gold.json": "test",
}
"""The files of a folder or an archive that hold conversations, and the split that each is."""

_SPLIT_OF_NAME = {"train": "train", "validation": "dev", "dev": "dev", "test": "test"}
_ARCHIVE = "data.zip"


MOST_BYTES = 500_000_000
"""Bytes that a file in an archive may unpack to."""


@dataclass(frozen=True)
class Part:
    """One file of conversations: a file on disk, or a member of an archive.

    Attributes:
        split: ``train``, ``dev``, ``test``, or ``data`` for a file of any other name.
        name: The file in messages: ``dev.json``, ``sample/dev.json``, ``data.zip/data/dev.json``.
        path: The file or the archive.
        member: Its name in the archive.
        rows: The rows of a data set, which has no file.
    """

    split: str
    name: str
    path: str
    member: str | None = None
    rows: Any = field(default=None, compare=False, repr=False)

    def read(self) -> bytes:
        """The file's bytes.

        Raises:
            DataError: It cannot be read.
        """
        if self.rows is not None:
            return rows_as_json(self.rows)
        if self.member is None and Path(self.path).suffix.lower() in ENDINGS:
            return json_of(Path(self.path))
        try:
            if self.member is None:
                return Path(self.path).read_bytes()
            with zipfile.ZipFile(self.path) as archive, archive.open(self.member) as packed:
                content = packed.read(MOST_BYTES + 1)
        except UNREADABLE as error:
            raise DataError(f"cannot be read: {error}", file=self.name) from error
        if len(content) > MOST_BYTES:
            raise DataError(f"unpacks to more than {MOST_BYTES} bytes", file=self.name)
        return content


def find_part(source: Any, split: str | None = None) -> Part:
    """The one part of a source, or that of the split; a source may end in ``:split``.

    Raises:
        DataError: The source does not exist or holds no conversations.
        ConfigError: It has several splits and none was named, or not the one that was named.
    """
    parts = find_parts(source)
    wanted = [part for part in parts if split in (None, part.split)]
    if len(wanted) != 1:
        names = ", ".join(part.split for part in parts)
        if split is None:
            raise ConfigError(f"{source} holds several splits ({names}); name one of them: {source}:{parts[0].split}")
        raise ConfigError(f"split must be one of those that {str(source)!r} holds ({names}), got {split!r}")
    return wanted[0]


def find_parts(source: Any) -> list[Part]:
    """Every part of a source, train before dev before test; only the one that a trailing ``:split`` names.

    Raises:
        DataError: The source does not exist or holds no conversations.
        ConfigError: It does not have the split that was named.
    """
    if is_dataset(source):
        return _typed_parts(source, "data set")
    base, separator, suffix = str(source).rpartition(":")
    if separator and suffix in SPLIT_OF_FILE.values() and not Path(source).exists():
        return [find_part(base, suffix)]
    path = SAMPLE_FOLDER if source == SAMPLE else Path(source)
    if str(source).startswith(HUB) or (path.is_dir() and is_saved(path)):
        return _typed_parts(source, str(source))
    if not any((path / name).is_file() for name in SPLIT_OF_FILE) and (path / _ARCHIVE).is_file():
        path /= _ARCHIVE
    if path.is_dir():
        files = [path / name for name in SPLIT_OF_FILE if (path / name).is_file()]
        parts = [Part(SPLIT_OF_FILE[file.name], f"{path.name}/{file.name}", str(file)) for file in files]
    elif not path.is_file():
        raise DataError(
            "no such file or folder; give a file (JSON, JSON Lines or Parquet), a folder, a data.zip, hf:NAME "
            "or 'sample'; `finpath data fetch` fetches ConvFinQA",
            file=str(source),
        )
    elif zipfile.is_zipfile(path):
        parts = _members(path)
    else:
        parts = [Part(SPLIT_OF_FILE.get(path.name, "data"), path.name, str(path))]
    if not parts:
        raise DataError(f"holds none of {', '.join(SPLIT_OF_FILE)}", file=str(source))
    _check_splits(parts, str(source))
    return parts


def _typed_parts(source: Any, name: str) -> list[Part]:
    """The splits of a data set; ``validation`` is ``dev``."""
    found = splits_of(source)
    splits = {one: _SPLIT_OF_NAME.get(one, "data") for one in found}
    return [Part(splits[one], f"{name}/{one}" if len(found) > 1 else name, name, rows=found[one]) for one in found]


def _members(path: Path) -> list[Part]:
    try:
        with zipfile.ZipFile(path) as archive:
            # A Mac's archiver adds a shadow of every file under __MACOSX.
            members = [name for name in archive.namelist() if not name.startswith("__MACOSX")]
    except UNREADABLE as error:
        raise DataError(f"cannot be read: {error}", file=path.name) from error
    return [
        Part(split, f"{path.name}/{member}", str(path), member)
        for name, split in SPLIT_OF_FILE.items()
        for member in members
        if PurePosixPath(member).name == name
    ]


def _check_splits(parts: list[Part], source: str) -> None:
    files: dict[str, Part] = {}
    for part in parts:
        other = files.setdefault(part.split, part)
        if other != part:
            raise DataError(f"holds two files of the split {part.split!r}: {other.name} and {part.name}", file=source)
