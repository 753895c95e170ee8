"""The package ``kg.investments``."""

from kg.investments.documents import NewsDocument, parse_document
from kg.investments.insights import derive_insights, event_date, insights_about
from kg.investments.rules import NewsRules, Reading
from kg.investments.schema import investment_schema

__all__ = [
    "NewsDocument",
    "NewsRules",
    "Reading",
    "derive_insights",
    "event_date",
    "insights_about",
    "investment_schema",
    "parse_document",
]
