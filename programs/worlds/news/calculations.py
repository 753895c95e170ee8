r"""Calculations with the amounts and days of sentences: "$340 million - $300 million" is "$40 million".

>>> calculate("($48 million - $40 million) / $40 million * 100%", str)
'20%'
>>> calculate("count(Orvane; Brightlane; Corvex)", str)
'3'

A result has the unit and the scale of the amounts. The days between two dates are "39 days".
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable
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


_DAY = "day of the calendar"
_TIMES = ("minute", "hour", "day", "week", "month", "year")
_MONEY = ("dollar", "cent", "euro", "pound", "franc", "krone", "krona", "kroner", "kronor", "yen", "yuan", "rupee")
_MEASURES = frozenset((_PERCENT, "percent", *(f"{unit}{end}" for unit in (*_TIMES, *_MONEY) for end in ("", "s"))))


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

    def __add__(self, other: WrittenAmount) -> WrittenAmount:
        if _DAY in (self.unit, other.unit):
            return _moved(self, other, 1) if self.unit == _DAY else _moved(other, self, 1)
        return self._with(other, self.number + other.number)

    def __sub__(self, other: WrittenAmount) -> WrittenAmount:
        if self.unit == other.unit == _DAY:
            days = abs(self.number - other.number)
            return WrittenAmount(days, "days", "1 days" if days != 1 else "1 day")
        if _DAY in (self.unit, other.unit):
            return _moved(self, other, -1)
        return self._with(other, self.number - other.number)

    def __mul__(self, other: WrittenAmount) -> WrittenAmount:
        _check_no_day(self, other)
        if _PERCENT in (self.unit, other.unit) and self.unit and other.unit:
            share, whole = (self, other) if self.unit == _PERCENT else (other, self)
            return WrittenAmount(whole.number * share.number / 100, whole.unit, whole.written, whole.scale)
        if self.unit and other.unit:
            raise ValueError(f"{self.written!r} and {other.written!r} both have a unit")
        return self._with(other, self.number * other.number)

    def __truediv__(self, other: WrittenAmount) -> WrittenAmount:
        _check_no_day(self, other)
        if self.unit == other.unit or not self.unit:
            return WrittenAmount(self.number / other.number)
        if other.unit and other.unit != _PERCENT:
            raise ValueError(f"{self.written!r} and {other.written!r} have other units")
        by = other.number / 100 if other.unit else other.number
        return WrittenAmount(self.number / by, self.unit, self.written, self.scale)

    def _with(self, other: WrittenAmount, number: Decimal) -> WrittenAmount:
        """Returns a number in the form of the one of two amounts that has a unit.

        Raises:
            ValueError: Both have units, which are measures and differ; counted nouns may: 1,240 jobs less 320 places.
        """
        measures = [unit for unit in (self.unit, other.unit) if unit in _MEASURES or re.search(r"[$€£¥]", unit)]
        if self.unit != other.unit and self.unit and other.unit and measures:
            raise ValueError(f"{self.written!r} and {other.written!r} have other units")
        form = self if self.unit or not other.unit else other
        return WrittenAmount(number, form.unit, form.written, form.scale)


def _moved(day: WrittenAmount, step: WrittenAmount, sign: int) -> WrittenAmount:
    if day.unit != _DAY or step.unit not in ("day", "days"):
        raise ValueError("a day is only joined with days")
    moved = date.fromordinal(int(day.number)) + sign * timedelta(int(step.number))
    return WrittenAmount(Decimal(moved.toordinal()), _DAY)


def _check_no_day(*amounts: WrittenAmount) -> None:
    if any(amount.unit == _DAY for amount in amounts):
        raise ValueError("a day cannot be multiplied or divided")


_OPERATIONS = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv}


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
    amounts: list[WrittenAmount] = []
    written: list[str] = []
    for part in filter(None, map(str.strip, _PARTS.split(f" {text} "))):
        is_sign = _PARTS.fullmatch(f" {part} ") is not None or part in "()"
        written.append(_SIGNS.get(part, part) if is_sign else f"amounts[{len(amounts)}]")
        if not is_sign:
            amounts.append(_quantity(part if _CONSTANT.fullmatch(part) else lookup(part)))
    try:
        return _value(ast.parse(" ".join(written), mode="eval").body, amounts).text()
    except SyntaxError as error:
        raise ValueError(f"{text!r} is no calculation") from error
    except (InvalidOperation, DivisionByZero, OverflowError) as error:
        raise ValueError(f"{text!r} has no result") from error


def _value(tree: ast.AST, amounts: list[WrittenAmount]) -> WrittenAmount:
    """Returns the value of a parsed calculation over numbered amounts."""
    match tree:
        case ast.BinOp(left, sign, right):
            value: WrittenAmount = _OPERATIONS[type(sign)](_value(left, amounts), _value(right, amounts))
            return value
        case ast.Subscript(ast.Name("amounts"), ast.Constant(int(number))):
            return amounts[number]
    raise ValueError("a calculation has amounts and days with + - * / between")


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
    for start, end, number in reversed(find_number_words(text)):
        text = f"{text[:start]}{number:,}{text[end:]}"
    return re.sub(r"^one\b", "1", text, flags=re.IGNORECASE)
