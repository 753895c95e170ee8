"""Similarity of a question's words with the names of a graph: by stems, by characters, and by vectors of an encoder.

>>> similarity = Similarity(encoder.vectors)
>>> similarity.matrix(["wife", "coach"], ["spouse", "manager"])
array([[0.9, 0.1],
       [0.0, 0.6]])

The vectors know words that are not in the graph. They are centred on the mean of common words, as all vectors of an
encoder share a large part.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property

import numpy as np

from kg.arrays import FloatArray
from kg.questions import folded
from kg.text import stem

Vectors = Callable[[Sequence[str]], FloatArray]
"""One vector of length 1 for each text."""

_COMMON = """
    time year people way day man thing woman life child world school state family student group country problem hand
    part place case week company system program question work government number night point home water room mother
    area money story fact month lot right study book eye job word business issue side kind head house service friend
    father power hour game line end member law car city community name president team minute idea body information
    back parent face level office door health person art war history party result change morning reason research
    make made go went take took come came see saw know get give gave find found think tell become show leave feel put
    bring begin keep hold write stand hear let mean set meet run move live believe happen provide include continue
""".split()
_LEAST, _MOST = 0.12, 0.66
"""Cosines of centred vectors that count as 0 and as 1."""

_SMALL = frozenset(
    "a an the of in on at to for from by with as is are was were be been has have had do does did and or its".split()
)
_WHOLE, _SHARED, _INITIAL = 1.0, 0.75, 0.85


class Similarity:
    """Similarities in [0, 1].

    Args:
        vectors: The vectors of texts; without them words are compared by their letters alone.
    """

    def __init__(self, vectors: Vectors | None = None) -> None:
        self.vectors = vectors
        self._known: dict[str, FloatArray] = {}

    def matrix(self, texts: Sequence[str], names: Sequence[str]) -> FloatArray:
        """The similarity of each text with each name; shape ``(texts, names)``."""
        found = np.array(
            [[_by_letters(_stems(text), _stems(name)) for name in names] for text in texts], dtype=np.float32
        ).reshape(len(texts), len(names))
        if self.vectors is None or not texts or not names:
            return found
        cosines = self._centred(texts) @ self._centred(names).T
        meaning = np.clip((cosines - _LEAST) / (_MOST - _LEAST), 0.0, 1.0)
        together: FloatArray = np.maximum(found, np.where(meaning > 0, 0.97 * meaning, 0)).astype(np.float32)
        return together

    def _centred(self, texts: Sequence[str]) -> FloatArray:
        new = list(dict.fromkeys(text for text in texts if text not in self._known))
        if new and self.vectors is not None:
            vectors = self.vectors(new) - self._mean
            vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-6)
            self._known.update(zip(new, vectors, strict=True))
        return np.stack([self._known[text] for text in texts])

    @cached_property
    def _mean(self) -> FloatArray:
        assert self.vectors is not None
        mean: FloatArray = self.vectors(_COMMON).mean(axis=0)
        return mean


def _stems(text: str) -> tuple[str, ...]:
    words = folded(text).replace("-", " ").split()
    kept = tuple(stem(word) for word in words if word not in _SMALL)
    return kept or tuple(words)


def _by_letters(text: tuple[str, ...], name: tuple[str, ...]) -> float:
    """Likeness of stems: equal, begun alike ("architect", "architecture"), or in part."""
    if not text or not name:
        return 0.0
    if text == name:
        return _WHOLE
    shared = sum(max(_word_likeness(one, other) for other in name) for one in text)
    back = sum(max(_word_likeness(one, other) for one in text) for other in name)
    precision, recall = shared / len(text), back / len(name)
    if not precision or not recall:
        return 0.0
    likeness = _SHARED * precision + (1 - _SHARED) * recall
    return likeness if precision > 0.5 else 0.6 * likeness


def _word_likeness(one: str, other: str) -> float:
    if one == other:
        return 1.0
    shortest = min(len(one), len(other))
    begin = next((place for place in range(shortest) if one[place] != other[place]), shortest)
    return _INITIAL if begin >= 4 and begin >= 0.7 * max(len(one), len(other)) - 1 else 0.0
