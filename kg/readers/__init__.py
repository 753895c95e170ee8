"""Readers of a user's own files: CSV, Excel, HTML, Markdown, Parquet and PDF, each cell with its place."""

from typing import TYPE_CHECKING

from kg.lazy import lazy_exports

if TYPE_CHECKING:
    from kg.readers.content import check_unpacked
    from kg.readers.own_report import READERS, OwnReport, is_file_list, read_content, read_files
    from kg.readers.pdf_pages import pdf_texts
    from kg.readers.table_files import parquet_batches
else:
    __getattr__ = lazy_exports(__name__, __file__)
