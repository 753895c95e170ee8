"""Readers of a user's own files: CSV, Excel, HTML, Markdown, Parquet and PDF, each cell with its place."""

from kg.readers.own_report import OwnReport, is_file_list, read_files

__all__ = ["OwnReport", "is_file_list", "read_files"]
