"""Tables in long form, with one row a fact or one row a period, as tables with a column for each period.

    >>> rows = [["item", "year", "value"], ["Sales", "2024", "5"], ["Sales", "2023", "4"], ["Cost", "2024", "3"]]
    >>> table = pivoted([[RawCell(text, Place("a.csv")) for text in row] for row in rows])
    >>> [[cell.text for cell in row] for row in table]
    [['', '2024', '2023'], ['Sales', '5', '4'], ['Cost', '3', '']]

A column of dates, years or quarters gives the periods. Columns of figures are measures, and columns named unit,
currency or scale describe them. The other columns label a row. A table is in long form if labels repeat, or if
it has periods and its measure is named value or amount. One with two rows of the same labels and period is refused.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from kg.errors import DataError
from kg.readers.content import Place, RawCell
from kg.readers.grid import is_figure
from kg.readers.headers import Row, is_lone
from kg.reports import base_label
from kg.text import MONTHS, YEAR, find_dates

_UNIT_NAME = re.compile(r"(?:units?|uom|unit of measure|currency|ccy|scale|scaling|multiplier)", re.IGNORECASE)
_VALUE_NAME = re.compile(r"(?:value|values|amount|amounts|figure|number|val|obs_?value|fact)", re.IGNORECASE)
_QUARTER_NAME = re.compile(r"(?:fiscal[ _])?(?:quarter|qtr|q)", re.IGNORECASE)
_QUARTER = re.compile(r"(?:q\s?)?([1-4])", re.IGNORECASE)
_YEAR_QUARTER = re.compile(rf"({YEAR})\s?[-/]?\s?(q[1-4]|h[12])", re.IGNORECASE)
_YEAR_MONTH = re.compile(rf"({YEAR})[-/](0[1-9]|1[0-2])")
_SCALE = re.compile(r"(thousand|million|billion)s?|(?<![a-z])(k|mn?|mm|bn?)(?![a-z])", re.IGNORECASE)
_LETTERS = {"k": "thousands", "m": "millions", "b": "billions"}
_POWERS = {"3": "thousands", "6": "millions", "9": "billions"}
_FACTORS = {"1000": "thousands", "1000000": "millions", "1000000000": "billions"}
_SIGNS = {
    "usd": "$",
    "us$": "$",
    "dollar": "$",
    "eur": "€",
    "euro": "€",
    "gbp": "£",
    "pound": "£",
    "jpy": "¥",
    "yen": "¥",
}


@dataclass(frozen=True)
class _Columns:
    """The parts that the columns of a table in long form play, by number."""

    labels: tuple[int, ...]
    period: int | None
    quarter: int | None
    units: tuple[int, ...]
    measures: tuple[int, ...]


def pivoted(rows: Sequence[Row]) -> list[Row] | None:
    """The table with a column for each period; ``None`` if it is not in long form.

    Raises:
        DataError: Two rows have the same labels and period.
    """
    if len(rows) < 3 or any(not cell.text for cell in rows[0]) or any(map(is_lone, rows[1:])):
        return None
    columns = _columns(rows)
    if columns is None:
        return None
    body = [row for row in rows[1:] if any(cell.text for cell in row)]
    keys = [_key(row, columns.labels if columns.period is not None else columns.labels[:1]) for row in body]
    is_named = columns.period is not None and all(_VALUE_NAME.fullmatch(rows[0][one].text) for one in columns.measures)
    if (len(set(keys)) == len(keys) and not is_named) or (columns.period is None and len(columns.labels) < 2):
        return None
    constant = [column for column in columns.labels if len({row[column].text for row in body}) == 1]
    if len(constant) < len(columns.labels):
        columns = replace(columns, labels=tuple(one for one in columns.labels if one not in constant))
    _check_unique(body, columns)
    if columns.period is None:
        return _joined_labels(rows[0], body, columns)
    return _pivot(rows[0], body, columns)


def _columns(rows: Sequence[Row]) -> _Columns | None:
    texts = [[row[column].text for row in rows[1:] if row[column].text] for column in range(len(rows[0]))]
    names = [cell.text for cell in rows[0]]
    if any(map(is_figure, names)):
        return None
    units = tuple(column for column, name in enumerate(names) if _UNIT_NAME.fullmatch(name))
    rest = [column for column in range(len(names)) if column not in units and texts[column]]
    quarters = [column for column in rest if _QUARTER_NAME.fullmatch(names[column]) and _all(_QUARTER, texts[column])]
    quarter = quarters[0] if quarters else None
    dates = [column for column in rest if column != quarter and all(map(_is_period, texts[column]))]
    period = dates[0] if dates else None
    measures = tuple(
        one
        for one in rest
        if one not in (period, quarter) and (_VALUE_NAME.fullmatch(names[one]) or all(map(_is_value, texts[one])))
    )
    labels = tuple(one for one in rest if one not in (period, quarter, *measures))
    return _Columns(labels, period, quarter, units, measures) if labels and measures else None


def _all(pattern: re.Pattern[str], texts: Sequence[str]) -> bool:
    return all(pattern.fullmatch(text) for text in texts)


def _is_value(text: str) -> bool:
    return is_figure(text) or bool(re.fullmatch(YEAR, text))


def _is_period(text: str) -> bool:
    named = _YEAR_QUARTER.fullmatch(text) or _YEAR_MONTH.fullmatch(text)
    dates = find_dates(text)
    return bool(named) or (bool(dates) and dates[0].year is not None and not re.sub(r"q[1-4]", "", base_label(text)))


def _key(row: Row, columns: Sequence[int]) -> tuple[str, ...]:
    return tuple(row[column].text for column in columns)


def _period(row: Row, columns: _Columns) -> str:
    """The period of a row, as a header names it."""
    if columns.period is None:
        return ""
    text = row[columns.period].text
    found = _YEAR_QUARTER.fullmatch(text)
    if found is not None:
        return f"{found[2].upper()} {found[1]}"
    month = _YEAR_MONTH.fullmatch(text)
    if month is not None:
        return f"{MONTHS[int(month[2]) - 1]} {month[1]}"
    quarter = _QUARTER.fullmatch(row[columns.quarter].text) if columns.quarter is not None else None
    return f"Q{quarter[1]} {text}" if quarter is not None else text


def _check_unique(body: Sequence[Row], columns: _Columns) -> None:
    seen: dict[tuple[str, ...], Row] = {}
    for row in body:
        key = (*_key(row, columns.labels), _period(row, columns))
        other = seen.setdefault(key, row)
        if other is not row:
            named = ", ".join(part for part in key if part)
            at, before = row[0].place, other[0].place
            raise DataError(
                f"is in long form, and {_row_name(before)} and {_row_name(at)} have the same labels ({named})"
            )


def _row_name(place: Place) -> str:
    return f"line {place.line}" if place.line else f"the row of cell {place.cell}" if place.cell else "a row"


def _joined_labels(header: Row, body: Sequence[Row], columns: _Columns) -> list[Row]:
    """A table without periods, its labels in one column."""
    rest = [column for column in range(len(header)) if column not in columns.labels]
    head = [replace(header[columns.labels[0]], text=""), *(header[column] for column in rest)]
    return [head, *([_label(row, columns.labels), *(row[column] for column in rest)] for row in body)]


def _label(row: Row, columns: Sequence[int], *more: str) -> RawCell:
    texts = [text for text in (*_key(row, columns), *more) if text]
    return replace(row[columns[0]], text=", ".join(texts))


def _pivot(header: Row, body: Sequence[Row], columns: _Columns) -> list[Row]:
    periods: dict[str, RawCell] = {}
    lines: dict[tuple[str, ...], tuple[Row, int, dict[str, RawCell], str]] = {}
    scales: set[str] = set()
    assert columns.period is not None
    for row in body:
        period = _period(row, columns)
        periods.setdefault(period, replace(row[columns.period], text=period))
        for measure in columns.measures:
            cell, scale, note = _with_unit(row, measure, columns.units)
            if not cell.text.endswith("%"):
                scales.add(scale)
            key = (*_key(row, columns.labels), str(measure))
            lines.setdefault(key, (row, measure, {}, f"{note}|{scale}"))[2][period] = cell
    common = scales.pop() if len(scales) == 1 else None
    corner = replace(header[columns.labels[0]], text=f"(in {common})" if common else "")
    table: list[Row] = [[corner, *periods.values()]]
    for row, measure, cells, about in lines.values():
        note, _, scale = about.partition("|")
        name = (
            "" if len(columns.measures) == 1 and _VALUE_NAME.fullmatch(header[measure].text) else header[measure].text
        )
        label = _label(row, columns.labels, name)
        notes = [note, f"in {scale}" if scale and common is None else ""]
        label = replace(label, text=" ".join([label.text, *(f"({one})" for one in notes if one)]))
        blank = RawCell("", replace(label.place, cell=""))
        table.append([label, *(cells.get(period, blank) for period in periods)])
    return table


def _with_unit(row: Row, measure: int, units: Sequence[int]) -> tuple[RawCell, str, str]:
    """A value with the sign of its unit, its scale in words, and a note on a unit that has no sign."""
    cell, scale, note = row[measure], "", ""
    for column in units:
        text = row[column].text.strip().lower()
        found = _SCALE.search(text)
        if found is not None:
            scale = f"{found[1]}s" if found[1] else _LETTERS[found[2][0]]
            text = _SCALE.sub("", text).strip()
        elif text in _FACTORS or text in _POWERS:
            scale, text = _FACTORS.get(text) or _POWERS[text], ""
        sign = next((one for name, one in _SIGNS.items() if name in text), None) or next(
            (mark for mark in "$€£¥" if mark in text), None
        )
        if text in ("%", "percent", "pct", "per cent"):
            cell = replace(cell, text=cell.text if "%" in cell.text else f"{cell.text}%")
        elif sign is not None:
            cell = replace(cell, text=cell.text if sign in cell.text else f"{sign} {cell.text}")
            note = "per share" if "share" in text else note
        elif text and text not in ("1", "0", "units", "unit", "none", "n/a", "-", "number", "ones"):
            note = text
    return cell, "" if cell.text.endswith("%") else scale, note
