"""Financial reports as graphs: figures of tables and sentences, and the ontology of line items."""

from kg.reports.archive import ReportStore
from kg.reports.graph import ReportGraph, build_report_graph
from kg.reports.kinds import DISCLOSURE, GENERAL, detect_kind, figure_kinds, shown_kinds
from kg.reports.labels import line_item_key
from kg.reports.layer import (
    AddObservation,
    checked_observations,
    named_periods,
    read_by_rules,
    sentence_figures,
    with_layer,
)
from kg.reports.layout import analyse_table
from kg.reports.learning import MIN_REPORTS, TableReading, build_ontology, line_items
from kg.reports.observation import CellSource, Observation, SentenceSource, Source
from kg.reports.ontology import Ontology, kind_words, table_context
from kg.reports.report import Report, TablePart
from kg.reports.shapes import can_validate, violations
from kg.reports.triples import document_order, observations_in, report_base
from kg.reports.vocabulary import RESERVED

__all__ = [
    "DISCLOSURE",
    "GENERAL",
    "MIN_REPORTS",
    "RESERVED",
    "AddObservation",
    "CellSource",
    "Observation",
    "Ontology",
    "Report",
    "ReportGraph",
    "ReportStore",
    "SentenceSource",
    "Source",
    "TablePart",
    "TableReading",
    "analyse_table",
    "build_ontology",
    "build_report_graph",
    "can_validate",
    "checked_observations",
    "detect_kind",
    "document_order",
    "figure_kinds",
    "kind_words",
    "line_item_key",
    "line_items",
    "named_periods",
    "observations_in",
    "read_by_rules",
    "report_base",
    "sentence_figures",
    "shown_kinds",
    "table_context",
    "violations",
    "with_layer",
]
