"""Amounts, shares, counts and dates in a sentence, as mentions with their values.

>>> [(m.kind, m.text) for m in amounts("It paid $340 million for 420 staff on May 5, 2026.", date(2026, 5, 6))]
[('money', '$340 million'), ('count', '420'), ('date', 'May 5, 2026')]
"""

from __future__ import annotations

import calendar
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cache

from kg.news.language import language


@dataclass(frozen=True)
class Mention:
    """A piece of a sentence with a kind.

    Attributes:
        kind: company, person, place, product, name, role, ticker, money, percent, count, date or rating.
        text: As written.
        start: The offset of its first character.
        end: The offset after its last character.
        value: Its normal form: a full name, a title, a day, an amount.
        noun: The counted noun.
    """

    kind: str
    text: str
    start: int
    end: int
    value: str = ""
    noun: str = ""


_NUMBER = r"\d+(?:,\d{3})*(?:\.\d+)?"
_SCALE = r"(?:thousand|million|billion|trillion|mn|bn|m\b|k\b)"
_MONTHS = r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"  # noqa: E501
_PER = r"(?: (?:per|a|each) (?:share|piece|unit)| apiece)?"


@cache
def _money() -> re.Pattern[str]:
    signs: list[str] = []
    names: list[str] = []
    for word in language().currency_of:
        (signs if not word[-1].isalpha() else names).append(re.escape(word))
    named = "|".join(sorted((name for name in names if len(name) > 1), key=len, reverse=True))
    sign = rf"(?:US|A|C|HK|S)?(?:{'|'.join(sorted(signs, key=len, reverse=True))})"
    one = rf"(?:{sign} ?{_NUMBER}(?:[ -]?{_SCALE})?|{_NUMBER}(?:[ -]?{_SCALE})?[ -](?:{named}))"
    bare = rf"{_NUMBER}(?:[ -]?{_SCALE})?"
    return re.compile(
        rf"(?<![\w.])(?P<range>(?:between )?(?:{one}|{bare}) (?:to|and) {one}|between {one} and {bare}|{one} to {bare}"
        rf"|{sign} ?{_NUMBER}(?:[-–]{_NUMBER})[ -]?{_SCALE})(?!\w)|(?<![\w.])(?P<one>{one}{_PER})(?!\w)",
        re.IGNORECASE,
    )


_DATES = (
    re.compile(r"\b(?P<y>\d{4})-(?P<m>\d\d)-(?P<d>\d\d)\b"),
    re.compile(
        rf"\b(?P<d>\d{{1,2}})(?:st|nd|rd|th)?(?: of)? (?P<mon>{_MONTHS})\b\.?(?:,? (?P<y>(?:19|20)\d\d))?", re.I
    ),
    re.compile(
        rf"\b(?P<mon>{_MONTHS})\b\.? (?P<d>\d{{1,2}})(?:st|nd|rd|th)?\b(?!,\d)(?:,? (?P<y>(?:19|20)\d\d)\b)?", re.I
    ),
    re.compile(rf"\b(?P<mon>{_MONTHS})\b\.?,? (?P<y>(?:19|20)\d\d)\b", re.I),
    re.compile(r"\b(?P<mon>January|February|March|April|May|June|July|August|September|October|November|December)\b"),
    re.compile(r"(?<![\d$€£.,])\b(?P<y>(?:19|20)\d\d)\b(?![\d,.]\d|%)"),
)
_RELATIVE = re.compile(
    r"\b(?P<day>today|yesterday|tomorrow)\b|\b(?:(?P<last>last|next|this) )?(?P<week>Monday|Tuesday|Wednesday|Thursday"
    r"|Friday|Saturday|Sunday)\b|\b(?P<rel>next|last|this) (?P<unit>year|month)\b"
)
_COUNT = re.compile(
    rf"(?<![\w$€£.,])(?P<n>{_NUMBER}(?: (?:hundred|thousand|million))?)(?![\d%]|\.\d| ?per ?cent)(?=[\s,.;)-]|$)"
)
_PERCENT = re.compile(rf"(?<![\w.])[-+]?{_NUMBER} ?(?:%|per ?cent\b|percentage points?)", re.IGNORECASE)


def amounts(text: str, published: date) -> list[Mention]:
    """Returns the amounts and dates of a sentence, in order.

    Args:
        text: The sentence.
        published: The day of the document, from which days without a year count.
    """
    found: list[Mention] = []
    for source in (_moneys(text), _percents(text), _dates(text, published), _counts(text)):
        for mention in source:
            if not any(mention.start < other.end and other.start < mention.end for other in found):
                found.append(mention)
    return sorted(found, key=lambda mention: mention.start)


def _moneys(text: str) -> Iterator[Mention]:
    for match in _money().finditer(text):
        written = match[0].removeprefix("between ").replace(" and ", " to ") if match["range"] else match[0]
        yield Mention("money", match[0], match.start(), match.end(), written)
    for match in re.finditer(rf"(?<![\w$€£.,]){_NUMBER}(?:p|c)(?:{_PER})(?![\w-])", text):
        yield Mention("money", match[0], match.start(), match.end(), match[0])
    for match in re.finditer(rf"(?<![\w$€£.,]){_NUMBER} (?:million|billion)\b(?! \w*s\b)", text):
        yield Mention("money", match[0], match.start(), match.end(), match[0])


def _percents(text: str) -> Iterator[Mention]:
    for match in _PERCENT.finditer(text):
        value = re.sub(r" ?(?:per ?cent.*|percentage.*)", "%", match[0], flags=re.IGNORECASE)
        yield Mention("percent", match[0], match.start(), match.end(), value)


def _dates(text: str, published: date) -> Iterator[Mention]:
    for pattern in _DATES:
        for match in pattern.finditer(text):
            value = _day(match.groupdict(), published)
            if value:
                yield Mention("date", match[0], match.start(), match.end(), value)
    for match in _RELATIVE.finditer(text):
        kind = "weekday" if match["week"] else ""
        yield Mention("date", match[0], match.start(), match.end(), _relative(match, published), kind)


def _day(parts: dict[str, str | None], published: date) -> str:
    written = parts.get("mon") or ""
    month = next(
        (n for n, name in enumerate(language().months, 1) if written and name.startswith(written[:3].lower())), 0
    )
    month = month or int(parts.get("m") or 0)
    day, year = int(parts.get("d") or 0), int(parts.get("y") or 0)
    if not month:
        return f"{year}"
    try:
        if not year:
            near = [published.year - 1, published.year, published.year + 1]
            year = min(near, key=lambda one: abs((date(one, month, day or 15) - published).days))
        if day > calendar.monthrange(year, month)[1]:
            return ""
    except ValueError:
        return ""
    return f"{year}-{month:02}-{day:02}" if day else f"{year}-{month:02}"


def _relative(match: re.Match[str], published: date) -> str:
    if match["day"]:
        return (published + timedelta({"today": 0, "yesterday": -1, "tomorrow": 1}[match["day"]])).isoformat()
    if match["week"]:
        wanted = language().weekdays.index(match["week"])
        back = (published.weekday() - wanted) % 7
        ahead = (wanted - published.weekday()) % 7 or 7
        if match["last"] == "next":
            return (published + timedelta(ahead)).isoformat()
        return (published - timedelta(back or (7 if match["last"] == "last" else 0))).isoformat()
    shift = {"next": 1, "last": -1, "this": 0}[match["rel"]]
    if match["unit"] == "year":
        return str(published.year + shift)
    month = published.year * 12 + published.month - 1 + shift
    return f"{month // 12}-{month % 12 + 1:02}"


def _counts(text: str) -> Iterator[Mention]:
    for match in _COUNT.finditer(text):
        yield Mention("count", match[0], match.start(), match.end(), _plain(match["n"]), _noun(text[match.end() :]))
    words = "|".join(language().numbers)
    for match in re.finditer(rf"\b(?:{words})(?:-(?:{words}))?\b(?= [a-z])", text, re.IGNORECASE):
        parts = [language().numbers[part] for part in match[0].lower().split("-") if part in language().numbers]
        yield Mention("count", match[0], match.start(), match.end(), str(sum(parts)), _noun(text[match.end() :]))


def _plain(number: str) -> str:
    for word, scale in (("hundred", 100), ("thousand", 1000), ("million", 10**6)):
        if number.endswith(word):
            return f"{float(number.split()[0].replace(',', '')) * scale:.0f}"
    return number.replace(",", "") if "." not in number else number


def _noun(after: str) -> str:
    """Returns the words after a number up to the counted noun: "office staff" of " office staff have until"."""
    found = re.match(
        r"(?:[ -](?:more |new |of its |of the )*)((?:[\w-]+ ){0,3}?[a-z]+s\b|[\w-]+ (?:staff|people|personnel)|staff|people)",  # noqa: E501
        after,
    )
    return found[1] if found else ""
