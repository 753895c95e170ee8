"""The reader of each kind of file, by the file's ending."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from experiments.readers.content import Content
from experiments.readers.delimited import read_csv
from experiments.readers.excel import read_excel
from experiments.readers.markdown import read_markdown
from experiments.readers.parquet import read_parquet
from experiments.readers.pdf import read_pdf
from experiments.readers.plain_text import read_plain_text
from experiments.readers.web_page import read_html

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
