"""Financial reports: layout of their tables, the ontology of their line items, and their graphs."""

from typing import TYPE_CHECKING

from kg.lazy import lazy_exports

if TYPE_CHECKING:
    from kg.reports.excerpts import ReportWords, is_large, lines_of
    from kg.reports.graph import ReportGraph, build_report_graph
    from kg.reports.headers import YEARS_OR_UNIT, base_label
    from kg.reports.layout import TableLayout, analyse_table
    from kg.reports.learning import build_ontology
    from kg.reports.observation import CellSource, Observation, SentenceSource, Source
    from kg.reports.ontology import Ontology, table_context
    from kg.reports.queries import ReportQueryResult, can_validate, query_report, violations
    from kg.reports.report import CellFact, EncodableText, Report, TablePart, document_of
    from kg.reports.sentences import FigureMention, read_sentence
    from kg.reports.triples import report_base
    from kg.reports.vocabulary import REPORTS, SCALE_POWERS
else:
    __getattr__ = lazy_exports(__name__, __file__)
