"""News and filings as files: a few header lines, an empty line, the text; or a text as it was published.

Headline: Helixon beats estimates as chip orders return
Source: Harbour Wire
Date: 2026-10-22

Helixon Inc. (HLXN), a semiconductor company based in Germany, beat estimates for the third quarter of 2026.

Without these lines, the first line is the headline, the first full date among the first lines is the day, and the name
in brackets beside it is the source: ``BOISE, Idaho, Jan. 14, 2026 (Continental Wire) - Orvane said ...``.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from datetime import date

from kg.errors import DataError
from kg.text import periods

_HEADER = re.compile(r"(Headline|Source|Date):\s*(.*)")
_SENTENCE_END = re.compile(r"(?<=[.!?])(?<!\b[A-Z]\.)(?<!\bInc\.)(?<!\bCorp\.)(?<!\bLtd\.)(?<!\bCo\.)\s+(?=[A-Z])")


@dataclass(frozen=True)
class NewsDocument:
    """One document.

    Attributes:
        name: The file's name, or where else it is from.
        headline: Its title.
        source: Who published it.
        published: When.
        text: What it says.
    """

    name: str
    headline: str
    source: str
    published: date
    text: str

    @property
    def sha256(self) -> str:
        """The hash of all that it says."""
        content = f"{self.headline}\n{self.source}\n{self.published.isoformat()}\n{self.text}"
        return hashlib.sha256(content.encode()).hexdigest()

    @property
    def sentences(self) -> list[str]:
        """Its sentences, each on one line; a point behind Inc., Corp., Ltd. or Co. may be a sentence's end or not."""
        flat = " ".join(self.text.split())
        return [part.strip() for part in _SENTENCE_END.split(flat) if part.strip()]


def parse_document(text: str, name: str) -> NewsDocument:
    """Reads a document.

    Args:
        text: The file's content.
        name: For messages and for the origin of its facts.

    Raises:
        DataError: A header line is missing, or the date is none.
    """
    if not text.lstrip().startswith(("Headline:", "Source:", "Date:")):
        return _published_text(text.lstrip("\ufeff").strip(), name)
    head, _, body = text.partition("\n\n")
    header: dict[str, str] = {}
    for number, line in enumerate(head.splitlines(), 1):
        match = _HEADER.fullmatch(line.strip())
        if match is None:
            raise DataError(
                f"expected Headline:, Source: or Date:, got {line[:60]!r}", file=name, place=f"line {number}"
            )
        header[match[1]] = match[2].strip()
    for key in ("Headline", "Source", "Date"):
        if not header.get(key):
            raise DataError(f"has no line {key}: before the first empty line", file=name)
    try:
        published = date.fromisoformat(header["Date"])
    except ValueError as error:
        raise DataError(f"Date must be written 2026-10-22, got {header['Date']!r}", file=name) from error
    if not body.strip():
        raise DataError("has no text behind the first empty line", file=name)
    return NewsDocument(name, header["Headline"], header["Source"], published, body.strip())


_LINES = 600
"""Characters at the beginning of a text in which its date is."""

_AGENCY = re.compile(r"[(/]([A-Z][\w .&'-]+)[)/]\s*-*")


def _published_text(text: str, name: str) -> NewsDocument:
    """Returns a text as it was published as a document: the headline, a line with place and day, the sentences."""
    headline, _, body = text.partition("\n")
    days = [(start, end, found) for start, end, found in periods(body[:_LINES]) if found.first == found.last]
    if not body.strip() or not days:
        raise DataError(
            "has no lines Headline:, Source: and Date:, and no headline followed by a text with a full date", file=name
        )
    start, end, day = days[0]
    line_start = body.rfind("\n", 0, start) + 1
    agency = _AGENCY.search(body[end : end + 60].split("\n")[0]) or _AGENCY.search(body[line_start:start])
    source = agency[1].strip() if agency else name
    return NewsDocument(name, " ".join(headline.split()), source, day.first, _without_dateline(body, line_start, end))


def _without_dateline(body: str, start: int, end: int) -> str:
    """Returns a text without the line of place, day and agency, if it begins with one."""
    before, dateline, after = body[:start], body[start:end], body[end:]
    if len(dateline.split()) > 9 or "." in dateline[:-12].replace("Jan.", "").replace("Feb.", ""):
        return body.strip()
    rest = re.match(r"\s*(?:\([\w .&'-]+\)|/[\w .&'-]+/)?\s*(?:[-–—]+|:)?\s*", after)
    assert rest is not None
    tail = after[rest.end() :]
    if tail[:1].islower():
        tail = tail.partition("\n")[2]
    return f"{before.strip()}\n\n{tail.strip()}".strip()
