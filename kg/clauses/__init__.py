"""Answers from parsed sentences: a question is a clause with a gap, filled from the sentences that match it."""

from kg.clauses.answers import (
    CONFIDENCE_FEATURES,
    ClauseAnswer,
    ClauseAnswers,
    ClauseModel,
    clause_model,
    confidence_features,
    contest_of,
    problem_of,
)
from kg.clauses.candidates import FEATURES, Candidate
from kg.clauses.documents import Library
from kg.clauses.lexicon import similarity
from kg.clauses.meaning import SentenceEncoder
from kg.clauses.parser import Parse, SentenceParser, Token
from kg.clauses.questions import Asked
from kg.clauses.ranking import Ranked, features_of, rank

__all__ = [
    "CONFIDENCE_FEATURES",
    "FEATURES",
    "Asked",
    "Candidate",
    "ClauseAnswer",
    "ClauseAnswers",
    "ClauseModel",
    "Library",
    "Parse",
    "Ranked",
    "SentenceEncoder",
    "SentenceParser",
    "Token",
    "clause_model",
    "confidence_features",
    "contest_of",
    "features_of",
    "problem_of",
    "rank",
    "similarity",
]
