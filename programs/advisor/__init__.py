"""The advisor: it reads news into a growing graph, answers questions about it, and briefs about a portfolio."""

from programs.advisor.advisor import Advisor, Ingestion
from programs.advisor.answering import Answers, GraphAnswers, ModelAnswers, answer_question
from programs.advisor.briefings import Briefing, Portfolio
from programs.advisor.extraction import FactExtraction, SentenceReader
from programs.advisor.passages import PassageReader
from programs.advisor.profile import Profile
from programs.advisor.sections import Section, sections_of
from programs.advisor.watch import Watch

__all__ = [
    "Advisor",
    "Answers",
    "Briefing",
    "FactExtraction",
    "GraphAnswers",
    "Ingestion",
    "ModelAnswers",
    "PassageReader",
    "Portfolio",
    "Profile",
    "Section",
    "SentenceReader",
    "Watch",
    "answer_question",
    "sections_of",
]
