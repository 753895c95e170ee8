"""Compiling of the parse of questions by a language model: turns with right parses, demonstrations, and figures."""

from optimize.queries.examples import AskedTurn, Talk, asked_turns, demonstrations, kinds_of
from optimize.queries.fit import (
    QUERY_OPTIMIZERS,
    QueryFit,
    QueryScore,
    answered_score,
    asked_replies,
    fit_queries,
    fitted_confidence,
    score_queries,
)

__all__ = [
    "QUERY_OPTIMIZERS",
    "AskedTurn",
    "QueryFit",
    "QueryScore",
    "Talk",
    "answered_score",
    "asked_replies",
    "asked_turns",
    "demonstrations",
    "fit_queries",
    "fitted_confidence",
    "kinds_of",
    "score_queries",
]
