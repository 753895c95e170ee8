"""Header rows, periods and section headings of a table.

    >>> column_periods(["", "year ended june 30 2009 2008", "year ended june 30 2009 2008", "june 30 2009"], 1)
    [None, '2009', '2008', '2007']

These functions implement the rules of :mod:`kg.reports.layout`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from kg.text import YEAR, Date, find_dates

Table = Sequence[Sequence[str]]

_UNIT = r"(?:[$€£¥]\s?['’]?000['’]?s?|[$€£¥%])"
YEARS_OR_UNIT = re.compile(
    rf"\s*(?:{_UNIT}|(?:(?:\d{{1,2}}\.\d{{1,2}}\.)?{YEAR}(?:\s?\(\s?\d\s?\))?(?:\s?{_UNIT})?[\s,-]*)+)\s*"
)
"""A cell of a header that holds only years, a unit ("£000"), or years with a unit ("2025 £000")."""
ZERO = re.compile(r"\s*[$€£¥]?\s*[\u2010-\u2015\u2212-]\s*%?\s*")
"""A cell that is a dash, which statements write for zero."""
NO_AMOUNT = re.compile(r"\s*[$€£¥]\s*[\u2010-\u2014-]+\s*")
DATA = re.compile(rf"(?=\D*\d)[\s$€£¥().,'’%\d\u2212\u2010-\u2013-]+p?|{NO_AMOUNT.pattern}")
TRAILING = re.compile(
    rf"(?<=[a-z)] )(?<!level )(?<!tier )(?<!s&p )(?<!no \. )(?:[$€£] ?)?(?!{YEAR}$)"
    r"(?:(?<=[$€£] )|(?<=\) ))?-?(?:\d{3,}|[\d,]*\.\d+|\d+(?= ?%)|(?<=[$)] )\d+)(?: ?%(?: \([\d. ]*% \))?)?$",
    re.IGNORECASE,
)
"""The final figure of a merged header."""
_FILLER = re.compile(
    r"\b(?:years?|fiscal|ended|ending|as|of|at|the|and|or|in|for|to|through|beyond|after|thereafter|calendar|quarters?"
    r"|months?|twelve|first|second|third|fourth|period|december)\b|[^a-z0-9]+",
    re.IGNORECASE,
)
_OPEN_END = re.compile(r"\s*(?:and thereafter|thereafter|and beyond|total)\s*", re.IGNORECASE)
_RANGE = re.compile(rf"({YEAR})\s*(?:[-–]|to|through|and)\s*({YEAR})$", re.IGNORECASE)
_MATURITY = re.compile(r"\b(?:due|maturing|matures|expiring|expires)(?: in| on)?\s*$", re.IGNORECASE)
SCALE = re.compile(r"(thousand|million|billion)s?\b", re.IGNORECASE)


def base_label(label: str) -> str:
    """A header without its dates and their function words: "as of june 30 2009 total" is "total"."""
    for date in reversed(find_dates(label)):
        label = label[: date.start] + " " + label[date.end :]
    return " ".join(_FILLER.sub(" ", label).split()).lower()


def is_data(cell: str) -> bool:
    """Whether a cell holds only figures, and not only years, units or both."""
    return bool(DATA.fullmatch(cell)) and not YEARS_OR_UNIT.fullmatch(cell)


def is_section(row: Sequence[str]) -> bool:
    """Whether a row holds only a label, or a date with words that repeat the header."""
    if len(row) < 2 or not row[0].strip():
        return False
    others = [cell for cell in row[1:] if cell.strip() and cell != row[0]]
    text = "".join(others)
    return not others or (is_date_alone(row[0]) and any(map(str.isalpha, text)) and not any(map(str.isdigit, text)))


def is_date_alone(label: str) -> bool:
    """Whether a label holds only a year."""
    return not base_label(label) and any(date.year is not None for date in find_dates(label))


def count_header_rows(table: Table) -> int:
    """The number of header rows at the top; 0 if at least half of row 0 is data."""
    cells = [cell for cell in table[0][1:] if cell.strip()]
    if (cells and 2 * sum(map(is_data, cells)) >= len(cells)) or (not cells and len(table[0]) == 1):
        return 0
    count = 1
    while count < min(len(table) - 1, 3):
        label, rest = table[count][0].strip(), [cell for cell in table[count][1:] if cell.strip()]
        named = bool(label) and not (label.startswith("(") or SCALE.search(label) or len(rest) > len(cells))
        if named or not rest or any(is_data(cell) for cell in rest):
            break
        count += 1
    return count


def header_label(rows: Table, column: int) -> str:
    """The joined header rows of a column; above its last one, a header spans the empty cells to its right."""
    parts: list[str] = []
    for row in rows:
        start = min(column, 1) if row is not rows[-1] and rows[-1][column].strip() else column
        text = next((cell for cell in reversed(row[start : column + 1]) if cell.strip()), "")
        if text and text not in parts:
            parts.append(text)
    return " ".join(parts)


def period_of(label: str, dates: Sequence[Date]) -> str | None:
    """The year of a label, or its two years as a span; ``None`` for a due date."""
    years = [date.year for date in dates if date.year is not None and not _MATURITY.search(label[: date.start])]
    if not years:
        return None
    span = _RANGE.search(label.strip())
    if span is not None and span[1] == years[0] < span[2]:
        return f"{span[1]}-{span[2]}"
    return years[0]


def is_labelled(table: Table, header_rows: int, header: str) -> bool:
    """Whether column 0 holds labels, and not figures such as amounts of money."""
    cells = [row[0] for row in table[header_rows:] if row[0].strip()]
    if not cells or not all(map(is_data, cells)):
        return True
    return len(table[0]) > 1 and not (header.strip() and any("$" in cell or "." in cell for cell in cells))


def is_merged_header(table: Table) -> bool:
    """Whether the header of each column of figures ends in a figure: "operating revenues $ 652.3".

    A date that lost a space, "december 312008", is no figure.
    """
    numeric = [column for column in range(1, len(table[0])) if _is_numeric([row[column] for row in table[1:]])]
    return bool(numeric) and all(_ends_in_figure(table[0][column].rstrip()) for column in numeric)


def _ends_in_figure(header: str) -> bool:
    dated = any(date.end == len(header) and date.year is not None for date in find_dates(header))
    return not dated and TRAILING.search(header) is not None


def _is_numeric(cells: Sequence[str]) -> bool:
    filled = [cell for cell in cells if cell.strip()]
    return bool(filled) and 2 * sum(map(is_data, filled)) > len(filled)


def column_periods(labels: Sequence[str], start: int) -> list[str | None]:
    """The period of each column from ``start`` on, by the rule of :mod:`kg.reports.layout`."""
    periods: list[str | None] = [None] * len(labels)
    seen: dict[str, list[str]] = {}
    written: set[tuple[str, str]] = set()
    for column, label in enumerate(labels[start:], start=start):
        dates = [date for date in find_dates(label) if date.year is not None]
        years = [str(date.year) for date in dates]
        base = base_label(label)
        taken = seen.setdefault(base, [])
        first = (base, dates[0].text) if dates else None
        if len(years) > 1 and labels[start:].count(label) > 1:
            place = labels[start:column].count(label)
            periods[column] = years[place] if place < len(years) else _continue(taken)
        elif first in written:
            periods[column] = _continue(taken)
        elif years:
            periods[column] = period_of(label, dates)
        elif taken and column > start and periods[column - 1] not in (None, *taken):
            periods[column] = periods[column - 1]
        if periods[column] is not None:
            taken.append(str(periods[column]))
        if first is not None:
            written.add(first)
    return periods


def roll_forward(table: Table, periods: Sequence[str | None], sections: Sequence[str]) -> list[str | None]:
    """Row periods with those of rows below a dated section, or between two dated balances of one line item."""
    found = list(periods)
    for number, section in enumerate(sections):
        if found[number] is None and section:
            found[number] = period_of(section, find_dates(section))
    dated = [number for number, period in enumerate(periods) if period is not None]
    if not dated or len({base_label(table[number][0]) for number in dated}) > 1:
        return found
    for earlier, later in pairwise(dated):
        found[earlier + 1 : later] = [period or periods[later] for period in found[earlier + 1 : later]]
    return found


def _continue(years: Sequence[str]) -> str | None:
    """The next year of a series: the year before, or the year after if the series rises."""
    if not years or not years[-1].isdigit():
        return None
    step = 1 if len(years) > 1 and years[-1] > years[-2] else -1
    return str(int(years[-1]) + step)


def is_transposed(
    table: Table, header_rows: int, periods: Sequence[str | None], dates: Sequence[Sequence[Date]]
) -> bool:
    """Whether the rows are periods: no column is one, and at least half of the rows are."""
    if any(period is not None for period in periods):
        return False
    rows = [row for row in range(header_rows, len(table)) if not is_section(table[row])]
    named = [row for row in rows if dates[row] and not base_label(table[row][0])]
    dated = sum(row in named or bool(_OPEN_END.fullmatch(table[row][0])) for row in rows)
    return len(named) >= 2 and 2 * dated >= len(rows)


def section_headings(table: Table, header_rows: int, first: str) -> tuple[str, ...]:
    """The section of each row; rows above any heading have the section ``first``.

    A heading below a heading is a part of it, and so are those after it that the table has had before: the SEC's
    viewer repeats the headings of a statement below the name of each member.
    """
    found: list[str] = [""] * header_rows
    current, parent, follows = first, "", False
    seen: set[str] = set()
    for row in table[header_rows:]:
        is_heading = is_section(row)
        if is_heading:
            name = row[0].strip().rstrip(": ").strip()
            parent = current if follows else parent if name in seen else ""
            current = f"{parent} {name}".strip()
            seen.add(name)
        found.append("" if is_heading else current)
        follows = is_heading
    return tuple(found)
