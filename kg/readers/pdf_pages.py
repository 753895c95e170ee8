"""The words and frames of a PDF file's pages, read in a process of their own with limits on time and memory.

>>> raw_pages(Path("report.pdf"))[0].words[0]["text"]
'Net'

A PDF file of a few kilobytes can unpack to gigabytes, or draw a form in a form a billion times. The process is ended
where it takes more than :data:`SECONDS` of processor time or :data:`MEMORY`.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kg.errors import DataError
from kg.readers.content import load_library

SECONDS = 300
"""Processor time that a file may take."""

MEMORY = 3 * 1024**3
"""Bytes that the process may map, where the system can limit it."""

_WORKER = Path(__file__).with_name("pdf_worker.py")


@dataclass(frozen=True)
class FramedCell:
    """A cell with a frame: its text and its box."""

    text: str
    box: tuple[float, float, float, float]


@dataclass(frozen=True)
class FramedTable:
    """A table of cells with frames.

    Attributes:
        box: Its box.
        texts: The text of each cell of each row; empty where a row has none.
        rows: The cells that there are.
    """

    box: tuple[float, float, float, float]
    texts: tuple[tuple[str, ...], ...]
    rows: tuple[tuple[FramedCell, ...], ...]


@dataclass(frozen=True)
class RawPage:
    """A page as the library reads it: its number, height, words, and framed tables; whether it is an image."""

    number: int
    height: float
    words: list[dict[str, Any]]
    framed: list[FramedTable]
    is_image: bool


def raw_pages(path: Path) -> list[RawPage]:
    """The pages of a file.

    Raises:
        DataError: The file is no PDF, needs a password, or takes too much time or memory.
        ConfigError: The library is not installed.
    """
    load_library("pdfplumber", path)
    return [_page(page) for page in _read("words", path)]


def pdf_texts(path: Path) -> list[str]:
    """The text of each page by pypdf, which keeps a file's own order.

    Raises:
        DataError: As :func:`raw_pages` says.
    """
    return _read("text", path)


def _read(what: str, path: Path) -> list[Any]:
    # By its path and not as a module: the packages of kg take longer to load than most files to read.
    command = [sys.executable, "-P", str(_WORKER), what, str(path.absolute()), str(SECONDS), str(MEMORY)]
    environment = {**os.environ, "PYTHONUTF8": "1"}
    try:
        done = subprocess.run(command, capture_output=True, env=environment, timeout=4 * SECONDS, check=False)
        reply = json.loads(done.stdout)
    except (ValueError, RecursionError, subprocess.TimeoutExpired) as error:
        rule = f"cannot be read as a PDF file: it takes more than {SECONDS} seconds or {MEMORY} bytes of memory"
        raise DataError(rule, file=str(path)) from error
    if "error" in reply:
        raise DataError(f"cannot be read as a PDF file: {reply['error']}", file=str(path))
    pages: list[Any] = reply["pages"]
    return pages


def _page(page: dict[str, Any]) -> RawPage:
    framed = [
        FramedTable(
            tuple(table["box"]),
            tuple(map(tuple, table["texts"])),
            tuple(tuple(FramedCell(text, tuple(box)) for text, box in row) for row in table["rows"]),
        )
        for table in page["framed"]
    ]
    return RawPage(page["number"], page["height"], page["words"], framed, page["is_image"])
