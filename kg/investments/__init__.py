"""Events of companies, and insights that are derived from them by rule, in a growing graph with a schema for both."""

from kg.investments.events import event_date, grouped_events
from kg.investments.insights import derive_insights, insights_about
from kg.investments.schema import investment_schema, types_of
