"""The reader of each kind of file, by the file's ending; its module is imported when such a file is read."""

from __future__ import annotations

from collections.abc import Mapping

READERS: Mapping[str, str] = {
    ".csv": "kg.readers.delimited:read_csv",
    ".tsv": "kg.readers.delimited:read_csv",
    ".xlsx": "kg.readers.excel:read_excel",
    ".xlsm": "kg.readers.excel:read_excel",
    ".html": "kg.readers.web_page:read_html",
    ".htm": "kg.readers.web_page:read_html",
    ".md": "kg.readers.markdown:read_markdown",
    ".markdown": "kg.readers.markdown:read_markdown",
    ".parquet": "kg.readers.parquet:read_parquet",
    ".pdf": "kg.readers.pdf:read_pdf",
    ".txt": "kg.readers.plain_text:read_plain_text",
}
"""The function that reads a file, ``(path) -> Content``, by its ending, as :func:`pkgutil.resolve_name` takes it."""
