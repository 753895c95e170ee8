"""The figures of a report for search and for agents: their index, series of cells, sentences and tools."""

from kg.figures.figure_index import FIELDS, Idf, ReportIndex, is_opening
from kg.figures.relevance import relevant_sentences
from kg.figures.series import SeriesReader, asked_count, name_code
from kg.figures.tools import GraphTools, OntologyAction

__all__ = [
    "FIELDS",
    "GraphTools",
    "Idf",
    "OntologyAction",
    "ReportIndex",
    "SeriesReader",
    "asked_count",
    "is_opening",
    "name_code",
    "relevant_sentences",
]
