"""Tables and text of HTML pages.

>>> read_html(Path("report.html")).tables[0].place.sheet
'table 1'
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from experiments.readers.content import (
    Content,
    Place,
    RawCell,
    RawTable,
    Sentence,
    cell_name,
    clean,
    context_of,
    decoded,
    load_library,
    sentences_of,
)


def read_html(path: Path) -> Content:
    """The tables of a page that hold no other table, and its headings, paragraphs and list items."""
    html = load_library("lxml.html", path)
    text = decoded(path)
    if not text.strip():
        return Content()
    root = html.fromstring(text)
    tables: list[RawTable] = []
    sentences: list[Sentence] = []
    above: list[str] = []
    heading = ""
    for element in root.iter("table", "p", "li", "h1", "h2", "h3", "h4", "h5", "h6"):
        line = int(element.sourceline or 0)
        if element.tag != "table":
            if next(element.iterancestors("table"), None) is None:
                text = clean(element.text_content())
                if element.tag in ("p", "li"):
                    above.append(text)
                else:
                    heading, above = text, []
                sentences += sentences_of(element.text_content(), Place(path.name, line))
        elif element.find(".//table") is None:
            named = f"table {len(tables) + 1}"
            caption = element.find("caption")
            titles = ("" if caption is None else clean(caption.text_content()), heading)
            context, above = context_of(above, *titles), []
            tables.append(RawTable(Place(path.name, line, named), _html_rows(element, path.name, named), context))
    return Content(tuple(tables), tuple(sentences))


def _html_rows(table: Any, file: str, named: str) -> tuple[tuple[RawCell, ...], ...]:
    """The cells of a table; a cell over several columns or rows fills the first and leaves the others empty."""
    rows: list[tuple[RawCell, ...]] = []
    taken: dict[tuple[int, int], None] = {}
    for number, row in enumerate(table.iter("tr")):
        cells: list[RawCell] = []
        for cell in row.iter("td", "th"):
            while (number, len(cells)) in taken:
                cells.append(_html_cell("", file, named, number, len(cells), 0))
            wide, high = _span(cell, "colspan"), _span(cell, "rowspan")
            column = len(cells)
            line = int(cell.sourceline or 0)
            cells.append(_html_cell(clean(cell.text_content()), file, named, number, column, line))
            cells += [_html_cell("", file, named, number, column + more, line) for more in range(1, wide)]
            taken.update(dict.fromkeys((number + down, column + w) for down in range(1, high) for w in range(wide)))
        rows.append(tuple(cells))
    return tuple(rows)


def _html_cell(text: str, file: str, named: str, row: int, column: int, line: int) -> RawCell:
    return RawCell(text, Place(file, line, named, cell_name(row, column)))


def _span(cell: Any, name: str) -> int:
    text = str(cell.get(name) or "1")
    return min(max(int(text), 1), 100) if text.isdecimal() else 1
