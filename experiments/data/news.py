"""News documents read from text files, folders and feeds.

documents, problems = read_documents(["news/"])
documents[0].title      # "Helixon to build a plant in Porto"
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from datetime import date, datetime
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any

from experiments.console import SAMPLE_FOLDER, read_text
from kg.errors import DataError
from kg.news import NewsDocument, parse_document
from programs.tools import WebLimits, fetch

SAMPLE_NEWS = "sample:news"
"""The name of the sample: twelve documents, with the replies of a language model that read them."""

_SAMPLE = SAMPLE_FOLDER / "advisor"


def recorded_replies() -> dict[str, dict[str, list[Any]]]:
    """Returns the recorded replies of a language model for the documents of the sample, by the documents' names."""
    replies: dict[str, dict[str, list[Any]]] = json.loads((_SAMPLE / "replies.json").read_text(encoding="utf-8"))
    return replies


def read_documents(paths: Iterable[str], today: date | None = None) -> tuple[list[NewsDocument], list[str]]:
    """Returns the documents of feeds, files and the ``.txt`` files of folders, and a problem for each unreadable path.

    Args:
        paths: Files, folders, feeds (RSS or Atom) as addresses or ``.xml`` files, and ``sample:news``.
        today: The last day that a text without a full date may be of; the present day by default.
    """
    documents: list[NewsDocument] = []
    problems: list[str] = []
    files: list[Path] = []
    for name in paths:
        try:
            if name.startswith(("http://", "https://")) or Path(name).suffix.lower() in (".xml", ".rss", ".atom"):
                items, missing = _read_feed(name, WebLimits())
                documents += items
                problems += missing
                continue
            found = _files(_SAMPLE / "documents" if name == SAMPLE_NEWS else Path(name))
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


def _read_feed(source: str, limits: WebLimits) -> tuple[list[NewsDocument], list[str]]:
    """The items of a feed, RSS or Atom, as documents, and a problem for each item that has no title, day or text."""
    from lxml import etree  # type: ignore[import-untyped]

    remote = source.startswith(("http://", "https://"))
    try:
        content = fetch(source, None, limits)[1] if remote else Path(source).read_bytes()
        parser = etree.XMLParser(resolve_entities=False, no_network=True, huge_tree=False)
        root = etree.fromstring(content, parser)
    except (OSError, etree.XMLSyntaxError) as error:
        raise DataError(f"cannot be read as a feed: {error}", file=source) from error
    channel = _text(root, "title") or (_text(root[0], "title") if len(root) else "") or source
    documents: list[NewsDocument] = []
    problems: list[str] = []
    for item in (element for element in root.iter() if _tag(element) in ("item", "entry")):
        title, day = _text(item, "title"), _day(item)
        body = _text(item, "encoded") or _text(item, "content") or _text(item, "description") or _text(item, "summary")
        name = _text(item, "guid") or _text(item, "id") or _text(item, "link") or title
        if not title or day is None or not body:
            problems.append(f"{name or 'an item'}: has no {'title' if not title else 'text' if day else 'day'}")
            continue
        documents.append(NewsDocument(name, title, channel, day, body))
    return documents, problems


def _tag(element: Any) -> str:
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""


def _text(parent: Any, name: str) -> str:
    """Returns the text of a child without markup."""
    for child in parent:
        if _tag(child) == name:
            text = re.sub(r"<[^>]+>", " ", "".join(child.itertext()))
            return " ".join(text.split())
    return ""


def _day(item: Any) -> date | None:
    """Returns the day of an item, in the form of RSS or of Atom."""
    for name in ("pubDate", "published", "updated", "date"):
        text = _text(item, name)
        if not text:
            continue
        try:
            return datetime.fromisoformat(text.replace("Z", "+00:00")).date()
        except ValueError:
            pass
        try:
            return parsedate_to_datetime(text).date()
        except (TypeError, ValueError):
            continue
    return None


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
                found.append({key: entry[key] for key in ("id", "question") if key in entry or key == "question"})
            except (ValueError, KeyError) as error:
                raise DataError(f"is no question: {error}", file=path, place=f"line {number}") from error
    return found
