"""Parsed sentences: clauses with their roles, values and meaning, and documents of them.

:mod:`kg.comprehension` answers questions from these.
"""

from kg.clauses.documents import CONTENT, Library, ParsedSentence, Text
from kg.clauses.lexicon import are_converse, are_opposite, direction, is_word, similarity
from kg.clauses.meaning import ENCODER_PACKAGE, SentenceEncoder
from kg.clauses.mentions import NAMES
from kg.clauses.parser import SentenceParser, SyntaxToken, SyntaxTree
from kg.clauses.roles import (
    AGENT,
    EQUAL,
    OTHER,
    PATIENT,
    agreement,
    clause_of,
    is_negated,
    moves_of,
    role_of,
    with_particle,
)

__all__ = [
    "AGENT",
    "CONTENT",
    "ENCODER_PACKAGE",
    "EQUAL",
    "NAMES",
    "OTHER",
    "PATIENT",
    "Library",
    "ParsedSentence",
    "SentenceEncoder",
    "SentenceParser",
    "SyntaxToken",
    "SyntaxTree",
    "Text",
    "agreement",
    "are_converse",
    "are_opposite",
    "clause_of",
    "direction",
    "is_negated",
    "is_word",
    "moves_of",
    "role_of",
    "similarity",
    "with_particle",
]
