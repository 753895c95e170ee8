"""A directory of known names: full names, short names and symbols of what a graph holds.

>>> directory = Directory()
>>> directory.add("company", "Helixon Semiconductors Inc.", ["HLXN"])
>>> directory.find("Helixon")
('company', 'Helixon Semiconductors Inc.')

A short name stands for a full name that begins with it, if only one does.
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable
from functools import cache

from kg.sentences.language import language

Entity = tuple[str, str]
"""Kind and full name."""


_ARTICLES = ("the", "a", "an")


@cache
def plain_name(name: str) -> str:
    """Returns a name in lower case without accents, punctuation, article, title and legal form."""
    split = unicodedata.normalize("NFKD", name)
    text = "".join(letter for letter in split if not unicodedata.combining(letter))
    words = re.findall(r"[\w&]+(?:-\w+)*", re.sub(r"['’]s\b", "", text).replace("S.A.", "SA").replace("A/S", "AS"))
    legal = {form.replace(".", "").lower() for form in language().legal_forms}
    while len(words) > 1 and words[-1].lower() in legal:
        words = words[:-1]
    while len(words) > 1 and (words[0].lower() in _ARTICLES or words[0] in language().person_titles):
        words = words[1:]
    return " ".join(words).lower()


def name_pattern(name: str, *, article: bool = True) -> re.Pattern[str]:
    """Returns what matches a name in a text: a name of several words in any case, and with or without its article.

    Args:
        name: The name; an article at its beginning is no part of it.
        article: Whether a match has the article before the name, if there is one.
    """
    words = name.split()
    has_article = len(words) > 1 and words[0].lower() in _ARTICLES
    words = words[1:] if has_article else words
    body = r"\s+".join(map(re.escape, words))
    before = r"(?:(?:[Tt]he|[Aa]n?)\s+)?" if article and (has_article or len(words) > 1) else ""
    return re.compile(rf"(?<![\w-]){before}{body}(?![\w-])", re.IGNORECASE if len(words) > 1 else 0)


class Directory:
    """Names and what they stand for.

    Attributes:
        entities: What the names stand for.
        phrases: Names that end with a common noun, such as "Derby group", as what matches them in a text.
    """

    def __init__(self) -> None:
        self._exact: dict[str, Entity] = {}
        self._starts: defaultdict[str, dict[Entity, None]] = defaultdict(dict)
        self.entities: dict[Entity, None] = {}
        self.phrases: dict[str, re.Pattern[str]] = {}

    def add(self, kind: str, name: str, aliases: Iterable[str] = ()) -> None:
        """Adds an entity with its other names."""
        entity, aliases = (kind, name), tuple(aliases)
        self.entities[entity] = None
        for alias in aliases:
            if _is_phrase(alias):
                self.phrases.setdefault(plain_name(alias), name_pattern(alias, article=False))
        for text in (name, *aliases):
            plain = plain_name(text)
            self._exact.setdefault(plain, entity)
            words = plain.split()
            if kind == "person":
                for short in {words[-1], words[-1].split("-")[0], words[0]}:
                    self._starts[short][entity] = None
            elif kind in ("company", "product"):
                for count in range(1, len(words)):
                    if words[count - 1] not in ("&", "of", "and"):
                        self._starts[" ".join(words[:count])][entity] = None

    def find(self, name: str) -> Entity | None:
        """Returns what a name stands for; ``None`` if it stands for nothing, or for several things."""
        plain = plain_name(name)
        if plain in self._exact:
            return self._exact[plain]
        found = self._starts.get(plain, {})
        return next(iter(found)) if len(found) == 1 else None


def _is_phrase(name: str) -> bool:
    """Whether a name has several words, and the last one is a common noun."""
    plain = plain_name(name).split()
    return len(plain) > 1 and plain[-1] in name.split()
