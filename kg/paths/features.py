"""The features of relation scorers: words of a question by their position to the topic entity.

>>> view = QuestionView.of("the dad of Mary_Boleyn 's son ?", ["Mary_Boleyn"])
>>> view.before, view.after
(('the', 'dad', 'of'), ("'s", 'son'))

The entity's mention itself is left out, so that nothing is learned of single entities.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby, pairwise

import numpy as np

from kg.arrays import FloatArray
from kg.text import stem

_TOKEN = re.compile(r"'s\b|[^\W\d_]+|\d+")
_MENTION = "\x00"


def words(text: str) -> list[str]:
    """The words of a text in lower case; ``'s`` is one."""
    return _TOKEN.findall(text.lower())


@lru_cache(maxsize=65536)
def relation_words(name: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The words of a relation's own name, and of what stands before it.

    >>> relation_words("people.person.place_of_birth")
    (('place', 'of', 'birth'), ('people', 'person'))

    Of an IRI, what stands before the last ``#`` or ``/`` is left out.
    """
    local = re.split(r"[#/]", name.removeprefix("^").rstrip("#/"))[-1]
    split = re.sub(r"([a-z])([A-Z])", r"\1 \2", local).replace("_", " ")
    rest, _, own = split.rpartition(".")
    return tuple(words(own)), tuple(words(rest))


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


_FUNCTION_WORDS = frozenset(
    words(
        "'s a an the of by in on at to for from with as is are was were be been do does did has have had and or that "
        "which what who whom whose where when how it its this these those there"
    )
)


def _segments(part: Sequence[str]) -> list[tuple[str, ...]]:
    """The runs of words between function words."""
    groups = groupby(part, key=_FUNCTION_WORDS.__contains__)
    return [tuple(run) for is_function, run in groups if not is_function]


@dataclass(frozen=True)
class RelationFeatures:
    """The features of a question that its steps share.

    Attributes:
        base: Words and pairs of words, with the side of the mention on which they stand.
        outward: The runs of content words in the order in which "B of X 's A" nests them: behind the mention, then
            before it, nearest first.
        inward: The same with those before the mention first: "the B that the A of X …".
        view: The question.
    """

    base: tuple[str, ...]
    outward: tuple[tuple[str, ...], ...]
    inward: tuple[tuple[str, ...], ...]
    view: QuestionView

    @classmethod
    @lru_cache(maxsize=32)
    def of(cls, question: str, topics: tuple[str, ...]) -> RelationFeatures:
        """The features of a question about some entities; those of the last questions are kept."""
        view = QuestionView.of(question, topics)
        base = []
        for side, part in (("<", (*view.before, "@")), (">", ("@", *view.after))):
            base += [f"{side}{word}" for word in part if word != "@"]
            base += [f"{side}{first} {second}" for first, second in pairwise(part)]
        before, after = _segments(view.before)[::-1], _segments(view.after)
        return cls(tuple(dict.fromkeys(base)), (*after, *before), (*before, *after), view)

    def at_depth(self, depth: int) -> list[str]:
        """The features of every step at a depth: the words with the depth, and what stands where the step does."""
        found = [f"{depth}", *(f"{depth}{feature}" for feature in self.base)]
        for order, segments in (("o", self.outward), ("i", self.inward)):
            for offset in range(-1, 3):
                place = depth + offset
                run = segments[place] if 0 <= place < len(segments) else ("none",)
                found += [f"{order}{offset} {word}" for word in run]
                if len(run) > 1:
                    found.append(f"{order}{offset} {' '.join(run)}")
            found.append(f"{order} left {min(max(len(segments) - depth, -1), 4)}")
        return found

    def after(self, path: Sequence[str]) -> list[str]:
        """The further features of a step behind the relations of a path: what stands next, with the relation before."""
        depth, previous = len(path), path[-1] if path else ""
        found = [f"{depth}|{previous}", f"|{' '.join(path)}"]
        found += [f"|{name}" for name in relation_features(previous)[1:]] if path else []
        for order, segments in (("o", self.outward), ("i", self.inward)):
            for offset, run in enumerate((*segments[depth : depth + 2], ("none",), ("none",))[:2]):
                found += [f"{previous}|{order}{offset} {word}" for word in run]
        return found


def relation_features(name: str) -> list[str]:
    """Returns the features of a relation: its name, and the words of the name, with its direction."""
    mark = "^" if name.startswith("^") else ""
    own, rest = relation_words(name)
    return [
        f"={name}",
        *(f"{mark}{word}" for word in dict.fromkeys(own)),
        *(f"{mark}.{word}" for word in dict.fromkeys(rest)),
    ]


LIKENESS = (
    "words of the name in the question",
    "words of the name next outward",
    "words of the name next inward",
    "words before the name in the question",
    "letters of the name in the question",
)
"""How a relation's name is like a question, each in [0, 1]; once more for relations that are followed back."""
PAIR_FEATURES = (*LIKENESS, *(f"^ {name}" for name in LIKENESS), "again", "back")
"""All that is known of a relation and a question together; the last two are whether the relation was followed before,
and whether it undoes the last one."""


class RelationNames:
    """The relations of a graph, prepared to be compared with questions.

    Args:
        names: The relations' names.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self.is_inverse = np.array([name.startswith("^") for name in names], dtype=np.bool_)
        split = [relation_words(name) for name in names]
        stems = [tuple([stem(word) for word in part] for part in both) for both in split]
        self._own, self._rest = (
            WordShares([both[part] for both in stems], lambda count, holding: math.log(1 + count / holding))
            for part in (0, 1)
        )
        self._letters = WordShares([sorted(letters(" ".join(own))) for own, _ in split], lambda *_: 1.0)

    def likeness(self, question: RelationFeatures, depth: int) -> FloatArray:
        """Returns the similarity of each relation to the question at a depth; shape ``(relations, len(LIKENESS))``."""
        said = [stem(word) for word in question.view.words]
        runs = [segments[depth] if depth < len(segments) else () for segments in (question.outward, question.inward)]
        found: FloatArray = np.stack(
            [
                self._own.shares(said),
                *(self._own.shares([stem(word) for word in run]) for run in runs),
                self._rest.shares(said),
                self._letters.shares(sorted(letters(" ".join(question.view.words)))),
            ],
            axis=1,
        )
        return found


class WordShares:
    """Texts as bags of words, in which the words of another are looked up all at once.

    Args:
        bags: The words of each text.
        weigh: The weight of a word by the number of texts and of those that have it.
    """

    def __init__(self, bags: Sequence[Sequence[str]], weigh: Callable[[int, int], float]) -> None:
        distinct = [list(dict.fromkeys(bag)) for bag in bags]
        places: dict[str, list[int]] = {}
        for number, bag in enumerate(distinct):
            for word in bag:
                places.setdefault(word, []).append(number)
        self._places = {word: np.array(found, dtype=np.int32) for word, found in places.items()}
        self._weights = {word: weigh(len(bags), len(found)) for word, found in places.items()}
        self._total = np.array([sum(self._weights[word] for word in bag) or 1.0 for bag in distinct])

    def shares(self, words: Sequence[str]) -> FloatArray:
        """The weight of the words that each text shares with some others, as a share of the text, in [0, 1]."""
        sums = np.zeros(len(self._total))
        for word in filter(self._places.__contains__, dict.fromkeys(words)):
            sums[self._places[word]] += self._weights[word]
        result: FloatArray = (sums / self._total).astype(np.float32)
        return result


def letters(text: str) -> set[str]:
    """The runs of four letters of a text's words, with a space at both ends of each."""
    padded = [f" {word} " for word in text.split()]
    return {word[place : place + 4] for word in padded for place in range(max(len(word) - 3, 1))}
