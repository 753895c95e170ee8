"""The kinds of answer that a question wants."""

from __future__ import annotations

import re
from collections.abc import Sequence

from kg.clauses import SyntaxToken, SyntaxTree, with_particle
from kg.news import NewsQuestion
from kg.sentences import noun_class
from kg.text import singular

_MOVE_VERBS = frozenset(("work", "come", "join", "arrive", "poach", "recruit", "hire"))
_SHARES = frozenset(("stake", "holding", "interest", "margin", "yield", "percentage", "far", "steeply"))
_AMOUNT_VERBS = frozenset(
    ("cost", "pay", "pay_out", "earn", "spend", "fetch", "owe", "charge", "offer", "invest", "bid")
)
_MOST_KINDS = 4
"""The most kinds that patterns give a question whose words say what it asks for."""

_WIDE = ("company", "product", "name", "place", "person", "phrase")


def wanted_kinds(parse: SyntaxTree, phrase: frozenset[int], words: NewsQuestion) -> tuple[tuple[str, ...], str]:
    """Returns the kinds of the answer and the noun that it is one of."""
    nouns = [parse.tokens[place] for place in phrase if parse.tokens[place].part in ("NOUN", "PROPN")]
    noun = nouns[-1].text.lower() if nouns else ""
    lemmas = {token.lemma for token in parse.tokens}
    if words.kinds[:1] == ("place",) and lemmas & _MOVE_VERBS:
        return ("company", "place"), ""
    if set(words.kinds[:2]) == {"money", "percent"} and lemmas & _SHARES:
        return ("percent", "money"), ""
    if noun in ("share", "proportion", "part") and re.search(rf"\b(?:what|which) {noun} of\b", words.lower):
        return ("percent", "count"), ""
    if words.kinds == ("person", "company") and not noun and not words.role and not words.plural:
        return words.kinds, _person_noun(parse)
    if words.kinds[:1] == ("count",):
        timed = noun_class(singular(noun or words.noun)) == "time"
        return (*words.kinds, "duration") if timed else words.kinds, noun or words.noun
    if len(words.kinds) > _MOST_KINDS:
        return _open_kinds(parse, phrase, words, nouns)
    if words.kinds[:1] == ("money",) and noun and noun_class(singular(noun)) != "possession":
        return (*words.kinds, "measure"), noun
    if set(words.kinds[:2]) <= {"money", "percent"} and words.kinds:
        return tuple(kind for kind in words.kinds if kind != "rating"), ""
    return words.kinds, noun or words.noun


def _open_kinds(
    parse: SyntaxTree, phrase: frozenset[int], words: NewsQuestion, nouns: Sequence[SyntaxToken]
) -> tuple[tuple[str, ...], str]:
    """Returns the kinds and the noun where patterns leave the kind open: by a noun, or else by the verb."""
    noun = nouns[-1].text.lower() if nouns else ""
    if named := _kinds_of_noun(parse, nouns):
        return named, noun
    if noun:
        which = any(parse.tokens[place].lemma == "which" for place in phrase)
        return _WIDE if which else (*_WIDE, "money", "percent", "count"), noun
    verbs = {with_particle(parse, token) for token in parse.tokens if token.part in ("VERB", "NOUN")}
    if verbs & _AMOUNT_VERBS or re.search(r"\b(?:size|worth)\b", words.lower):
        return ("money", "percent"), ""
    return (*words.kinds, "phrase"), ""


_KINDS_OF_CLASSES = {
    "person": ("person", "company"),
    "group": ("company", "name", "product"),
    "place": ("place", "name"),
    "possession": ("money", "percent"),
    "quantity": ("count", "measure"),
    "time": ("date", "duration"),
}
"""The kinds of answers that are one of a class of nouns."""


def _kinds_of_noun(parse: SyntaxTree, nouns: Sequence[SyntaxToken]) -> tuple[str, ...]:
    """Returns the kinds of the noun that is asked for: "what salary", "what is her salary"; none for other nouns."""
    asked = nouns[-1] if nouns else None
    if asked is None:
        verb = next((one for one in parse.tokens if one.lemma == "be" and one.relation == "ROOT"), None)
        beside = [parse.tokens[child] for child in parse.children[verb.place]] if verb is not None else []
        asked = next((one for one in beside if one.relation in ("nsubj", "attr") and one.part == "NOUN"), None)
    return _KINDS_OF_CLASSES.get(noun_class(asked.lemma), ()) if asked is not None else ()


def _person_noun(parse: SyntaxTree) -> str:
    """Returns the noun for people in "who is the judge", or ``""``."""
    for token in parse.tokens:
        if token.part == "NOUN" and token.relation in ("nsubj", "attr") and noun_class(token.lemma) == "person":
            return token.lemma if parse.tokens[token.head].lemma == "be" else ""
    return ""
