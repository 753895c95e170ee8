"""Kinds of financial statements and notes, detected by cue words.

    >>> kind_detector().detect("net cash from operating activities | net cash used in investing activities")
    'CashFlow'
    >>> sorted(kind_detector().shown("service cost | interest expense"))
    ['IncomeStatement', 'Pension']

``kinds.json`` lists common statements and notes. An ontology has those of its training reports. The weight of a cue is
its number of words, times three in the table's labels. Ties go to the first kind.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from pydantic import TypeAdapter

GENERAL = "GeneralTable"
DISCLOSURE = "Disclosure"
_TABLE_WEIGHT = 3
_APOSTROPHE = re.compile("['’]")


@dataclass(frozen=True)
class FigureKind:
    """A kind of statement or note: its class's local name, its label and its cue phrases (singular, lower-case)."""

    name: str
    label: str
    cues: tuple[str, ...]


@cache
def figure_kinds() -> tuple[FigureKind, ...]:
    """The kinds of ``kinds.json``, in their order of precedence."""
    text = Path(__file__).with_name("kinds.json").read_text(encoding="utf-8")
    return TypeAdapter(tuple[FigureKind, ...]).validate_json(text)


class KindDetector:
    """Classifies tables and texts by the cues of kinds.

    Args:
        kinds: The kinds; a shared cue counts for the first kind of ``kinds.json``.
    """

    def __init__(self, kinds: Iterable[FigureKind]) -> None:
        places = {kind.name: place for place, kind in enumerate(figure_kinds())}
        ordered = sorted(kinds, key=lambda kind: (places.get(kind.name, len(places)), kind.name))
        self._order = {kind.name: place for place, kind in enumerate(ordered)}
        self._kind_of_cue = {cue: kind.name for kind in reversed(ordered) for cue in kind.cues}
        cues = "|".join(sorted(map(re.escape, self._kind_of_cue), key=lambda cue: (-len(cue), cue)))
        self._cues = re.compile(rf"(?<![a-z])(?:{cues})(?=e?s?(?![a-z]))") if cues else None

    def detect(self, labels: str, context: str = "") -> str:
        """The kind with the highest weight of cues in a table's labels and context; ``GENERAL`` without cues."""
        scores: Counter[str] = Counter()
        for text, weight in ((labels, _TABLE_WEIGHT), (context, 1)):
            for cue in self._found(text):
                if weight == 1 and " " not in cue:
                    continue  # "high", "debt" or "basic" in a sentence is weak evidence
                scores[self._kind_of_cue[cue]] += weight * (1 + cue.count(" ") + cue.count("-"))
        return min(scores, key=lambda name: (-scores[name], self._order[name])) if scores else GENERAL

    def shown(self, text: str) -> set[str]:
        """The kinds with a cue in a text."""
        return {self._kind_of_cue[cue] for cue in self._found(text)}

    def _found(self, text: str) -> list[str]:
        return self._cues.findall(_APOSTROPHE.sub("", text.lower())) if self._cues is not None else []


@cache
def kind_detector() -> KindDetector:
    """The detector of all kinds of ``kinds.json``."""
    return KindDetector(figure_kinds())
