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


@cache
def plain_name(name: str) -> str:
    """Returns a name in lower case without accents, punctuation, article, title and legal form."""
    split = unicodedata.normalize("NFKD", name)
    text = "".join(letter for letter in split if not unicodedata.combining(letter))
    words = re.findall(r"[\w&]+(?:-\w+)*", re.sub(r"['’]s\b", "", text).replace("S.A.", "SA").replace("A/S", "AS"))
    legal = {form.replace(".", "").lower() for form in language().legal_forms}
    while len(words) > 1 and words[-1].lower() in legal:
        words = words[:-1]
    while len(words) > 1 and (words[0].lower() in ("the", "a") or words[0] in language().person_titles):
        words = words[1:]
    return " ".join(words).lower()


class Directory:
    """Names and what they stand for."""

    def __init__(self) -> None:
        self._exact: dict[str, Entity] = {}
        self._starts: defaultdict[str, dict[Entity, None]] = defaultdict(dict)
        self.entities: dict[Entity, None] = {}

    def add(self, kind: str, name: str, aliases: Iterable[str] = ()) -> None:
        """Adds an entity with its other names."""
        entity = (kind, name)
        self.entities[entity] = None
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
