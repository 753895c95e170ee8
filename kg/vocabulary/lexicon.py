"""A lexicon of relations that many graphs have, with the words that people ask for them by.

    >>> lexicon = shipped_lexicon()
    >>> lexicon.asked(["take off", "illustrate"], ["launch date", "illustrated by"])[0]
    array([[0.8, 0. ],
           [0. , 0.8]])

``relations.txt`` has a relation a line: its names, the words that ask for it, the words that ask for the other
direction ("child" for ``parent``), and those that say that there is none ("alive" for ``death date``). A name of the
graph fits a line as a whole, or by its last word. ``classes.txt`` has words for the same class of things.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from pathlib import Path

import numpy as np

from kg.arrays import FloatArray
from kg.text import folded, stem
from kg.vocabulary.words import FREQUENT_VERBS, LIGHT_WORDS

_SILENT_TEXT = "a an the of is are was were be been being s 's"
_SILENT = frozenset(_SILENT_TEXT.split())
_BEGINS = frozenset(("has", "is", "was", "had", "have"))
_WHOLE, _HEAD = 1.0, 0.85
_ASKED, _FREQUENT, _LIGHT_WORD = 0.82, 0.72, 0.5
_NAMED = 0.95
_CLASS = 0.8
_PER_LINE = 0.04
"""What each doubling of the lines that have a word takes from it."""

_VAGUE_TEXT = "number name date time year place type kind id level home score part group line value size"
_VAGUE = frozenset(_VAGUE_TEXT.split())
"""Last words that do not say alone which relation a name is."""

Key = tuple[str, ...]


class Lexicon:
    """Relations with the words that ask for them.

    Args:
        lines: The lines of a table of relations.
        lemmas: Returns the base forms of a word that are known, best first.
        classes: The lines of a table of classes.
    """

    def __init__(
        self, lines: Iterable[str], lemmas: Callable[[str], Sequence[str]], classes: Iterable[str] = ()
    ) -> None:
        self._lemmas = lemmas
        self._names: defaultdict[Key, set[int]] = defaultdict(set)
        self._words: defaultdict[Key, set[int]] = defaultdict(set)
        self._turned: defaultdict[Key, set[int]] = defaultdict(set)
        self._absent: defaultdict[Key, set[int]] = defaultdict(set)
        self._classes: defaultdict[Key, set[int]] = defaultdict(set)
        for number, line in enumerate(classes):
            for one in line.split(","):
                self._classes[self.key(one)].add(number)
        for number, line in enumerate(lines):
            columns = [
                [self.key(one, is_name=not place) for one in column.split(",")]
                for place, column in enumerate(line.split("|"))
            ]
            for table, keys in zip((self._names, self._words, self._turned, self._absent), columns, strict=False):
                for key in filter(None, keys):
                    table[key].add(number)

    def key(self, text: str, *, is_name: bool = False) -> Key:
        """The base forms of a text's words, without words that say nothing; a name's "of" at its end is kept."""
        words = folded(text).replace("-", " ").split()
        if len(words) > 1 and words[0] in _BEGINS:
            words = words[1:]
        found = tuple(self._base(word) for word in words if word not in _SILENT)
        return (*found, "of") if is_name and len(words) > 1 and words[-1] == "of" else found

    def _base(self, word: str) -> str:
        found = self._lemmas(word)
        return found[0] if found else stem(word)

    def lines_of(self, name: str) -> dict[int, float]:
        """The lines that a relation's name fits, each with how well."""
        key = self.key(name, is_name=True)
        if key and key[-1] == "of" and key not in self._names:
            key = key[:-1]
        found = dict.fromkeys(self._names.get(key, ()), _WHOLE)
        for first in range(1, len(key)):
            part = key[first:]
            if part not in self._names or (len(part) == 1 and part[0] in _VAGUE):
                continue
            for line in self._names[part]:
                found.setdefault(line, _HEAD)
            break
        return found

    def knows(self, text: str) -> bool:
        """Whether a text asks for some relation, or is the name of one."""
        key = self.key(text)
        return bool(key) and (key in self._words or key in self._names or key in self._turned)

    def is_name(self, text: str) -> bool:
        """Whether a text is the whole name of a relation."""
        return self.key(text) in self._names

    def asked(self, texts: Sequence[str], names: Sequence[str]) -> tuple[FloatArray, FloatArray]:
        """The support of relations by texts, and of their other direction; shape ``(texts, names)`` each."""
        fits = [self.lines_of(name) for name in names]
        forward = np.zeros((len(texts), len(names)), dtype=np.float32)
        turned = np.zeros_like(forward)
        for row, text in enumerate(texts):
            key = self.key(text)
            if not key:
                continue
            words, other = self._words.get(key, set()), self._turned.get(key, set())
            named = self._names.get(key, set())
            strength = self._strength(key, len(words | other | named))
            for column, lines in enumerate(fits):
                for line, fit in lines.items():
                    own = _NAMED if line in named else strength if line in words else 0.0
                    forward[row, column] = max(forward[row, column], fit * own)
                    turned[row, column] = max(turned[row, column], fit * strength * (line in other))
        return forward, turned

    def absent(self, texts: Sequence[str], names: Sequence[str]) -> FloatArray:
        """Whether texts say that a relation is lacking: "alive" for ``death date``; shape ``(texts, names)``."""
        found = np.zeros((len(texts), len(names)), dtype=np.float32)
        for row, text in enumerate(texts):
            lines = self._absent.get(self.key(text), set())
            for column, name in enumerate(names) if lines else ():
                found[row, column] = max((fit for line, fit in self.lines_of(name).items() if line in lines), default=0)
        return found

    def same_class(self, texts: Sequence[str], names: Sequence[str]) -> FloatArray:
        """The support of classes by other words for them; shape ``(texts, names)``."""
        found = np.zeros((len(texts), len(names)), dtype=np.float32)
        columns = [self._classes.get(self.key(name), set()) for name in names]
        heads = [self._classes.get(self.key(name)[-1:], set()) for name in names]
        for row, text in enumerate(texts):
            lines = self._classes.get(self.key(text), set())
            for column, own in enumerate(columns) if lines else ():
                found[row, column] = _CLASS * bool(lines & own) or _CLASS * _HEAD * bool(lines & heads[column])
        return found

    def _strength(self, key: Key, lines: int) -> float:
        if len(key) == 1 and key[0] in LIGHT_WORDS:
            base = _LIGHT_WORD
        else:
            base = _FREQUENT if len(key) == 1 and key[0] in FREQUENT_VERBS else _ASKED
        return base - _PER_LINE * math.log2(max(lines, 1))


@cache
def _lines(name: str) -> tuple[str, ...]:
    text = Path(__file__).with_name(name).read_text(encoding="utf-8")
    return tuple(line for line in text.splitlines() if line and not line.startswith("#"))


def shipped_lexicon(lemmas: Callable[[str], Sequence[str]] | None = None) -> Lexicon:
    """The shipped lexicon; ``lemmas`` are the base forms of a word, without them its stem."""
    return Lexicon(_lines("relations.txt"), lemmas if lemmas is not None else _unknown, _lines("classes.txt"))


def _unknown(word: str) -> Sequence[str]:  # noqa: ARG001
    return ()
