"""Readers of a user's own files: CSV, Excel, HTML, Markdown, Parquet and PDF, each cell with its place."""

from kg.readers.content import check_unpacked
from kg.readers.own_report import OwnReport, is_file_list, read_files
from kg.readers.parquet import parquet_batches
from kg.readers.pdf_pages import pdf_texts

__all__ = ["OwnReport", "check_unpacked", "is_file_list", "parquet_batches", "pdf_texts", "read_files"]
