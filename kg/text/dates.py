"""Dates and years in text, with their spans or as intervals of days.

>>> [(text[start:end], period.first, period.last) for start, end, period in periods(text := "since 3 November 2026")]
[('3 November 2026', datetime.date(2026, 11, 3), datetime.date(2026, 11, 3))]

:func:`periods` finds days (``3 November 2026``, ``November 3, 2026``, ``3.11.2026``, ``2026-11-03``) and months
(``November 2026``). With strokes, 21/01/2026 and 01/21/2026 are one day; 02/01/2026 may be two and is skipped. So are a
lone year, which may be a plain number, and a day that no calendar has (31 June).
"""

from __future__ import annotations

import calendar
import re
from dataclasses import dataclass
from datetime import date

YEAR = r"(?:19|20)\d\d"
"""The pattern of a year."""

MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip
"""The months; :mod:`calendar` has them in the language of the process."""

WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
"""The days of the week, as :meth:`datetime.date.weekday` counts them."""

MONTH = rf"(?:{'|'.join(f'{name[:3]}(?:{name[3:]})?' for name in MONTHS)}|sept)"
"""The pattern of a month, of any case."""

_DATE = re.compile(
    rf"(?<![a-z\d])(?:{MONTH}\.?\s*(?:\d{{1,2}}(?:st|nd|rd|th)?\s*,?\s*)?(?P<month_year>{YEAR})(?![\d%])"
    rf"|\d{{1,2}}\s+{MONTH}\s*,?\s*(?P<day_year>{YEAR})(?![\d%])"
    rf"|{MONTH}\.?\s*\d{{1,2}}(?:st|nd|rd|th)?(?!\s*[\d%])"
    rf"|\d{{1,2}}/\d{{1,2}}/(?P<slash_year>{YEAR}|\d\d)(?![\d/])"
    rf"|\d{{1,2}}\.\d{{1,2}}\.(?P<dot_year>{YEAR})(?![\d.])"
    r"|^\s*(?:0?[1-9]|1[0-2])/(?P<month_slash_year>\d\d)\s*$"  # only where it is the whole text, as in a header
    rf"|(?P<iso_year>{YEAR})-\d\d-\d\d(?!\d)"
    rf"|(?:fy|q[1-4])\s?'?(?P<fiscal_year>{YEAR}|\d\d)(?!\d))"
    rf"|(?<![\d.$€£,/])(?<![$€£]\s)(?P<year>{YEAR})(?![\d%]|[.,]\d|\s?%|\s*(?:thousand|million|billion)\b)",
    re.IGNORECASE | re.ASCII,
)
_CUE = re.compile(
    rf"(?:\b(?:in|of|for|since|through|by|during|until|fiscal|years?|ended|ending|before|after|late|early|mid|calendar"
    rf"|to|from|quarter|half|{MONTH}|and|or)|[,(/-]|\b\d{{1,2}})\s*,?\s*$|{YEAR}\s*$",
    re.IGNORECASE,
)

_NUMBERS = {month[:3].lower(): number for number, month in enumerate(MONTHS, 1)}
_PATTERNS = (
    re.compile(r"\b(?P<year>\d{4})-(?P<month>\d{2})-(?P<day>\d{2})\b"),
    re.compile(r"(?<![\d.])(?P<day>\d{1,2})\.(?P<month>\d{1,2})\.(?P<year>\d{4})(?![\d.]*\d)"),
    re.compile(r"(?<![\d/])(?P<day>1[3-9]|2\d|3[01])/(?P<month>0?[1-9]|1[0-2])/(?P<year>\d{4})(?![\d/])"),
    re.compile(r"(?<![\d/])(?P<month>0?[1-9]|1[0-2])/(?P<day>1[3-9]|2\d|3[01])/(?P<year>\d{4})(?![\d/])"),
    re.compile(
        rf"\b(?P<day>\d{{1,2}})(?:st|nd|rd|th)?(?: of)? (?P<month>{MONTH})\b\.?,? (?P<year>\d{{4}})\b", re.IGNORECASE
    ),
    re.compile(rf"\b(?P<month>{MONTH})\b\.? (?P<day>\d{{1,2}})(?:st|nd|rd|th)?,? (?P<year>\d{{4}})\b", re.IGNORECASE),
    re.compile(rf"(?<!\d )\b(?P<month>{MONTH})\b\.?,? (?P<year>\d{{4}})\b", re.IGNORECASE),
)


@dataclass(frozen=True)
class Date:
    """A date or year as written, with its span; ``year`` has four digits, or is ``None`` for "june 30"."""

    text: str
    year: str | None
    start: int
    end: int


@dataclass(frozen=True, order=True)
class Period:
    """The days from ``first`` to ``last``, both included."""

    first: date
    last: date

    def __str__(self) -> str:
        return str(self.first) if self.first == self.last else f"{self.first} to {self.last}"


def year(number: int) -> Period:
    """The days of a year."""
    return Period(date(number, 1, 1), date(number, 12, 31))


def periods(text: str) -> list[tuple[int, int, Period]]:
    """The days and months that a text names, each with the start and the end of its span."""
    found: list[tuple[int, int, Period]] = []
    for pattern in _PATTERNS:
        for match in pattern.finditer(text):
            if any(match.start() < end and start < match.end() for start, end, _ in found):
                continue
            parts = match.groupdict()
            month = _NUMBERS.get(parts["month"][:3].lower()) or int(parts["month"])
            period = _days(int(parts["year"]), month, int(parts["day"]) if "day" in parts else None)
            if period is not None:
                found.append((match.start(), match.end(), period))
    return sorted(found, key=lambda one: one[0])


def _days(year: int, month: int, day: int | None) -> Period | None:
    """A day or, without one, all days of a month; ``None`` for a day that no calendar has."""
    try:
        first = date(year, month, 1 if day is None else day)
    except ValueError:
        return None
    return Period(first, first if day is not None else first.replace(day=calendar.monthrange(year, month)[1]))


def find_dates(text: str) -> list[Date]:
    """The dates and lone years of a text, in order; a number of shares is no year ("issued 2014 shares")."""
    found: list[Date] = []
    for match in _DATE.finditer(text):
        year = match[match.lastgroup] if match.lastgroup is not None else None
        if match["year"] is not None and not _is_year(text, match):
            continue
        if year is not None and len(year) == 2:
            year = ("19" if year > "60" else "20") + year
        found.append(Date(match[0], year, match.start(), match.end()))
    return found


def _is_year(text: str, match: re.Match[str]) -> bool:
    before, after = text[max(0, match.start() - 14) : match.start()], text[match.end() :]
    return not after.lstrip().startswith("shares") or not before.strip() or _CUE.search(before) is not None
