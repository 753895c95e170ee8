"""Text of documents: PDF, HTML, Word, Excel, CSV, JSON, XML, Markdown and plain text.

>>> read_document(Path("prices.csv"))
'product | price'

pypdf, python-docx, openpyxl, pandas and Beautiful Soup read the formats; some come with the extra ``files``.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from kg.errors import ConfigError, DataError
from kg.readers import check_unpacked, pdf_texts
from programs.tools.paging import found_in, page_of
from programs.tools.workspace import Workspace

MOST_LISTED = 200
"""Files that a listing of the folder shows."""

MOST_CELLS = 300_000
"""Cells of a workbook, empty ones included."""

MOST_COLUMNS = 1_000
"""Columns of a row in a Word file."""

MOST_CSV_COLUMNS = 5_000
"""Columns of a row in a CSV file, counted by any separator, also in quotes."""

_SEPARATORS = (b",", b";", b"\t", b"|")

MOST_TAGS = 30_000
"""Tags that a page may have; nested ones take time that grows with the square of their number."""


def list_documents(workspace: Workspace) -> Callable[[], str]:
    """The tool that lists the documents of a folder."""

    def list_files() -> str:
        """Lists the files of the folder with their sizes in bytes."""
        root = workspace.root.resolve()
        lines = [f"{name} ({(root / name).stat().st_size} bytes)" for name in workspace.names()[:MOST_LISTED]]
        return "\n".join(lines) or "no files"

    return list_files


def inspect_document(workspace: Workspace) -> Callable[..., str]:
    """The tool that reads documents of a folder."""

    def inspect(file: str, page: int = 1) -> str:
        """Reads a page of a PDF, HTML, Word, Excel, CSV, JSON, Markdown or text file of the folder, by its name."""
        return page_of(read_document(workspace.file(file)), page)

    return inspect


def find_in_document(workspace: Workspace) -> Callable[[str, str], str]:
    """The tool that finds text in a document of a folder."""

    def find(file: str, text: str) -> str:
        """Finds the lines of a file of the folder that hold some words, with the numbers of their pages."""
        return found_in(read_document(workspace.file(file)), text)

    return find


def read_document(path: Path) -> str:
    """Returns a document's text; a line in brackets comes before each page and sheet.

    Raises:
        DataError: Its format is not known, or does not match its ending.
        ConfigError: The library for its format is not installed.
    """
    reader = _READERS.get(path.suffix.lower())
    if reader is None:
        raise DataError(
            f"a {path.suffix or 'file without ending'} cannot be read; known are {', '.join(_READERS)}", file=path.name
        )
    try:
        text = reader(path)
    except ConfigError:
        raise
    except DataError as error:  # by its name in the folder alone
        raise DataError(error.rule, file=path.name) from error
    except Exception as error:
        message = " ".join(str(error).split())[:200]
        raise DataError(
            f"cannot be read as {path.suffix}: {type(error).__name__}: {message}", file=path.name
        ) from error
    if not text.strip():
        raise DataError("holds no text (it may be a scan)", file=path.name)
    return text


def html_text(html: str | bytes) -> str:
    """Returns the text of a page without scripts, styles and navigation; a table's row is one line.

    Raises:
        DataError: It has too many tags.
    """
    tags = html.count(b"<" if isinstance(html, bytes) else "<")  # type: ignore[arg-type]
    if tags > MOST_TAGS:
        raise DataError(f"the page has {tags} tags, more than {MOST_TAGS}")
    soup = _library("bs4").BeautifulSoup(html, "html.parser")
    for part in soup(["script", "style", "nav", "noscript", "template"]):
        part.decompose()
    for row in _innermost_rows(soup):
        text = "\n" + " | ".join(_html_cells(row)) + "\n"
        row.clear()
        row.append(text)
    lines = (" ".join(line.split()) for line in soup.get_text("\n").splitlines())
    return "\n".join(line for line in lines if line)


def _innermost_rows(soup: Any) -> list[Any]:
    """Returns the rows of tables that have no table inside, in one pass: searching in each would take its depth."""
    rows: list[Any] = []
    outer: set[int] = set()
    inside: list[tuple[Any, Any]] = []  # the elements that are open, each with its nearest row
    for part in soup.descendants:
        while inside and inside[-1][0] is not part.parent:
            inside.pop()
        row = inside[-1][1] if inside else None
        if part.name in ("table", "tr") and row is not None:
            outer.add(id(row))
        if part.name == "tr":
            rows.append(part)
        if part.name is not None:
            inside.append((part, part if part.name == "tr" else row))
    return [row for row in rows if id(row) not in outer]


def _html_cells(row: Any) -> list[str]:
    """Returns the texts of a row's cells in one pass; a cell that is not closed ends where the next begins."""
    cells: list[list[str]] = []
    for part in row.descendants:
        if part.name in ("td", "th"):
            cells.append([])
        elif part.name is None and cells and not isinstance(part, _library("bs4.element").PreformattedString):
            cells[-1].append(str(part))
    return [" ".join(" ".join(cell).split()) for cell in cells]


def _pdf(path: Path) -> str:
    _library("pypdf")
    return "\n".join(f"[page {number}]\n{text}" for number, text in enumerate(pdf_texts(path), 1) if text.strip())


def _word(path: Path) -> str:
    library = _library("docx")
    check_unpacked(path)
    lines = []
    for part in library.Document(str(path)).iter_inner_content():
        if hasattr(part, "rows"):
            lines += [" | ".join(_cells(row, path)) for row in part.rows]
        else:
            lines.append(part.text)
    return "\n".join(lines)


def _cells(row: Any, path: Path) -> list[str]:
    """The texts of a row's cells; one over several columns is in each."""
    columns = sum(cell.grid_span for cell in row._tr.tc_lst)
    if columns > MOST_COLUMNS:
        raise DataError(f"a row has {columns} columns, more than {MOST_COLUMNS}", file=path.name)
    return [" ".join(cell.text.split()) for cell in row.cells]


def _excel(path: Path) -> str:
    library = _library("openpyxl")
    check_unpacked(path)
    left, lines = MOST_CELLS, []
    with path.open("rb") as file:  # openpyxl leaves a file open that it cannot read
        for sheet in library.load_workbook(file, read_only=True, data_only=True).worksheets:
            lines.append(f"[sheet {sheet.title}]")
            for row in sheet.iter_rows(values_only=True):
                left -= max(len(row), 1)
                if left < 0:
                    raise DataError(f"has more than {MOST_CELLS} cells", file=path.name)
                if any(cell is not None for cell in row):
                    lines.append(" | ".join("" if cell is None else str(cell) for cell in row))
    return "\n".join(lines)


def _csv(path: Path) -> str:
    _check_separators(path)
    return _rows(_library("pandas").read_csv(path, header=None, dtype=str, sep=None, engine="python"))


def _check_separators(path: Path) -> None:
    """Raises DataError where a table has too many cells, before pandas takes time with the square of its columns."""
    cells = 0
    for line in path.read_bytes().splitlines():
        columns = 1 + max(map(line.count, _SEPARATORS))
        cells += columns
        if columns > MOST_CSV_COLUMNS:
            raise DataError(f"a row has {columns} columns, more than {MOST_CSV_COLUMNS}", file=path.name)
        if cells > MOST_CELLS:
            raise DataError(f"has more than {MOST_CELLS} cells", file=path.name)


def _rows(sheet: Any) -> str:
    return "\n".join(" | ".join("" if cell != cell else str(cell) for cell in row) for row in sheet.to_numpy())


def _html(path: Path) -> str:
    return html_text(path.read_bytes())


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataError(f"is not UTF-8 at byte {error.start}", file=path.name) from error


def _library(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise ConfigError(f"reading this needs {name}, which is not installed: pip install 'finpath[files]'") from error


_READERS: dict[str, Callable[[Path], str]] = {
    ".pdf": _pdf,
    ".docx": _word,
    ".xlsx": _excel,
    ".csv": _csv,
    ".tsv": _csv,
    ".html": _html,
    ".htm": _html,
    ".md": _text,
    ".txt": _text,
    ".json": _text,
    ".jsonl": _text,
    ".xml": _text,
}

READABLE = tuple(_READERS)
"""The endings of the files that can be read."""
