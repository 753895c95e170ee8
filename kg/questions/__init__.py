"""Questions about graphs of entities: tagging by a graph's lexicon, one grammar, answers with their triples."""

from typing import TYPE_CHECKING

from kg.lazy import lazy_exports

if TYPE_CHECKING:
    from kg.questions.answer import EntityAnswer, PropertyValue, plain
    from kg.questions.graph import EntityGraph
    from kg.questions.lexicon import LEX
    from kg.questions.reader import answer_entities
    from kg.questions.tagging import DegreeTag, Question, Tag, folded, known_entities, spaced
    from kg.questions.words import AUXILIARIES, ORDINALS, QUESTION_WORDS, unknown_name
else:
    __getattr__ = lazy_exports(__name__, __file__)

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
