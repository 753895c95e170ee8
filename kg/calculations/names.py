"""The names of rows, columns and periods: when two of them mean the same, and the demands of a question on them.

>>> same_name("Other assets ( b )", "other assets"), same_name("2009", "december 31, 2009")
(True, True)
>>> read_names("which were the three largest segments?").count
3

The words of demands are those of English grammar for counts and time. Whether "mildest" asks for the largest or the
smallest figure is for the learned weights of the search.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from operator import eq

from kg.arrays import BoolArray, DoubleArray
from kg.reports import base_label
from kg.search import Answer
from kg.text import MONTH, MONTHS, find_dates

VERDICT = 1e300
"""Stands for yes among the values, and its negative for no: no calculation over a report gives either."""

_NAME_CODE = 1e280
_FINER = ("date", "day", "quarter", "period", "week", "month")
_MONTHS = {name[:3].lower(): name.lower() for name in MONTHS}
_MONTH = re.compile(rf"\b({MONTH})\b", re.IGNORECASE)
_FOOTNOTE = re.compile(r"\(\s*(?:\d{1,2}|[a-z])\s*\)", re.IGNORECASE)
_BRACKETS = re.compile(r"\([^()]*\)")
_SPAN = re.compile(r"\b\d{1,2}\b|[-,\u2013]|\b(?:to|through)\b", re.IGNORECASE)
_YEAR = re.compile(r"\d{4}")
_HYPHENS = re.compile(r"(?<=[a-z])-|-(?=[a-z])", re.IGNORECASE)

_COUNTS = {word: number for number, word in enumerate(("two", "three", "four", "five", "six"), start=2)}
_SUPERLATIVE = (
    r"(?:most|least|top|bottom"
    r"|(?!(?:inter|inv|rein|reinv|harv|requ|for|prot|cont|sugg|man|mod|hon|dig|cr|r|t|w|n|gu|qu)est\b)\w+est)"
)
_COUNTED = re.compile(
    rf"\b(?:top|bottom|first|last)\s+({'|'.join(_COUNTS)}|[2-6])\b|\b({'|'.join(_COUNTS)}|[2-6])\s+{_SUPERLATIVE}\b",
    re.IGNORECASE,
)
_EXTREME = re.compile(rf"\b{_SUPERLATIVE}\b|\bpeak", re.IGNORECASE)
_TIMES = ("year", "quarter", "month", "date", "period", "day", "week")
_TIME = re.compile(rf"\b(when|{'|'.join(_TIMES)})s?\b", re.IGNORECASE)
_TIME_ASKED = re.compile(
    rf"\bwhen\b|\b(?:which|what)\b(?:\s+(?!the\b|was\b|were\b|is\b|did\b|had\b)[\w-]+){{0,3}}?\s+(?:{'|'.join(_TIMES)})s?\b",
    re.IGNORECASE,
)

_WH = r"(?:which|what|who|whose|when|where|did|does|do|was|were|is|are|has|have|had|rank|list|name|by)"
_PAUSE = re.compile(r"\s*[,;:?]\s*|\s+[-\u2013\u2014]\s+")
_JOINED = (re.compile(r"\s+(?:or|vs\.?|versus)\s+", re.IGNORECASE), re.compile(r"\s+and\s+", re.IGNORECASE))
_LEADING = re.compile(r"^(?:(?:and|or|of|between|among|from|the|its|their|either|both)\s+)+", re.IGNORECASE)
_MOST_OPTIONS = 6


def _words_of(name: str) -> str:
    """Returns a name's words and numbers in lower case, without marks of footnotes."""
    return " ".join(re.findall(r"\w+", _FOOTNOTE.sub(" ", name).casefold()))


def year_of(name: str) -> str | None:
    """Returns the year of a name that is nothing but a date; ``None`` for other names."""
    spaced = _HYPHENS.sub(" ", name)
    years = {date.year for date in find_dates(spaced) if date.year is not None}
    return years.pop() if len(years) == 1 and not base_label(spaced) else None


def same_name(one: str, other: str) -> bool:
    """Returns whether two names mean the same.

    A year means every date of it, and a month every date of it. A name may leave out what is in brackets.
    """
    first, second = _words_of(one), _words_of(other)
    if first == second:
        return True
    shorter = (_words_of(_BRACKETS.sub(" ", name)) for name in (other, one))
    if first and second and any(map(eq, (first, second), shorter)):
        return True
    months = set(_MONTHS.values())
    if first in months or second in months:
        return _same_month(one, other)
    if _YEAR.fullmatch(first):
        return year_of(other) == first
    return bool(_YEAR.fullmatch(second)) and year_of(one) == second


def _same_month(one: str, other: str) -> bool:
    """Whether two names are of the same month, and nothing but dates."""
    months = {month_of(name) for name in (one, other)}
    rest = (base_label(_SPAN.sub(" ", _MONTH.sub(" ", name))) for name in (one, other))
    return len(months) == 1 and None not in months and not any(rest)


def is_time(name: str) -> bool:
    """Returns whether a name speaks of a date, a month, a quarter or a year."""
    return bool(find_dates(_HYPHENS.sub(" ", name))) or month_of(name) is not None


def month_of(name: str) -> str | None:
    """Returns the one month that a name speaks of; ``None`` for none or several."""
    found = {_MONTHS[match[1][:3].lower()] for match in _MONTH.finditer(name)}
    return found.pop() if len(found) == 1 else None


def spoken_names(names: Sequence[str], written: Sequence[str], time: str) -> list[str]:
    """Returns the names of figures in the unit of time that a question asks for.

    Args:
        names: Different names, such as the years of columns.
        written: The labels as the table has them.
        time: ``month``, ``date`` and so on, or empty.
    """
    if time == "month":
        months = [month_of(label) for label in written]
        if None not in months and len(set(months)) == len(months):
            return [month for month in months if month is not None]
    if time in _FINER and all(map(is_time, written)) and len(set(written)) == len(written):
        return list(written)
    return list(names)


def as_float(answer: Answer) -> float:
    """Returns an answer as a number, equal for equal answers.

    Numbers have five decimal places. Yes and no are ``VERDICT`` and its negative; names are a number that is larger
    than any figure.
    """
    if isinstance(answer, str):
        return VERDICT if answer == "yes" else -VERDICT
    if isinstance(answer, tuple):
        text = "|".join(_words_of(name) for name in answer)
        return _NAME_CODE * (1.0 + zlib.crc32(text.encode()) / 2**32)
    return float(round(answer, 5)) if answer.adjusted() < 20 else float(answer)


def is_name_code(values: DoubleArray) -> BoolArray:
    """Returns which values stand for names: the numbers that :func:`as_float` gives to them."""
    names: BoolArray = (values >= _NAME_CODE) & (values <= 2 * _NAME_CODE)
    return names


@dataclass(frozen=True)
class AskedNames:
    """The demands of a question on names.

    Attributes:
        count: How many names, at least 1.
        extreme: Whether it has a superlative.
        time: The unit of time that it asks for, ``when``, or empty: the question asks for no time.
        options: The things that it names for a choice: "fixed" and "variable".
    """

    count: int
    extreme: bool
    time: str
    options: tuple[str, ...] = ()


def read_names(question: str) -> AskedNames:
    """Reads a question."""
    counted, asked = _COUNTED.search(question), _TIME_ASKED.search(question)
    number = (counted[1] or counted[2]).lower() if counted is not None else "1"
    return AskedNames(
        count=_COUNTS.get(number) or int(number),
        extreme=_EXTREME.search(question) is not None,
        time="" if asked is None else (_TIME.findall(asked[0]) or ["when"])[-1].lower(),
        options=_options(question),
    )


def _options(question: str) -> tuple[str, ...]:
    """The parts of the clause of a question that has no verb of its own: "a, b or c"."""
    parts = [part for part in _PAUSE.split(question.strip()) if part]
    plain = [re.search(rf"\b{_WH}\b", part, re.IGNORECASE) is None for part in parts]
    for joined in _JOINED:
        for place, part in enumerate(parts):
            if not plain[place] or not joined.search(part):
                continue
            start = place
            while start and plain[start - 1]:
                start -= 1
            names = [name for clause in parts[start : place + 1] for name in joined.split(clause)]
            found = [name for name in (_LEADING.sub("", one).strip() for one in names) if name]
            return tuple(found) if 2 <= len(found) <= _MOST_OPTIONS else ()
    return ()
