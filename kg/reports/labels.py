"""The labels of tables: keys that are equal for one line item, and kinds of statements and notes by cue words.

    >>> line_item_key("Net revenues ( 1 )"), line_item_key("net revenue ( loss )")
    ('net revenue', 'net revenue')
    >>> line_item_key("mortgage loans ( average )")
    'mortgage loan average'

A key drops footnote marks, signs such as "( loss )", units such as "( in millions )" and dates. It also drops the
wording of cash flows ("provided by", "used in", "from").

    >>> kind_detector().detect("net cash from operating activities | net cash used in investing activities")
    'CashFlow'

``kinds.json`` lists common statements and notes. An ontology has those of its training reports. The weight of a cue is
its number of words, times three in the table's labels. Ties go to the first kind.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path

from pydantic import TypeAdapter

from kg.text import YEAR, singular

GENERAL = "GeneralTable"
DISCLOSURE = "Disclosure"
_US_GAAP = "http://fasb.org/us-gaap/2023#"

_FOOTNOTE = re.compile(r"[(\[]\s*(?:[a-z]|\d{1,2}|[ivx]{1,4})\s*[)\]]|\*|(?<=[a-z]{4})\d{1,2}(?:\s\d{1,2})*\b(?!%)")
_ASIDE = re.compile(
    r"\(\s*(?:loss(?:es)?|benefits?|gains?|decrease|increase|decline|expense|income|provision|credit|debit|deficit"
    r"|reduction|charges?|used|provided|from|for|by|in|see|note|restated|unaudited|as\b|dollars?|\$|%|u\s?\.\s?s|usd"
    r"|net|loss of|millions?|thousands?|shares? in)\b[^()]*\)|\(\s*[%$]?\s*\)"
)
_DATES = re.compile(
    r"\b(?:january|february|march|april|may|june|july|august|september|october|november|december)\s*\d{1,2}(?!\d)(?:\s*,)?"
    rf"|\b(?:january|february|march|april|june|july|august|september|october|november|december)(?=\s*{YEAR})"
    rf"|(?<!\d){YEAR}(?!\d)"
)
_ECHO = re.compile(r"\s?%\s*\([\s\d.]*%\s*\)")
_CASH = re.compile(
    r"(?:net )?cash(?: flows?)?(?: \(?(?:provided|used|generated|required|by|in|for|from|of|and|or|to|the)\)?)*"
    r" (operating|investing|financing) activit(?:y|ies)"
)
_UNITED_STATES = re.compile(r"\bu\s?\.\s?s\b\s?\.?")
_LOOSE_END = re.compile(r"^[\s,.:-]+|(?:\b(?:at|as|of|on|in|for|the|and)\b|[\s,.:-])+$")
_TOKEN = re.compile(r"[^\W\d_]+|\d+(?:\.\d+)?")
_TABLE_WEIGHT = 3
_APOSTROPHE = re.compile("['’]")
_DROPPED = frozenset(("the", "a", "an", "of", "s", "at", "as"))


@lru_cache(maxsize=65536)
def line_item_key(label: str) -> str:
    """The common key of a line item's spellings: its singular content words; empty without words."""
    text = " ".join(_UNITED_STATES.sub("us ", label.lower().replace("&", " and ")).split())
    text = _DATES.sub(" ", _ASIDE.sub(" ", _FOOTNOTE.sub(" ", _ECHO.sub("%", text))))
    words = _TOKEN.findall(text)
    if not any(len(word) > 1 and word.isalpha() for word in words):
        return ""
    cash = _CASH.fullmatch(" ".join(words))
    if cash is not None:
        return f"net cash {cash[1]} activity"
    return " ".join(singular(word) for word in words if word not in _DROPPED)


@lru_cache(maxsize=65536)
def clean_label(label: str) -> str:
    """A label without footnote marks and dates ("net revenue" of "2007 net revenue ( a )"), unless no word is left."""
    text = " ".join(label.lower().replace("’", "'").split())
    text = " ".join(_DATES.sub(" ", _FOOTNOTE.sub(" ", _ECHO.sub("%", text))).split())
    text = _LOOSE_END.sub("", text).strip()
    return text if _TOKEN.search(text) else label


def spelling_keys(label: str) -> tuple[str, ...]:
    """Weaker keys than :func:`line_item_key`, for joined words and for words in another order."""
    key = line_item_key(label)
    if not key:
        return ()
    return "=" + key.replace(" ", ""), "~" + " ".join(sorted(key.split()))


@cache
def close_matches() -> Mapping[str, tuple[str, ...]]:
    """The IRIs of the concepts of the FASB taxonomy in ``us_gaap.json`` by the keys of their labels.

    >>> close_matches()[line_item_key("Net income ( loss )")]
    ('http://fasb.org/us-gaap/2023#NetIncomeLoss',)
    """
    text = Path(__file__).with_name("us_gaap.json").read_text(encoding="utf-8")
    concepts = TypeAdapter(dict[str, tuple[str, ...]]).validate_json(text)
    return {line_item_key(label): (_US_GAAP + name,) for name, labels in concepts.items() for label in labels}


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

    def _found(self, text: str) -> list[str]:
        return self._cues.findall(_APOSTROPHE.sub("", text.lower())) if self._cues is not None else []


@cache
def kind_detector() -> KindDetector:
    """The detector of all kinds of ``kinds.json``."""
    return KindDetector(figure_kinds())
