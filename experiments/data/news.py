"""News documents read from text files and folders.

read_documents(["news/"])[0][0].title      # "Helixon to build a plant in Porto"
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import date
from pathlib import Path
from typing import Any

from experiments.console import SAMPLE_FOLDER, read_text
from kg.errors import DataError
from kg.news import NewsDocument, parse_document

SAMPLE_NEWS = "sample:news"
"""The name of the sample: twelve documents, with the replies of a language model that read them."""

_SAMPLE = SAMPLE_FOLDER / "advisor"


def recorded_replies() -> dict[str, dict[str, list[Any]]]:
    """Returns the recorded replies of a language model for the documents of the sample, by the documents' names."""
    replies: dict[str, dict[str, list[Any]]] = json.loads((_SAMPLE / "replies.json").read_text(encoding="utf-8"))
    return replies


def read_documents(paths: Iterable[str], today: date | None = None) -> tuple[list[NewsDocument], list[str]]:
    """Returns the documents of files and of the ``.txt`` files of folders, and a problem for each unreadable path.

    Args:
        paths: Files, folders, and ``sample:news``.
        today: The last day that a text without a full date may be of; the present day by default.
    """
    documents, problems = list[NewsDocument](), list[str]()
    for name in paths:
        path = _SAMPLE / "documents" if name == SAMPLE_NEWS else Path(name)
        files = sorted(path.glob("*.txt")) if path.is_dir() else [path] if path.is_file() else []
        if not files:
            rule = "the folder has no .txt file" if path.is_dir() else "is neither a file nor a folder"
            problems.append(f"{name}: {rule}")
        for file in files:
            try:
                documents.append(parse_document(file.read_text(encoding="utf-8"), file.name, today))
            except (DataError, UnicodeDecodeError, OSError) as error:
                problems.append(str(error) if isinstance(error, DataError) else f"{file.name}: {error}")
    return documents, problems


def read_questions(path: str) -> list[dict[str, Any]]:
    """Returns the questions of a file, one a line: a JSON object with ``question``, and maybe ``id``, or a text.

    Raises:
        DataError: The file cannot be read, or a line has no question.
    """
    found: list[dict[str, Any]] = []
    for number, line in enumerate(read_text(path).splitlines(), start=1):
        if line.strip():
            try:
                entry = json.loads(line) if line.lstrip().startswith("{") else {"question": line.strip()}
                entry["question"].encode()
                found.append({key: entry[key] for key in ("id", "question") if key in entry})
            except (ValueError, KeyError, AttributeError, RecursionError) as error:
                raise DataError(f"is no question: {error}", file=path, place=f"line {number}") from error
    return found
