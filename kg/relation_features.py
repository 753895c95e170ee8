"""What a relation scorer sees of a question: its words by where they stand to the entity that it is about.

>>> view = QuestionView.of("the dad of Mary_Boleyn 's son ?", ["Mary_Boleyn"])
>>> view.before, view.after
(('the', 'dad', 'of'), ("'s", 'son'))

The entity's mention itself is left out, so that nothing is learned of single entities.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

_TOKEN = re.compile(r"'s\b|[^\W\d_]+|\d+")
_MENTION = "\x00"


def words(text: str) -> list[str]:
    """The words of a text in lower case; ``'s`` is one."""
    return _TOKEN.findall(text.lower())


@lru_cache(maxsize=65536)
def relation_words(name: str) -> tuple[str, ...]:
    """The words of a relation's name, of an IRI those behind its last ``#`` or ``/``: ``^starred_actors`` gives two."""
    local = re.split(r"[#/]", name.removeprefix("^").rstrip("#/"))[-1]
    split = re.sub(r"([a-z])([A-Z])", r"\1 \2", local)
    return tuple(words(split.replace("_", " ")))


@dataclass(frozen=True)
class QuestionView:
    """A question around the mention of its entity.

    Attributes:
        before: Words before the mention.
        after: Words behind it; all words when nothing mentions the entity.
        mentioned: Whether something does.
    """

    before: tuple[str, ...]
    after: tuple[str, ...]
    mentioned: bool

    @classmethod
    def of(cls, question: str, topics: Sequence[str]) -> QuestionView:
        """The view of a question; of several topics, the first that is mentioned splits it, and all are left out."""
        text = question
        for topic in sorted(topics, key=len, reverse=True):
            text = _masked(text, topic)
        before, mention, after = text.partition(_MENTION)
        after = after.replace(_MENTION, " ")
        if not mention:
            return cls((), tuple(words(before)), mentioned=False)
        return cls(tuple(words(before)), tuple(words(after)), mentioned=True)

    @property
    def words(self) -> tuple[str, ...]:
        """All words in order."""
        return self.before + self.after


def _masked(text: str, topic: str) -> str:
    """The text with the mention of a topic, if there is one, replaced by a mark."""
    parts = [re.escape(part) for part in re.split(r"[\s_]+", topic) if part]
    if not parts:
        return text
    pattern = r"(?<!\w)\[?" + r"[\s_]+".join(parts) + r"\]?(?!\w)"
    return re.sub(pattern, f" {_MENTION} ", text, count=1, flags=re.IGNORECASE)


def question_features(view: QuestionView) -> list[str]:
    """Words and pairs of words, with the side of the mention on which they stand."""
    found = []
    for side, part in (("<", (*view.before, "@")), (">", ("@", *view.after))):
        found += [f"{side}{word}" for word in part if word != "@"]
        found += [f"{side}{first} {second}" for first, second in pairwise(part)]
    return list(dict.fromkeys(found))


def step_features(base: Sequence[str], path: Sequence[str]) -> list[str]:
    """The features of a question at one step: alone, with the depth, and with the relation before."""
    depth, previous = len(path), path[-1] if path else ""
    return [
        f"depth {depth}",
        f"after {previous}",
        f"path {' '.join(path)}",
        *(f"{depth}{feature}" for feature in base),
        *(f"{depth}{previous}{feature}" for feature in base),
    ]
