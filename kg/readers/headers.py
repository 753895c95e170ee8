"""Tables from rows: the rows of one sheet or block, split at each header, with one header row a table.

    >>> rows = [["", "Years ended"], ["", "2024"], ["Sales", "5"], [], ["Assets"], ["", "2023"], ["Cash", "7"]]
    >>> rows_of_cells = [[RawCell(text, Place("a")) for text in row] for row in rows]
    >>> [[[cell.text for cell in row] for row in table] for table in split_tables(rows_of_cells)]
    [[['', 'Years ended 2024'], ['Sales', '5']], [['Assets', ''], ['', '2023'], ['Cash', '7']]]

Rows above the header that fill their first cell alone remain: they are titles.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from kg.readers.content import RawCell
from kg.readers.grid import is_figure
from kg.reports import base_label
from kg.text import find_dates

Row = Sequence[RawCell]

_SCALE = re.compile(r"\b(?:thousand|million|billion)s\b|\$000|000s", re.IGNORECASE)
_SHORT_SCALE = re.compile(
    r"(?<![a-z])(?:(?:us|c|a|hk|nz|s|r)?[$€£¥]|aud|cad|chf|cny|dkk|eur|gbp|inr|jpy|nok|sek|usd|zar)"
    r"\s?['’]?(000s?|k|thousands?|mn?|mm|mio|millions?|bn?|billions?)(?![a-z0-9])|\((000)['’]?s?(?: omitted)?\)",
    re.IGNORECASE,
)
_SHORT = {"0": "thousands", "k": "thousands", "t": "thousands", "m": "millions", "b": "billions"}


def split_tables(rows: Sequence[Row]) -> list[list[Row]]:
    """The tables of a block, each with its titles, one header row and its rows of data."""
    width = max(map(len, rows), default=0)
    tables: list[list[Row]] = []
    start = 0
    while start < len(rows):
        end = _end_of_table(rows, start)
        table = [row for row in rows[start:end] if any(cell.text for cell in row)]
        if table:
            tables.append([_padded(row, width) for row in _with_one_header(table)])
        start = end
    return tables


def scale_notes(texts: Sequence[str]) -> list[str]:
    """The scales of short forms, written in full: ``(in millions)`` for "£m" or "$mn"."""
    found = (match for text in texts for match in _SHORT_SCALE.finditer(text))
    return list(dict.fromkeys(f"(in {_SHORT[(one[1] or one[2])[0].lower()]})" for one in found))


def _padded(row: Row, width: int) -> Row:
    missing = width - len(row)
    return [*row, *[RawCell("", replace(row[0].place, cell=""))] * missing] if missing else row


def is_lone(row: Row) -> bool:
    """Whether a row has text in its first cell alone: a title, a heading or a note."""
    return bool(row) and bool(row[0].text) and not any(cell.text for cell in row[1:])


def _filled(row: Row) -> list[str]:
    return [cell.text for cell in row[1:] if cell.text]


def _has_data(row: Row) -> bool:
    return any(map(is_figure, _filled(row)))


def _is_dated(row: Row) -> bool:
    """Whether all filled cells right of the label are dates."""
    return bool(_filled(row)) and all(find_dates(text) and not base_label(text) for text in _filled(row))


def _end_of_table(rows: Sequence[Row], start: int) -> int:
    """The row after a table: the next header below data, with the heading above it."""
    seen = False
    for place in range(start, len(rows)):
        row = rows[place]
        above = rows[place - 1] if place else ()
        apart = not any(cell.text for cell in above) or is_lone(above)
        if seen and not _has_data(row) and _begins_table(row, apart):
            return place - 1 if is_lone(above) else place
        seen = seen or _has_data(row)
    return len(rows)


def _begins_table(row: Row, apart: bool) -> bool:
    if not _filled(row):
        return False
    if row[0].text and not is_about_scale(row[0].text):
        return apart and _is_dated(row)
    return any(date.year is not None for text in _filled(row) for date in find_dates(text))


def is_about_scale(label: str) -> bool:
    """Whether a title or note may state the scale of a table."""
    return label.startswith("(") or bool(_SCALE.search(label))


def _with_one_header(rows: Sequence[Row]) -> list[Row]:
    """The rows of a table with its header rows joined column by column."""
    first = next((place for place, row in enumerate(rows) if not is_lone(row)), len(rows))
    count = 0
    for row in rows[first:]:
        filled = _filled(row)
        if (
            not filled
            or _has_data(row)
            or (count and row[0].text and not (is_about_scale(row[0].text) or _is_dated(row)))
        ):
            break
        count += 1
    if count < 2:
        return list(rows)
    header = rows[first : first + count]
    width = max(map(len, header))
    joined = [_joined([row[column] for row in header if column < len(row)]) for column in range(width)]
    return [*rows[:first], joined, *rows[first + count :]]


def _joined(cells: Sequence[RawCell]) -> RawCell:
    filled = [cell for cell in cells if cell.text]
    texts = dict.fromkeys(cell.text for cell in filled)
    return replace(filled[-1], text=" ".join(texts)) if filled else cells[-1]
