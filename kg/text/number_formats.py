"""The conversion of figures of other countries (``1.234.567,89``, ``1 234``) to English ones of the same length.

    >>> table = (("", "2019"), ("umsatz", "1.234.567,89"), ("kosten", "12.345"), ("marge", "4,5 %"))
    >>> english_table(table)[1:]
    (('umsatz', '1,234,567.89'), ('kosten', '12,345'), ('marge', '4.5 %'))

``12.345`` is ambiguous, so each table has one style. It is continental if some cell can only be continental and none
can only be English. The signs are a comma before one or two last digits, points before a comma, and two points between
groups. Spaces are between groups where each figure of the table allows it; otherwise ``214 198`` is two figures of
a page without lines. A sentence is converted only if one of its figures has points and a comma, and none can only be
English. All spans keep their places.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from kg.text.dates import YEAR

Table = Sequence[Sequence[str]]

_BOTH = re.compile(r"(?<![\d.,])\d{1,3}(?:\.\d{3})+,\d{1,2}(?![\d,]|\.\d)", re.ASCII)
_CONTINENTAL = re.compile(
    rf"{_BOTH.pattern}|(?<![\d.,])\d{{1,3}}(?: \d{{3}})+,\d{{1,2}}(?![\d,])"
    r"|(?<![\d.,])\d{1,3}(?:\.\d{3}){2,}(?![\d.])"
    r"|^[^\d(]*\(?[^\d(]*\d+,\d{1,2}(?![\d,])\D*$",
    re.ASCII,
)
_ENGLISH = re.compile(r"(?<![\d.])(?:[\d,]*,\d{3})*\d*\.(?:\d{1,2}|\d{4,})(?![\d.])|,\d{3},\d{3}|,\d{3}\.\d", re.ASCII)
_SEPARATOR = re.compile(rf"\d{{1,2}}\.\d{{1,2}}\.(?:{YEAR}|\d\d)(?![\d.,])|(?<=\d)[.,](?=\d)", re.ASCII)
_SWAPPED = {".": ",", ",": "."}
_SPACES = re.compile(r"(?<!\d)(\d{1,3}(?: \d{3})+)(?=(?:,\d+)?\D*$)", re.ASCII)
_SPACED = re.compile(r"\d \d", re.ASCII)
_SPACED_GROUP = re.compile(r"(?<=\d) (?=\d{3}(?!\d))", re.ASCII)
_GROUPS = re.compile(r"\D*\d{1,3}(?: \d{3})+(?:\.\d+)?[^\d.,]*", re.ASCII)


def is_continental(cells: Iterable[str]) -> bool:
    """Whether some cell can only be continental and none can only be English."""
    found = False
    for cell in cells:
        if "." not in cell and "," not in cell:
            continue
        if _ENGLISH.search(_BOTH.sub(" ", cell)):
            return False
        found = found or _CONTINENTAL.search(cell) is not None
    return found


def english_table(table: Table) -> Table:
    """The table with English figures, or the same object if its figures are English ones."""
    spaced = [cell for row in table for cell in row[1:] if _SPACED.search(cell)]
    if not is_continental(cell for row in table for cell in row[1:]):
        if not spaced or not all(map(_GROUPS.fullmatch, spaced)):
            return table
        return tuple((*row[:1], *(_SPACED_GROUP.sub(",", cell) for cell in row[1:])) for row in table)
    return tuple((*row[:1], *map(_english_cell, row[1:])) for row in table)


def english_sentence(sentence: str) -> str:
    """The sentence with English figures, or the same object if its style is not continental."""
    if _BOTH.search(sentence) is None or _ENGLISH.search(_BOTH.sub(" ", sentence)):
        return sentence
    return _swapped(sentence)


def _english_cell(cell: str) -> str:
    return _swapped(_SPACES.sub(lambda match: match[1].replace(" ", "."), cell))


def _swapped(text: str) -> str:
    return _SEPARATOR.sub(lambda match: _SWAPPED.get(match[0], match[0]), text)  # a date is unchanged
