"""Similarity of a question's words with the names of a graph: by stems, a thesaurus, and vectors of an encoder.

>>> similarity = Similarity(encoder.vectors, Thesaurus.read(path))
>>> similarity.matrix(["wife", "coach"], ["spouse", "manager"])
array([[0.9, 0.1],
       [0.0, 0.6]])

The thesaurus and the vectors know words that are not in the graph. The vectors are centred on the mean of common words,
as all vectors of an encoder share a large part.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property

import numpy as np

from kg.arrays import FloatArray
from kg.text import folded, stem
from kg.vocabulary.thesaurus import Thesaurus

Vectors = Callable[[Sequence[str]], FloatArray]
"""One vector of length 1 for each text."""

_COMMON_TEXT = """
    time year people way day man thing woman life child world school state family student group country problem hand
    part place case week company system program question work government number night point home water room mother
    area money story fact month lot right study book eye job word business issue side kind head house service friend
    father power hour game line end member law car city community name president team minute idea body information
    back parent face level office door health person art war history party result change morning reason research
    make made go went take took come came see saw know get give gave find found think tell become show leave feel
    put bring begin keep hold write stand hear let mean set meet run move live believe happen provide include
    continue
"""
_COMMON = _COMMON_TEXT.split()
_LEAST, _MOST = 0.14, 0.68
"""Cosines of centred vectors that count as 0 and as 1."""

_SMALL_TEXT = """
    a an the of in on at to for from by with as is are was were be been has have had do does did and or its
"""
_SMALL = frozenset(_SMALL_TEXT.split())
_WHOLE, _SHARED, _INITIAL = 1.0, 0.75, 0.85
_SYNONYM, _FAR = 0.9, 0.4
_COMPOUND = 0.6
_SHORT, _LONGEST_SHORT = 0.8, 4
"""The likeness of a word with an abbreviation of at most so many letters."""

_BY_VECTORS = 0.8
"""The most that vectors count: they are near for words of one field too ("coach", "captain")."""


class Similarity:
    """Similarities in [0, 1].

    Args:
        vectors: The vectors of texts, or ``None`` to do without.
        thesaurus: The likeness of words in meaning, or ``None`` to do without.
    """

    def __init__(self, vectors: Vectors | None = None, thesaurus: Thesaurus | None = None) -> None:
        self.vectors = vectors
        self.thesaurus = thesaurus
        self._known: dict[str, FloatArray] = {}

    def same(self, texts: Sequence[str], names: Sequence[str]) -> FloatArray:
        """The similarity of texts with names that may mean the same, not just belong to one field.

        The vectors of "Monday" and "Sunday" are near, so they count for no two words that the thesaurus knows.
        """
        found = self.matrix(texts, names)
        if self.thesaurus is None:
            return found
        known = [np.array([bool(self.thesaurus.lemmas(one)) for one in some], dtype=bool) for some in (texts, names)]
        return np.where(known[0][:, None] & known[1][None, :], self._words(texts, names), found)

    def _words(self, texts: Sequence[str], names: Sequence[str]) -> FloatArray:
        """The similarity without vectors."""
        rows = [_parts(text) for text in texts]
        columns = [_parts(name) for name in names]
        found = [[self._by_words(one, other) for other in columns] for one in rows]
        return np.array(found, dtype=np.float32).reshape(len(texts), len(names))

    def matrix(self, texts: Sequence[str], names: Sequence[str]) -> FloatArray:
        """The similarity of each text with each name; shape ``(texts, names)``."""
        found = self._words(texts, names)
        if self.vectors is None or not texts or not names:
            return found
        cosines = self._centred(texts) @ self._centred(names).T
        meaning = np.clip((cosines - _LEAST) / (_MOST - _LEAST), 0.0, 1.0)
        together: FloatArray = np.maximum(found, _BY_VECTORS * meaning).astype(np.float32)
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

    def _by_words(self, text: Parts, name: Parts) -> float:
        """Likeness of words: equal, begun alike ("architect", "architecture"), near in meaning, or in part."""
        if not text or not name:
            return 0.0
        if [one for one, _ in text] == [one for one, _ in name]:
            return _WHOLE
        table = [[self._of_words(one, other) for other in name] for one in text]
        precision = sum(max(row) for row in table) / len(text)
        recall = sum(max(row[place] for row in table) for place in range(len(name))) / len(name)
        likeness = _SHARED * precision + (1 - _SHARED) * recall
        likeness = likeness if precision > 0.5 else 0.6 * likeness
        if self.thesaurus is not None and len(text) + len(name) > 2:
            phrase = self.thesaurus.likeness(" ".join(raw for _, raw in text), " ".join(raw for _, raw in name))
            likeness = max(likeness, _scaled(phrase))
        return likeness

    def _ends(self, word: str, end: str) -> bool:
        """Whether a word is composed of another and the word at its end: "archenemy"."""
        return len(end) >= _LONGEST_SHORT and word.endswith(end) and self._is_word(word[: -len(end)])

    def _is_word(self, name: str) -> bool:
        return self.thesaurus is not None and bool(self.thesaurus.lemmas(name))

    def _of_words(self, one: tuple[str, str], other: tuple[str, str]) -> float:
        if one[0] == other[0]:
            return 1.0
        begun = _begun_alike(one[0], other[0])
        if len(other[1]) <= _LONGEST_SHORT and _abbreviates(other[1], one[1]) and not self._is_word(other[1]):
            return _SHORT
        begun = max(begun, _COMPOUND * (self._ends(one[1], other[1]) or self._ends(other[1], one[1])))
        if self.thesaurus is None or len(one[1]) < 3 or len(other[1]) < 3:
            return begun
        return max(begun, _scaled(self.thesaurus.likeness(one[1], other[1])))


def _abbreviates(short: str, word: str) -> bool:
    """Whether a name may be short for a word: its beginning, or letters of it without vowels ("spk" for "speaker")."""
    if len(short) < 2 or len(word) < len(short) + 2 or short[0] != word[0]:
        return False
    if word.startswith(short):
        return len(short) > 2
    bare = word[0] + "".join(sign for sign in word[1:] if sign not in "aeiou")
    rest = iter(bare)
    return bare.startswith(short) or (short[-1] == word[-1] and all(sign in rest for sign in short))


Parts = tuple[tuple[str, str], ...]
"""The words of a text, each with its stem first."""


def _parts(text: str) -> Parts:
    words = folded(text).replace("-", " ").split()
    kept = tuple((stem(word), word) for word in words if word not in _SMALL)
    return kept or tuple((word, word) for word in words)


def _scaled(likeness: float) -> float:
    """A thesaurus's likeness as one of names: a synonym is nearly as good as the name itself."""
    return max(0.0, min(_SYNONYM, (likeness - _FAR) / (1 - _FAR)))


def _begun_alike(one: str, other: str) -> float:
    shortest = min(len(one), len(other))
    begin = next((place for place in range(shortest) if one[place] != other[place]), shortest)
    return _INITIAL if begin >= 4 and begin >= 0.7 * max(len(one), len(other)) - 1 else 0.0
