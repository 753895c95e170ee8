"""Similarity of types: whether a new type repeats an existing one, by its name and its description.

>>> alike(NodeType("Corporations", "..."), NodeType("Corporation", "..."))
True

Types are compared by the stems of the words of their names, by the spelling of the names, and by the words of their
descriptions; the name of a node type also with the labels of the others. The rule errs on the side of refusing: the
message names the type to use, and a person may still add it.
"""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from typing import Protocol

from kg.text import STOPWORDS, stem, tokens

SAME_SPELLING = 0.88
"""From this share of matching characters two names are one."""

SAME_DESCRIPTION = 0.6
"""From this share of common words two descriptions are one, if each has at least four."""

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
    if new.name[0].isupper() and first in (_name_stems(label) for label in existing.labels):
        return True  # labels of edges are shared by several
    spelled = SequenceMatcher(None, new.name.lower(), existing.name.lower(), autojunk=False).ratio()
    return spelled >= SAME_SPELLING or _same_description(new.description, existing.description)


def _name_stems(name: str) -> frozenset[str]:
    words = {stem(word.lower()) for word in _WORDS.findall(name)}
    return frozenset(words - _GENERIC)


def _same_description(first: str, second: str) -> bool:
    one, other = ({token for token in tokens(text) if token not in STOPWORDS} for text in (first, second))
    if min(len(one), len(other)) < 4:
        return False
    return len(one & other) / len(one | other) >= SAME_DESCRIPTION
