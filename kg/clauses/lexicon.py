"""Similarity of words by WordNet, a thesaurus of business English and the frames of business news.

>>> similarity("buy", "acquisition")
0.85
>>> similarity("rise", "fall")
-1.0
"""

from __future__ import annotations

import gzip
import json
import re
from collections import defaultdict
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from kg.sentences import frames, inflected
from kg.text import stem

_FILE = Path(__file__).with_name("wordnet.json.gz")
_THESAURUS = Path(__file__).with_name("thesaurus.json")
_PARTS = "vna"

EQUAL, SYNONYM, DERIVED, FRAME, BROADER, CONVERSE = 1.0, 0.85, 0.85, 0.8, 0.5, 0.7
OPPOSITE = -1.0


_CONVERSES = (
    (
        "buy acquire purchase take_over snap_up order obtain get receive",
        "sell divest offload dispose supply give pay hand",
    ),
    ("win receive land secure get", "award grant give hand choose select pick"),
    ("join come", "hire poach recruit lure"),
    ("borrow", "lend"),
    ("employ", "work"),
    ("succeed replace follow", "precede"),
)
"""Verbs that report one event from two sides: who buys and who sells."""


@cache
def are_converse(one: str, other: str) -> bool:
    """Whether two verbs report one event from two sides."""
    for left, right in _CONVERSES:
        for first, second in ((left, right), (right, left)):
            if one in first.split() and other in second.split():
                return True
    return False


@dataclass(frozen=True)
class _Entry:
    senses: frozenset[int]
    broader: frozenset[int]
    derived: frozenset[str]
    opposite: frozenset[str]


@cache
def _entries() -> dict[str, _Entry]:
    """The words of WordNet, ``v.buy``."""
    with gzip.open(_FILE, "rt", encoding="ascii") as stored:
        content = json.load(stored)
    above = {int(sense): others for sense, others in content["above"].items()}
    return {
        name: _Entry(
            frozenset(senses),
            frozenset(one for sense in senses for one in above.get(sense, ())),
            frozenset(derived),
            frozenset(opposite),
        )
        for name, (senses, derived, opposite) in content["lemmas"].items()
    }


def is_word(word: str) -> bool:
    """Whether a word in lower case is one of English, no name."""
    return any(f"{part}.{word}" in _entries() for part in _PARTS)


@cache
def base_form(lemma: str, part: str, text: str) -> str:
    """Returns a verb's base form where a lemmatiser cut too much: "fine" of "fined", for which it says "fin"."""
    if part != "VERB" or f"v.{lemma}e" not in _entries():
        return lemma
    doubled = re.fullmatch(r"[a-z]*[^aeiou][aeiou][^aeiouwxy]", lemma) is not None
    single = text.lower() in (f"{lemma}ed", f"{lemma}ing")
    return f"{lemma}e" if f"v.{lemma}" not in _entries() or (doubled and single) else lemma


@cache
def _groups() -> dict[str, frozenset[int]]:
    """The frames, relations and groups of the thesaurus in which a word occurs, by its stem."""
    found: defaultdict[str, set[int]] = defaultdict(set)
    table = frames()
    groups = [(*frame.verbs, *frame.nouns) for frame in table.frames]
    groups += [relation.words for relation in table.relations.values()]
    thesaurus = json.loads(_THESAURUS.read_text(encoding="utf-8"))["groups"]
    groups += [tuple(word.replace("_", " ") for word in group.split()) for group in thesaurus]
    for number, words in enumerate(groups):
        for word in words:
            parts = word.split()
            found["_".join((*parts[:-1], stem(parts[-1])))].add(number)
    return {word: frozenset(numbers) for word, numbers in found.items()}


@cache
def _opposites() -> dict[str, frozenset[str]]:
    """The words opposite to a word: those of the thesaurus with all that share a group with them."""
    content = json.loads(_THESAURUS.read_text(encoding="utf-8"))
    groups = [frozenset(group.split()) for group in content["groups"]]
    found: defaultdict[str, set[str]] = defaultdict(set)
    for pair in content["opposites"]:
        first, second = pair.split()
        left = {first}.union(*(group for group in groups if first in group and second not in group))
        right = {second}.union(*(group for group in groups if second in group and first not in group))
        for word in left - right:
            found[word] |= right - left
        for word in right - left:
            found[word] |= left - right
    return {word: frozenset(words) for word, words in found.items()}


@cache
def are_opposite(one: str, other: str) -> bool:
    """Whether two words contradict each other by the thesaurus: "welcome" and "reject"."""
    return other in _opposites().get(one, frozenset())


def is_phrase(lemma: str) -> bool:
    """Whether a phrase, "head_office", is one of the table of frames."""
    return _stemmed(lemma) in _groups()


def _stemmed(lemma: str) -> str:
    first, _, last = lemma.rpartition("_")
    return f"{first}_{stem(last)}" if first else stem(last)


@cache
def _directions() -> dict[str, int]:
    """The words of increase and decrease."""
    table = frames()
    up = {stem(form): 1 for word in table.up if " " not in word for form in (word, *inflected(word))}
    down = {stem(form): -1 for word in table.down if " " not in word for form in (word, *inflected(word))}
    return {**up, **down}


@cache
def direction(lemma: str) -> int:
    """Returns 1 for a word of increase, -1 for one of decrease, else 0."""
    return _directions().get(stem(lemma), 0)


@cache
def _marks(lemma: str) -> frozenset[str | int | tuple[str, int]]:
    """All that a word shares with words of a similarity other than 0: its stem, frames, senses and relatives."""
    found: set[str | int | tuple[str, int]] = {stem(lemma)}
    found |= {("frame", number) for number in _groups().get(_stemmed(lemma), ())}
    found |= {
        ("converse", place) for place, pair in enumerate(_CONVERSES) if any(lemma in side.split() for side in pair)
    }
    if direction(lemma):
        found.add(("direction", 0))
    entries = _entries()
    for part in _PARTS:
        entry = entries.get(f"{part}.{lemma}")
        if entry is not None:
            found |= {f"{part}.{lemma}", *entry.derived, *entry.opposite, *entry.senses, *entry.broader}
            for relative in entry.derived:
                found |= entries[relative].senses if relative in entries else frozenset()
    return frozenset(found)


@cache
def similarity(one: str, other: str) -> float:
    """Returns the similarity of two lemmas, in [0, 1]; -1 for opposites.

    Args:
        one: A lemma in lower case.
        other: Another one.
    """
    if one == other:
        return EQUAL
    if _marks(one).isdisjoint(_marks(other)):
        return 0.0
    if stem(one) == stem(other):
        return EQUAL
    if are_converse(one, other):
        return CONVERSE
    directions = direction(one) * direction(other)
    if directions < 0:
        return OPPOSITE
    entries = _entries()
    first = [f"{part}.{one}" for part in _PARTS if f"{part}.{one}" in entries]
    second = [f"{part}.{other}" for part in _PARTS if f"{part}.{other}" in entries]
    best = 0.0
    for left in first:
        for right in second:
            best = max(best, _between(left, right))
            if right in entries[left].opposite or left in entries[right].opposite:
                return OPPOSITE
    if best < FRAME and _groups().get(_stemmed(one), frozenset()) & _groups().get(_stemmed(other), frozenset()):
        best = FRAME
    if directions > 0:
        best = max(best, FRAME)
    return best


def _between(left: str, right: str) -> float:
    entries = _entries()
    one, other = entries[left], entries[right]
    if left[0] == right[0] and one.senses & other.senses:
        return SYNONYM
    if right in one.derived or left in other.derived:
        return DERIVED
    if left[0] != right[0]:
        relatives = (entries[name] for name in one.derived if name[0] == right[0] and name in entries)
        if any(relative.senses & other.senses for relative in relatives):
            return DERIVED - 0.1
        relatives = (entries[name] for name in other.derived if name[0] == left[0] and name in entries)
        if any(relative.senses & one.senses for relative in relatives):
            return DERIVED - 0.1
        return 0.0
    return BROADER if one.broader & other.senses or one.senses & other.broader else 0.0
