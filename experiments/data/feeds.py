"""News from a feed, RSS or Atom, as documents.

documents, problems = read_feed("https://example.org/news.xml", WebLimits())
documents[0].headline   # "Helixon to build a plant in Porto"
"""

from __future__ import annotations

import re
from datetime import date, datetime
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any

from kg.errors import DataError
from kg.investments import NewsDocument
from programs.tools import WebLimits, fetch


def read_feed(source: str, limits: WebLimits) -> tuple[list[NewsDocument], list[str]]:
    """Returns the items of a feed as documents, and one problem for each item that has no title, day or text.

    Args:
        source: An address that begins with http:// or https://, or a file.
        limits: The limits of a request.

    Raises:
        DataError: The feed cannot be read.
    """
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
    for item in (element for element in root.iter() if _name(element) in ("item", "entry")):
        title, day = _text(item, "title"), _day(item)
        body = _text(item, "encoded") or _text(item, "content") or _text(item, "description") or _text(item, "summary")
        name = _text(item, "guid") or _text(item, "id") or _text(item, "link") or title
        if not title or day is None or not body:
            problems.append(f"{name or 'an item'}: has no {'title' if not title else 'text' if day else 'day'}")
            continue
        documents.append(NewsDocument(name, title, channel, day, body))
    return documents, problems


def _name(element: Any) -> str:
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""


def _text(parent: Any, name: str) -> str:
    """Returns the text of a child without markup."""
    for child in parent:
        if _name(child) == name:
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
