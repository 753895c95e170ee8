"""The package ``kg.questions``."""

from kg.questions.answer import EntityAnswer, Value, plain
from kg.questions.comparisons import answer_entities
from kg.questions.graph import EntityGraph
from kg.questions.items import AUXILIARIES, ORDINALS, QUESTION_WORDS, unknown_name
from kg.questions.lexicon import LEX, Degree, Tag, folded, known_entities, spaced

__all__ = [
    "AUXILIARIES",
    "LEX",
    "ORDINALS",
    "QUESTION_WORDS",
    "Degree",
    "EntityAnswer",
    "EntityGraph",
    "Tag",
    "Value",
    "answer_entities",
    "folded",
    "known_entities",
    "plain",
    "spaced",
    "unknown_name",
]
