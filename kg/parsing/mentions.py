"""The names in a question: whole names and parts, common nouns for kinds, and names joined by "and".

>>> [(one.label, one.all_of) for one in mentions_of(words("who won both the Blue Cup and the Star Cup?"), vocabulary)]
[('Blue Cup', ()), ('Star Cup', ()), ('Blue Cup and Star Cup', ((4,), (5,)))]
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from kg.parsing.names import Word, joined_masks, mask, places
from kg.parsing.vocabulary import Vocabulary

MOST_MENTIONS = 24
"""Names of a question that are looked for in the graph; the search takes time for each."""

_SAME_NAME = 4

_JOINS = frozenset(("and", "or", "nor"))
_BESIDE_JOINS = frozenset(("the", "a", "an", "in", "at", "of", "on", "by", "for", "from", "to", "with"))
_BEFORE_A_KIND = frozenset(("which", "what", "many", "the", "a", "an", "any", "are", "all", "every"))
_BY_LAST_WORD = 0.15
_CLASS_MEANT = 0.5
"""The further cost of a part of a name that is the name of a class: "which club" means no one club."""


@dataclass(frozen=True)
class NodeMention:
    """Words that stand for nodes: a name, or a reference to an earlier turn.

    Attributes:
        words: The places of the words, as a bit mask.
        nodes: The nodes.
        cost: Its improbability.
        is_reference: Whether it refers to an earlier turn.
        label: The words as written.
        all_of: The nodes of each name where "and" joins two, else empty.
        both: Whether the names are joined by "both".
        is_kind: Whether the words are a common noun, which may stand for the things of this kind.
    """

    words: int
    nodes: tuple[int, ...]
    cost: float = 0.0
    is_reference: bool = False
    label: str = ""
    all_of: tuple[tuple[int, ...], ...] = ()
    both: bool = False
    is_kind: bool = False


def named_words(mentions: Iterable[NodeMention]) -> int:
    """The words of whole names, as a bit mask."""
    return joined_masks(one.words for one in mentions if one.cost == 0)


def mentions_of(found: Sequence[Word], vocabulary: Vocabulary) -> list[NodeMention]:
    """The names in a question, the least costly ones, alone and joined by "and"."""
    mentions = []
    for one in vocabulary.index.find(found):
        label = " ".join(word.text for word in found[one.first : one.end])
        written_large = any(word.text[:1].isupper() for word in found[max(one.first, 1) : one.end])
        cost = 0.0
        if one.share < 1:
            cost = 0.15 + 0.3 * (1 - one.share) + 0.15 * (len(one.nodes) > 1) + 0.2 * (not written_large)
        is_kind = _is_common_noun(found, one.first, one.end)
        if is_kind and one.share < 1 and one.is_last:
            cost = min(cost, _BY_LAST_WORD)
        if one.share < 1 and vocabulary.names_class(label):
            cost += _CLASS_MEANT
        mentions.append(NodeMention(mask(one.first, one.end), one.nodes, cost, label=label, is_kind=is_kind))
    return _fewer(mentions + _joined(found, mentions))


def _is_common_noun(found: Sequence[Word], first: int, end: int) -> bool:
    """Whether words in lower case are a common noun: a plural, or after a word such as "which"."""
    if any(word.text[:1].isupper() for word in found[first:end]) or not found[end - 1].low[-1:].isalpha():
        return False
    before = found[first - 1].low if first else ""
    return found[end - 1].low.endswith("s") or before in _BEFORE_A_KIND


def _fewer(mentions: Sequence[NodeMention]) -> list[NodeMention]:
    """The first mentions of each name, the least costly ones; a text of hundreds of names would take minutes."""
    named: Counter[tuple[int, ...]] = Counter()
    kept: list[int] = []
    for place in sorted(range(len(mentions)), key=lambda place: mentions[place].cost):
        named[mentions[place].nodes] += 1
        if named[mentions[place].nodes] <= _SAME_NAME and len(kept) < MOST_MENTIONS:
            kept.append(place)
    return [mentions[place] for place in sorted(kept)]


def _joined(found: Sequence[Word], mentions: Sequence[NodeMention]) -> list[NodeMention]:
    """Names that "and", "or" or "nor" joins, as one mention of both."""
    return [pair for one in mentions for other in mentions if (pair := _pair(found, one, other)) is not None]


def _pair(found: Sequence[Word], one: NodeMention, other: NodeMention) -> NodeMention | None:
    """Two names as one mention; ``None`` if nothing joins them."""
    first, second = places(one.words), places(other.words)
    if first[-1] >= second[0]:
        return None
    between = [word.low for word in found[first[-1] + 1 : second[0]]]
    joins = [word for word in between if word in _JOINS]
    if set(between) - _JOINS - _BESIDE_JOINS or len(joins) != 1:
        return None
    start = first[0] - (first[0] > 1 and found[first[0] - 1].low == "the")
    is_both = start > 0 and found[start - 1].low in ("both", "between")
    return NodeMention(
        mask(start - 1 if is_both else first[0], second[-1] + 1),
        tuple(dict.fromkeys((*one.nodes, *other.nodes))),
        one.cost + other.cost,
        label=f"{one.label} and {other.label}",
        all_of=(one.nodes, other.nodes) if joins == ["and"] else (),
        both=is_both,
    )
