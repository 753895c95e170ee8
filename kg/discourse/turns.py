"""The turns of a conversation as references see them, whether they are about reports or about graphs.

    >>> turns = [Spoken(("France",), ("Paris",), ("capital",)), Spoken(("Spain",), ("Madrid",), ("capital",))]
    >>> Discourse(turns).asked_alike()
    ['France', 'Spain']

A referent is an entity of a graph, a node of a parsed graph, or a period of a report. Recency is the same for all:
what the last turn answered comes first, then what it was about, then what earlier turns were about.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Hashable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

Referent = TypeVar("Referent", bound=Hashable)

LEAD = re.compile(
    r"^\W*(?:(?:and|but|so|then|now|ok|okay|or|no|sorry|actually)\b[ ,]*)*"
    r"(?:(?:what|how)\s+about\b|(?:the\s+)?same(?:\s+question)?\s+(?:for|of)\b|likewise\s+for\b|i\s+meant?\b)?[ ,]*",
    re.IGNORECASE,
)
"""Words that begin a follow-up or a correction: "and", "what about", "no, I meant"."""


@dataclass(frozen=True)
class Spoken(Generic[Referent]):
    """An earlier turn.

    Attributes:
        subjects: What it was about, in order.
        results: What answered it, or what it counted.
        asked: What it asked for; two turns that ask for the same are alike.
    """

    subjects: tuple[Referent, ...] = ()
    results: tuple[Referent, ...] = ()
    asked: tuple[Hashable, ...] = ()


class Discourse(Generic[Referent]):
    """The earlier turns of a conversation.

    Args:
        turns: The turns, in order.
        alike: Whether two referents are of one type.
    """

    def __init__(
        self, turns: Sequence[Spoken[Referent]], alike: Callable[[Referent, Referent], bool] | None = None
    ) -> None:
        self.turns = turns
        self.alike = alike if alike is not None else _always

    def asked_alike(self, place: int = -1) -> list[Referent]:
        """The subjects of the turns up to one that asked the same of one referent each, without repetitions."""
        if not self.turns or not self.turns[place].subjects:
            return []
        found: list[Referent] = []
        last = self.turns[place]
        for turn in reversed(self.turns[: place + 1] if place >= 0 else self.turns):
            if (
                len(turn.subjects) != 1
                or turn.asked != last.asked
                or not self.alike(turn.subjects[0], last.subjects[0])
            ):
                break
            found.insert(0, turn.subjects[0])
        return list(dict.fromkeys(found))

    def latest_set(self, fits: Callable[[Referent], bool] | None = None) -> tuple[int | None, list[Referent]] | None:
        """The latest turn's several results or subjects with its place, or those that turns asked the same about."""
        for place in range(len(self.turns) - 1, -1, -1):
            turn = self.turns[place]
            results = [one for one in turn.results if fits is None or fits(one)]
            if len(results) > 1:
                return place, results
            if len(turn.subjects) > 1 and not results and all(self.alike(turn.subjects[0], n) for n in turn.subjects):
                return place, list(turn.subjects)
            alike = self.asked_alike(place)
            if len(alike) > 1:
                return None, alike
        return None

    def pair(self) -> list[Referent] | None:
        """The two of "the latter", the likeliest of :meth:`pairs`."""
        return next(iter(self.pairs()), None)

    def pairs(self) -> list[list[Referent]]:
        """Each two of "the latter": the last turn's two results, its two subjects, the last two subjects alike."""
        last = self.turns[-1:]
        found = [list(two) for turn in last for two in (turn.results, turn.subjects) if len(two) == 2]
        alike = self._last_alike()
        return [*found, alike] if alike is not None and alike not in found else found

    def _last_alike(self) -> list[Referent] | None:
        """The last two subjects of one type."""
        found: list[Referent] = []
        for turn in reversed(self.turns):
            for one in turn.subjects:
                if one not in found and (not found or self.alike(one, found[0])):
                    found.insert(0, one)
            if len(found) >= 2:
                return found[-2:]
        return None

    def other(self) -> Referent | None:
        """The one of "the other": of the latest two that were spoken of together, the one not spoken of since."""
        since: set[Referent] = set()
        for turn in reversed(self.turns):
            if len(turn.results) == 2:
                return _left(turn.results, since)
            since |= set(turn.results)
            if len(turn.subjects) == 2:
                return _left(turn.subjects, since)
            since |= set(turn.subjects)
        return None

    def latest(self, most: int) -> list[Referent]:
        """At most so many of the last subjects, each once, the latest first."""
        found: dict[Referent, None] = {}
        for turn in reversed(self.turns):
            found |= dict.fromkeys(reversed(turn.subjects))
            if len(found) >= most:
                break
        return list(found)[:most]


def _left(two: Sequence[Referent], since: Collection[Referent]) -> Referent | None:
    """The one of two that was not spoken of since; ``None`` for both or neither."""
    left = [one for one in two if one not in since]
    return left[0] if len(left) == 1 else None


def _always(one: object, other: object) -> bool:  # noqa: ARG001
    return True
