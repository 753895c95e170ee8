"""The advisor: it reads news into a growing graph, answers questions about it, and briefs about a portfolio."""

from programs.advisor.advisor import Advisor, Ingestion, take_back
from programs.advisor.briefings import Briefing, OrderByProfile, Portfolio, briefings, issuers, symbol_problems
from programs.advisor.insights import DrawInsights
from programs.advisor.reading import ReadDocuments
from programs.worlds.news.answering import GraphAnswers
