"""Agreement of pronouns with what they may stand for, in conversations about graphs of every kind.

    >>> disagreement("she", Traits(is_person=True, gender="male"))
    0.9
    >>> disagreement("there", Traits(is_person=False, is_place=True))
    0.0

A world says of a referent what it knows; what is not known disagrees little or not at all.
"""

from __future__ import annotations

from dataclasses import dataclass

_GENDERS = {**dict.fromkeys(("he", "him", "his"), "male"), **dict.fromkeys(("she", "her", "hers"), "female")}
PERSONAL = frozenset(_GENDERS)
NEUTRAL = frozenset(("it", "its", "that", "this", "there"))
PLURAL = frozenset(("they", "them", "their", "theirs", "those", "these", "both"))
"""Pronouns for a person, for anything else, and for several."""

_UNKNOWN_PERSON, _NO_PERSON = 0.3, 0.9
"""The costs of "she" for something of no known class, and for something of a class that is not of people: a dog."""

_A_PERSON, _NO_PLACE = 0.6, 0.1
"""The costs of "it" for a person, and of "there" for what is not known to be a place."""

_ONE_PERSON, _ONE_OF_SEVERAL = 0.5, 0.25
"""The costs of "they" for one person, and for one other thing such as an organization."""


@dataclass(frozen=True)
class Traits:
    """The traits of a referent as far as a world knows them.

    Attributes:
        is_person: Whether it is a person; ``None`` if nothing says it.
        is_place: Whether it is a place.
        gender: ``male``, ``female``, or empty if nothing says it.
    """

    is_person: bool | None = None
    is_place: bool = False
    gender: str = ""


def disagreement(word: str, traits: Traits) -> float:
    """The cost of one referent for a pronoun, 0 where they agree."""
    if word in PERSONAL:
        if traits.gender not in ("", _GENDERS[word]):
            return _NO_PERSON
        return 0.0 if traits.is_person else _UNKNOWN_PERSON if traits.is_person is None else _NO_PERSON
    if word in PLURAL:
        return _ONE_PERSON if traits.is_person else _ONE_OF_SEVERAL
    if traits.is_person:
        return _A_PERSON
    return _NO_PLACE if word == "there" and not traits.is_place else 0.0
