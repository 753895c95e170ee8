"""The subject and the relation of a question in its own words, for a fact that answers it.

>>> relation_of(clauses.parse("How much did Orvane pay for Brightlane?"))
'pay for Brightlane'
"""

from __future__ import annotations

from kg.comprehension.questions import Asked

_WORDS = frozenset(("NOUN", "PROPN", "VERB", "ADJ", "ADV", "NUM", "ADP", "PART"))
_JOINING = frozenset(("ADP", "PART"))
_ASKING = frozenset(("who", "whom", "whose", "what", "which", "where", "when", "how", "many", "much", "why"))


def subject_of(asked: Asked, headline: str) -> tuple[str, str]:
    """Returns the kind and the name of what a question is about: its first name, else a document's headline."""
    return asked.entities[0][0] if asked.entities else ("news", headline)


def relation_of(asked: Asked) -> str:
    """Returns the relation in the words of a question: "pay for Brightlane" of "How much did Orvane pay for ...?"."""
    subject = _subject_words(asked)
    kept = [
        token
        for token in asked.parse.tokens
        if token.part in _WORDS and token.text.lower() not in _ASKING and token.place not in subject
    ]
    while kept and kept[0].part in _JOINING:
        kept = kept[1:]
    while kept and kept[-1].part in _JOINING:
        kept = kept[:-1]
    return " ".join(token.text for token in kept) or "is"


def _subject_words(asked: Asked) -> frozenset[int]:
    """Returns the words of the first name, with its compounds."""
    if not asked.entities:
        return frozenset()
    head = asked.entities[0][1]
    children = asked.parse.children[head]
    parts = (place for place in children if asked.parse.tokens[place].relation in ("compound", "flat", "case"))
    return frozenset((head, *parts))
