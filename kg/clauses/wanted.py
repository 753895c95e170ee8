"""The kinds of answer that a question wants."""

from __future__ import annotations

import re

from kg.clauses.parser import Parse
from kg.clauses.roles import with_particle
from kg.news import NewsQuestion

_MOVE_VERBS = frozenset(("work", "come", "join", "arrive", "poach", "recruit", "hire"))
_SHARES = frozenset(("stake", "holding", "interest", "margin", "yield", "percentage", "far", "steeply"))
_AMOUNT_VERBS = frozenset(
    ("cost", "pay", "pay_out", "earn", "spend", "fetch", "owe", "charge", "offer", "invest", "bid")
)
_WIDE = ("company", "product", "name", "place", "person", "phrase")


def wanted_kinds(parse: Parse, phrase: frozenset[int], words: NewsQuestion) -> tuple[tuple[str, ...], str]:
    """Returns the kinds of the answer and the noun that it is one of."""
    nouns = [parse.tokens[place] for place in phrase if parse.tokens[place].part in ("NOUN", "PROPN")]
    noun = nouns[-1].text.lower() if nouns else ""
    lemmas = {token.lemma for token in parse.tokens}
    if words.kinds[:1] == ("place",) and lemmas & _MOVE_VERBS:
        return ("company", "place"), ""
    if set(words.kinds[:2]) == {"money", "percent"} and lemmas & _SHARES:
        return ("percent", "money"), ""
    if words.kinds[:1] == ("count",):
        return words.kinds, noun or words.noun
    if len(words.kinds) > 4 and noun:
        return _WIDE, noun
    if len(words.kinds) > 4:
        verbs = {with_particle(parse, token) for token in parse.tokens if token.part in ("VERB", "NOUN")}
        if verbs & _AMOUNT_VERBS or re.search(r"\b(?:size|worth)\b", words.lower):
            return ("money", "percent"), ""
        return (*words.kinds, "phrase"), ""
    if set(words.kinds[:2]) <= {"money", "percent"} and words.kinds:
        return tuple(kind for kind in words.kinds if kind != "rating"), ""
    return words.kinds, noun or words.noun
