"""The package ``kg.reports``."""

from kg.reports.archive import ReportStore
from kg.reports.graph import ReportGraph, build_report_graph
from kg.reports.kinds import DISCLOSURE, GENERAL, KINDS, detect_kind, shown_kinds
from kg.reports.labels import line_item_key
from kg.reports.layer import (
    AddObservation,
    checked_observations,
    named_periods,
    read_by_rules,
    standing_figures,
    with_layer,
)
from kg.reports.layout import analyse_table
from kg.reports.observation import CellSource, Observation, SentenceSource, Source
from kg.reports.ontology import (
    MIN_REPORTS,
    Ontology,
    TableReading,
    build_ontology,
    kind_words,
    line_items,
    table_context,
)
from kg.reports.report import Report, TablePart
from kg.reports.shapes import can_validate, violations
from kg.reports.triples import document_order, observations_in, report_base
from kg.reports.vocabulary import RESERVED

__all__ = [
    "DISCLOSURE",
    "GENERAL",
    "KINDS",
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
    "kind_words",
    "line_item_key",
    "line_items",
    "named_periods",
    "observations_in",
    "read_by_rules",
    "report_base",
    "shown_kinds",
    "standing_figures",
    "table_context",
    "violations",
    "with_layer",
]
