"""The end of an act by the words about it: given up, refused or delayed, where its frame alone reads as if it held.

>>> text = "Odell Plc suspended its $75 million share buyback."
>>> end_of(text, text.index("buyback"), text.index("buyback") + 7, noun=True)
'ended'

A denial is no end: "Odell Plc has no plans for a buyback". The words are data (``modality.json``).
"""

from __future__ import annotations

import re
from functools import cache
from typing import Literal

from kg.sentences.language import inflected
from kg.sentences.modality import BOUND, DETERMINER, PREPOSITION, WORD, is_proposal, nouns, status_of, verbs, words

End = Literal["", "ended", "delayed"]

_LIGHT = rf"(?:(?!(?:{PREPOSITION}|and|or|to|not)\b){WORD} ){{0,6}}"
"""Words between a verb and its object: "its $75 million"."""

_VERBAL = "to|and|company|group|firm|may|might|will|would|could|can|should"
_NOMINAL = re.compile(rf"(?:\b{DETERMINER}|['’]s?)(?: (?!(?:{PREPOSITION}|{_VERBAL})\b){WORD}){{0,4}} $", re.IGNORECASE)
_PASSIVE = r"(?:is|was|were|are|be|been|being) (?:\w+ly )?"


@cache
def _patterns() -> dict[str, re.Pattern[str]]:
    ending = f"{verbs('ending')}|{verbs('delaying')}"
    planned = f"{nouns('intentions')}|{nouns('doubts')}"
    made = {
        "object": rf"\b(?P<by>{ending}|(?:{nouns('endings')}) (?:of|to)) {_LIGHT}$",
        "act": rf"\b(?P<by>{ending}|{verbs('collapsing')})(?: {_LIGHT}(?:{planned}))? "
        rf"(?:(?:to|of|on|over|about|for) )?{_LIGHT}$",
        "adjective": rf"(?:^|\b(?:{DETERMINER}|{PREPOSITION}|after) |['’]s? )"
        rf"(?P<by>{words('ended_adjectives')}|{words('delayed_adjectives')}) (?:(?!{DETERMINER}\b){WORD} )?$",
        "after": rf"^(?: {WORD})*? (?P<by>{verbs('collapsing')}|{_PASSIVE}(?:{ending}|{verbs('rejecting')}))\b",
    }
    return {name: re.compile(text, re.IGNORECASE) for name, text in made.items()}


def is_nominal(text: str, start: int, end: int) -> bool:
    """Whether a form that is a verb or a noun is a noun at a place: "its takeover bid", and not "will bid"."""
    bounds = [match.end() for match in BOUND.finditer(text[:start])]
    return is_proposal(text[start:end]) and _NOMINAL.search(text[bounds[-1] if bounds else 0 : start]) is not None


def end_of(text: str, start: int, end: int, noun: bool) -> End:
    """Returns whether an act was given up or delayed, as far as its sentence tells.

    Args:
        text: The sentence.
        start: The offset of the verb or noun that names the act.
        end: The offset after it.
        noun: Whether it is a noun; see :func:`is_nominal`.
    """
    bounds = [match.end() for match in BOUND.finditer(text[:start])]
    first = bounds[-1] if bounds else 0
    clause, word = text[first:start], text[start:end]
    if noun:
        stop = BOUND.search(text, end)
        names: tuple[str, ...] = ("object", "act", "adjective", "after")
        places = {"after": (text[end : stop.start() if stop is not None else len(text)], end)}
    elif re.search(r"\bto $", clause) or word.lower().endswith("ing"):
        names, places = ("act",), {}
    else:
        return ""
    for name in names:
        within, offset = places.get(name, (clause, first))
        found = _patterns()[name].search(within)
        if found is not None and (name == "adjective" or _holds(text, offset + found.start("by"), found["by"])):
            return "delayed" if _delays(found["by"]) else "ended"
    return ""


def _holds(text: str, start: int, by: str) -> bool:
    """Whether the end itself happened or is certain to: not "did not withdraw", not "may withdraw"."""
    verb = re.sub(rf"^{_PASSIVE}", "", by, flags=re.IGNORECASE)
    at = start + len(by) - len(verb)
    return status_of(text, at, at + len(verb)) in ("", "pending")


def _delays(by: str) -> bool:
    return re.search(rf"\b(?:{verbs('delaying')}|{words('delayed_adjectives')}|postponement)\b", by.lower()) is not None


@cache
def _ending_forms() -> frozenset[str]:
    lists = "|".join(verbs(name) for name in ("ending", "delaying", "rejecting"))
    return frozenset(lists.replace("\\", "").split("|")) | inflected("omit")


def is_ending(word: str) -> bool:
    """Whether a verb itself gives up, delays or rejects what its object names: "abandoned", "called off"."""
    return word.lower() in _ending_forms()
