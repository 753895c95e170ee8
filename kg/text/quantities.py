"""Figures in cells and sentences: exact decimals with unit, scale, sign and span.

    >>> [(q.text, q.unit) for q in find_quantities("rates fell from 27% ( 27 % ) to $ 3.5 million")]
    [('27%', 'percent'), ('3.5', 'currency')]

The rules:

- **Echo**: ``27% ( 27 % )`` and ``-26 ( 26 )`` write one figure twice; the span includes the echo.
- **Sign**: a minus makes a figure negative unless it is a hyphen or a range (``1.2-1.5``, ``10-k``, ``3 - 5``).
  So do the parentheses of accounting, around a whole cell (``( 26 )``, ``( $ 0.3 )``, ``( 9 ) %``). In running text
  they count only around a figure that is no enumerator (``( 1 )`` to ``( 19 )``), year or percentage.
- **Groups** of digits are separated by commas (``1,234``, ``1,23,456``), apostrophes or non-breaking spaces. For
  decimal commas see ``kg.text.number_formats``.
- **Length**: a run of more than 100 digits is no figure; see ``Quantity.is_overlong`` for more than 15.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from kg.text.dates import YEAR

Unit = Literal["currency", "percent", "shares", "per-share", "years", "ratio", "plain"]

MOST_DIGITS = 15
"""The most digits of a figure that a question may ask for; a float holds that many."""

_LONGEST = 100

SCALES = {"thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}
"""The scales of figures, by their words."""

SCALE_WORDS = {scale: word for word, scale in SCALES.items()}
_LETTERS = {"k": 10**3, "m": 10**6, "mm": 10**6, "b": 10**9, "bn": 10**9}
_MINUS = "-\u2212\u2010\u2011\u2012\u2013"

_GROUP_MARK = re.compile(r"(?<=\d)['’\u00a0\u2009\u202f](?=\d{3}(?!\d))", re.ASCII)
_DIGITS = re.compile(
    r"\d{1,3}(?:,\d{3})+(?!\d)(?:\.\d+)?|(?<!\d,)(?<!\d)\d{1,2}(?:,\d{2})+,\d{3}(?![\d,])(?:\.\d+)?"
    r"|\d+(?:\.\d+)?|(?<!\d)\.\d+",
    re.ASCII,
)
_LEFT = re.compile(
    rf"(?:(?P<open>\()\s*)?(?P<sign>[{_MINUS}]\s?)?(?:(?P<currency>[$€£¥])\s*)?(?:(?P<open_after>\()\s*)?"
    rf"(?P<sign_after>[{_MINUS}]\s?)?$"
)
_ECHO = r"\(\s*[$€£¥]?\s*(?P<again>[\d.,]*)\s*%?\s*\)"
_RIGHT = re.compile(
    rf"(?P<percent>\s?%)?(?:\s*(?P<echo>{_ECHO}))?(?P<close>\s*\))?"
    r"(?P<percent_after>(?<=\))\s?%)?(?:\s*(?P<empty_echo>\(\s*%\s*\)))?"
)
_SCALE = re.compile(rf"[\s-]*(?P<word>{'|'.join(SCALES)})s?\b|(?P<letter>k|mm?|bn?)\b", re.IGNORECASE)
_PERCENT_WORD = re.compile(r"\s*(?:per\s?cent\b|percentage points?\b)", re.IGNORECASE)
_PER_SHARE = re.compile(r"\s*(?:per|a)\s+(?:\w+\s+){0,3}?(?:share|unit)\b", re.IGNORECASE)
_SHARES = re.compile(r"\s*(?:[a-z-]+\s+){0,3}?(?:shares|stock options|options|rsus)\b", re.IGNORECASE)
_MONEY = re.compile(r"\s*(?:u\s?\.\s?s\s?\.\s*)?(?:dollars?|euros?)\b", re.IGNORECASE)
_YEARS = re.compile(r"[\s-]*(?:years?|yrs?)\b", re.IGNORECASE)
_RATIO = re.compile(r"\s?(?:x\b|times\b|to 1(?:\.0+)?\b|:\s?1(?:\.0+)?\b)", re.IGNORECASE)

_ONES = """
    zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen
    eighteen nineteen
""".split()  # noqa: SIM905
_TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
_VALUES = dict(zip([*_ONES, *_TENS], [*range(20), *range(20, 100, 10)], strict=True))
_SMALL = rf"(?:(?:{'|'.join(_TENS)})(?:[\s-](?:{'|'.join(_ONES[1:10])}))?|{'|'.join(reversed(_ONES))})"
_IN_WORDS = re.compile(
    rf"(?<![\w-])(?P<first>{_SMALL})(?P<hundred>\s?hundred(?:\s(?:and\s)?(?P<rest>{_SMALL}))?)?"
    rf"(?:[\s-](?P<scale>{'|'.join(SCALES)}))?(?![\w-])",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Quantity:
    """One figure as written.

    Attributes:
        value: The figure with its sign, neither scaled nor divided by 100: ``27%`` is 27, ``$ 3.5 million`` is 3.5.
        unit: Its unit.
        scale: The factor of ``value`` (1, 1000, 10**6, 10**9 or 10**12), from the figure's own text. In a report graph
            it may come from its row, column or table.
        text: The figure in the program language's form: no currency sign, no separators; percentages end in ``%``.
        start: First character of its span in the cell or sentence.
        end: One past the last character of its span.
    """

    value: Decimal
    unit: Unit
    scale: int
    text: str
    start: int
    end: int

    @property
    def is_overlong(self) -> bool:
        """Whether it has more than 15 digits, such as joined years of a header or an account number."""
        return sum(map(str.isdigit, self.text)) > MOST_DIGITS


def find_quantities(text: str) -> list[Quantity]:
    """The figures of a text, in order, with years and parts of dates; empty without figures."""
    masked = _GROUP_MARK.sub(",", text)
    found: list[Quantity] = []
    position = 0
    while (match := _DIGITS.search(masked, position)) is not None:
        if len(match[0]) > _LONGEST:
            position = match.end()
            continue
        quantity = _read(masked, match)
        found.append(quantity)
        position = max(quantity.end, match.end())
    return found


def _read(text: str, digits: re.Match[str]) -> Quantity:
    start, end = digits.span()
    left = _LEFT.search(text, max(0, start - 10), start)
    right = _RIGHT.match(text, end)
    assert left is not None  # both patterns match the empty string
    assert right is not None
    written = digits[0].replace(",", "")
    tail = _tail(right, written)
    percent = right["percent"] is not None or (tail > right.start() and right["percent_after"] is not None)
    opened = left["open"] is not None or left["open_after"] is not None
    closed = right["close"] is not None and tail >= right.end("close")
    negative = _has_minus(text, left) or (opened and closed and _is_accounting(text, left, tail, written, percent))
    first = _first(text, left, opened and closed)
    scale, tail = _scale(text, tail, left["currency"] is not None)
    if opened and not closed and not text[: left.start()].strip() and text[tail:].strip() == ")":
        negative, first, tail = True, left.start(), len(text.rstrip())
    unit = _unit_after(text, tail, percent=percent, money=left["currency"] is not None)
    plain = ("-" if negative else "") + written
    return Quantity(Decimal(plain), unit, scale, plain + ("%" if unit == "percent" else ""), first, tail)


def _tail(right: re.Match[str], written: str) -> int:
    """The end of the figure's span, after its percent sign, its echo and its closing parenthesis."""
    if right["echo"] is None:
        return right.end()
    again = right["again"].replace(",", "").rstrip(".")
    if again not in ("", written) or (again == "" and "%" not in right["echo"]):
        return right.end("percent") if right["percent"] is not None else right.start()
    return right.end()


def _has_minus(text: str, left: re.Match[str]) -> bool:
    for group in ("sign", "sign_after"):
        sign = left[group]
        if sign is None:
            continue
        before = text[: left.start(group)]
        if sign.endswith(" "):
            before = before.rstrip()
        if not before or not (before[-1].isalnum() or before[-1] in "%)."):
            return True
    return False


def _is_accounting(text: str, left: re.Match[str], end: int, written: str, percent: bool) -> bool:
    """Whether parentheses make a figure negative, by the rule of signs above."""
    opening = left.start("open") if left["open"] is not None else left.start("open_after")
    around = text[:opening].strip(" $€£¥") + text[end:].strip()
    if not around:
        return True
    if percent or re.fullmatch(YEAR, written):
        return False
    return left["currency"] is not None or not re.fullmatch(r"1?\d", written)


def _first(text: str, left: re.Match[str], bracketed: bool) -> int:
    """The start of the span: a currency sign, a minus, or a parenthesis that is closed after the figure."""
    if bracketed or left["open"] is None:
        first = left.start()
    else:
        first = left.end("open")
        first += len(text[first : left.end()]) - len(text[first : left.end()].lstrip())
    sign = left["sign"]
    if sign is not None and first == left.start("sign") and not _has_minus(text, left):
        first = left.end("sign")
    return first


def _scale(text: str, end: int, money: bool) -> tuple[int, int]:
    match = _SCALE.match(text, end)
    if match is None:
        return 1, end
    word = match["word"] or (match["letter"] if money else None)
    return (1, end) if word is None else ((SCALES | _LETTERS)[word.lower()], match.end())


def _unit_after(text: str, end: int, *, percent: bool, money: bool) -> Unit:
    """The unit of a figure that ends at ``end``, by the words after it and the signs ``percent`` and ``money``."""
    if percent or _PERCENT_WORD.match(text, end):
        return "percent"
    if money:
        return "per-share" if _PER_SHARE.match(text, end) else "currency"
    patterns: tuple[tuple[Unit, re.Pattern[str]], ...] = (
        ("years", _YEARS),
        ("ratio", _RATIO),
        ("currency", _MONEY),
        ("shares", _SHARES),
    )
    return next((unit for unit, pattern in patterns if pattern.match(text, end)), "plain")


def find_number_words(text: str) -> list[tuple[int, int, int]]:
    """The figures of a text in words, up to hundreds with an optional scale: start, end and value, in order.

    >>> find_number_words("twenty-five million shares and two hundred and five stores")
    [(0, 19, 25000000), (31, 51, 205)]

    A lone "one" is skipped, as it is nearly always a pronoun.
    """
    found: list[tuple[int, int, int]] = []
    for match in _IN_WORDS.finditer(text):
        number = _small(match["first"])
        if match["hundred"] is not None:
            number = 100 * number + _small(match["rest"] or "zero")
        if match[0].lower() != "one":
            found.append((*match.span(), number * SCALES.get((match["scale"] or "").lower(), 1)))
    return found


def _small(words: str) -> int:
    """The value of "seven", "seventeen" or "seventy-seven"."""
    return sum(_VALUES[word] for word in re.split(r"[\s-]", words.lower()))
