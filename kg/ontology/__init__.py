"""The ontology of reports: kinds of statements and notes with their line items, and how it is learned."""

from kg.ontology import vocabulary
from kg.ontology.kinds import DISCLOSURE, GENERAL, detect_kind, figure_kinds, shown_kinds
from kg.ontology.labels import line_item_key
from kg.ontology.learning import MIN_REPORTS, TableReading, build_ontology, line_items
from kg.ontology.ontology import Ontology, kind_words, table_context
from kg.ontology.us_gaap import US_GAAP, close_matches
from kg.ontology.vocabulary import REPORTS, RESERVED, SCALE_POWERS

__all__ = [
    "DISCLOSURE",
    "GENERAL",
    "MIN_REPORTS",
    "REPORTS",
    "RESERVED",
    "SCALE_POWERS",
    "US_GAAP",
    "Ontology",
    "TableReading",
    "build_ontology",
    "close_matches",
    "detect_kind",
    "figure_kinds",
    "kind_words",
    "line_item_key",
    "line_items",
    "shown_kinds",
    "table_context",
    "vocabulary",
]
