"""News and filings as files: a few header lines, an empty line, the text; or a text as it was published.

Headline: Helixon beats estimates as chip orders return
Source: Harbour Wire
Date: 2026-10-22

Helixon Inc. (HLXN), a semiconductor company based in Germany, beat estimates for the third quarter of 2026.

Without these lines, the first line is the headline, the first full date among the first lines is the day, and the name
in brackets beside it is the source: ``BOISE, Idaho, Jan. 14, 2026 (Continental Wire) - Orvane said ...``. A text
without a headline has its first sentence as one. A day without a year is the last such day with the weekday that the
text names ("Oct 24 ... on Thursday"). A text without a day is of the latest past day that it tells of, or of the day on
which it is read; ``day_inferred`` says so.
"""

from __future__ import annotations

import calendar
import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date
from typing import NamedTuple

from kg.errors import DataError
from kg.text import MONTHS, WEEKDAYS, YEAR, periods, split_sentences

_HEADER = re.compile(r"(Headline|Source|Date):\s*(.*)")


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
        """Its sentences, each on one line."""
        return split_sentences(" ".join(self.text.split()))


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


def _published_text(text: str, name: str, today: date) -> NewsDocument:
    """Returns a text as it was published as a document: the headline, a line with place and day, the sentences."""
    if not text:
        raise DataError("has no text", file=name)
    headline, _, body = text.partition("\n")
    if not body.strip() or _is_body(headline):
        headline, body = "", text
    days = [(start, end, found.first) for start, end, found in periods(body[:_LINES]) if found.first == found.last]
    last = max(_told_days(body, today), default=today)
    if days and _in_prose(body, days[0][0]) and (last - days[0][2]).days > _LONG_AGO:
        days = []  # of what it tells, as a birth
    stated = _stated_day(headline, body, bool(days))
    inferred = not days and stated is None
    if stated is not None:
        (start, end), day = (0, 0), stated.day
        body = f"{body[: stated.line[0]].strip()}\n\n{body[stated.line[1] :].strip()}".strip()
    else:
        start, end, day = days[0] if days else _inferred_day(body, last, today)
    line_start = body.rfind("\n", 0, start) + 1
    agency = _AGENCY.search(body[end : end + 60].split("\n")[0]) or _AGENCY.search(body[line_start:start])
    source = agency[1].strip() if agency else name
    told = _without_dateline(body, line_start, end) if end else body.strip()
    document = NewsDocument(name, " ".join(headline.split()), source, day, told, inferred)
    return document if headline else replace(document, headline=document.sentences[0])


_PUBLISHED = re.compile(r"(?:\b(?:published|posted|updated|written|released|issued|date)\b[^.\n]{0,40}|^\W*)$", re.I)
"""What stands before the day of publication in its line."""


_TIME = re.compile(r"[\s,|]*(?:at )?(?:\d{1,2}[:.]\d\d(?:[:.]\d\d)?)?\s*(?:[ap]\.?m\.?)?\s*\(?(?:[A-Z]{2,5})?\)?\W*")
"""What may stand behind the day of publication in a line of its own: the time and its zone."""


_FEW = 8
"""More words than a line has that only says when a text was published."""


class _Stated(NamedTuple):
    """The day of publication, and the span of the line that states nothing else."""

    day: date
    line: tuple[int, int] = (0, 0)


def _stated_day(headline: str, body: str, dated: bool) -> _Stated | None:
    """Returns the day in "Published on 10 May 2026", of a line of its own, or at the end of a headline.

    Args:
        headline: The headline.
        body: The text below it.
        dated: Whether the first lines have a day; then only a line that says "published" goes before it.
    """
    for start, end, found in periods(body):
        line_start, line_end = body.rfind("\n", 0, start) + 1, body.find("\n", end)
        before = body[line_start:start]
        after = body[end : line_end if line_end >= 0 else len(body)]
        alone = not re.search(r"\w", before + after)
        says = re.search(r"\w", before) is not None and _PUBLISHED.search(before) is not None
        if found.first == found.last and (says or (alone and not dated)):
            line = (line_start, end + len(after)) if _TIME.fullmatch(after) and len(before.split()) < _FEW else (0, 0)
            return _Stated(found.first, line)
    ends = [found.first for _, end, found in periods(headline) if end >= len(headline.rstrip(" .)"))]
    closing = not dated and re.search(r"\d{1,2}\D+\d{4}\W*$|\d{4}-\d\d-\d\d\W*$", headline)
    return _Stated(ends[-1]) if ends and closing else None


_LONGEST_HEADLINE = 30


def _is_body(line: str) -> bool:
    """Whether a line is of the text, and no headline: it is long, ends as a sentence, or begins with place and day."""
    dateline = _DAY_OF_MONTH.search(line[:60])
    follows = dateline is not None and re.search(r"[-–—:]\s+\S", line[dateline.end() :])
    return len(line.split()) > _LONGEST_HEADLINE or line.rstrip(" \"”’'").endswith(".") or bool(follows)


_MONTHS = "|".join(f"{name[:3]}(?:{name[3:]})?" for name in MONTHS)
_DAY_OF_MONTH = re.compile(
    rf"\b(?:(?P<month>{_MONTHS}|Sept)\.? (?P<day>\d{{1,2}})|(?P<first>\d{{1,2}}) (?P<after>{_MONTHS}|Sept))\b"
    r"(?!\.?\d|,? \d{4})",
    re.I,
)
_WEEKDAY = re.compile(rf"\b(?:{'|'.join(WEEKDAYS)})\b")
_BESIDE = 12
"""The most characters of a weekday before a date."""

_YEARS_BACK = 28
"""The weekdays of a day of the year recur after 28 years at the latest."""


def _inferred_day(text: str, told: date, today: date) -> tuple[int, int, date]:
    """Returns the span and the day of a dateline without a year, or an empty span and the day that the text tells of.

    Args:
        text: The text below the headline.
        told: The latest past day of the text, as it was written after all that it tells.
        today: The last day that it may be of.
    """
    for start, end, day, is_exact in _days_without_year(text, today):
        if start < _LINES and (is_exact or not _in_prose(text, start)):
            return start, end, day
    return 0, 0, told


def _told_days(text: str, today: date) -> Iterator[date]:
    """Yields the past days and months of a text; of a month its first day."""
    for start, _, found in periods(text):
        if found.first <= today and not _is_to_come(text, start):
            yield found.first
    for start, _, day, _ in _days_without_year(text, today):
        if not _is_to_come(text, start):
            yield day


def _days_without_year(text: str, today: date) -> Iterator[tuple[int, int, date, bool]]:
    """Yields the days of a text that have no year: their spans, the day, and whether a weekday tells the year.

    Without a weekday the year is the newest one that the text names, or else the last in which the day was.
    """
    years = [int(found) for found in re.findall(rf"(?<![\d$€£,.]){YEAR}(?!\d|[,.%]\d)", text)]
    newest = max((one for one in years if one <= today.year), default=today.year)
    for match in _DAY_OF_MONTH.finditer(text):
        name, number = match["month"] or match["after"], int(match["day"] or match["first"])
        month = [one[:3].lower() for one in MONTHS].index(name[:3].lower()) + 1
        weekday = _WEEKDAY.search(text, max(0, match.start() - _BESIDE), max(_LINES, match.end()))
        begin = newest if weekday is None else today.year
        for year in range(begin, begin - _YEARS_BACK, -1):
            if number > calendar.monthrange(year, month)[1]:
                continue
            day = date(year, month, number)
            if day <= today and (weekday is None or WEEKDAYS[day.weekday()] == weekday[0]):
                yield match.start(), match.end(), day, weekday is not None
                break


_TO_COME = re.compile(
    r"\b(?:will|shall|until|till|by|due|from|expects?|expected|plans?|planned|scheduled|set|before|deadline|next|ends?)\b",
    re.I,
)
_LONG_AGO = 730
"""Days before the last day of a text on which it was not published."""

_CLAUSE = 60
"""Characters before a day in which a word may say that it is to come."""


def _is_to_come(text: str, start: int) -> bool:
    """Whether the words before a day say that it is still to come."""
    before = text[max(0, start - _CLAUSE) : start]
    return _TO_COME.search(re.split(r"[.!?;\n]", before)[-1]) is not None


def _in_prose(text: str, start: int) -> bool:
    """Whether words with small letters go before a day, so that it is in a sentence and in no line of place and day."""
    before = text[text.rfind("\n", 0, start) + 1 : start]
    return any(word.islower() and word not in _LINE_WORDS for word in re.findall(r"[^\W\d_]+", before))


_LINE_WORDS = frozenset(("de", "del", "der", "di", "la", "le", "of", "on", "the", "und", "van", "von", "at", "in"))


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
