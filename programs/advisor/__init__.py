"""The advisor: it reads news into a growing graph, answers questions about it, and briefs about a portfolio."""

from programs.advisor.advisor import Advisor, Ingestion, take_back
from programs.advisor.briefings import Briefing, by_symbol
from programs.advisor.document_facts import DocumentExtraction
from programs.advisor.extraction import DocumentReader, NewsReader
from programs.advisor.portfolio import Portfolio, Profile, symbol_problems
from programs.advisor.queries import answer_question
from programs.advisor.shaping import left_out, shaped
from programs.worlds.news.answering import AnswerMemory, GraphAnswers, SupportedAnswers, TypedAnswers
from programs.worlds.news.documents import NearDocument, near_documents
from programs.worlds.news.readings import PassageAnswer, ReadingModel

__all__ = [
    "Advisor",
    "AnswerMemory",
    "Briefing",
    "DocumentExtraction",
    "DocumentReader",
    "GraphAnswers",
    "Ingestion",
    "NearDocument",
    "NewsReader",
    "PassageAnswer",
    "Portfolio",
    "Profile",
    "ReadingModel",
    "SupportedAnswers",
    "TypedAnswers",
    "answer_question",
    "by_symbol",
    "left_out",
    "near_documents",
    "shaped",
    "symbol_problems",
    "take_back",
]
