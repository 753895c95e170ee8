"""The words of a graph and of a question: names, labels, synonyms and similar words."""

from kg.vocabulary.lexicon import shipped_lexicon
from kg.vocabulary.mentions import Mention, mentions_of
from kg.vocabulary.names import Word, mask, places, words
from kg.vocabulary.similarity import Similarity, Vectors
from kg.vocabulary.thesaurus import Thesaurus
from kg.vocabulary.vocabulary import Vocabulary
from kg.vocabulary.words import (
    AUXILIARIES,
    COMPARISONS,
    DEGREES,
    DIFFERENCES,
    FREQUENT_VERBS,
    FUNCTION_WORDS,
    GENDERED,
    GENERIC,
    LIGHT,
    LIGHT_WORDS,
    MEANS,
    MULTIPLES,
    NEGATED_AUXILIARIES,
    NEGATIONS,
    NUMBERS,
    ORDINALS,
    OTHERS,
    SEPARATE,
    TOTALS,
    VERB,
    Degree,
    degree_of,
)

__all__ = [
    "AUXILIARIES",
    "COMPARISONS",
    "DEGREES",
    "DIFFERENCES",
    "FREQUENT_VERBS",
    "FUNCTION_WORDS",
    "GENDERED",
    "GENERIC",
    "LIGHT",
    "LIGHT_WORDS",
    "MEANS",
    "MULTIPLES",
    "NEGATED_AUXILIARIES",
    "NEGATIONS",
    "NUMBERS",
    "ORDINALS",
    "OTHERS",
    "SEPARATE",
    "TOTALS",
    "VERB",
    "Degree",
    "Mention",
    "Similarity",
    "Thesaurus",
    "Vectors",
    "Vocabulary",
    "Word",
    "degree_of",
    "mask",
    "mentions_of",
    "places",
    "shipped_lexicon",
    "words",
]
