"""Days and months that a text names, as the days that they last.

>>> [(text[start:end], period.first, period.last) for start, end, period in periods(text := "since 3 November 2026")]
[('3 November 2026', datetime.date(2026, 11, 3), datetime.date(2026, 11, 3))]

A day is written ``3 November 2026``, ``November 3, 2026`` or ``2026-11-03``, a month ``November 2026``. A year alone is
a number like others: who reads a question must know whether it is meant as one. What is no day of the calendar
(31 June) is not found.
"""

from __future__ import annotations

import calendar
import re
from dataclasses import dataclass
from datetime import date

_MONTHS = {name.lower(): number for number, name in enumerate(calendar.month_name) if name} | {
    name.lower(): number for number, name in enumerate(calendar.month_abbr) if name
}
_MONTH = "|".join(sorted(_MONTHS, key=len, reverse=True))
_PATTERNS = (
    re.compile(r"\b(?P<year>\d{4})-(?P<month>\d{2})-(?P<day>\d{2})\b"),
    re.compile(
        rf"\b(?P<day>\d{{1,2}})(?:st|nd|rd|th)?(?: of)? (?P<month>{_MONTH})\b\.?,? (?P<year>\d{{4}})\b", re.IGNORECASE
    ),
    re.compile(rf"\b(?P<month>{_MONTH})\b\.? (?P<day>\d{{1,2}})(?:st|nd|rd|th)?,? (?P<year>\d{{4}})\b", re.IGNORECASE),
    re.compile(rf"(?<!\d )\b(?P<month>{_MONTH})\b\.?,? (?P<year>\d{{4}})\b", re.IGNORECASE),
)


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
    """The days and months that a text names, each with its first character's place and the place after its last."""
    found: list[tuple[int, int, Period]] = []
    for pattern in _PATTERNS:
        for match in pattern.finditer(text):
            if any(match.start() < end and start < match.end() for start, end, _ in found):
                continue
            period = _period(match.groupdict())
            if period is not None:
                found.append((match.start(), match.end(), period))
    return sorted(found, key=lambda one: one[0])


def _period(parts: dict[str, str]) -> Period | None:
    month = _MONTHS.get(parts["month"].lower()) or int(parts["month"])
    try:
        if "day" in parts:
            day = date(int(parts["year"]), month, int(parts["day"]))
            return Period(day, day)
        first = date(int(parts["year"]), month, 1)
    except ValueError:
        return None
    return Period(first, first.replace(day=calendar.monthrange(first.year, month)[1]))
