"""The words of business English as data: legal forms, titles of people, currencies, regions and verb frames.

>>> language().role_of("Finance Chief")
'chief financial officer'
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from functools import cache, cached_property
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict

from kg.text import stem

_FOLDER = Path(__file__).parent


class Language(BaseModel):
    """Word lists; see ``language.json``."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    about: str
    legal_forms: tuple[str, ...]
    organisation_words: frozenset[str]
    organisation_nouns: frozenset[str]
    anaphors: frozenset[str]
    person_titles: frozenset[str]
    roles: Mapping[str, tuple[str, ...]]
    role_prefixes: tuple[str, ...]
    ratings: tuple[str, ...]
    months: tuple[str, ...]
    weekdays: tuple[str, ...]
    currencies: Mapping[str, tuple[str, ...]]
    numbers: Mapping[str, int]
    regions: frozenset[str]
    demonyms: frozenset[str]
    not_names: frozenset[str]
    currency_codes: frozenset[str]

    @cached_property
    def roles_by_word(self) -> dict[str, str]:
        """Each title of a person with the title that stands for it."""
        return {word: role for role, words in self.roles.items() for word in (*words, role) if words}

    @cached_property
    def role_pattern(self) -> re.Pattern[str]:
        """Titles of people, the longest first, with "head of compliance"."""
        words = "|".join(sorted(map(re.escape, self.roles_by_word), key=len, reverse=True))
        of = rf"(?:{'|'.join(self.role_prefixes)}) of (?!the\b)(?-i:[a-z]\w+(?: and [a-z]\w+)?|[A-Z]\w+(?= from| [a-z]|[,.]))"  # noqa: E501
        return re.compile(rf"\b(?P<of>{of})|\b(?P<role>{words})\b", re.IGNORECASE)

    def role_of(self, text: str) -> str:
        """Returns the title that stands for a title as written."""
        lower = re.sub(r"^(?:new|former|then|current) ", "", " ".join(text.lower().split()))
        return self.roles_by_word.get(lower, lower)

    @cached_property
    def currency_of(self) -> dict[str, str]:
        """Each sign or name of a currency with the name that stands for it."""
        return {word: name for name, words in self.currencies.items() for word in words}


@cache
def language() -> Language:
    """Returns the word lists that ship."""
    return Language.model_validate_json((_FOLDER / "language.json").read_text(encoding="utf-8"))


class Role(BaseModel):
    """A participant of a frame.

    Attributes:
        types: Kinds of mentions that may fill it.
        at: Positions, in order of preference; see :meth:`kg.sentences.sentence.Sentence.find`.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    types: tuple[str, ...]
    at: tuple[str, ...]


class Frame(BaseModel):
    """An event or state that verbs and nouns report.

    Attributes:
        name: Its name.
        verbs: Verbs in their base form, also with a particle.
        nouns: Nouns that report the same.
        needs: Words of which one must occur in the sentence.
        without: Words that rule the frame out.
        roles: Its participants.
        facts: Triples of two roles and the relation between them.
        event: The type of market event, if it is one. A frame without facts reports the event alone.
        direction: The effect on the affected role.
        affected: The role that the event affects; the first one by default.
        party: The role of another participant, by which two events of one kind differ.
        required: Roles without which it does not hold.
        near: Words of which one must stand near the trigger, unless the first role does.
        objects: Nouns of which one must be the object of the verb: "cut its full-year forecast".
        subjects: Nouns of which one must be its subject: "shares fell".
        ends: Whether it reports the end of what its object names, where its verb gives up or refuses something.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    verbs: tuple[str, ...] = ()
    nouns: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    roles: Mapping[str, Role]
    facts: tuple[tuple[str, str, str], ...] = ()
    near: tuple[str, ...] = ()
    required: tuple[str, ...] = ()
    objects: tuple[str, ...] = ()
    subjects: tuple[str, ...] = ()
    event: str = ""
    direction: Literal["positive", "negative", "neutral"] = "neutral"
    affected: str = ""
    party: str = ""
    ends: bool = False


class RelationWords(BaseModel):
    """The words by which questions ask for a relation.

    Attributes:
        words: Words that ask for it; one of them must be in the question.
        also: Words that may stand beside them without a meaning of their own.
        needs: Words of which one must be in the question, if there are any.
        subject: Nouns for its subject.
        object: Nouns for its object.
        subject_types: Kinds of its subject.
        object_types: Kinds of its object.
        single: Whether a newer value supersedes an older one.
        symmetric: Whether it holds in both directions.
        passive: Whether its object acts on its subject: "fined by".
        proposes: Words of the act that it only proposes: who offers to buy has not bought.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    words: tuple[str, ...] = ()
    also: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    subject: tuple[str, ...] = ()
    object: tuple[str, ...] = ()
    subject_types: tuple[str, ...] = ("company",)
    object_types: tuple[str, ...]
    single: bool = False
    symmetric: bool = False
    passive: bool = False
    proposes: tuple[str, ...] = ()


class Frames(BaseModel):
    """The table of frames; see ``frames.json``."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    about: str
    up: tuple[str, ...]
    down: tuple[str, ...]
    frames: tuple[Frame, ...]
    relations: Mapping[str, RelationWords]


@cache
def frames() -> Frames:
    """Returns the table of frames that ships."""
    return Frames.model_validate(json.loads((_FOLDER / "frames.json").read_text(encoding="utf-8")))


@cache
def event_frames() -> tuple[Frame, ...]:
    """Returns the frames that report an event and state no fact; see ``event_frames.json``."""
    content = json.loads((_FOLDER / "event_frames.json").read_text(encoding="utf-8"))
    return tuple(Frame.model_validate(frame) for frame in content["frames"])


_IRREGULAR = {
    "buy": "bought", "sell": "sold", "win": "won", "rise": "rose risen", "fall": "fell fallen", "lose": "lost",
    "cut": "cut cutting", "shed": "shed shedding", "shut": "shut shutting", "begin": "began begun", "build": "built",
    "make": "made", "take": "took taken", "leave": "left", "hit": "hit", "see": "saw seen", "spend": "spent",
    "pay": "paid", "hold": "held", "find": "found", "lead": "led", "give": "gave given", "go": "went gone goes",
    "set": "set", "quit": "quit", "bring": "brought", "put": "put", "drop": "dropped", "slip": "slipped",
    "run": "ran running", "sink": "sank sunk", "shrink": "shrank shrunk", "step": "stepped stepping", "break": "broke",
    "get": "got", "have": "has had", "sue": "sued suing", "become": "became", "stand": "stood", "bid": "bid bidding",
    "axe": "axed axing", "plan": "planned", "scrap": "scrapped", "slump": "slumped", "trim": "trimmed trimming",
    "name": "named", "jump": "jumped", "tumble": "tumbled", "keep": "kept", "lay": "laid", "do": "did done",
    "say": "said", "draw": "drew drawn", "choose": "chose chosen", "send": "sent", "teach": "taught", "grow": "grew grown",  # noqa: E501
    "be": "is are was were been", "burn": "burnt", "strike": "struck", "catch": "caught", "withdraw": "withdrew withdrawn",  # noqa: E501
    "mean": "meant", "own": "owned", "call": "called", "offer": "offered", "come": "came", "earn": "earned",
    "throw": "threw thrown", "blow": "blew blown", "burst": "burst", "drive": "drove driven", "tear": "tore torn",
}  # fmt: skip


@cache
def inflected(verb: str) -> frozenset[str]:
    """Returns the forms of a verb: "acquire", "acquires", "acquired", "acquiring"."""
    base = verb.lower()
    forms = {base, base + "s", base + "ing", base + "ed", *_IRREGULAR.get(base, "").split()}
    if base.endswith("e"):
        forms |= {base + "d", base[:-1] + "ing"}
    if base.endswith("y") and len(base) > 2 and base[-2] not in "aeiou":
        forms |= {base[:-1] + "ies", base[:-1] + "ied"}
    if base.endswith(("s", "sh", "ch", "x", "z", "o")):
        forms.add(base + "es")
    if re.fullmatch(r"[a-z]*[^aeiou][aeiou][^aeiouwxy]", base):
        forms |= {base + base[-1] + "ed", base + base[-1] + "ing"}
    return frozenset(forms)


@cache
def stems(words: Iterable[str]) -> frozenset[str]:
    """Returns the stems of all forms of some words, each word of a phrase by itself."""
    return frozenset(stem(form) for phrase in words for word in phrase.split() for form in {word, *inflected(word)})
