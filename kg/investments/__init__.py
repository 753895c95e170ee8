"""News about investments as updates of a growing graph: documents, rules, a schema, and insights by rule."""

from kg.investments.documents import NewsDocument, parse_document
from kg.investments.edits import EditedTexts
from kg.investments.events import CompanyEvent, events_by_company, grouped_events
from kg.investments.freshness import Freshness, event_date
from kg.investments.insights import derive_insights, insights_about
from kg.investments.patterns import derive_correlations, derive_patterns
from kg.investments.rules import DocumentReading, NewsRules, RuleReader, load_rules
from kg.investments.schema import completed_schema, investment_schema, types_of

__all__ = [
    "CompanyEvent",
    "DocumentReading",
    "EditedTexts",
    "Freshness",
    "NewsDocument",
    "NewsRules",
    "RuleReader",
    "completed_schema",
    "derive_correlations",
    "derive_insights",
    "derive_patterns",
    "event_date",
    "events_by_company",
    "grouped_events",
    "insights_about",
    "investment_schema",
    "load_rules",
    "parse_document",
    "types_of",
]
