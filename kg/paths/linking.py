"""Entity linking of questions by labels.

    >>> linker = EntityLinker(["Tom Hanks", "Hanks", "what"])
    >>> linker.link("what films did tom hanks star in")
    Linked(label='tom hanks', entities=('Tom Hanks',))

The longest label wins, in words, because shorter ones inside it are accidents. A question that writes a label with its
capitals means a name, so that one goes before words that happen to be labels too ("the *director* of Roadkill"); labels
of function words alone ("The Who") count only where nothing else is found. Several entities may bear the label: then
all of them are returned, and whoever asked says so.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from kg.text import STOPWORDS, stem

_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True)
class Linked:
    """A label found in a question.

    Attributes:
        label: The words of the label, as the question has them.
        entities: The entities that bear it, sorted; several where it is ambiguous.
    """

    label: str
    entities: tuple[str, ...]

    @property
    def is_ambiguous(self) -> bool:
        """Whether several entities bear the label."""
        return len(self.entities) > 1


@dataclass(frozen=True)
class Topics:
    """The entities of a graph that a question is about.

    Attributes:
        entities: Their names in the graph.
        linked: The label that was found in the question, where no topic was given.
        unknown: Topics that were given and are not in the graph.
    """

    entities: tuple[str, ...]
    linked: Linked | None = None
    unknown: tuple[str, ...] = ()


class EntityLinker:
    """Finds entities by label.

    Args:
        names: The names of all entities.
        other_names: Further labels, each with the names of the entities that bear it.
    """

    def __init__(self, names: Iterable[str], other_names: Mapping[str, Iterable[str]] | None = None) -> None:
        self._by_words: dict[tuple[str, ...], dict[str, None]] = {}
        self._wordless: dict[str, dict[str, None]] = {}
        self._longest = 0
        for name in names:
            self._add(name, name)
        for label, owners in (other_names or {}).items():
            for owner in owners:
                self._add(label, owner)

    def _add(self, label: str, name: str) -> None:
        words = _words(label)
        if words:
            self._by_words.setdefault(words, {})[name] = None
            self._longest = max(self._longest, len(words))
        else:
            self._wordless.setdefault(label, {})[name] = None

    def named(self, label: str) -> tuple[str, ...]:
        """The entities that bear a label, capitals and punctuation aside; sorted, empty where there are none."""
        words = _words(label)
        found = self._by_words.get(words, {}) if words else self._wordless.get(label, {})
        return tuple(sorted(found))

    def link(self, question: str) -> Linked | None:
        """The entities that bear the longest label in a question, or ``None`` where it names none."""
        matches = list(_WORD.finditer(question))
        words = tuple(match[0].casefold() for match in matches)
        best: tuple[tuple[bool, bool, int, int], Linked] | None = None
        for length in range(min(self._longest, len(words)), 0, -1):
            for start in range(len(words) - length + 1):
                key = words[start : start + length]
                if key in self._by_words:
                    text = question[matches[start].start() : matches[start + length - 1].end()]
                    found = Linked(text, self._nearest(key, text))
                    means = not all(stem(word) in STOPWORDS for word in key)
                    # Every question may begin with a capital.
                    is_name = text != text.lower() and (start > 0 or length > 1) and text in found.entities[0]
                    rank = (means, is_name, length, len(text))
                    if best is None or rank > best[0]:
                        best = rank, found
        return best[1] if best is not None else self._link_wordless(question)

    def _nearest(self, words: tuple[str, ...], text: str) -> tuple[str, ...]:
        """Of entities whose labels differ in capitals only, those that the question writes as they are."""
        names = sorted(self._by_words[words])
        exact = [name for name in names if name == text]
        return tuple(exact or names)

    def _link_wordless(self, question: str) -> Linked | None:
        for part in sorted(question.split(), key=len, reverse=True):
            if part in self._wordless:
                return Linked(part, tuple(sorted(self._wordless[part])))
        return None


def _words(label: str) -> tuple[str, ...]:
    return tuple(word.casefold() for word in _WORD.findall(label))
