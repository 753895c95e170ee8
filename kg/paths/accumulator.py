"""The memory of a search: paths of both kinds, with their answers merged and ranked.

    >>> accumulator = PathAccumulator(topics=["USA"])
    >>> accumulator.add_path(EntityPath(("USA", "Barack Obama"), ("president",), -0.1))
    >>> accumulator.answers()[0].answer
    'Barack Obama'

A path is one through entities, or a derivation whose figures are written as their paths. What answers the question is
the last entity (a derivation's result), or the entity of the path that an *extractor* names: a callable behind which
:mod:`programs` has a language model. A name that is not an entity of its path is no answer, nor is a topic entity.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal

import numpy as np

from kg.errors import ConfigError, DataError
from kg.paths.space import EntityPath
from kg.search import merge, merge_key

_NUMBER = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)")


@dataclass(frozen=True)
class ReasoningPath:
    """A path of either kind.

    Attributes:
        text: As it is written: ``e_0 -> r_1 -> e_1``, or a derivation with the path of every figure.
        entities: The entities on it, in order; of a derivation, its result alone.
        score: Log-probability, at most 0.
    """

    text: str
    entities: tuple[str, ...]
    score: float

    @classmethod
    def of(cls, path: EntityPath | ReasoningPath) -> ReasoningPath:
        """The path of a search's result."""
        if isinstance(path, ReasoningPath):
            return path
        return cls(str(path), path.entities, path.score)


Extractor = Callable[[Sequence[ReasoningPath]], Sequence[str | None]]
"""Names, for each path, the entity of it that answers the question, or ``None``; all paths in one call."""


@dataclass(frozen=True)
class ExtractedPath:
    """A path with what answers the question on it.

    Attributes:
        path: The path.
        answer: An entity of the path; ``None`` when nothing on it answers.
        refused: The name that was extracted when it is not an entity of the path, or a topic.
    """

    path: ReasoningPath
    answer: str | None
    refused: str | None = None


@dataclass(frozen=True)
class MergedAnswer:
    """An answer with the paths that lead to it.

    Attributes:
        answer: As the best of its paths writes it.
        score: The log of the summed probabilities of its paths, at most 0.
        paths: The paths, best first.
    """

    answer: str
    score: float
    paths: tuple[ReasoningPath, ...]


def last_entity(paths: Sequence[ReasoningPath]) -> list[str | None]:
    """The naive extractor: the last entity of each path."""
    return [path.entities[-1] for path in paths]


def answer_key(answer: str) -> object:
    """Equal for answers that are the same entity, or the same number to five decimal places (``10`` and ``10.0``)."""
    return merge_key(Decimal(answer)) if _NUMBER.fullmatch(answer) else answer


class PathAccumulator:
    """Collects paths; a path that comes twice is kept once, with its better score.

    Args:
        topics: The entities that the question is about, which are never answers.
        topics_may_answer: Lifts that for questions of a kind whose answer may be the topic itself
            (:class:`kg.paths.scorer.TopicRules`).
    """

    def __init__(self, topics: Iterable[str] = (), *, topics_may_answer: bool = False) -> None:
        self._excluded = frozenset() if topics_may_answer else frozenset(map(answer_key, topics))
        self._paths: dict[str, ReasoningPath] = {}

    def add_path(self, path: EntityPath | ReasoningPath) -> None:
        """Adds a path.

        Raises:
            DataError: It has no entity, or its score is not a log-probability.
        """
        added = ReasoningPath.of(path)
        if not added.entities:
            raise DataError(f"a path must have at least one entity, got {added.text!r}")
        if not added.score <= 0:
            raise DataError(f"a path's score must be at most 0, got {added.score}")
        known = self._paths.get(added.text)
        if known is None or known.score < added.score:
            self._paths[added.text] = added

    def add_paths(self, paths: Iterable[EntityPath | ReasoningPath]) -> None:
        """Adds paths one by one."""
        for path in paths:
            self.add_path(path)

    def __len__(self) -> int:
        return len(self._paths)

    @property
    def paths(self) -> tuple[ReasoningPath, ...]:
        """The paths, best first; equal scores in the order in which they were added."""
        return tuple(sorted(self._paths.values(), key=lambda path: -path.score))

    def answerable(self, path: ReasoningPath) -> tuple[str, ...]:
        """The entities of a path that may be answers, each once, in order."""
        return tuple(dict.fromkeys(entity for entity in path.entities if answer_key(entity) not in self._excluded))

    def extracted(self, extractor: Extractor = last_entity, top_k: int | None = None) -> tuple[ExtractedPath, ...]:
        """The best paths, each with its answer.

        Args:
            extractor: Names the answer of each path.
            top_k: How many paths, at least 1; ``None`` for all.

        Raises:
            ConfigError: ``top_k`` is less than 1.
            DataError: The extractor did not say something of every path.
        """
        if top_k is not None and top_k < 1:
            raise ConfigError(f"top_k must be at least 1, got {top_k}")
        paths = self.paths[:top_k]
        names = extractor(paths)
        if len(names) != len(paths):
            raise DataError(f"the extractor must name an answer for each of {len(paths)} paths, got {len(names)}")
        return tuple(self._validated(path, name) for path, name in zip(paths, names, strict=True))

    def answers(self, extractor: Extractor = last_entity, top_k: int | None = None) -> tuple[MergedAnswer, ...]:
        """The distinct answers of the best paths, best first; equal scores in the order of their paths.

        Args and errors as :meth:`extracted`.
        """
        return merged(self.extracted(extractor, top_k))

    def _validated(self, path: ReasoningPath, name: str | None) -> ExtractedPath:
        if name is None:
            return ExtractedPath(path, None)
        wanted = name.strip().casefold()
        matching = [entity for entity in self.answerable(path) if entity.casefold() == wanted]
        exact = [entity for entity in matching if entity == name]
        if not matching:
            return ExtractedPath(path, None, refused=name)
        return ExtractedPath(path, (exact or matching)[0])


def merged(found: Sequence[ExtractedPath]) -> tuple[MergedAnswer, ...]:
    """Equal answers of paths as one, ranked by their summed probability."""
    groups: dict[object, list[ExtractedPath]] = {}
    for one in found:
        if one.answer is not None:
            groups.setdefault(answer_key(one.answer), []).append(one)
    numbers = np.repeat(np.arange(len(groups)), [len(members) for members in groups.values()])
    scores = merge(numbers, np.array([one.path.score for members in groups.values() for one in members]))
    answers = [
        MergedAnswer(str(members[0].answer), min(float(score), 0.0), tuple(one.path for one in members))
        for members, score in zip(groups.values(), scores, strict=True)
    ]
    return tuple(sorted(answers, key=lambda answer: -answer.score))


def gcr_prediction(path: str, answer: str) -> str:
    """One prediction in the form of GCR (graph-constrained reasoning; Luo et al., 2024)."""
    return f"# Reasoning Path:\n{path}\n# Answer:\n{answer}"
