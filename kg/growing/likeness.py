"""Similarity of types: whether a new type repeats an existing one, by name, labels, description and meaning.

>>> alike(NodeType("Corporations", "..."), NodeType("Corporation", "..."))
True
>>> meaning.probability(NodeType("Physician", "Someone who treats the sick."), NodeType("Doctor", "..."))
0.93

:func:`alike` compares the stems of the words of the names, the spelling of the names, the labels of node types, and
the words of the descriptions. :class:`TypeMeaning` compares words without a common stem by an encoder.
Both err on the side of refusing: the message names the type to use, and whoever proposes may state the difference.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Protocol

from kg.arrays import FloatArray
from kg.text import STOPWORDS, stem, tokens

SAME_SPELLING = 0.88
"""From this share of matching characters two names are one."""

SAME_DESCRIPTION = 0.6
"""From this share of common words two descriptions are one, if each has at least four."""

SAME_MEANING = 0.6
"""From this probability two types mean the same."""

_INTERCEPT, _BY_NAME, _BY_DESCRIPTION = -5.36, 0.68, 8.67
"""Weights of a logistic model, fitted on pairs of types (``benchmarks/type_pairs.py``)."""

_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_GENERIC = frozenset(
    map(
        stem, ("type", "node", "edge", "entity", "item", "object", "record", "kind", "by", "of", "in", "to", "on", "at")
    )
)
"""Words that make no difference in a name: ``IssuedBy`` and ``issues`` say the same."""


class _Named(Protocol):
    @property
    def name(self) -> str: ...

    @property
    def description(self) -> str: ...

    @property
    def labels(self) -> tuple[str, ...]: ...


def alike(new: _Named, existing: _Named) -> bool:
    """Whether two types mean the same."""
    first, second = _name_stems(new.name), _name_stems(existing.name)
    if first and first == second:
        return True
    if new.name[0].isupper() and _share_a_label(new, existing):
        return True  # labels of edges are shared by several
    spelled = SequenceMatcher(None, new.name.lower(), existing.name.lower(), autojunk=False).ratio()
    return spelled >= SAME_SPELLING or _same_description(new.description, existing.description)


def _share_a_label(new: _Named, existing: _Named) -> bool:
    """Whether one of them is called as the other is named."""
    first, second = _name_stems(new.name), _name_stems(existing.name)
    return first in map(_name_stems, existing.labels) or (bool(second) and second in map(_name_stems, new.labels))


@dataclass(frozen=True)
class TypeMeaning:
    """The meaning of types, for words without a common stem: "Physician" and "Doctor".

    Attributes:
        vectors: Returns a vector of length 1 for each text.
    """

    vectors: Callable[[Sequence[str]], FloatArray]

    def probability(self, new: _Named, existing: _Named) -> float:
        """Returns the probability that two types mean the same, in [0, 1]."""
        names = [tuple(dict.fromkeys((spelled(kind.name), *kind.labels))) for kind in (new, existing)]
        by_name = float((self.vectors(names[0]) @ self.vectors(names[1]).T).max())
        described = [f"{spelled(kind.name)}: {kind.description}" for kind in (new, existing)]
        one, other = self.vectors(described)
        weighted = _INTERCEPT + _BY_NAME * by_name + _BY_DESCRIPTION * float(one @ other)
        return 1 / (1 + math.exp(-weighted))


def spelled(name: str) -> str:
    """Returns a type's name as words: "credit rating" for ``CreditRating`` and ``credit_rating``."""
    return " ".join(_WORDS.findall(name)).lower()


def _name_stems(name: str) -> frozenset[str]:
    words = {stem(word.lower()) for word in _WORDS.findall(name)}
    return frozenset(words - _GENERIC)


def _same_description(first: str, second: str) -> bool:
    one, other = ({token for token in tokens(text) if token not in STOPWORDS} for text in (first, second))
    if min(len(one), len(other)) < 4:
        return False
    return len(one & other) / len(one | other) >= SAME_DESCRIPTION
