"""Financial reports: their tables with headers, periods and units, and the figures of their sentences."""

from kg.reports.excerpts import ReportWords, is_large, lines_of
from kg.reports.headers import base_label
from kg.reports.layout import TableLayout, analyse_table
from kg.reports.report import CellFact, Report, TablePart
from kg.reports.sentences import FigureMention, item_phrase, read_sentence

__all__ = [
    "CellFact",
    "FigureMention",
    "Report",
    "ReportWords",
    "TableLayout",
    "TablePart",
    "analyse_table",
    "base_label",
    "is_large",
    "item_phrase",
    "lines_of",
    "read_sentence",
]
