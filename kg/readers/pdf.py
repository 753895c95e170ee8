"""Tables and text of PDF files, each cell with its page and box.

>>> read_pdf(Path("report.pdf")).tables[0].rows[1][1].place
Place(file='report.pdf', line=0, sheet='', cell='', page=3, box=(310, 204, 352, 214))

Words on one line with a wide gap between them are cells. Lines with figures right of a label are rows of a table, as
are the headers above them and the headings between them. Cells above each other form columns
(:mod:`kg.readers.grid`). Other lines are paragraphs. Tables whose cells are framed are read by their frames.
A page that is an image has no text, and becomes a problem.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any

from kg.readers.content import Content, Place, PlacedSentence, RawCell, RawTable, clean, context_of, sentences_of
from kg.readers.grid import Extent, arrange, is_figure
from kg.readers.pdf_pages import FramedTable, RawPage, raw_pages
from kg.text import YEAR, find_dates

_GAP = 0.9
_SAME_LINE = 0.5
_PARAGRAPH_GAP = 1.0
_TABLE_GAP = 2.5
_MOST_HEADERS = 5
_LEADERS = re.compile(r"(?:\s*[.·…_]){3,}\s*$")
_DOTS = re.compile(r"[.·…_]+")
_LEAST_DOTS = 2
_SIGN = re.compile(r"[$€£¥()%]+")
_DATED = re.compile(YEAR)
_PAGE_NUMBER = re.compile(r"(?:page\s+)?[-–—\s]*\d{1,4}[-–—\s]*", re.IGNORECASE)


@dataclass(frozen=True)
class PageCell:
    """Words on one line without a wide gap, and their box."""

    text: str
    left: float
    top: float
    right: float
    bottom: float

    @property
    def is_value(self) -> bool:
        """Whether it belongs right of a label: a figure, a sign, or a date."""
        is_dated = len(self.text) <= 40 and bool(_DATED.search(self.text)) and bool(find_dates(self.text))
        return is_figure(self.text) or bool(_SIGN.fullmatch(self.text)) or is_dated


_Line = list[PageCell]


def read_pdf(path: Path) -> Content:
    """The tables and sentences of every page.

    Raises:
        DataError: The file is no PDF, or needs a password.
    """
    tables: list[RawTable] = []
    sentences: list[PlacedSentence] = []
    problems: list[str] = []
    above: list[str] = []
    for page in raw_pages(path):
        found = _read_page(page, path.name, above)
        tables += found.tables
        sentences += found.sentences
        problems += found.problems
    return Content(tuple(tables), tuple(sentences), tuple(problems))


def _read_page(page: RawPage, file: str, above: list[str]) -> Content:
    """The content of a page; ``above`` has the paragraphs since the last table, and goes on to the next page."""
    if page.is_image:
        problem = f"{Place(file, page=page.number)}: is an image without text; recognise its text (OCR) first"
        return Content(problems=(problem,))
    framed = [_Framed.of(one, page.number, file) for one in page.framed if _is_framed(one)]
    lines = list(_lines([word for word in page.words if not any(_is_inside(word, one.box) for one in framed)]))
    blocks: list[PageBlock | _Framed] = sorted([*page_blocks(lines), *framed], key=lambda one: one.top)
    return page_content(blocks, lambda cells: Place(file, page=page.number, box=_around(cells)), page.height, above)


@dataclass(frozen=True)
class PageBlock:
    """Lines that are a paragraph, or a table."""

    lines: list[_Line]
    is_table: bool

    @property
    def top(self) -> float:
        """The upper edge of its first line."""
        return self.lines[0][0].top


@dataclass(frozen=True)
class _Framed:
    """A table whose cells are framed."""

    box: tuple[float, float, float, float]
    rows: list[list[Extent]]

    @property
    def top(self) -> float:
        return self.box[1]

    @classmethod
    def of(cls, table: FramedTable, page: int, file: str) -> _Framed:
        rows = [
            [
                Extent(RawCell(clean(one.text), Place(file, page=page, box=_points(one.box))), one.box[0], one.box[2])
                for one in row
            ]
            for row in table.rows
        ]
        return cls(table.box, rows)


def _is_framed(table: FramedTable) -> bool:
    """Whether frames hold a table of figures, and not a page or a paragraph."""
    rows = [[clean(cell) for cell in row] for row in table.texts]
    return len(rows) > 1 and sum(any(map(is_figure, row[1:])) for row in rows) * 2 >= len(rows)


def _is_inside(word: dict[str, Any], box: tuple[float, float, float, float]) -> bool:
    across, down = (word["x0"] + word["x1"]) / 2, (word["top"] + word["bottom"]) / 2
    return bool(box[0] <= across <= box[2] and box[1] <= down <= box[3])


def _points(box: Sequence[float]) -> tuple[int, int, int, int]:
    left, top, right, bottom = (round(one) for one in box)
    return left, top, right, bottom


def _lines(words: Sequence[dict[str, Any]]) -> Iterator[_Line]:
    """The lines of a page from top to bottom, each as cells from left to right."""
    return (cells for line in _lines_of_words(words) if (cells := list(_cells(line))))


def _lines_of_words(words: Sequence[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    line: list[dict[str, Any]] = []
    for word in sorted(words, key=lambda word: ((word["top"] + word["bottom"]) / 2, word["x0"])):
        middle = (word["top"] + word["bottom"]) / 2
        if line and middle - (line[0]["top"] + line[0]["bottom"]) / 2 > _SAME_LINE * float(line[0]["size"]):
            yield line
            line = []
        line.append(word)
    if line:
        yield line


def _cells(words: Sequence[dict[str, Any]]) -> Iterator[PageCell]:
    """The cells of a line: words cut at wide gaps, and at signs of currency."""
    kept = _without_leaders(sorted(words, key=lambda word: word["x0"]))
    run: list[dict[str, Any]] = []
    for word in kept:
        if run and word["x0"] - run[-1]["x1"] > _GAP * float(word["size"]):
            yield _cell(run)
            run = []
        run.append(word)
    if run:
        yield _cell(run)


def _without_leaders(words: Sequence[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """The words without the rows of dots that lead from a label to its figures."""
    for dotted, run in groupby(words, key=lambda word: bool(_DOTS.fullmatch(word["text"]))):
        found = list(run)
        if not dotted or len("".join(word["text"] for word in found)) < _LEAST_DOTS:
            yield from found


def _cell(words: Sequence[dict[str, Any]]) -> PageCell:
    text = _LEADERS.sub("", " ".join(word["text"] for word in words))
    left, top = min(word["x0"] for word in words), min(word["top"] for word in words)
    return PageCell(text, left, top, max(word["x1"] for word in words), max(word["bottom"] for word in words))


def _is_row(line: _Line) -> bool:
    """Whether a line has a value right of its first cell, or holds values alone."""
    return any(cell.is_value for cell in line[1:]) or (len(line) > 1 and all(cell.is_value for cell in line))


def _gap(upper: _Line, lower: _Line) -> float:
    """The distance of two lines, in heights of the lower one."""
    height = lower[0].bottom - lower[0].top
    return (lower[0].top - max(cell.bottom for cell in upper)) / height if height else 0.0


def page_blocks(lines: Sequence[_Line]) -> Iterator[PageBlock]:
    """The paragraphs and tables of a page."""
    place = 0
    waiting: list[_Line] = []
    while place < len(lines):
        if not _is_row(lines[place]):
            waiting.append(lines[place])
            place += 1
            continue
        end = _end_of_rows(lines, place)
        values = [cell.left for line in lines[place:end] for cell in line[1:] if cell.is_value]
        edge = min(values, default=0.0)
        heads = 0
        while heads < min(len(waiting), _MOST_HEADERS) and _is_header(waiting[-1 - heads], edge):
            heads += 1
        yield from _paragraphs(waiting[: len(waiting) - heads])
        block = [*waiting[len(waiting) - heads :], *_rejoined(lines[place:end])]
        yield PageBlock(block, is_table=len(block) > 1)
        waiting, place = [], end
    yield from _paragraphs(waiting)


def _end_of_rows(lines: Sequence[_Line], start: int) -> int:
    """The line after the rows that begin at ``start``: headings and wrapped labels between rows belong to them."""
    edge = min((cell.left for cell in lines[start][1:] if cell.is_value), default=lines[start][0].left)
    end = place = start + 1
    while place < len(lines) and _gap(lines[place - 1], lines[place]) <= _TABLE_GAP:
        line = lines[place]
        if _is_row(line):
            edge = min([edge, *(cell.left for cell in line[1:] if cell.is_value)])
            end = place + 1
        elif (len(line) == 1 and line[0].right > edge and line[0].left < edge) or place - end >= 3:
            break
        place += 1
    return end


def _is_header(line: _Line, edge: float) -> bool:
    """Whether a line above rows stands over their columns of values."""
    return len(line) > 1 or line[0].left >= edge - 3 * (line[0].bottom - line[0].top)


def _rejoined(lines: Sequence[_Line]) -> list[_Line]:
    """The rows with labels of several lines in one; a label goes on in small letters."""
    found: list[_Line] = []
    for line in lines:
        above = found[-1] if found else []
        if len(above) == 1 and not above[0].is_value and _goes_on(above[0], line[0]):
            first, then = above[0], line[0]
            text = f"{first.text} {then.text}"
            box = (min(first.left, then.left), first.top, max(first.right, then.right), then.bottom)
            found[-1] = [PageCell(text, *box), *line[1:]]
        else:
            found.append(line)
    return found


def _goes_on(label: PageCell, below: PageCell) -> bool:
    return not label.text.endswith(":") and below.left <= label.right and below.text[:1].islower()


def _paragraphs(lines: Sequence[_Line]) -> Iterator[PageBlock]:
    paragraph: list[_Line] = []
    for above, line in pairwise([None, *lines]):
        assert line is not None
        if above is not None and _gap(above, line) > _PARAGRAPH_GAP / 2:
            yield PageBlock(paragraph, is_table=False)
            paragraph = []
        paragraph.append(line)
    if paragraph:
        yield PageBlock(paragraph, is_table=False)


def page_content(
    blocks: Sequence[PageBlock | _Framed],
    place_of: Callable[[Sequence[PageCell]], Place],
    height: float,
    above: list[str],
) -> Content:
    """The tables and sentences of a page; ``above`` has the paragraphs since the last table, and goes on."""
    tables: list[RawTable] = []
    sentences: list[PlacedSentence] = []
    for block in blocks:
        if isinstance(block, PageBlock) and not block.is_table:
            cells = [cell for line in block.lines for cell in line]
            text = clean(" ".join(cell.text for cell in cells))
            at_edge = cells[0].top < 0.1 * height or cells[-1].bottom > 0.9 * height
            if at_edge and _PAGE_NUMBER.fullmatch(text):
                continue
            above.append(text)
            sentences += sentences_of(text, place_of(cells))
            continue
        rows = block.rows if isinstance(block, _Framed) else [_extents(line, place_of) for line in block.lines]
        begun = next(one.cell.place for row in rows for one in row)
        place = replace(begun, box=None, sheet=f"table {len(tables) + 1}")
        tables.append(RawTable(place, tuple(map(tuple, arrange(rows))), context_of(above)))
        above.clear()
    return Content(tuple(tables), tuple(sentences))


def _extents(line: _Line, place_of: Callable[[Sequence[PageCell]], Place]) -> list[Extent]:
    return [Extent(RawCell(cell.text, place_of([cell])), cell.left, cell.right) for cell in line]


def _around(cells: Sequence[PageCell]) -> tuple[int, int, int, int]:
    left, top = min(cell.left for cell in cells), min(cell.top for cell in cells)
    return _points((left, top, max(cell.right for cell in cells), max(cell.bottom for cell in cells)))
