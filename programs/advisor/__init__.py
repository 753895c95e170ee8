"""The advisor: it reads news into a growing graph, answers questions about it, and briefs about a portfolio."""

from programs.advisor.advisor import Advisor, Ingestion, take_back
from programs.advisor.briefings import Briefing, briefings, shaped
from programs.advisor.portfolio import Portfolio, Profile, symbol_problems
from programs.advisor.reading import ReadDocuments
from programs.worlds.news.answering import GraphAnswers
