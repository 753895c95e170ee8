"""News and filings as files, and their sentences in a growing graph.

>>> document = parse_document(text, "wire-17.txt")
>>> graph.apply([update for update, _ in passage_updates(document)], Origin(document.name))
>>> stored_passages(graph)      # the headline and the sentences of all documents

A file has a few header lines, an empty line and the text; or it is a text as it was published.

Headline: Helixon beats estimates as chip orders return
Source: Harbour Wire
Date: 2026-10-22

Helixon Inc. (HLXN), a semiconductor company based in Germany, beat estimates for the third quarter of 2026.

Without these lines, the first line is the headline, the first full date among the first lines is the day, and the name
in brackets beside it is the source: ``BOISE, Idaho, Jan. 14, 2026 (Continental Wire) - Orvane said ...``. A text
without a headline has its first sentence as one. A text without a full date is of the last past day in its line of
place and day, else of the latest past day that it names, or of the day on which it is read; ``day_inferred`` says so.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date

from kg.errors import DataError
from kg.growing import AddEdge, AddNode, GrowingGraph, Node, NodeKey, Update
from kg.news.values import last_days
from kg.text import periods, split_sentences

_HEADER = re.compile(r"^[ \t]*(Headline|Source|Date):(.*)$", re.MULTILINE)
_LINES = 600
"""Characters at the beginning of a text in which its date is."""

_LONG_AGO = 730
"""Days before the last day of a text on which it was not published."""

_AGENCY = re.compile(r"[(/]([A-Z][\w .&'-]+)[)/]\s*-*")
_PUBLISHED = re.compile(r"(?:\b(?:published|posted|updated|written|released|issued|date)\b[^.\n]{0,40}|^\W*)$", re.I)
"""The beginning of a line with the day of publication."""

_TIME = re.compile(r"[\s,|]*(?:at )?(?:\d{1,2}[:.]\d\d(?:[:.]\d\d)?)?\s*(?:[ap]\.?m\.?)?\s*\(?(?:[A-Z]{2,5})?\)?\W*")


@dataclass(frozen=True)
class NewsDocument:
    """One document.

    Attributes:
        name: The file's name, or where else it is from.
        headline: Its title.
        source: Who published it.
        published: When.
        text: What it says.
        day_inferred: Whether the text does not state the year or the day on which it was published.
    """

    name: str
    headline: str
    source: str
    published: date
    text: str
    day_inferred: bool = False

    @property
    def sha256(self) -> str:
        """The hash of all that it says; a day that was inferred is none of it, as it depends on the day of reading."""
        day = "" if self.day_inferred else self.published.isoformat()
        content = f"{self.headline}\n{self.source}\n{day}\n{self.text}"
        return hashlib.sha256(content.encode()).hexdigest()

    @property
    def sentences(self) -> list[str]:
        """Its sentences, each on one line; an empty line ends one."""
        paragraphs = re.split(r"\n\s*\n", self.text)
        return [one for paragraph in paragraphs for one in split_sentences(" ".join(paragraph.split()))]


def parse_document(text: str, name: str, today: date | None = None) -> NewsDocument:
    """Reads a document.

    Args:
        text: The file's content.
        name: For messages and for the origin of its facts.
        today: The last day that a text without a full date may be of; the present day by default.

    Raises:
        DataError: A header line is missing, or the date is none, or the file has no text.
    """
    if not text.lstrip().startswith(("Headline:", "Source:", "Date:")):
        return _published_text(text.lstrip("\ufeff").strip(), name, today or date.today())
    head, _, body = text.partition("\n\n")
    header = {key: value.strip() for key, value in _HEADER.findall(head)}
    for key in ("Headline", "Source", "Date"):
        if not header.get(key):
            raise DataError(f"has no line {key}: before the first empty line", file=name)
    try:
        published = date.fromisoformat(header["Date"])
    except ValueError as error:
        raise DataError(f"Date must be written 2026-10-22, got {header['Date']!r}", file=name) from error
    if not body.strip():
        raise DataError("has no text after the first empty line", file=name)
    return NewsDocument(name, header["Headline"], header["Source"], published, body.strip())


def _published_text(text: str, name: str, today: date) -> NewsDocument:
    """Returns a text as it was published: the headline, a line with place and day, the sentences."""
    if not text:
        raise DataError("has no text", file=name)
    headline, _, body = text.partition("\n")
    if not body.strip():
        headline, body = "", text
    past = [period.first for _, _, period in periods(body)] + [day for _, _, day in last_days(body, today)]
    last = max((day for day in past if day <= today), default=today)
    days = [(start, end, found.first) for start, end, found in periods(body[:_LINES]) if found.first == found.last]
    if days and _in_prose(body, days[0][0]) and (last - days[0][2]).days > _LONG_AGO:
        days = []  # of what it tells, as a birth
    start, end, day, inferred = 0, 0, last, False
    stated = _stated_day(headline, body, bool(days))
    if stated is not None:
        day, begin, finish = stated
        body = f"{body[:begin].strip()}\n\n{body[finish:].strip()}".strip()
    elif days:
        start, end, day = days[0]
    else:
        inferred = True
        lines = [one for one in last_days(body[:_LINES], today) if not _in_prose(body, one[0])]
        if lines:
            start, end, day = lines[0]
    line_start = body.rfind("\n", 0, start) + 1
    agency = _AGENCY.search(body[end : end + 60].split("\n")[0]) or _AGENCY.search(body[line_start:start])
    source = agency[1].strip() if agency else name
    rest = _without_dateline(body, line_start, end) if end else body.strip()
    document = NewsDocument(name, " ".join(headline.split()), source, day, rest, inferred)
    return document if headline else replace(document, headline=document.sentences[0])


def _stated_day(headline: str, body: str, dated: bool) -> tuple[date, int, int] | None:
    """Returns the day in "Published on 10 May 2026", of a line of its own, or at the end of a headline.

    Args:
        headline: The headline.
        body: The text below it.
        dated: Whether the first lines have a day; then only a line that begins with "published" goes before it.

    Returns:
        The day, and where the line begins and ends that states nothing else.
    """
    for start, end, period in periods(body):
        line_start, line_end = body.rfind("\n", 0, start) + 1, body.find("\n", end)
        before, after = body[line_start:start], body[end : line_end if line_end >= 0 else len(body)]
        alone = not re.search(r"\w", before + after)
        says = re.search(r"\w", before) is not None and _PUBLISHED.search(before) is not None
        if period.first == period.last and (says or (alone and not dated)):
            is_line = _TIME.fullmatch(after) is not None and "." not in before
            return (period.first, line_start, end + len(after)) if is_line else (period.first, 0, 0)
    ends = [period.first for _, end, period in periods(headline) if end >= len(headline.rstrip(" .)"))]
    return (ends[-1], 0, 0) if ends and ends[-1] and not dated and re.search(r"\d\W*$", headline) else None


def _in_prose(text: str, start: int) -> bool:
    """Whether words with small letters go before a day, so that it is in a sentence and in no line of place and day."""
    before = text[text.rfind("\n", 0, start) + 1 : start]
    return any(map(str.islower, re.findall(r"[^\W\d_]+", before)))


def _without_dateline(body: str, start: int, end: int) -> str:
    """Returns a text without the line of place, day and agency, if it begins with one."""
    before, dateline, after = body[:start], body[start:end], body[end:]
    if len(dateline.split()) > 9 or "." in dateline[:-12].replace("Jan.", "").replace("Feb.", ""):
        return body.strip()
    rest = re.match(r"[)\]]?\s*(?:\([\w .&'-]+\)|/[\w .&'-]+/)?\s*(?:[-–—]+|:)?\s*", after)
    assert rest is not None
    if after[:1] == " " and rest[0] == " " and after[1:2].islower():
        return body.strip()  # a sentence: "On 4 August 2025 we rode"
    tail = after[rest.end() :]
    if tail[:1].islower():
        tail = tail.partition("\n")[2]
    return f"{before.strip()}\n\n{tail.strip()}".strip()


@dataclass(frozen=True)
class Passage:
    """A sentence of a document.

    Attributes:
        document: The document's name.
        published: Its day.
        place: The number of the sentence; -1 for the headline.
        text: The sentence.
        publisher: Who published the document, where the graph has it.
    """

    document: str
    published: date
    place: int
    text: str
    publisher: str = ""

    @property
    def key(self) -> NodeKey:
        """The node of the sentence."""
        return NodeKey("Passage", f"{self.document} {self.place}")

    @property
    def quoted(self) -> str:
        """The sentence with its document and day."""
        return f"{self.document}, {self.published}: {self.text}"


def passages_of(document: NewsDocument) -> list[Passage]:
    """Returns the headline and the sentences of a document."""
    lines = enumerate((document.headline, *document.sentences), -1)
    return [Passage(document.name, document.published, place, text, document.source) for place, text in lines]


def passage_updates(document: NewsDocument) -> Iterator[tuple[Update, str]]:
    """Yields the updates that write the headline and the sentences of a document, each with its text."""
    news = NodeKey("News", document.headline)
    published = document.published.isoformat()
    yield AddNode("News", news.name, {"source": document.source, "published_at": published}), document.headline
    for passage in passages_of(document):
        properties = {
            "document": passage.document,
            "published_at": published,
            "place": passage.place,
            "text": passage.text,
            "publisher": passage.publisher,
        }
        yield AddNode("Passage", passage.key.name, properties), passage.text
        yield AddEdge("has_passage", news, passage.key), passage.text


def stored_passages(graph: GrowingGraph) -> list[Passage]:
    """Returns the sentences of all documents of a graph."""
    return [passage_of(node) for node in graph.nodes("Passage")]


def passage_of(node: Node) -> Passage:
    """Returns the sentence of a node."""
    given = node.properties
    day = date.fromisoformat(published_day(node))
    return Passage(
        str(given["document"]), day, int(given["place"]), str(given["text"]), str(given.get("publisher", ""))
    )


def published_day(node: Node) -> str:
    """Returns the day of a sentence or statement: ``2026-03-02``."""
    return str(node.properties["published_at"])[:10]
