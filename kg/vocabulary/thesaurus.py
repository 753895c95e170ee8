"""A thesaurus: how near the meanings of two words are by WordNet's synonyms, derived words and more general words.

    >>> thesaurus = Thesaurus.read(Path("experiments/shipped/thesaurus/thesaurus.npz"))
    >>> thesaurus.likeness("machine", "device"), thesaurus.likeness("live", "population")
    (0.72, 0.8)

Two words are alike if a sense of one is, or is linked with, a sense of the other. Rare senses count less.
"""

from __future__ import annotations

from collections import defaultdict
from functools import lru_cache
from pathlib import Path

import numpy as np

from kg.arrays import read_arrays
from kg.errors import DataError
from kg.text import singular

_RARER = 0.93
"""The factor of each further sense of a word."""

_RARER_KIND = 0.7
"""The factor of each further sense by which a noun is of a kind."""

_FACTORS = (0.75, 0.93, 0.8, 0.85)
"""The factors of a step to a more general sense, a derived word, a similar one, and an attribute."""

_ENDINGS = ("ing", "ed", "es", "s", "er", "d")
_LEAST = 0.45


class Thesaurus:
    """Senses of words and links between senses. Make it with :meth:`read`."""

    def __init__(
        self, senses: dict[str, tuple[int, ...]], forms: dict[str, str], links: dict[int, list[tuple[int, int]]]
    ) -> None:
        self._senses, self._forms, self._links = senses, forms, links
        self._reached = lru_cache(maxsize=20_000)(self._reach)

    @classmethod
    def read(cls, path: Path) -> Thesaurus:
        """Reads a table that ``tools/build_thesaurus.py`` wrote.

        Raises:
            DataError: The file cannot be read.
        """
        try:
            stored = read_arrays(path)
            words = bytes(stored["words"]).decode().split("\n")
            forms = dict(line.split(" ", 1) for line in bytes(stored["forms"]).decode().split("\n"))
            ends = np.cumsum(stored["counts"].astype(np.int64))
            numbers = stored["senses"].tolist()
            links = stored["links"].tolist()
        except (DataError, ValueError, KeyError) as error:
            raise DataError(f"the thesaurus cannot be read: {error}", file=str(path)) from error
        starts = [0, *ends.tolist()[:-1]]
        senses = {
            word: tuple(numbers[start:end]) for word, start, end in zip(words, starts, ends.tolist(), strict=True)
        }
        linked: defaultdict[int, list[tuple[int, int]]] = defaultdict(list)
        for one, other, kind in links:
            linked[one].append((other, kind))
            if kind != 0:
                linked[other].append((one, kind))
        return cls(senses, forms, dict(linked))

    def likeness(self, one: str, other: str) -> float:
        """The nearness of two words or phrases in lower case, in [0, 1]; 0 for unknown words."""
        first, second = self._reached(one), self._reached(other)
        if len(first) > len(second):
            first, second = second, first
        best = max((score * second[sense] for sense, score in first.items() if sense in second), default=0.0)
        return best if best >= _LEAST else 0.0

    def is_a(self, noun: str, general: str) -> float:
        """Returns whether a noun is a kind of another ("barrister", "person"): 1 by its first sense, less by others."""
        wanted = {sense for lemma in self.lemmas(general)[:1] for sense in self._senses[lemma][:1]}
        for lemma in self.lemmas(noun)[:1]:
            for rank, sense in enumerate(self._senses[lemma]):
                if self._above(sense) & wanted:
                    return _RARER_KIND**rank
        return 0.0

    def _above(self, sense: int) -> set[int]:
        """A sense and all that are more general."""
        found, waiting = {sense}, [sense]
        while waiting:
            for other, kind in self._links.get(waiting.pop(), ()):
                if kind == 0 and other not in found:
                    found.add(other)
                    waiting.append(other)
        return found

    def lemmas(self, word: str) -> list[str]:
        """The base forms that the thesaurus knows of a word: "taught" and "teaches" of "teach"."""
        found = [self._forms[word]] if word in self._forms else []
        options = [word, singular(word)]
        for ending in _ENDINGS:
            if word.endswith(ending) and len(word) > len(ending) + 2:
                base = word[: -len(ending)]
                options += [base, f"{base}e"]
                options += [base[:-1]] if len(base) > 3 and base[-1] == base[-2] else []
                options += [f"{base[:-1]}y"] if base.endswith("i") else []
        known = [option for option in options if option in self._senses]
        return list(dict.fromkeys([*found, *known[:1], *(known[1:2] if word not in self._senses else ())]))

    def _reach(self, word: str) -> dict[int, float]:
        """The senses of a word and those that are linked with them, each with its nearness."""
        found: dict[int, float] = {}
        for lemma in self.lemmas(word):
            for rank, sense in enumerate(self._senses[lemma]):
                score = _RARER**rank
                self._spread(sense, score, 2, found)
        return found

    def _spread(self, sense: int, score: float, steps: int, found: dict[int, float]) -> None:
        if found.get(sense, 0.0) >= score:
            return
        found[sense] = score
        if not steps:
            return
        for other, kind in self._links.get(sense, ()):
            further = score * _FACTORS[kind]
            if further >= _LEAST:
                self._spread(other, further, steps - 1, found)
