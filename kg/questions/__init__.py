"""Questions about graphs of entities: tagging by a graph's lexicon, one grammar, answers with their triples."""

from kg.questions.answer import EntityAnswer, PropertyValue, plain
from kg.questions.graph import EntityGraph
from kg.questions.lexicon import LEX
from kg.questions.reader import answer_entities
from kg.questions.tagging import DegreeTag, Question, Tag, folded, known_entities, spaced
from kg.questions.words import AUXILIARIES, ORDINALS, QUESTION_WORDS, unknown_name

__all__ = [
    "AUXILIARIES",
    "LEX",
    "ORDINALS",
    "QUESTION_WORDS",
    "DegreeTag",
    "EntityAnswer",
    "EntityGraph",
    "PropertyValue",
    "Question",
    "Tag",
    "answer_entities",
    "folded",
    "known_entities",
    "plain",
    "spaced",
    "unknown_name",
]
