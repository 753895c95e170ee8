"""News documents read from text files and folders.

documents, problems = read_documents(["news/"])
documents[0].title      # "Helixon to build a plant in Porto"
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import date
from pathlib import Path
from typing import Any

from experiments.data.feeds import read_feed
from experiments.files import SAMPLE_FOLDER
from kg.errors import DataError
from kg.investments import NewsDocument, NewsRules, load_rules, parse_document
from programs.tools import WebLimits


def news_rules() -> NewsRules:
    """Returns the rules for the documents of the sample."""
    return load_rules(SAMPLE_FOLDER / "advisor" / "rules.json")


def read_documents(paths: Iterable[str], today: date | None = None) -> tuple[list[NewsDocument], list[str]]:
    """Returns the documents of feeds, files and the ``.txt`` files of folders, and a problem for each unreadable path.

    Args:
        paths: Files, folders, and feeds (RSS or Atom) as addresses or ``.xml`` files.
        today: The last day that a text without a full date may be of; the present day by default.
    """
    documents: list[NewsDocument] = []
    problems: list[str] = []
    files: list[Path] = []
    for name in paths:
        try:
            if name.startswith(("http://", "https://")) or Path(name).suffix.lower() in (".xml", ".rss", ".atom"):
                items, missing = read_feed(name, WebLimits())
                documents += items
                problems += missing
                continue
            found = _files(Path(name))
        except DataError as error:
            problems.append(str(error))
            continue
        files += found
        if not found:
            problems.append(f"{name}: the folder has no .txt file")
    for path in files:
        try:
            documents.append(parse_document(path.read_text(encoding="utf-8"), path.name, today))
        except (DataError, UnicodeDecodeError, OSError) as error:
            problems.append(str(error) if isinstance(error, DataError) else f"{path.name}: {error}")
    return documents, problems


def _files(path: Path) -> list[Path]:
    if path.is_dir():
        return sorted(path.glob("*.txt"))
    if not path.is_file():
        raise DataError("is neither a file nor a folder", file=str(path))
    return [path]


def read_questions(path: str) -> list[dict[str, Any]]:
    """Returns the questions of a file: JSON lines, a JSON list, or one question a line.

    Only ``id`` and ``question`` of an entry are read.

    Raises:
        DataError: The file cannot be read, or an entry has no question.
    """
    try:
        text = Path(path).read_text(encoding="utf-8")
        if text.lstrip().startswith("["):
            entries = json.loads(text)
        else:
            lines = [line.strip() for line in text.splitlines() if line.strip()]
            entries = [json.loads(line) if line.startswith("{") else line for line in lines]
    except (OSError, UnicodeDecodeError, json.JSONDecodeError) as error:
        raise DataError(f"cannot be read as questions: {error}", file=path) from error
    found = []
    for number, entry in enumerate(entries, 1):
        given = {"question": entry} if isinstance(entry, str) else entry
        if not isinstance(given, dict) or not isinstance(given.get("question"), str):
            raise DataError("expected a text, or an object with `question`", file=path, place=f"question {number}")
        found.append({key: given[key] for key in ("id", "question") if key in given})
    return found
