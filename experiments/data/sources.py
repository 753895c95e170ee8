"""Sources of conversations: files, folders, archives and data sets, as parts that are one JSON list each.

>>> [part.split for part in find_parts("sample")]
['train', 'dev']
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any

from experiments.console import SAMPLE_FOLDER
from kg.errors import ConfigError, DataError
from kg.files import UNREADABLE

SAMPLE = "sample"
"""The name of the conversations that ship with finpath."""

HUB = "hf:"
"""The prefix of a name on the hub."""

SPLIT_OF_FILE = {
    "train.json": "train",
    "dev.json": "dev",
    "test.json": "test",
    "test_private.json": "test",
    "test_without_gold.json": "test",
}
"""The files of a folder or an archive that hold conversations, and the split that each is."""

MOST_BYTES = 500_000_000
"""Bytes that a file in an archive may unpack to."""

_SPLIT_OF_NAME = {"train": "train", "validation": "dev", "dev": "dev", "test": "test"}
_ARCHIVE, _SAVED_DATA_SET = "data.zip", ("dataset_info.json", "dataset_dict.json")
_LOADERS = {".parquet": "parquet", ".jsonl": "json", ".ndjson": "json"}


@dataclass(frozen=True)
class ConversationFile:
    """One file of conversations: a file on disk, a member of an archive, or a data set.

    Attributes:
        split: ``train``, ``dev``, ``test``, or ``data`` for a file of any other name.
        name: The file in messages: ``dev.json``, ``sample/dev.json``, ``data.zip/data/dev.json``.
        content: Returns the conversations as a JSON list.
    """

    split: str
    name: str
    content: Callable[[], bytes] = field(compare=False, repr=False)

    def read(self) -> bytes:
        """Returns the conversations as a JSON list.

        Raises:
            DataError: They cannot be read.
        """
        try:
            return self.content()
        except UNREADABLE as error:
            raise DataError(f"cannot be read: {error}", file=self.name) from error


def find_part(source: Any, split: str | None = None) -> ConversationFile:
    """Returns the one part of a source, or that of the split; a source may end in ``:split``.

    Raises:
        DataError: The source does not exist or holds no conversations.
        ConfigError: It has several splits and none was named, or not the one that was named.
    """
    parts = find_parts(source)
    matches = [part for part in parts if split in (None, part.split)]
    if len(matches) != 1:
        names = ", ".join(part.split for part in parts)
        if split is None:
            raise ConfigError(f"{source} holds several splits ({names}); name one of them: {source}:{parts[0].split}")
        raise ConfigError(f"split must be one of those that {str(source)!r} holds ({names}), got {split!r}")
    return matches[0]


def find_parts(source: Any) -> list[ConversationFile]:
    """Returns every part of a source, train before dev before test; only the one that a trailing ``:split`` names.

    Raises:
        DataError: The source does not exist or holds no conversations.
        ConfigError: It does not have the split that was named.
    """
    if not isinstance(source, str | Path):
        return _data_set_parts(source, "data set")
    base, separator, suffix = str(source).rpartition(":")
    if separator and suffix in SPLIT_OF_FILE.values() and not Path(source).exists():
        return [find_part(base, suffix)]
    path = SAMPLE_FOLDER if source == SAMPLE else Path(source)
    is_saved = any((path / name).is_file() for name in _SAVED_DATA_SET)
    if str(source).startswith(HUB) or is_saved or (path.is_file() and path.suffix.lower() in _LOADERS):
        return _data_set_parts(_opened_data_set(str(source)), path.name)
    if not any((path / name).is_file() for name in SPLIT_OF_FILE) and (path / _ARCHIVE).is_file():
        path /= _ARCHIVE
    if path.is_dir():
        files = [path / name for name in SPLIT_OF_FILE if (path / name).is_file()]
        parts = [
            ConversationFile(SPLIT_OF_FILE[file.name], f"{path.name}/{file.name}", file.read_bytes) for file in files
        ]
    elif not path.is_file():
        raise DataError(
            "no such file or folder; give a file (JSON, JSON Lines or Parquet), a folder, a data.zip, hf:NAME "
            "or 'sample'; `finpath data fetch` fetches ConvFinQA",
            file=str(source),
        )
    elif zipfile.is_zipfile(path):
        parts = _members(path)
    else:
        parts = [ConversationFile(SPLIT_OF_FILE.get(path.name, "data"), path.name, path.read_bytes)]
    if not parts:
        raise DataError(f"holds none of {', '.join(SPLIT_OF_FILE)}", file=str(source))
    by_split: dict[str, ConversationFile] = {}
    for part in parts:
        if (other := by_split.setdefault(part.split, part)) != part:
            rule = f"holds two files of the split {part.split!r}: {other.name} and {part.name}"
            raise DataError(rule, file=str(source))
    return parts


def _opened_data_set(source: str) -> Any:
    """The data set of a name on the hub, of a file of Parquet or JSON Lines, or of a folder of ``save_to_disk``."""
    import datasets

    loader = _LOADERS.get(Path(source).suffix.lower())
    try:
        if source.startswith(HUB):
            return datasets.load_dataset(source[len(HUB) :])
        if loader is None:
            return datasets.load_from_disk(source)
        split = SPLIT_OF_FILE.get(f"{Path(source).stem}.json", "data")
        return datasets.load_dataset(loader, data_files={split: source})
    except Exception as error:  # datasets raises errors of the hub, of files and of its own
        raise DataError(f"cannot be read as a data set: {error}", file=source) from error


def _data_set_parts(data: Any, name: str) -> list[ConversationFile]:
    """The splits of a data set; ``validation`` is ``dev``."""
    splits = dict(data) if isinstance(data, Mapping) else {"data": data}
    names = {split: f"{name}/{split}" if len(splits) > 1 else name for split in splits}
    return [
        ConversationFile(_SPLIT_OF_NAME.get(split, "data"), names[split], partial(_rows_as_json, rows))
        for split, rows in splits.items()
    ]


def _members(path: Path) -> list[ConversationFile]:
    try:
        with zipfile.ZipFile(path) as archive:
            # A Mac's archiver adds a shadow of every file under __MACOSX.
            members = [name for name in archive.namelist() if not name.startswith("__MACOSX")]
    except UNREADABLE as error:
        raise DataError(f"cannot be read: {error}", file=path.name) from error
    return [
        ConversationFile(split, f"{path.name}/{member}", partial(_unpacked, path, member))
        for name, split in SPLIT_OF_FILE.items()
        for member in members
        if PurePosixPath(member).name == name
    ]


def _unpacked(path: Path, member: str) -> bytes:
    with zipfile.ZipFile(path) as archive, archive.open(member) as packed:
        content = packed.read(MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        raise DataError(f"unpacks to more than {MOST_BYTES} bytes", file=f"{path.name}/{member}")
    return content


def _rows_as_json(rows: Iterable[Any]) -> bytes:
    """The rows of a data set as a JSON list, the gold answers decoded."""
    return json.dumps([_decoded(row) for row in rows], default=str).encode()


def _decoded(row: Any) -> Any:
    annotation = row.get("annotation") if isinstance(row, Mapping) else None
    answers = annotation.get("answers") if isinstance(annotation, Mapping) else None
    if not isinstance(annotation, Mapping) or not isinstance(answers, list):
        return row  # the rules of the format name what is wrong
    return {**row, "annotation": {**annotation, "answers": [_answer(one) for one in answers]}}


def _answer(written: Any) -> Any:
    """A gold answer; finpath's own data sets hold each as JSON."""
    try:
        return json.loads(written, parse_int=str, parse_float=str) if isinstance(written, str) else written
    except ValueError:
        return written
