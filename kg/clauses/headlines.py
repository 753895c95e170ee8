"""Documents without their line of place and day, and headlines with capitals for names alone."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from kg.clauses.lexicon import is_word
from kg.news import Passage
from kg.sentences import DATELINE, is_title_case
from kg.text import STOPWORDS, singular


def prepared(group: Sequence[Passage]) -> list[Passage]:
    """Returns the sentences of a document in order, without its line of place and day, its headline in usual case."""
    found = [replace(one, text=re.sub(r"\bA/S\b", "AS", one.text)) for one in sorted(group, key=lambda one: one.place)]
    body = [one for one in found if one.place >= 0]
    inner = {word for one in body for word in re.findall(r"(?<=[a-z,] )[A-Z][\w&-]*", one.text)}
    for number, one in enumerate(found):
        if one.place < 0:
            found[number] = replace(one, text=_usual_case(one.text, inner))
        elif one.place == 0:
            found[number] = replace(one, text=DATELINE.sub("", one.text, count=1))
    return [one for one in found if one.text]


def _usual_case(headline: str, names: set[str]) -> str:
    """Returns a headline with capitals for names alone, if it is in title case or in capitals."""
    if not is_title_case(headline):
        return headline
    by_lower = {name.lower(): name for name in names}

    def usual(match: re.Match[str]) -> str:
        word = match[0]
        known = by_lower.get(word.lower())
        if known is not None:
            return known
        if word.isupper() and len(word) < 5 and not is_word(word.lower()) and word.lower() not in STOPWORDS:
            return word
        small = word.lower()
        return small if is_word(small) or is_word(singular(small)) or _is_form(small) else word.capitalize()

    usual_case = re.sub(r"[A-Za-z][\w&-]*", usual, headline)
    return usual_case[:1].upper() + usual_case[1:]


def _is_form(word: str) -> bool:
    """Whether a word is a form of a verb, or one of the small words."""
    return any(
        is_word(base) for base in (word[:-1], word[:-2], word[:-3], f"{word[:-2]}e", f"{word[:-3]}e") if len(base) > 2
    ) or (len(word) < 5)
