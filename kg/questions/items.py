"""A question about a graph cut into the pieces that matter: names, properties, classes, numbers and comparisons.

>>> [item for item in items_of(graph, graph.lexicon.tags("the largest population")) if isinstance(item, Extreme)]
[Extreme(degree=Degree(level=2, sign=1, ...), measure='https://w3id.org/finpath/geography#population', rank=1)]
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kg.questions.graph import EntityGraph
from kg.questions.lexicon import Degree, Tag, known_entities

QUESTION_WORDS = frozenset(
    ("which", "what", "who", "whose", "how", "when", "where", "in", "name", "list", "tell", "give", "on")
)
AUXILIARIES = frozenset(("is", "are", "was", "were", "does", "do", "did", "has", "have", "can"))
ORDINALS = {
    "second": 2,
    "third": 3,
    "fourth": 4,
    "fifth": 5,
    "sixth": 6,
    "seventh": 7,
    "eighth": 8,
    "ninth": 9,
    "tenth": 10,
}
NUMBERS = {"two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10}
EXCLUDING = frozenset(("excluding", "except", "besides"))
MARKS = frozenset(("than", "'s", "’s", "both", "other")) | EXCLUDING
"""Words that are no names, but say how names belong together."""

_WORDS = """
    a an the of in on at to for from by with as and or both either any all each every than then there here
    which what who whose how when where why that this these those it its they them their one ones is are was
    were be been does do did has have had can could would will may might shall i me my you your we us please
    tell give name list show find say know want like about many much more most less least times between among
    out combined total sum together altogether overall average mean difference ratio share percentage percent
    fraction proportion number compared live lives living people year years also too only just still same
    other others question another into per so if not excluding except besides terms exactly first belong
    belongs found lie lies located situated use uses shares s make makes made up come comes got get single
    whole entire whichever following
"""
FUNCTION_WORDS = frozenset(_WORDS.split())
"""Words that a question may hold without naming anything; any other must be a word of the graph."""

_AMOUNTS = frozenset(("most", "least", "fewest", "more", "fewer", "less"))


@dataclass(frozen=True)
class Extreme:
    """A superlative or comparative with what it measures, as it stands in a question.

    Attributes:
        degree: The adjective.
        measure: The property beside it, if there is one.
        rank: 2 for "second largest".
        count: 3 for "three largest".
    """

    degree: Degree
    measure: str | None
    rank: int = 1
    count: int = 1


Item = Tag | Extreme


def domain_of(tags: Sequence[Tag]) -> tuple[list[str] | None, Sequence[Tag]]:
    """The entities listed behind "which of", and what follows them."""
    for place, tag in enumerate(tags):
        if (
            tag.word in ("of", "among")
            and place
            and tags[place - 1].word in ("which", "who", "what", "many", "one", "ones")
        ):
            end = _run(tags, place + 1)
            listed = known_entities(tags[place + 1 : end])
            if listed and _is_list(tags[place + 1 : end]) and end < len(tags) and len(listed) > 1:
                return listed, tags[end:]
    return None, tags


def items_of(graph: EntityGraph, tags: Sequence[Tag]) -> list[Item]:
    """The tags that matter, adjectives joined with what they measure."""
    items: list[Item] = []
    skip: set[int] = set()
    for place, tag in enumerate(tags):
        if place in skip:
            continue
        if tag.degree is not None and not tag.entities:
            measure, used = _measure_beside(graph, tags, place)
            skip.update(used)
            before = tags[place - 1] if place else None
            count = _count(before) if tag.degree.level == 2 else 1
            if count > 1 and items and items[-1] is before:
                items.pop()
            items.append(Extreme(tag.degree, measure, ORDINALS.get(before.word if before else "", 1), count))
        elif tag.known or tag.number is not None or tag.word in MARKS:
            items.append(tag)
    return items


def _count(tag: Tag | None) -> int:
    """How many a number before a superlative asks for: "the three largest"."""
    if tag is None:
        return 1
    number = int(tag.number) if tag.number is not None and tag.number == int(tag.number) else NUMBERS.get(tag.word, 1)
    return max(number, 1)


def _measure_beside(graph: EntityGraph, tags: Sequence[Tag], place: int) -> tuple[str | None, set[int]]:
    """The property that an adjective stands beside: "largest population", "largest by population"."""
    degree = tags[place].degree
    assert degree is not None
    follow = place + 1
    while follow < len(tags) and (tags[follow].word in ("than", "the") or tags[follow].number is not None):
        follow += 1
    for spot in (follow, *(i + 1 for i in range(place + 1, len(tags) - 1) if tags[i].word in ("by", "terms"))):
        spot += spot < len(tags) and tags[spot].word in ("of", "the")
        if spot < len(tags) and tags[spot].properties and not tags[spot].entities:
            prop = tags[spot].properties[0]
            literal = graph.lexicon.properties[prop].literal
            if literal or (not degree.properties and not tags[spot].classes and tags[place].word in _AMOUNTS):
                return prop, {spot}
    return None, set()


def is_standard(items: Sequence[Item], place: int) -> bool:
    """Whether a name is what others are compared with, or left out: "than Spain"."""
    before = items[place - 1] if place else None
    return isinstance(before, Tag) and (before.word == "than" or before.word in EXCLUDING)


def _run(tags: Sequence[Tag], start: int) -> int:
    """The end of a list of names that begins at ``start``."""
    end = start
    while end < len(tags) and (tags[end].entities or tags[end].word in ("and", "or", "the")):
        end += 1
    return end


def _is_list(tags: Sequence[Tag]) -> bool:
    return bool(tags) and all(tag.entities or tag.word in ("and", "or", "the") for tag in tags)


def unknown_word(tags: Sequence[Tag]) -> str | None:
    """A word that says something which the graph has no word for: reading on without it would be a guess."""
    for tag in tags:
        free = not tag.known and tag.degree is None and tag.number is None and tag.word not in ("'s", "’s")
        if free and not {tag.word, *tag.word.split()} & (FUNCTION_WORDS | ORDINALS.keys() | NUMBERS.keys()):
            return tag.text
    return None


def unknown_name(tags: Sequence[Tag]) -> str | None:
    """A word in the middle of a question that is written like a name, but is none of the graph's."""
    for tag in tags[1:]:
        plain_word = not tag.named and tag.degree is None and tag.number is None
        if plain_word and tag.text[:1].isupper() and tag.word not in QUESTION_WORDS and len(tag.word) > 1:
            return tag.text
    return None
