"""Answers from parsed sentences: a question is a clause with a gap, filled from the sentences that match it."""

from kg.clauses.answers import (
    CONFIDENCE_FEATURES,
    ClauseAnswer,
    ClauseAnswers,
    ClauseModel,
    Proposal,
    clause_model,
    contest_of,
    problem_of,
    proposal_of,
)
from kg.clauses.candidates import FEATURES, Candidate
from kg.clauses.documents import Library, Statement, Text
from kg.clauses.lexicon import similarity
from kg.clauses.meaning import SentenceEncoder
from kg.clauses.parser import Parse, SentenceParser, Token
from kg.clauses.questions import Asked
from kg.clauses.ranking import Ranked, features_of, rank
from kg.clauses.sets import extreme_answer

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
    "Proposal",
    "Ranked",
    "SentenceEncoder",
    "SentenceParser",
    "Statement",
    "Text",
    "Token",
    "clause_model",
    "contest_of",
    "extreme_answer",
    "features_of",
    "problem_of",
    "proposal_of",
    "rank",
    "similarity",
]
