"""The names of rows, columns and periods: when two of them mean the same.

>>> same_name("Other assets ( b )", "other assets"), same_name("2009", "december 31, 2009")
(True, True)
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Sequence
from operator import eq

from kg.arrays import BoolArray, DoubleArray
from kg.reports import base_label
from kg.search import Answer
from kg.text import MONTHS, find_dates

VERDICT = 1e300
"""Stands for yes among the values, and its negative for no: no calculation over a report gives either."""

_NAME_CODE = 1e280
_FINER = ("date", "day", "quarter", "period", "week", "month")
_MONTHS = {name[:3].lower(): name.lower() for name in MONTHS}
_MONTH = re.compile(rf"\b({'|'.join(f'{name[:3]}(?:{name[3:]})?' for name in _MONTHS.values())}|sept)\b", re.IGNORECASE)
_FOOTNOTE = re.compile(r"\(\s*(?:\d{1,2}|[a-z])\s*\)", re.IGNORECASE)
_BRACKETS = re.compile(r"\([^()]*\)")
_SPAN = re.compile(r"\b\d{1,2}\b|[-,\u2013]|\b(?:to|through)\b", re.IGNORECASE)
_YEAR = re.compile(r"\d{4}")
_HYPHENS = re.compile(r"(?<=[a-z])-|-(?=[a-z])", re.IGNORECASE)


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
