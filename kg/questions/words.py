"""The words that hold a question's phrases together, and how a verb says a relation.

>>> steps_of(graph, tag_of("issued"))
[Step(relation='https://w3id.org/finpath/edge/issued_by', inverse=True)]
"""

from __future__ import annotations

from kg.questions.graph import EntityGraph
from kg.questions.lexicon import Tag
from kg.questions.sets import Step

BE = frozenset(("is", "are", "was", "were", "be", "been", "being"))
DO = frozenset(("do", "does", "did", "can", "could", "will", "would"))
HAVE = frozenset(("has", "have", "had", "having"))
AUXILIARY = BE | DO | HAVE
ARTICLES = frozenset(("the", "a", "an", "all", "any", "each", "every"))
RELATIVE = frozenset(("that", "which", "who"))
PREPOSITIONS = frozenset(("in", "of", "at", "on", "by", "from", "for", "to", "with", "about", "as"))
COMPARATORS = {
    "since": "since",
    "from": "since",
    "after": "after",
    "later": "after",
    "before": "before",
    "earlier": "before",
    "until": "until",
    "till": "until",
    "by": "until",
    "in": "in",
    "on": "in",
    "during": "in",
    "of": "in",
    "between": "between",
}
POSSESSIVE = frozenset(("'s", "’s"))
YEARS = range(1900, 2101)


def steps_of(graph: EntityGraph, tag: Tag) -> list[Step]:
    """The relations that a word may say, each in the direction in which it says it."""
    words = graph.lexicon.properties
    forward = [Step(prop) for prop in tag.properties if not words[prop].literal]
    return forward + [Step(prop, inverse=True) for prop in tag.inverses]


def is_participle(tag: Tag) -> bool:
    """Whether a verb's form may be passive: "insured"; where the label says "insured by", it says the direction too."""
    return " " not in tag.word and tag.word.endswith(("ed", "en", "ought", "made"))
