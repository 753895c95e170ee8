"""Names of a graph's nodes in a question: whole names and parts, common nouns for kinds, and names joined by "and".

>>> mentions = NameIndex(graph).mentions(words("who won both the Blue Cup and the Star Cup?"))
>>> [(one.label, one.parts) for one in mentions]
[('Blue Cup', ()), ('Star Cup', ()), ('Blue Cup and Star Cup', ((4,), (5,)))]
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import product
from operator import or_
from typing import NamedTuple

from kg.graphs import FactGraph
from kg.parsing.words import FUNCTION_WORDS, NEGATIONS
from kg.text import folded, singular

_WORD = re.compile(r"['’]s\b|\w+(?:[.,'’](?!s\b)\w+)*[+#]*")
_ORDINAL = re.compile(r"^(\d+)(?:st|nd|rd|th)$")
LONGEST = 12
"""Words of the longest name that is sought."""

MOST_PARTLY = 8
"""Nodes that a part of a name may fit at the most."""

MOST_MENTIONS, _SAME_NAME = 24, 4
"""Mentions of a question, and of the same nodes, that the search begins with; it takes time for each."""

_JOINS = frozenset(("and", "or", "nor"))
_BESIDE_JOINS = frozenset(("the", "a", "an", "in", "at", "of", "on", "by", "for", "from", "to", "with"))
_BEFORE_A_KIND = frozenset(("which", "what", "many", "the", "a", "an", "any", "are", "all", "every"))
_BY_LAST_WORD = 0.15
_CLASS_MEANT = 0.5
"""The further cost of a part of a name that is the name of a class: "which club" means no one club."""


class Word(NamedTuple):
    """A word of a question with its place, in lower case without accents as ``low``."""

    text: str
    low: str
    start: int
    end: int


@dataclass(frozen=True)
class NodeMention:
    """Words that stand for nodes: a name, or a reference to an earlier turn.

    Attributes:
        words: The places of the words, as a bit mask.
        nodes: The nodes.
        cost: Its improbability.
        is_reference: Whether it refers to an earlier turn.
        label: The words as written.
        parts: The nodes of each name where "and" or "or" joins two, else empty.
        both: Whether both names are meant, each by itself.
        either: Whether the names are alternatives.
        is_kind: Whether the words are a common noun, which may stand for the things of this kind.
    """

    words: int
    nodes: tuple[int, ...]
    cost: float = 0.0
    is_reference: bool = False
    label: str = ""
    parts: tuple[tuple[int, ...], ...] = ()
    both: bool = False
    either: bool = False
    is_kind: bool = False


def mask(first: int, end: int) -> int:
    """The bit mask of words from ``first`` to before ``end``."""
    return ((1 << end) - 1) ^ ((1 << first) - 1)


def joined_masks(masks: Iterable[int]) -> int:
    """The words of some bit masks together."""
    return reduce(or_, masks, 0)


def places(words_of: int) -> list[int]:
    """The places of the words in a bit mask."""
    return [place for place in range(words_of.bit_length()) if words_of >> place & 1]


def named_words(mentions: Iterable[NodeMention]) -> int:
    """The words of whole names, as a bit mask."""
    return joined_masks(one.words for one in mentions if one.cost == 0)


def words(text: str) -> list[Word]:
    """The words of a text; an apostrophe with s is a word of its own, and "44th" is the number 44."""
    return [
        Word(match[0], _low(match[0]), match.start(), match.end()) for match in _WORD.finditer(text.replace("_", " "))
    ]


def _low(word: str) -> str:
    plain = _ORDINAL.sub(r"\1", word.lower().replace("’", "'"))
    return plain if plain in NEGATIONS else folded(plain) or word


class NameMatch(NamedTuple):
    """Words that name nodes, with the share of the name that is written, in (0, 1].

    ``is_last`` says whether they are the last words of each name: "elephants" for an African elephant.
    """

    first: int
    end: int
    nodes: tuple[int, ...]
    share: float
    is_last: bool = False


class NameIndex:
    """The names of the entities and the texts of a graph."""

    def __init__(self, graph: FactGraph) -> None:
        self._whole: defaultdict[tuple[str, ...], dict[int, None]] = defaultdict(dict)
        self._partly: defaultdict[tuple[str, ...], dict[int, float]] = defaultdict(dict)
        self._last: defaultdict[int, set[str]] = defaultdict(set)
        self._classes = {singular(folded(name)) for one in graph.classes for name in one.names}
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

    def find(self, question: Sequence[Word]) -> list[NameMatch]:
        """All names in a question; a part of a name is left out where it is within a longer match."""
        matches: list[NameMatch] = []
        for length in range(min(LONGEST, len(question)), 0, -1):
            for first in range(len(question) - length + 1):
                end = first + length
                match = self._match(question[first:end], first)
                if match is not None and not any(
                    one.first <= first and end <= one.end and (one.share == 1 or match.share < 1) for one in matches
                ):
                    matches.append(match)
        return matches

    def _match(self, part: Sequence[Word], first: int) -> NameMatch | None:
        key, end = tuple(word.low for word in part), first + len(part)
        is_word = len(key) == 1 and key[0] in FUNCTION_WORDS
        if (is_word or (len(key) == 1 and key[0].isdigit())) and not part[0].text[:1].isupper():
            return None
        whole = self._whole.get(key) or self._whole.get((*key[:-1], singular(key[-1])))
        if whole and not is_word:
            return NameMatch(first, end, tuple(whole), 1.0)
        keys = [key, *((*key[:-1], last) for last in (singular(key[-1]), f"{key[-1]}s") if len(key[-1]) > 3)]
        key = next((one for one in keys if self._partly.get(one)), key)
        partly = self._partly.get(key)
        if partly and len(partly) <= MOST_PARTLY and not all(one.isdigit() for one in key):
            is_last = all(key[-1] in self._last[node] for node in partly)
            return NameMatch(first, end, tuple(partly), max(partly.values()), is_last)
        return None

    def mentions(self, question: Sequence[Word]) -> list[NodeMention]:
        """The names in a question, the least costly ones, alone and joined by "and"."""
        mentions = [self._mention(question, match) for match in self.find(question)]
        # A text of hundreds of names would take minutes.
        times: Counter[tuple[int, ...]] = Counter()
        kept: list[NodeMention] = []
        for mention in sorted([*mentions, *_joined(question, mentions)], key=lambda mention: mention.cost):
            times[mention.nodes] += 1
            if times[mention.nodes] <= _SAME_NAME:
                kept.append(mention)
        return kept[:MOST_MENTIONS]

    def _mention(self, question: Sequence[Word], match: NameMatch) -> NodeMention:
        own = question[match.first : match.end]
        label, cost = " ".join(word.text for word in own), 0.0
        is_large = any(word.text[:1].isupper() for word in own[match.first == 0 :])
        before = question[match.first - 1].low if match.first else ""
        is_plural_or_after = own[-1].low.endswith("s") or before in _BEFORE_A_KIND
        is_small = own[-1].low[-1:].isalpha() and not any(word.text[:1].isupper() for word in own)
        is_kind = is_small and is_plural_or_after
        if match.share < 1:
            cost = 0.15 + 0.3 * (1 - match.share) + 0.15 * (len(match.nodes) > 1) + 0.2 * (not is_large)
            cost = min(cost, _BY_LAST_WORD) if is_kind and match.is_last else cost
            cost += _CLASS_MEANT * (singular(folded(label)) in self._classes)
        return NodeMention(mask(match.first, match.end), match.nodes, cost, label=label, is_kind=is_kind)


def _joined(question: Sequence[Word], mentions: Sequence[NodeMention]) -> Iterator[NodeMention]:
    """Names that "and", "or" or "nor" joins, as one mention of both."""
    for one, other in product(mentions, mentions):
        first, second = places(one.words), places(other.words)
        between = [word.low for word in question[first[-1] + 1 : second[0]]]
        joins = [word for word in between if word in _JOINS]
        if first[-1] >= second[0] or set(between) - _JOINS - _BESIDE_JOINS or len(joins) != 1:
            continue
        start = first[0] - (first[0] > 1 and question[first[0] - 1].low == "the")
        is_both = start > 0 and question[start - 1].low in ("both", "between")
        yield NodeMention(
            mask(start - 1 if is_both else first[0], second[-1] + 1),
            tuple(dict.fromkeys((*one.nodes, *other.nodes))),
            one.cost + other.cost,
            label=f"{one.label} and {other.label}",
            parts=(one.nodes, other.nodes),
            both=is_both and joins == ["and"],
            either=joins == ["or"],
        )
