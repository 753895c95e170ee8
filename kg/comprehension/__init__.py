"""Answers from sentences: a question is a clause with a gap, filled by the values of the sentences that match it."""

from kg.comprehension.answers import (
    CONFIDENCE_FEATURES,
    AnswerProposal,
    ClauseAnswer,
    ClauseAnswers,
    ClauseModel,
    clause_model,
    contest_of,
    problem_of,
    proposal_of,
    too_doubtful,
)
from kg.comprehension.candidates import FEATURES, SpanCandidate
from kg.comprehension.questions import Asked
from kg.comprehension.ranking import Ranked, features_of, rank
from kg.comprehension.reader import SpanReader
from kg.comprehension.relation import relation_of, subject_of
from kg.comprehension.sets import NUMBER, scaled_amount

__all__ = [
    "CONFIDENCE_FEATURES",
    "FEATURES",
    "NUMBER",
    "AnswerProposal",
    "Asked",
    "ClauseAnswer",
    "ClauseAnswers",
    "ClauseModel",
    "Ranked",
    "SpanCandidate",
    "SpanReader",
    "clause_model",
    "contest_of",
    "features_of",
    "problem_of",
    "proposal_of",
    "rank",
    "relation_of",
    "scaled_amount",
    "subject_of",
    "too_doubtful",
]
