"""Lines of text by their words, the best first for a query (BM25).

>>> index = WordIndex([search_words("net sales of 2019"), search_words("net income"), search_words("goodwill")])
>>> index.best(search_words("What were the sales in 2019?"))
[0]
"""

from __future__ import annotations

import math
from array import array
from collections import Counter
from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

from kg.text.words import content_tokens, years

_SATURATION, _BY_LENGTH = 1.2, 0.75
"""BM25's k1 and b, at their usual values."""


def search_words(text: str) -> list[str]:
    """Returns the stemmed words of a text without stop words, then its years."""
    return [*content_tokens(text), *map(str, years(text))]


class WordIndex:
    """Lines by the words that they hold.

    Args:
        lines: The words of each line; a word that stands twice in a line counts twice.
    """

    def __init__(self, lines: Iterable[Iterable[str]]) -> None:
        self._places: dict[str, array[int]] = {}
        self._counts: dict[str, array[int]] = {}
        sizes = array("d")
        for place, words in enumerate(lines):
            counts = Counter(words)
            sizes.append(counts.total())
            for word, count in counts.items():
                self._places.setdefault(word, array("i")).append(place)
                self._counts.setdefault(word, array("i")).append(count)
        lengths = np.asarray(sizes, dtype=float)
        mean = lengths.mean() if lengths.any() else 1.0
        self._norms = _SATURATION * (1 - _BY_LENGTH + _BY_LENGTH * lengths / mean)

    def __len__(self) -> int:
        return len(self._norms)

    def scores(self, query: Iterable[str] | Mapping[str, float]) -> NDArray[np.float64]:
        """Returns the BM25 score of each line: 0 without a common word, otherwise above 0.

        Args:
            query: The words, or the words with their weights; a word that is given twice counts once.
        """
        scores = np.zeros(len(self))
        weights = query if isinstance(query, Mapping) else dict.fromkeys(query, 1.0)
        for word, weight in weights.items():
            if word not in self._places:
                continue
            places = np.asarray(self._places[word])
            counts = np.asarray(self._counts[word], dtype=float)
            rarity = math.log(1 + (len(self) - len(places) + 0.5) / (len(places) + 0.5))
            scores[places] += weight * rarity * counts * (_SATURATION + 1) / (counts + self._norms[places])
        return scores

    def best(self, query: Iterable[str] | Mapping[str, float], most: int | None = None) -> list[int]:
        """Returns the places of the lines with a score above 0, best first; equal ones in the order of the lines.

        Args:
            query: The words, or the words with their weights.
            most: The most lines; without it, all.
        """
        scores = self.scores(query)
        order = np.argsort(-scores, kind="stable")[: np.count_nonzero(scores)]
        return [int(place) for place in order[:most]]
