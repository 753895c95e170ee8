"""The advisor: it reads news into a growing graph, answers questions about it, and briefs about a portfolio."""

from programs.advisor.advisor import Advisor, Briefing, Ingestion, Portfolio
from programs.advisor.answering import Answers, GraphAnswers, answer_question
from programs.advisor.readers import ModelReader

__all__ = [
    "Advisor",
    "Answers",
    "Briefing",
    "GraphAnswers",
    "Ingestion",
    "ModelReader",
    "Portfolio",
    "answer_question",
]
