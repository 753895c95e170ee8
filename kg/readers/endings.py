"""The reader of each kind of file, by the file's ending."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from kg.readers.content import Content
from kg.readers.delimited import read_csv
from kg.readers.excel import read_excel
from kg.readers.markdown import read_markdown
from kg.readers.parquet import read_parquet
from kg.readers.pdf import read_pdf
from kg.readers.plain_text import read_plain_text
from kg.readers.web_page import read_html

READERS: Mapping[str, Callable[[Path], Content]] = {
    ".csv": read_csv,
    ".tsv": read_csv,
    ".xlsx": read_excel,
    ".xlsm": read_excel,
    ".html": read_html,
    ".htm": read_html,
    ".md": read_markdown,
    ".markdown": read_markdown,
    ".parquet": read_parquet,
    ".pdf": read_pdf,
    ".txt": read_plain_text,
}
"""What reads a file, by its ending."""
