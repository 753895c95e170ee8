"""News about investments as updates of a growing graph: documents, rules, a schema, and insights by rule."""

from kg.investments.documents import NewsDocument, parse_document
from kg.investments.insights import derive_insights, event_date, insights_about
from kg.investments.rules import NewsRules, Reading, RuleReader, load_rules
from kg.investments.schema import investment_schema, types_of

__all__ = [
    "NewsDocument",
    "NewsRules",
    "Reading",
    "RuleReader",
    "derive_insights",
    "event_date",
    "insights_about",
    "investment_schema",
    "load_rules",
    "parse_document",
    "types_of",
]
