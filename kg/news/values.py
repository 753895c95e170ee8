"""Spans of sentences as answers: days as 2026-05-04, and names and amounts in the form in which they are compared.

>>> value_of("on 4 May", date(2026, 5, 6))
'2026-05-04'
>>> number_of("$2.1 billion")
Decimal('2100000000.0')
>>> plain_name("The Helixon Semiconductors Inc.")
'helixon semiconductors'
"""

from __future__ import annotations

import calendar
import re
import unicodedata
from collections.abc import Iterator
from datetime import date, timedelta
from decimal import Decimal
from functools import cache

from kg.growing import without_legal_form
from kg.text import MONTH, MONTHS, WEEKDAYS, YEAR, periods

_ARTICLES = ("the", "a", "an")
_NUMBER = re.compile(r"\d+(?:,\d{3})*(?:\.\d+)?")
_SCALES = {"thousand": 3, "k": 3, "million": 6, "mn": 6, "m": 6, "billion": 9, "bn": 9, "trillion": 12}
_WEEKDAY = re.compile(
    rf"(?:(?P<which>last|next|this) )?(?P<weekday>{'|'.join(WEEKDAYS)})(?:,? (?P<rest>.*\d.*))?", re.I
)
_PART_OF_DAY = re.compile(r" (?:morning|noon|afternoon|evening|night)$", re.I)
_BEFORE_AMOUNT = re.compile(r"^(?:[a-z]+[ -]){1,4}(?=(?:[A-Z]{0,3}[$€£¥]|[A-Z]{3} )?\d)")
_RANGE = re.compile(r"between (?P<low>\S*\d\S*(?: (?:million|billion))?) and (?P<high>.*\d.*)")
_ANY_YEAR = re.compile(
    rf"(?:\b(?P<before>\d{{1,2}})(?:st|nd|rd|th)?(?: of)? |\b(?:in|every|each|since|by|during|until|the|of|on) )"
    rf"(?P<month>{MONTH})\b(?!\.?,? \d{{4}})(?:\.? (?P<after>\d{{1,2}})(?:st|nd|rd|th)?\b(?!,? \d{{4}}))?",
    re.IGNORECASE,
)
_NEAR = {"today": 0, "yesterday": -1, "tomorrow": 1}
_BEFORE = re.compile(r"^(?:(?:on|in|by|at|from|since|until|to|for|of|the|early|late|mid|about|around)[ -])+", re.I)


@cache
def plain_name(name: str) -> str:
    """Returns a name in lower case without accents, punctuation, article and legal form."""
    split = unicodedata.normalize("NFKD", name)
    text = "".join(letter for letter in split if not unicodedata.combining(letter))
    text = re.sub(r"['’]s\b", "", text).replace("S.p.A", "SpA").replace("A/S", "AS")
    plain = re.findall(r"[\w&]+(?:-\w+)*", re.sub(r"\b([A-Z])\.([A-Z])\.?(?!\w)", r"\1\2", text))
    words = without_legal_form(" ".join(plain)).split()
    while len(words) > 1 and words[0].lower() in _ARTICLES:
        words = words[1:]
    return " ".join(words).lower()


def number_of(text: str) -> Decimal | None:
    """Returns the value of an amount as written: 2100000000 of "$2.1 billion"; of a range its lower end."""
    match = _NUMBER.search(text)
    if match is None:
        return None
    words = re.findall(r"[a-z]+", text[match.end() :].lower())
    scale = next((_SCALES[word] for word in words if word in _SCALES), 0)
    value = Decimal(match[0].replace(",", "")).scaleb(scale)
    return -value if text.lstrip().startswith("-") else value


def value_of(span: str, published: date) -> str:
    """Returns a span as an answer: a day, a month or a year in the form of ISO, an amount without words before it.

    Args:
        span: The span.
        published: The day of its document, which days without a year are nearest to.
    """
    day = day_of(span, published)
    if day:
        return day
    between = _RANGE.fullmatch(span)
    return f"{between['low']} to {between['high']}" if between is not None else _BEFORE_AMOUNT.sub("", span)


def day_of(span: str, published: date) -> str:
    """Returns the day, month or year that a span is, as 2026-05-04, 2026-05 or 2026; empty if it is none."""
    text = _PART_OF_DAY.sub("", _BEFORE.sub("", span.strip()).rstrip(".,"))
    if text.lower() in _NEAR:
        return (published + timedelta(_NEAR[text.lower()])).isoformat()
    weekday = _WEEKDAY.fullmatch(text)
    if weekday is not None:
        return day_of(weekday["rest"], published) if weekday["rest"] else _weekday(weekday, published)
    if re.fullmatch(YEAR, text):
        return text
    for start, end, period in periods(text):
        if (start, end) == (0, len(text)):
            return str(period.first) if period.first == period.last else f"{period.first:%Y-%m}"
    written = text if text[:1].isdigit() else f"on {text}"
    for start, end, month, day in _days_of_any_year(written):
        if (start, end) == (len(written) - len(text), len(written)):
            return _nearest(month, day, published)
    return ""


def _days_of_any_year(text: str) -> Iterator[tuple[int, int, int, int]]:
    """Yields the days and months without a year: start, end, month and day; the day is 0 for a whole month."""
    for match in _ANY_YEAR.finditer(text):
        month = [name[:3] for name in MONTHS].index(match["month"][:3].title()) + 1
        day = int(match["before"] or match["after"] or 0)
        yield match.start("before" if match["before"] else "month"), match.end(), month, day


def last_days(text: str, newest: date) -> list[tuple[int, int, date]]:
    """Returns the days and months of a text without a year, each as its last first day up to another day.

    >>> [str(day) for _, _, day in last_days("in March or on 3 December", date(2026, 5, 12))]
    ['2026-03-01', '2025-12-03']
    """
    found: list[tuple[int, int, date]] = []
    for start, end, month, day in _days_of_any_year(text):
        years = (year for year in (newest.year, newest.year - 1) if day <= calendar.monthrange(year, month)[1])
        last = (date(year, month, day or 1) for year in years)
        found += [(start, end, first) for first in last if first <= newest][:1]
    return found


def _weekday(match: re.Match[str], published: date) -> str:
    wanted = [name.lower() for name in WEEKDAYS].index(match["weekday"].lower())
    back = (published.weekday() - wanted) % 7
    which = (match["which"] or "").lower()
    if which == "next":
        return (published + timedelta(7 - back)).isoformat()
    return (published - timedelta(7 if which == "last" and not back else back)).isoformat()


def _nearest(month: int, day: int, published: date) -> str:
    """Returns a month, or a day of it, in the year in which it is nearest to another day; empty if there is none."""
    years = (published.year - 1, published.year, published.year + 1)
    year = min(years, key=lambda one: abs((date(one, month, min(day or 15, 28)) - published).days))
    if day > calendar.monthrange(year, month)[1]:
        return ""
    return f"{year}-{month:02}-{day:02}" if day else f"{year}-{month:02}"


def days_in(text: str, published: date) -> Iterator[tuple[int, int, str]]:
    """Yields the days, months and years that a sentence has: where they begin and end, and the day."""
    words = list(re.finditer(r"[\w-]+", text))
    place = 0
    while place < len(words):
        for length in range(min(4, len(words) - place), 0, -1):
            start, end = words[place].start(), words[place + length - 1].end()
            is_number = length == 1 and not re.fullmatch(YEAR, text[start:end])
            day = "" if is_number and text[start:end].isdigit() else day_of(text[start:end], published)
            if day and not _BEFORE.match(text[start:end]):
                yield start, end, day
                place += length - 1
                break
        place += 1


def compared(value: str) -> tuple[str, str]:
    """Returns the form in which values are compared: the number of an amount, or a plain name or day."""
    if not re.fullmatch(r"\d{4}(?:-\d\d){0,2}", value) and not re.match(r"[A-Za-z]{2}", value.lstrip("-+ ")):
        number = number_of(value)
        if number is not None:
            return "amount", format(abs(number).normalize(), "f")
    return "name", plain_name(value)
