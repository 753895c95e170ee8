"""The figures of a report for search and for agents: their index, lines, series, names, sentences and tools."""

from typing import TYPE_CHECKING

from kg.lazy import lazy_exports

if TYPE_CHECKING:
    from kg.figures.asked_aggregates import FUNCTIONS, AskedAggregates, read_aggregates
    from kg.figures.asked_names import AskedNames, Bounds, asked_count, read_names
    from kg.figures.figure_index import FIELDS, ReportIndex, is_opening
    from kg.figures.idf import Idf
    from kg.figures.lines import FigureLine, TableLines, is_total, written_labels
    from kg.figures.names import is_time, month_of, name_code, same_name, spoken_names
    from kg.figures.series import SeriesReader
    from kg.figures.tools import GraphTools, OntologyAction
else:
    __getattr__ = lazy_exports(__name__, __file__)

__all__ = [
    "FIELDS",
    "FUNCTIONS",
    "AskedAggregates",
    "AskedNames",
    "Bounds",
    "FigureLine",
    "GraphTools",
    "Idf",
    "OntologyAction",
    "ReportIndex",
    "SeriesReader",
    "TableLines",
    "asked_count",
    "is_opening",
    "is_time",
    "is_total",
    "month_of",
    "name_code",
    "read_aggregates",
    "read_names",
    "same_name",
    "spoken_names",
    "written_labels",
]
