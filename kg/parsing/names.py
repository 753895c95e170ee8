"""Names of a graph's nodes found in a question: whole names and parts of names ("Marta", "paediatrics", "GPL").

>>> [(one.text, one.nodes) for one in NameIndex(graph).find(words("who taught Marta?"))]
[('Marta', (12,))]
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import or_

from kg.graphs import FactGraph
from kg.parsing.words import FUNCTION_WORDS, NEGATIONS
from kg.text import folded, singular

_WORD = re.compile(r"['’]s\b|\w+(?:[.,'’](?!s\b)\w+)*[+#]*")
LONGEST = 12
"""Words of the longest name that is sought."""

MOST_PARTLY = 8
"""Nodes that a part of a name may fit at the most."""


@dataclass(frozen=True)
class Word:
    """A word of a question with its place, in lower case without accents as ``low``."""

    text: str
    low: str
    start: int
    end: int


@dataclass(frozen=True)
class NameMatch:
    """Words that name nodes.

    Attributes:
        first: The place of the first word.
        end: The place after the last word.
        nodes: The nodes.
        share: The share of the name that is written, in (0, 1].
        is_last: Whether the words are the last of each name: "elephants" for an African elephant.
    """

    first: int
    end: int
    nodes: tuple[int, ...]
    share: float
    is_last: bool = False


def mask(first: int, end: int) -> int:
    """The bit mask of words from ``first`` to before ``end``."""
    return ((1 << end) - 1) ^ ((1 << first) - 1)


def joined_masks(masks: Iterable[int]) -> int:
    """The words of some bit masks together."""
    return reduce(or_, masks, 0)


def places(words_of: int) -> list[int]:
    """The places of the words in a bit mask."""
    return [place for place in range(words_of.bit_length()) if words_of >> place & 1]


def words(text: str) -> list[Word]:
    """The words of a text; an apostrophe with s is a word of its own."""
    return [
        Word(found[0], _low(found[0]), found.start(), found.end()) for found in _WORD.finditer(text.replace("_", " "))
    ]


def _low(word: str) -> str:
    plain = word.lower().replace("’", "'")
    return plain if plain in NEGATIONS else folded(plain) or word


class NameIndex:
    """The names of the entities and the texts of a graph."""

    def __init__(self, graph: FactGraph) -> None:
        self._whole: defaultdict[tuple[str, ...], dict[int, None]] = defaultdict(dict)
        self._partly: defaultdict[tuple[str, ...], dict[int, float]] = defaultdict(dict)
        self._last: defaultdict[int, set[str]] = defaultdict(set)
        for node, value in enumerate(graph.values):
            if value.kind not in ("entity", "text") or len(value.text) > 200:
                continue
            for name in graph.names[node]:
                self._add(node, tuple(word.low for word in words(name))[:LONGEST])

    def _add(self, node: int, parts: tuple[str, ...]) -> None:
        if not parts:
            return
        self._last[node].add(parts[-1])
        self._whole[parts][node] = None
        for first in range(len(parts)):
            for end in range(first + 1, len(parts) + 1):
                part = parts[first:end]
                if len(part) < len(parts) and not all(one in FUNCTION_WORDS or len(one) < 2 for one in part):
                    share = len(part) / len(parts)
                    self._partly[part][node] = max(share, self._partly[part].get(node, 0.0))

    def find(self, asked: Sequence[Word]) -> list[NameMatch]:
        """All names in a question; a part of a name is left out where it is within a longer match."""
        found: list[NameMatch] = []
        for length in range(min(LONGEST, len(asked)), 0, -1):
            for first in range(len(asked) - length + 1):
                end = first + length
                match = self._match(asked[first:end], first)
                if match is not None and not any(
                    one.first <= first and end <= one.end and (one.share == 1 or match.share < 1) for one in found
                ):
                    found.append(match)
        return found

    def _match(self, part: Sequence[Word], first: int) -> NameMatch | None:
        key = tuple(word.low for word in part)
        is_common = len(key) == 1 and (key[0] in FUNCTION_WORDS or key[0].isdigit()) and not part[0].text[:1].isupper()
        if is_common:
            return None
        whole = self._whole.get(key) or self._whole.get((*key[:-1], singular(key[-1])))
        if whole and not (len(key) == 1 and key[0] in FUNCTION_WORDS):
            return NameMatch(first, first + len(part), tuple(whole), 1.0)
        partly = self._partly.get(key)
        for last in (singular(key[-1]), f"{key[-1]}s") if len(key[-1]) > 3 else ():
            if not partly:
                key = (*key[:-1], last)
                partly = self._partly.get(key)
        if partly and len(partly) <= MOST_PARTLY and not all(one.isdigit() for one in key):
            is_last = all(key[-1] in self._last[node] for node in partly)
            return NameMatch(first, first + len(part), tuple(partly), max(partly.values()), is_last)
        return None
