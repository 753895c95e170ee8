"""Tables and text of HTML pages, as companies file them too.

>>> read_html(Path("report.html")).tables[0].place.sheet
'table 1'

A table is one that holds no other table. A table without figures is a layout, and its rows are text. A block of text is
what stands between two tags of blocks, so that ``<div>`` and ``<p>`` count alike. Hidden parts and marks of footnotes
are left out. Facts of inline XBRL come with their cells (:mod:`kg.readers.inline_facts`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kg.readers.content import (
    Content,
    Place,
    PlacedSentence,
    RawCell,
    RawTable,
    cell_name,
    check_cells,
    clean,
    context_of,
    decoded,
    load_library,
    sentences_of,
)
from kg.readers.grid import Extent, arrange
from kg.readers.inline_facts import InlineFacts

_HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_BLOCKS = _HEADINGS | frozenset(
    (
        *("address", "article", "aside", "blockquote", "body", "caption", "dd", "div", "dl", "dt", "fieldset"),
        *("figure", "footer", "form", "header", "hr", "html", "li", "main", "nav", "ol", "p", "pre", "section"),
        *("table", "tbody", "td", "tfoot", "th", "thead", "tr", "ul"),
    )
)
_UNSEEN = frozenset({"script", "style", "head", "title", "template", "noscript", "ix:header"})
_HIDDEN = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
_NOTE = re.compile(r"\s*(?:[(\[]?\s*(?:\d{1,2}|[a-z])\s*[)\]]?[\s,]*)+|[*†‡§\s]+", re.IGNORECASE)
_DECLARATION = re.compile(r"^\s*<\?xml[^>]*\?>")
_CHARSET = re.compile(rb"(?:charset|encoding)\s*=\s*[\"']?\s*(?!utf-?8)([\w.-]+)", re.IGNORECASE)
_HEAD = 4096
_ACTIVE = ("script", "iframe", "frame", "object", "embed", "base", "meta", "link", "audio", "video")
_BULLET = re.compile(r"^\s*[•·▪◦●○■–—*]\s+")
_DIGIT = re.compile(r"\d")
_MOST_SPAN, _MOST_DIGITS = 100, 6


@dataclass
class _Page:
    """The tables and sentences of a page so far, and the text since the last table."""

    file: str
    tables: list[RawTable] = field(default_factory=list)
    sentences: list[PlacedSentence] = field(default_factory=list)
    above: list[str] = field(default_factory=list)
    heading: str = ""
    pieces: list[str] = field(default_factory=list)
    line: int = 0
    cells: int = 0
    outer: set[Any] = field(default_factory=set)

    def end_block(self, *, heading: bool = False) -> None:
        """Keeps the text so far as one paragraph or heading."""
        text = clean("".join(self.pieces))
        self.pieces = []
        if not text:
            return
        if heading:
            self.heading, self.above = text, []
        else:
            self.above.append(text)
        self.sentences += sentences_of(text, Place(self.file, self.line))

    def add_table(self, table: Any, facts: InlineFacts) -> None:
        """Keeps a table, or the text of one that only lays out."""
        line = int(table.sourceline or 0)
        rows = []
        for row in _rows(table, self.file, f"table {len(self.tables) + 1}", facts):
            rows.append(row)
            self.cells += len(row)
            check_cells(self.cells, self.file)
        caption = next((one for one in table if one.tag == "caption"), None)
        title = "" if caption is None else _text_of(caption)
        if _is_layout(rows):
            self.line = line
            for row in rows:
                self.pieces = [_BULLET.sub("", " ".join(one.cell.text for one in row))]
                self.end_block()
            return
        context = context_of(self.above, title, self.heading)
        place = Place(self.file, line, f"table {len(self.tables) + 1}")
        self.tables.append(RawTable(place, tuple(map(tuple, arrange(rows))), context))
        self.above = []


def read_html(path: Path) -> Content:
    """The figures' tables of a page, and its text in sentences."""
    html = load_library("lxml.html", path)
    etree = load_library("lxml.etree", path)
    text, problems = _decoded(path)
    try:
        root = html.fromstring(_DECLARATION.sub("", text))
    except etree.ParserError:  # nothing, or a comment alone
        return Content()
    facts = InlineFacts.of(root)
    inner = (next(table.iterancestors("table"), None) for table in root.iter("table"))
    page = _Page(path.name, outer={table for table in inner if table is not None})
    walk = etree.iterwalk(root, events=("start", "end", "comment", "pi"))
    for event, element in walk:
        if event == "start":
            walked = _start(page, element, facts)
            if not walked:
                walk.skip_subtree()
        else:
            if event == "end" and element.tag in _BLOCKS:
                page.end_block(heading=element.tag in _HEADINGS)
            if element is not root:
                page.pieces.append(element.tail or "")
    page.end_block()
    return Content(tuple(page.tables), tuple(page.sentences), problems)


def marked_page(path: Path, place: Place, sentence: str = "") -> str:
    """The HTML of a page without what runs or loads, and with the id ``lit`` at a cell, or at the block of a sentence.

    Args:
        path: The file.
        place: A place that :func:`read_html` gave.
        sentence: The sentence, if the place is one.
    """
    html, etree = load_library("lxml.html", path), load_library("lxml.etree", path)
    root = html.fromstring(_DECLARATION.sub("", _decoded(path)[0]))
    element = _cell_at(root, place) if place.cell else _block_of(root, sentence)
    if element is not None:
        element.set("id", "lit")
    for part in root.iter(etree.Element):
        for name in list(part.attrib):
            if name.startswith("on") or (name == "id" and part is not element):
                del part.attrib[name]
    etree.strip_elements(root, *_ACTIVE, with_tail=False)
    return str(html.tostring(root, encoding="unicode"))


def _cell_at(root: Any, place: Place) -> Any:
    """The element of a cell's place, counted as :func:`read_html` counts; ``None`` where there is none."""
    facts, count = InlineFacts.of(root), 0
    outer = {next(table.iterancestors("table"), None) for table in root.iter("table")}
    for table in root.iter("table"):
        if table in outer or not all(map(_is_seen, (table, *table.iterancestors()))):
            continue
        rows = list(_rows(table, place.file, place.sheet, facts))
        count += not _is_layout(rows)
        if f"table {count}" != place.sheet:
            continue
        for number, (row, cells) in enumerate(zip(table.iter("tr"), rows, strict=True), start=1):
            own = [one.cell.place.cell for one in cells if one.cell.place.cell.endswith(str(number))]
            for name, element in zip(own, row.iter("td", "th"), strict=False):
                if name == place.cell:
                    return element
    return None


def _block_of(root: Any, sentence: str) -> Any:
    """The innermost element with a sentence; ``None`` where there is none."""
    wanted, inner = "".join(sentence.split()), root
    while True:
        parts = (part for part in inner if isinstance(part.tag, str))
        part = next((part for part in parts if wanted in "".join(part.text_content().split())), None)
        if part is None:
            return inner if inner is not root else None
        inner = part


def _decoded(path: Path) -> tuple[str, tuple[str, ...]]:
    """The text of a page in the encoding that it declares, or else as any text, and its problems."""
    data = path.read_bytes()
    declared = _CHARSET.search(data[:_HEAD])
    try:
        return data.decode(declared[1].decode() if declared else "utf-8-sig"), ()
    except (UnicodeDecodeError, LookupError):
        return decoded(path)


def _start(page: _Page, element: Any, facts: InlineFacts) -> bool:
    """Takes the beginning of an element; returns whether its children are read one by one."""
    if not _is_seen(element):
        return False
    if element.tag in _BLOCKS:
        page.end_block()
        page.line = int(element.sourceline or 0)
    if element.tag == "table" and element not in page.outer:
        page.add_table(element, facts)
        return False
    page.pieces.append(" " if element.tag == "br" else element.text or "")
    return True


def _is_seen(element: Any) -> bool:
    if element.tag in _UNSEEN or element.get("hidden") is not None or _HIDDEN.search(element.get("style") or ""):
        return False
    return not (element.tag == "sup" and _NOTE.fullmatch(element.text_content()))


def _is_layout(rows: list[list[Extent]]) -> bool:
    """Whether no cell below another row, and right of another cell, holds a digit."""
    filled = [[one.cell.text for one in row if one.cell.text] for row in rows]
    filled = [row for row in filled if row]
    if max(map(len, filled), default=0) < 2:
        return True
    return len(filled) < 2 or not any(_DIGIT.search(text) for row in filled[1:] for text in row[1:])


def _rows(table: Any, file: str, named: str, facts: InlineFacts) -> Iterator[list[Extent]]:
    """The cells of a table with their columns; a cell over several rows stands in each of them."""
    below: dict[int, tuple[int, Extent]] = {}
    for number, row in enumerate(table.iter("tr")):
        cells: list[Extent] = []
        column = 0
        for element in row.iter("td", "th"):
            column = _past(below, column, cells)
            wide, high = _span(element, "colspan"), _span(element, "rowspan")
            text = ("0" if facts.is_zero(element) else _text_of(element)) if _is_seen(element) else ""
            line, concept = int(element.sourceline or 0), facts.concept_of(element)
            place = Place(file, line, named, cell_name(number, column), concept=concept)
            cell = Extent(RawCell(text, place, facts.fact_in(element)), column, column + wide)
            cells.append(cell)
            if high > 1:
                below[column] = (high, cell)
            column += wide
        for start in sorted(start for start in below if start >= column):
            if start >= column:
                column = _past(below, start, cells)
        below = {start: (high - 1, cell) for start, (high, cell) in below.items() if high > 1}
        yield cells


def _past(below: dict[int, tuple[int, Extent]], column: int, cells: list[Extent]) -> int:
    """The first column from ``column`` on that no cell above reaches into; such cells join the row."""
    while column in below:
        cells.append(below[column][1])
        column = int(below[column][1].end)
    return column


def _span(cell: Any, name: str) -> int:
    text = str(cell.get(name) or "1")
    return min(max(int(text[:_MOST_DIGITS]), 1), _MOST_SPAN) if text.isdecimal() else 1


def _text_of(element: Any) -> str:
    return clean("".join(_pieces(element)))


def _pieces(element: Any) -> Iterator[str]:
    """The text of an element; blocks inside it are apart."""
    yield element.text or ""
    for child in element:
        if isinstance(child.tag, str) and _is_seen(child):
            apart = " " if child.tag in _BLOCKS or child.tag == "br" else ""
            yield apart
            yield from _pieces(child)
            yield apart
        yield child.tail or ""
