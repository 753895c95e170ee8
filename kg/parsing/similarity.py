"""Similarity of a question's words with the names of a graph: by stems, and by the vectors of an encoder.

>>> similarity = Similarity(encoder.vectors)
>>> similarity.matrix(["wife", "coach"], ["spouse", "manager"])
array([[0.6, 0.1],
       [0.0, 0.5]])

The vectors know words that are not in the graph. They are centred on the mean of common words, as all
vectors of an encoder share a large part.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from kg.arrays import FloatArray
from kg.text import folded, stem

Vectors = Callable[[Sequence[str]], FloatArray]
"""One vector of length 1 for each text."""

_COMMON_TEXT = """
    time year people way day man thing woman life child world school state family student group country problem hand
    part place case week company system program question work government number night point home water room mother
    area money story fact month lot right study book eye job word business issue side kind head house service friend
"""
_COMMON = _COMMON_TEXT.split()
"""Words whose mean vector is the zero of all comparisons."""

_LEAST, _MOST = 0.14, 0.68
"""Cosines of centred vectors that count as 0 and as 1."""

_BY_VECTORS = 0.8
"""The most that vectors count: they are near for words of one field too ("coach", "captain")."""

_SMALL_TEXT = "a an the of in on at to for from by with as is are was were be been have has had do does did and or its"
_SMALL = frozenset(_SMALL_TEXT.split())
_SHARED, _INITIAL = 0.75, 0.85

Parts = tuple[tuple[str, str], ...]
"""The words of a text, each with its stem first."""


class Similarity:
    """Similarities in [0, 1].

    Args:
        vectors: The vectors of texts, or ``None`` to do without.
    """

    def __init__(self, vectors: Vectors | None = None) -> None:
        self.vectors = vectors
        self._known: dict[str, FloatArray] = {}
        self._mean: FloatArray | None = None

    def matrix(self, texts: Sequence[str], names: Sequence[str]) -> FloatArray:
        """The similarity of each text with each name; shape ``(texts, names)``."""
        rows, columns = [_parts(text) for text in texts], [_parts(name) for name in names]
        table = [[_by_words(one, other) for other in columns] for one in rows]
        similarity: FloatArray = np.array(table, dtype=np.float32).reshape(len(texts), len(names))
        if self.vectors is None or not texts or not names:
            return similarity
        cosines = self._centred(texts) @ self._centred(names).T
        meaning = np.clip((cosines - _LEAST) / (_MOST - _LEAST), 0.0, 1.0)
        together: FloatArray = np.maximum(similarity, _BY_VECTORS * meaning).astype(np.float32)
        return together

    def _centred(self, texts: Sequence[str]) -> FloatArray:
        new = list(dict.fromkeys(text for text in texts if text not in self._known))
        if new and self.vectors is not None:
            if self._mean is None:
                self._mean = self.vectors(_COMMON).mean(axis=0)
            vectors = self.vectors(new) - self._mean
            vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-6)
            self._known.update(zip(new, vectors, strict=True))
        return np.stack([self._known[text] for text in texts])


def _by_words(text: Parts, name: Parts) -> float:
    """Likeness of words: equal, begun alike ("architect", "architecture"), or in part."""
    if not text or not name:
        return 0.0
    if [one for one, _ in text] == [one for one, _ in name]:
        return 1.0
    table = [[_of_words(one, other) for other in name] for one in text]
    precision = sum(max(row) for row in table) / len(text)
    recall = sum(max(row[place] for row in table) for place in range(len(name))) / len(name)
    likeness = _SHARED * precision + (1 - _SHARED) * recall
    return likeness if precision > 0.5 else 0.6 * likeness


def _of_words(one: tuple[str, str], other: tuple[str, str]) -> float:
    if one[0] == other[0]:
        return 1.0
    shortest = min(len(one[0]), len(other[0]))
    begin = next((place for place in range(shortest) if one[0][place] != other[0][place]), shortest)
    return _INITIAL if begin >= 4 and begin >= 0.7 * max(len(one[0]), len(other[0])) - 1 else 0.0


def _parts(text: str) -> Parts:
    words = folded(text).replace("-", " ").split()
    kept = tuple((stem(word), word) for word in words if word not in _SMALL)
    return kept or tuple((word, word) for word in words)
