"""The advisor: it reads news into a growing graph, answers questions about it, and briefs about a portfolio."""

from programs.advisor.advisor import Advisor, Ingestion
from programs.advisor.answering import Answers, GraphAnswers, answer_question
from programs.advisor.briefings import Briefing, Portfolio
from programs.advisor.profile import Profile
from programs.advisor.readers import ModelReader
from programs.advisor.watch import Watch

__all__ = [
    "Advisor",
    "Answers",
    "Briefing",
    "GraphAnswers",
    "Ingestion",
    "ModelReader",
    "Portfolio",
    "Profile",
    "Watch",
    "answer_question",
]
