"""Financial reports: their tables with headers, periods and units, and the figures of their sentences."""

from kg.reports.headers import base_label
from kg.reports.layout import TableLayout, analyse_table
from kg.reports.report import CellFact, Report, TablePart
from kg.reports.sentences import Mention, item_phrase, read_sentence

__all__ = [
    "CellFact",
    "Mention",
    "Report",
    "TableLayout",
    "TablePart",
    "analyse_table",
    "base_label",
    "item_phrase",
    "read_sentence",
]
