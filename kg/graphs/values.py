"""Typed values of a graph: numbers with units, dates, yes or no, and texts.

>>> read_value("1640", "http://www.w3.org/2001/XMLSchema#integer").number
Decimal('1640')
>>> read_value("1986", "http://www.w3.org/2001/XMLSchema#gYear").period
Period(first=datetime.date(1986, 1, 1), last=datetime.date(1986, 12, 31))
"""

from __future__ import annotations

import calendar
import re
from dataclasses import dataclass
from datetime import date
from decimal import Decimal, InvalidOperation
from typing import Literal

from kg.text import Period

ValueKind = Literal["entity", "text", "number", "date", "boolean"]

_XSD = "http://www.w3.org/2001/XMLSchema#"
_NUMBER_TYPES = """
    integer decimal double float int long short byte nonNegativeInteger positiveInteger negativeInteger
    nonPositiveInteger unsignedInt unsignedLong unsignedShort unsignedByte
"""
_NUMBERS = frozenset(f"{_XSD}{name}" for name in _NUMBER_TYPES.split())
_DATES = frozenset(f"{_XSD}{name}" for name in ("date", "dateTime", "dateTimeStamp", "gYear", "gYearMonth"))
_DATE = re.compile(r"(\d{4})(?:-(\d\d)(?:-(\d\d)(?:[T ][\d:.]+)?)?)?(?:Z|[+-]\d\d:\d\d)?")
_MIDNIGHT = re.compile(r"(\d{4}-\d\d-\d\d)T00:00(?::00(?:\.0+)?)?(?:Z|[+-]00:00)?")
_DURATION = re.compile(r"P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)(?:\.\d+)?S)?)?")
_DURATIONS = frozenset(f"{_XSD}{name}" for name in ("duration", "dayTimeDuration"))
_LARGEST = 400  # digits before or after the point: what has more is a text, and not written out
_NUMBER = re.compile(r"[+-]?(?:\d+|\d{1,3}(?:,\d{3})+)(?:\.\d+)?")
_ORDINAL = re.compile(r"(\d+)(?:st|nd|rd|th)")


@dataclass(frozen=True)
class Value:
    """A node of a graph: an entity, or a value with its type.

    Attributes:
        kind: Its type.
        text: An entity's IRI, or the value as written.
        number: The number.
        period: The days of a date.
        unit: The unit that the graph states with the number, or empty.
    """

    kind: ValueKind
    text: str
    number: Decimal | None = None
    period: Period | None = None
    unit: str = ""


def read_value(text: str, datatype: str = "") -> Value:
    """The typed value of a literal.

    Args:
        text: The literal as written.
        datatype: The IRI of its datatype. Without one, ISO days, plain numbers and "3rd" are known by their form.
    """
    if not datatype and (rank := _ORDINAL.fullmatch(text)):
        return Value("number", text, _number(rank[1]))
    if datatype == f"{_XSD}boolean" and text in ("true", "false", "1", "0"):
        return Value("boolean", "yes" if text in ("true", "1") else "no")
    if datatype in _DURATIONS and (minutes := _minutes(text)) is not None:
        return Value("number", str(minutes), minutes, unit="min")
    if datatype in _DATES:
        period = read_date(text)
        return _day(text, period) if period is not None else Value("text", text)
    if datatype in _NUMBERS or (not datatype and _NUMBER.fullmatch(text.strip())):
        number = _number(text)
        if number is not None and "e" in text.lower():  # a double such as 4.6E0
            text = f"{number:f}"
            number = Decimal(text)
        return Value("number", text.strip(), number) if number is not None else Value("text", text)
    if datatype in ("", f"{_XSD}string") and re.fullmatch(r"\d{4}-\d\d(-\d\d.*)?", text):
        period = read_date(text)
        if period is not None:
            return _day(text, period)
    return Value("text", text)


def _day(text: str, period: Period) -> Value:
    midnight = _MIDNIGHT.fullmatch(text.strip())  # a day that an exporter wrote as a time
    return Value("date", midnight[1] if midnight else text, period=period)


def read_date(text: str) -> Period | None:
    """The days of an ISO date, month or year; ``None`` for any other text and for days that no calendar has."""
    found = _DATE.fullmatch(text.strip())
    if found is None:
        return None
    year, month, day = int(found[1]), found[2], found[3]
    try:
        if day is not None:
            exact = date(year, int(month), int(day))
            return Period(exact, exact)
        if month is not None:
            last = calendar.monthrange(year, int(month))[1]
            return Period(date(year, int(month), 1), date(year, int(month), last))
        return Period(date(year, 1, 1), date(year, 12, 31))
    except ValueError:
        return None


def _minutes(text: str) -> Decimal | None:
    """The minutes of a duration such as "PT1H30M"; ``None`` for one with months or years, or an empty one."""
    found = _DURATION.fullmatch(text.strip())
    if found is None or not any(found.groups()):
        return None
    days, hours, minutes, seconds = (Decimal(part or 0) for part in found.groups())
    total = days * 1440 + hours * 60 + minutes + seconds / 60
    return total.quantize(Decimal(1)) if total == total.to_integral_value() else round(total, 2)


def _number(text: str) -> Decimal | None:
    try:
        number = Decimal(text.strip().replace(",", ""))
    except InvalidOperation:
        return None
    return number if number.is_finite() and abs(number.adjusted()) <= _LARGEST else None
