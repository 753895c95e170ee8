"""The advisor: it reads news into a growing graph, answers questions about it, and briefs about a portfolio."""

from programs.advisor.advisor import Advisor, Ingestion, take_back
from programs.advisor.answering import Answers, GraphAnswers, TypedAnswers, is_contradiction
from programs.advisor.briefings import Briefing, Portfolio, by_symbol
from programs.advisor.citing import CitingReader
from programs.advisor.document_facts import DocumentExtraction
from programs.advisor.documents import NearDocument, near_documents
from programs.advisor.extraction import DocumentReader, FactExtraction, SentenceReader
from programs.advisor.memory import AnswerMemory
from programs.advisor.model_answers import ModelAnswers, answer_question
from programs.advisor.passages import PassageReader, ReadingModel
from programs.advisor.profile import Profile, left_out, shaped
from programs.advisor.sections import Section, sections_of
from programs.advisor.symbols import symbol_problems
from programs.advisor.watch import Watch

__all__ = [
    "Advisor",
    "AnswerMemory",
    "Answers",
    "Briefing",
    "CitingReader",
    "DocumentExtraction",
    "DocumentReader",
    "FactExtraction",
    "GraphAnswers",
    "Ingestion",
    "ModelAnswers",
    "NearDocument",
    "PassageReader",
    "Portfolio",
    "Profile",
    "ReadingModel",
    "Section",
    "SentenceReader",
    "TypedAnswers",
    "Watch",
    "answer_question",
    "by_symbol",
    "is_contradiction",
    "left_out",
    "near_documents",
    "sections_of",
    "shaped",
    "symbol_problems",
    "take_back",
]
