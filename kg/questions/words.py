"""The function words of questions, and the relations that a verb expresses.

>>> steps_of(graph, tag_of("issued"))
[SetStep(relation='https://w3id.org/finpath/edge/issued_by', inverse=True)]
"""

from __future__ import annotations

from collections.abc import Sequence

from kg.questions.graph import EntityGraph
from kg.questions.sets import SetStep
from kg.questions.tagging import Tag

BE = frozenset(("is", "are", "was", "were", "be", "been", "being"))
DO_AND_MODALS = frozenset(("do", "does", "did", "can", "could", "will", "would"))
HAVE = frozenset(("has", "have", "had", "having"))
AUXILIARY = BE | DO_AND_MODALS | HAVE
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
WHO = frozenset(("who", "whom", "what", "which"))
POSSESSIVE = frozenset(("'s", "’s"))
YEARS = range(1900, 2101)
EXCLUDING = frozenset(("excluding", "except", "besides"))
_RANKS = "second third fourth fifth sixth seventh eighth ninth tenth"
_COUNTS = "two three four five six seven eight nine ten"
ORDINALS = {word: rank for rank, word in enumerate(_RANKS.split(), start=2)}
NUMBERS = {word: number for number, word in enumerate(_COUNTS.split(), start=2)}
SUMS = frozenset(("total", "combined", "sum", "overall"))
AVERAGES = frozenset(("average", "mean"))
DIFFERENCES = frozenset(("difference",))
RATIOS = frozenset(("ratio",))
SHARES = frozenset(("share", "percentage", "percent", "fraction", "proportion"))
AUXILIARIES = frozenset(("is", "are", "was", "were", "does", "do", "did", "has", "have", "can"))
"""The words that questions for yes or no begin with."""

QUESTION_WORDS = frozenset(
    ("which", "what", "who", "whose", "how", "when", "where", "in", "name", "list", "tell", "give", "on")
)
_MODALS = "may might shall"
_PRONOUNS = "i me my you your we us it its they them their this these those one ones another other others same s"
_REQUESTS = "please show find found say know want like get got question"
_JOINING = """
    and or both either also too so if then there here than why whichever among into out up per terms following
    together altogether
"""
_QUANTITY = "many much more most less least number times first exactly only just single whole entire compared"
_TIME = "year years now currently still"
_LINKING = "belong belongs come comes lie lies located situated made make makes use uses shares"
"""Verbs that link a thing with its place, owner or part: the relation is that of the nouns."""

FUNCTION_WORDS = frozenset().union(
    *(words.split() for words in (_MODALS, _PRONOUNS, _REQUESTS, _JOINING, _QUANTITY, _TIME, _LINKING)),
    *(AUXILIARY, ARTICLES, RELATIVE, PREPOSITIONS, WHO, QUESTION_WORDS, EXCLUDING, COMPARATORS),
    *(SUMS, AVERAGES, DIFFERENCES, RATIOS, SHARES, ORDINALS, NUMBERS),
)
"""Words that a question may hold without naming anything; any other must be a word of the graph."""


def steps_of(graph: EntityGraph, tag: Tag) -> list[SetStep]:
    """The relations that a word may say, each in the direction in which it says it."""
    words = graph.lexicon.properties
    forward = [SetStep(prop) for prop in tag.properties if not words[prop].literal]
    return forward + [SetStep(prop, inverse=True) for prop in tag.inverses]


def is_participle(tag: Tag) -> bool:
    """Whether a verb's form may be passive: "insured"; where the label says "insured by", it says the direction too."""
    return " " not in tag.word and tag.word.endswith(("ed", "en", "ought", "made"))


def unknown_name(tags: Sequence[Tag]) -> str | None:
    """Returns a word in the middle of a question that is written like a name and is none of the graph's."""
    for tag in tags[1:]:
        plain_word = not tag.named and tag.degree is None and tag.number is None
        if plain_word and tag.text[:1].isupper() and tag.word not in QUESTION_WORDS and len(tag.word) > 1:
            return tag.text
    return None


def unknown_word(tags: Sequence[Tag]) -> str | None:
    """Returns a word that the graph has no meaning for; a reading without it would be a guess."""
    for tag in tags:
        free = not tag.named and tag.degree is None and tag.number is None and tag.word not in POSSESSIVE
        if free and not {tag.word, *tag.word.split()} & FUNCTION_WORDS:
            return tag.text
    return None
