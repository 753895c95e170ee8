"""Words of a question in the names of entities, and of the entities beside them.

>>> words = NameWords(index).question("who did Tom Hanks play in Apollo 13?", ["Apollo 13"], topics)
>>> words.of(reached, mediators, last_relation)      # of each entity: its own name, its neighbours', those on its way
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

import numpy as np

from kg.arrays import FloatArray
from kg.graphs import GraphIndex, Ids
from kg.paths.features import WordShares
from kg.text import STOPWORDS, stem

_WORD = re.compile(r"[^\W_]+")


def _stems(text: str) -> list[str]:
    return list(dict.fromkeys(stem(word) for word in _WORD.findall(text.lower())))


class NameWords:
    """The words of all names of a graph.

    Args:
        index: The graph.
    """

    def __init__(self, index: GraphIndex) -> None:
        self._index = index
        names = [_stems(index.name(number)) for number in range(len(index.entities))]
        self._shares = WordShares(names, lambda count, holding: math.log(count / holding))

    def question(self, question: str, topics: Sequence[str], ids: Ids) -> QuestionWords:
        """The entities whose names share words with a question, the words of its topics aside."""
        aside = {word for topic in topics for word in _stems(topic)} | STOPWORDS
        sums = self._shares.sums([word for word in _stems(question) if word not in aside])
        weights: FloatArray = (sums * sums / self._shares.total).astype(np.float32)  # times their share of the name
        weights[ids] = 0
        return QuestionWords(self._index, weights)


class QuestionWords:
    """The weight of each entity's name for one question.

    Args:
        index: The graph.
        weights: Of each entity; 0 for most.
    """

    def __init__(self, index: GraphIndex, weights: FloatArray) -> None:
        self._index, self._weights = index, weights
        self._beside = np.zeros(len(weights), dtype=np.float32)
        named = np.flatnonzero(weights > 0).astype(np.int32)
        if len(named):
            edges = index.edges(named)
            np.maximum.at(self._beside, edges.target, weights[named][edges.place])

    def of(self, reached: Ids, inner: Ids | None, last: int) -> tuple[FloatArray, FloatArray, FloatArray]:
        """The weights of entities: of their own names, of their best neighbour, and of one beside the way to them.

        Args:
            reached: The entities.
            inner: The entities before the last step, if it is not the topic.
            last: The last relation.
        """
        way = np.zeros(len(reached), dtype=np.float32)
        for one in inner[self._beside[inner] > 0].tolist() if inner is not None else ():
            single = np.array([one], dtype=np.int32)
            ends = self._index.follow(single, last)
            ends = ends[np.isin(ends, reached)]
            others = self._index.edges(single).target
            others = others[~np.isin(others, ends)]
            if len(ends) and len(others):
                place = np.searchsorted(reached, ends)
                way[place] = np.maximum(way[place], self._weights[others].max())
        return self._weights[reached], self._beside[reached], way
