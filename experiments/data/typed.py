"""Conversations in the forms of the ``datasets`` library, as the JSON that they were made from.

>>> json_of(Path("dev.parquet"))[:9]
b'[{"id": "'

A form is a Parquet or JSON Lines file, a folder of ``save_to_disk``, a name on the hub (``hf:OWNER/NAME``), or a data
set in memory.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from kg.errors import DataError

ENDINGS = (".parquet", ".jsonl", ".ndjson")
"""Endings of files in these forms."""

HUB = "hf:"
"""The prefix of a name on the hub."""

MOST_BYTES = 500_000_000
"""Bytes that a Parquet file may unpack to."""

_DISK = ("dataset_info.json", "dataset_dict.json")


def is_saved(folder: Path) -> bool:
    """Whether a folder is one of ``save_to_disk``."""
    return any((folder / name).is_file() for name in _DISK)


def is_dataset(source: Any) -> bool:
    """Whether an object is a data set, or one by split."""
    return not isinstance(source, str | Path) and (hasattr(source, "to_list") or isinstance(source, Mapping))


def splits_of(source: Any) -> dict[str, Any]:
    """The data sets of a folder, a name on the hub, or an object, by split; ``data`` where there is one alone.

    Raises:
        DataError: It cannot be read.
    """
    found = source
    if isinstance(source, str | Path):
        import datasets

        try:
            name = str(source)
            found = datasets.load_dataset(name[len(HUB) :]) if name.startswith(HUB) else datasets.load_from_disk(name)
        except Exception as error:  # datasets raises errors of the hub, of files and of its own
            raise DataError(f"cannot be read as a data set: {error}", file=str(source)) from error
    return dict(found) if isinstance(found, Mapping) else {"data": found}


def json_of(path: Path) -> bytes:
    """The conversations of a Parquet or JSON Lines file as a JSON list.

    Raises:
        DataError: The file cannot be read; the message has the line.
    """
    if path.suffix.lower() != ".parquet":
        return _lines_as_json(path)
    from kg.readers import parquet_batches

    rows: list[Any] = []
    for columns in parquet_batches(path, MOST_BYTES):
        rows += [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]
    return rows_as_json(rows)


def rows_as_json(rows: Iterable[Any]) -> bytes:
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


def _lines_as_json(path: Path) -> bytes:
    records: list[Any] = []
    try:
        lines = path.read_bytes().split(b"\n")
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}", file=str(path)) from error
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            records.append(json.loads(line, parse_int=str, parse_float=str))
        except (ValueError, RecursionError) as error:
            raise DataError(f"is not JSON: {error}", file=str(path), place=f"line {number}") from error
    return rows_as_json(records)
