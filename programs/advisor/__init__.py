"""The package ``programs.advisor``."""

from programs.advisor.advisor import Advisor, Briefing, Ingested, ModelReader, Portfolio, RuleReader
from programs.advisor.answering import answer_question

__all__ = [
    "Advisor",
    "Briefing",
    "Ingested",
    "ModelReader",
    "Portfolio",
    "RuleReader",
    "answer_question",
]
