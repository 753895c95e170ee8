r"""Documents of a folder as text, page by page, and the lines of them that hold some words.

    >>> tools = DocumentTools(Workspace(Path("reports")))
    >>> tools.inspect_document("ports.csv")
    'port | tonnes\\nVarna | 1200'
    >>> tools.find_in_document("ports.csv", "varna")
    '[page 1] Varna | 1200'

pypdf, python-docx, openpyxl and lxml read the formats; two of them come with the extra ``files``.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from kg.errors import ConfigError, DataError
from kg.readers import check_unpacked, pdf_texts, read_content
from programs.tools.workspace import Workspace

PAGE = 6_000
"""Characters of a page."""

NOTHING = "nothing found"
"""The beginning of the output of a tool that looked for something and found nothing."""

MOST_LINES, _LONGEST_LINE, _MOST_LISTED = 12, 400, 200

MOST_COLUMNS = 1_000
"""Columns of a row in a Word file."""

MOST_TAGS = 300_000
"""Tags that a page of the web may have."""


class DocumentTools:
    """The tools over the documents of a folder; their docstrings are prompts.

    Args:
        workspace: The folder.
    """

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    def list_documents(self) -> str:
        """Lists the files of the folder with their sizes in bytes."""
        root = self._workspace.root.resolve()
        lines = [f"{name} ({(root / name).stat().st_size} bytes)" for name in self._workspace.names()[:_MOST_LISTED]]
        return "\n".join(lines) or "no files"

    def inspect_document(self, file: str, page: int = 1) -> str:
        """Reads a page of a PDF, HTML, Word, Excel, CSV, JSON, Markdown or text file of the folder, by its name."""
        return page_of(read_document(self._workspace.file(file)), page)

    def find_in_document(self, file: str, text: str) -> str:
        """Finds the lines of a file of the folder that hold some words, with the numbers of their pages."""
        return lines_with(read_document(self._workspace.file(file)), text)


def pages_of(text: str, size: int = PAGE) -> list[str]:
    """Returns a text as pages that end with a line where that is possible; at least one page."""
    pages, rest = [], text
    while len(rest) > size:
        ends = (rest.rfind(mark, size // 2, size) + 1 for mark in ("\n", " "))
        end = next(filter(None, ends), size)
        pages.append(rest[:end].rstrip())
        rest = rest[end:]
    return [*pages, rest] if rest.strip() or not pages else pages


def page_of(text: str, page: int, size: int = PAGE) -> str:
    """Returns one page of a text, with its number where there are several.

    Raises:
        DataError: There is no such page.
    """
    pages = pages_of(text, size)
    if not 1 <= page <= len(pages):
        raise DataError(f"page must be from 1 to {len(pages)}, got {page}")
    return pages[0] if len(pages) == 1 else f"[page {page} of {len(pages)}]\n{pages[page - 1]}"


def lines_with(text: str, wanted: str, size: int = PAGE) -> str:
    """Returns the lines of a text that hold some words, with the numbers of their pages.

    A line that holds the words as written comes before lines that hold all of them, and these before lines with most.

    Raises:
        DataError: ``wanted`` is empty.
    """
    words = wanted.casefold().split()
    if not words:
        raise DataError("the text to find must not be empty")
    whole, scored = " ".join(words), []
    for number, page in enumerate(pages_of(text, size), 1):
        for line in page.splitlines():
            flat = " ".join(line.casefold().split())
            hits = sum(word in flat for word in words)
            if hits == len(words) or (len(words) > 2 and hits * 2 > len(words)):
                scored.append((whole not in flat, -hits, f"[page {number}] {_part_with(line, words)}"))
    scored.sort(key=lambda entry: entry[:2])
    lines, left = [line for _, _, line in scored[:MOST_LINES]], len(scored) - MOST_LINES
    return "\n".join([*lines, f"and {left} more lines"] if left > 0 else lines) or f"{NOTHING} for {wanted!r}"


def _part_with(line: str, words: list[str]) -> str:
    """Returns a line, or of a long one the part around the first word."""
    if len(line) <= _LONGEST_LINE:
        return line
    places = [place for word in words if (place := line.casefold().find(word)) >= 0]
    start = max(min(places, default=0) - _LONGEST_LINE // 3, 0)
    return f"…{line[start : start + _LONGEST_LINE]}…"


def read_document(path: Path) -> str:
    """Returns a document's text; a line in brackets comes before each page and sheet.

    Raises:
        DataError: Its format is not known, or does not match its ending.
        ConfigError: The library for its format is not installed.
    """
    reader, name = _READERS.get(path.suffix.lower()), path.name
    if reader is None:
        kind = path.suffix or "file without ending"
        raise DataError(f"a {kind} cannot be read; known are {', '.join(_READERS)}", file=name)
    try:
        text = reader(path)
    except ConfigError:
        raise
    except DataError as error:  # by its name in the folder alone
        raise DataError(error.rule, file=name) from error
    except Exception as error:
        message = f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"
        raise DataError(f"cannot be read as {path.suffix}: {message}", file=name) from error
    if not text.strip():
        raise DataError("holds no text (it may be a scan)", file=name)
    return text


def html_text(html: bytes) -> str:
    """Returns the text of a page without scripts, styles and navigation; a table's row is one line.

    Raises:
        DataError: It has too many tags.
    """
    if (tags := html.count(b"<")) > MOST_TAGS:
        raise DataError(f"the page has {tags} tags, more than {MOST_TAGS}")
    etree = _library("lxml.etree")
    try:
        encoding = "utf-8" if html.decode("utf-8") else None
    except UnicodeDecodeError:
        encoding = None  # the one that the page names
    options = {"encoding": encoding, "remove_comments": True, "remove_pis": True, "huge_tree": True}
    root = etree.HTML(html, etree.HTMLParser(**options)) if html.strip() else None
    if root is None:
        return ""
    etree.strip_elements(root, "script", "style", "nav", "noscript", "template", with_tail=False)
    rows = dict.fromkeys(root.iter("tr"))
    for part in root.iter("table", "tr"):  # a row with a table inside is a layout
        rows.pop(next(part.iterancestors("tr"), None), None)
    for row in rows:
        cells = (" ".join(" ".join(cell.itertext()).split()) for cell in row.iter("td", "th"))
        line = " | ".join(cells)
        row.clear(keep_tail=True)
        row.text = f"\n{line}\n"
    lines = (" ".join(line.split()) for line in "\n".join(root.itertext()).splitlines())
    return "\n".join(line for line in lines if line)


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


def _tables(path: Path) -> str:
    """The rows of a file's tables, one line each, below the names of their sheets."""
    lines: list[str] = []
    for table in read_content(path).tables:
        lines += [f"[{table.place.sheet}]"] if table.place.sheet else []
        lines += [" | ".join(cell.text for cell in row) for row in table.rows if any(cell.text for cell in row)]
    return "\n".join(lines)


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
    **dict.fromkeys((".csv", ".tsv", ".xlsx"), _tables),
    **dict.fromkeys((".html", ".htm"), lambda path: html_text(path.read_bytes())),
    **dict.fromkeys((".md", ".txt", ".json", ".jsonl", ".xml"), _text),
}
