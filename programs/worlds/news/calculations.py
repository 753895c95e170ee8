r"""Calculations with the amounts and days of sentences: "$340 million - $300 million" is "$40 million".

>>> calculate("($48 million - $40 million) / $40 million * 100%", str)
'20%'
>>> calculate("count(Orvane; Brightlane; Corvex)", str)
'3'

A result has the unit and the scale of the amounts. The days between two dates are "39 days".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Context, Decimal, DivisionByZero, InvalidOperation

from kg.news import number_of
from kg.text import find_number_words

Lookup = Callable[[str], str]
"""Returns the value of a text as a sentence has it: a day as 2026-05-04; raises :class:`ValueError` for others."""

LONGEST = 400
"""Characters of a calculation at the most."""

_PARTS = re.compile(r"(\s[-+*/×÷−–]\s|[()])")
_COUNT = re.compile(r"count\s*\((.*)\)\s*", re.IGNORECASE | re.DOTALL)
_CONSTANT = re.compile(r"(?:\d{1,2}|100)|100 ?%")
"""Numbers that need no sentence: counts, months of a year, percent."""

_NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")
_SCALES = re.compile(r"\b(?:thousand|million|billion|trillion|bn|m|k)\b")
_SIGNS = {"×": "*", "÷": "/", "−": "-", "–": "-"}
_LARGE, _FINE, _WIDE = 1000, Decimal("0.0001"), Context(prec=40)
_PERCENT = "%"


@dataclass(frozen=True)
class WrittenAmount:
    """An amount, or a day.

    Attributes:
        number: Its number; of a day its ordinal.
        unit: Its unit; empty without one.
        written: The amount as it is written, whose form a result has.
        scale: What the written number is multiplied by.
    """

    number: Decimal
    unit: str = ""
    written: str = ""
    scale: Decimal = Decimal(1)

    def text(self) -> str:
        """Returns it as an answer."""
        if self.unit == _DAY:
            return date.fromordinal(int(self.number)).isoformat()
        number = (self.number / self.scale).quantize(_FINE, context=_WIDE).normalize(context=_WIDE)
        figures = f"{number:,f}" if abs(number) >= _LARGE else f"{number:f}"
        return _NUMBER.sub(figures, self.written, count=1) if self.written else figures


_DAY = "day of the calendar"
_TIMES = ("minute", "hour", "day", "week", "month", "year")
_MONEY = ("dollar", "cent", "euro", "pound", "franc", "krone", "krona", "kroner", "kronor", "yen", "yuan", "rupee")
_MEASURES = frozenset((_PERCENT, "percent", *(f"{unit}{end}" for unit in (*_TIMES, *_MONEY) for end in ("", "s"))))


def calculate(text: str, lookup: Lookup) -> str:
    """Returns the result of a calculation.

    Args:
        text: Amounts and days with ``+ - * /`` between, and brackets, or ``count(one; another)``.
        lookup: Returns the value of each of them, or raises.

    Raises:
        ValueError: It is no calculation, its units do not fit, or a sentence lacks a part.
    """
    if len(text) > LONGEST:
        raise ValueError(f"the calculation has more than {LONGEST} characters")
    listed = _COUNT.fullmatch(text.strip())
    if listed is not None:
        names = {lookup(part.strip()).casefold() for part in listed[1].split(";") if part.strip()}
        return str(len(names))
    parts = [part.strip() for part in _PARTS.split(f" {text} ")]
    reading = _Reading([_SIGNS.get(part, part) for part in parts if part], lookup)
    try:
        return reading.whole().text()
    except (InvalidOperation, DivisionByZero, OverflowError) as error:
        raise ValueError(f"{text!r} has no result") from error


class _Reading:
    """A calculation by descent: sums of products of brackets and amounts."""

    def __init__(self, parts: list[str], lookup: Lookup) -> None:
        self._parts, self._lookup, self._place = parts, lookup, 0

    def whole(self) -> WrittenAmount:
        found = self._sum()
        if self._place < len(self._parts):
            raise ValueError(f"{self._parts[self._place]!r} is not expected in the calculation")
        return found

    def _sum(self) -> WrittenAmount:
        found = self._product()
        for sign in self._signs("+-"):
            found = _added(found, self._product(), sign)
        return found

    def _product(self) -> WrittenAmount:
        found = self._one()
        for sign in self._signs("*/"):
            found = (_multiplied if sign == "*" else _divided)(found, self._one())
        return found

    def _signs(self, wanted: str) -> Iterator[str]:
        while self._place < len(self._parts) and self._parts[self._place] in wanted:
            self._place += 1
            yield self._parts[self._place - 1]

    def _one(self) -> WrittenAmount:
        if self._place >= len(self._parts):
            raise ValueError("the calculation ends too early")
        part = self._parts[self._place]
        self._place += 1
        if part == "(":
            found = self._sum()
            if self._parts[self._place : self._place + 1] != [")"]:
                raise ValueError("a bracket of the calculation is not closed")
            self._place += 1
            return found
        return _quantity(part if _CONSTANT.fullmatch(part) else self._lookup(part))


def _quantity(text: str) -> WrittenAmount:
    try:
        return WrittenAmount(Decimal(date.fromisoformat(text).toordinal()), _DAY)
    except ValueError:
        text = in_digits(text)
    written, number = _NUMBER.findall(text), number_of(text)
    literal = Decimal(written[0].replace(",", "")) if written else Decimal()
    if number is None or len(written) > 1 or not literal:
        raise ValueError(f"{text!r} is no amount and no day")
    rest = _SCALES.sub(" ", _NUMBER.sub(" ", text)).split()
    unit = _PERCENT if text.rstrip().endswith(_PERCENT) else rest[-1].lower() if rest else ""
    return WrittenAmount(abs(number), unit, text, abs(number) / literal)


def in_digits(text: str) -> str:
    """Returns a text with digits for figures in words: "6 aircraft" for "six aircraft"."""
    for found in reversed(find_number_words(text)):
        number = found.value * found.scale
        text = f"{text[: found.start]}{number:,f}{text[found.end :]}"
    return re.sub(r"^one\b", "1", text, flags=re.IGNORECASE)


def _added(one: WrittenAmount, other: WrittenAmount, sign: str) -> WrittenAmount:
    total = one.number + other.number if sign == "+" else one.number - other.number
    days = other.unit in ("day", "days")
    if one.unit == _DAY and days:
        step = timedelta(int(other.number))
        begin = date.fromordinal(int(one.number))
        return WrittenAmount(Decimal((begin + step if sign == "+" else begin - step).toordinal()), _DAY)
    if one.unit == other.unit == _DAY and sign == "-":
        return WrittenAmount(abs(total), "days", "1 days" if abs(total) != 1 else "1 day")
    if _DAY in (one.unit, other.unit):
        raise ValueError("a day is only joined with days")
    if _are_apart(one, other):
        raise ValueError(f"{one.written!r} and {other.written!r} have other units")
    form = one if one.unit or not other.unit else other
    return WrittenAmount(total, form.unit, form.written, form.scale)


def _are_apart(one: WrittenAmount, other: WrittenAmount) -> bool:
    """Whether two units are measures that differ; counted nouns may: 1,240 jobs less 320 places."""
    measures = [unit for unit in (one.unit, other.unit) if unit in _MEASURES or re.search(r"[$€£¥]", unit)]
    return one.unit != other.unit and bool(one.unit and other.unit and measures)


def _multiplied(one: WrittenAmount, other: WrittenAmount) -> WrittenAmount:
    if _DAY in (one.unit, other.unit):
        raise ValueError("a day cannot be multiplied")
    if _PERCENT in (one.unit, other.unit) and one.unit and other.unit:
        share, whole = (one, other) if one.unit == _PERCENT else (other, one)
        return WrittenAmount(whole.number * share.number / 100, whole.unit, whole.written, whole.scale)
    if one.unit and other.unit:
        raise ValueError(f"{one.written!r} and {other.written!r} both have a unit")
    form = one if one.unit or not other.unit else other
    return WrittenAmount(one.number * other.number, form.unit, form.written, form.scale)


def _divided(one: WrittenAmount, other: WrittenAmount) -> WrittenAmount:
    if _DAY in (one.unit, other.unit):
        raise ValueError("a day cannot be divided")
    if one.unit == other.unit or not one.unit:
        return WrittenAmount(one.number / other.number)
    if other.unit == _PERCENT:
        return WrittenAmount(one.number / (other.number / 100), one.unit, one.written, one.scale)
    if other.unit:
        raise ValueError(f"{one.written!r} and {other.written!r} have other units")
    return WrittenAmount(one.number / other.number, one.unit, one.written, one.scale)
