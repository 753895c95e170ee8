"""A fact that a document states."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal

_NUMBER = re.compile(r"\d+(?:,\d{3})*(?:\.\d+)?")
_SCALES = {"thousand": 3, "million": 6, "mn": 6, "m": 6, "billion": 9, "bn": 9, "trillion": 12}


LEAST_CERTAIN = 0.45
"""The confidence from which a fact replaces an earlier value and answers a question by itself."""


@dataclass(frozen=True)
class Fact:
    """A fact.

    Attributes:
        subject: The name of its subject.
        subject_kind: company, person, place, product or name.
        relation: Its relation, one of the table of frames.
        object: A name, an amount, a day or a title.
        object_kind: The kind of the object.
        sentence: The sentence that states it.
        document: The document.
        published: The document's day, ``2026-11-22``.
        confidence: In (0, 1].
        role: The title of the person, where the fact is about one.
        company: The company of that person.
        direction: ``up`` or ``down``, where the sentence says that a value changed.
        previous: The value before, where the sentence states it.
        status: ``pending`` for what is agreed or planned, ``possible`` for what may be; empty for what happened.
        valid_from: The first day on which it holds, if stated.
        valid_to: The last day, set where a newer source supersedes it.
        id: Its name in the graph.
    """

    subject: str
    subject_kind: str
    relation: str
    object: str
    object_kind: str
    sentence: str
    document: str
    published: str
    confidence: float = 0.9
    role: str = ""
    company: str = ""
    direction: str = ""
    previous: str = ""
    status: str = ""
    valid_from: str = ""
    valid_to: str = ""
    id: str = ""

    @property
    def is_certain(self) -> bool:
        """Whether its confidence suffices to replace an earlier value and to answer a question."""
        return self.confidence >= LEAST_CERTAIN

    @property
    def note(self) -> str:
        """A warning for readers: ``pending``, ``possible`` or ``uncertain``; empty for other facts."""
        return self.status or ("" if self.is_certain else "uncertain")

    def __str__(self) -> str:
        return f"{self.subject} -> {self.relation} -> {self.object}"


def number_of(text: str) -> Decimal | None:
    """Returns the value of an amount as written: 2100000000 of "$2.1 billion"; of a range its lower end."""
    match = _NUMBER.search(text)
    if match is None:
        return None
    words = re.findall(r"[a-z]+", text[match.end() :].lower())
    scale = next((_SCALES[word] for word in words if word in _SCALES), 0)
    value = Decimal(match[0].replace(",", "")).scaleb(scale)
    return -value if text.lstrip().startswith("-") else value


def unit_of(text: str) -> str:
    """Returns an amount as written without its digits and scales: "$" of "$2.1 billion"; of a range its first sign."""
    if " to " in text:
        return text[:1].strip("0123456789")
    words = re.sub(r"[\d.,\s+-]", " ", text.lower()).split()
    return " ".join(word for word in words if word not in _SCALES)
