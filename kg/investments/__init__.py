"""Events of companies in a growing graph, and the insights that it holds of them, with a schema for both."""

from kg.investments.events import CompanyEvent, events_by_company, insight_updates, insights_about, is_fresh
from kg.investments.schema import investment_schema, types_of
