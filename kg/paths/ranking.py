"""Ranking of whole relation paths by vectors of names, answered questions, and words that entities near answers share.

    >>> ranker = PathRanker(encoder.vectors, weights, memory)
    >>> ranker.answer(index, "who directed Alien?", ["Alien"], TopicRules(), PathConfig(max_depth=2)).chosen
    ('Ridley Scott',)

The beam's scorer judges a step when it is taken. The ranker sees a path with all that it reaches. It compares the
question with the relations' names by vectors, so relations that training did not see are known by meaning. It compares
the question with the training questions, whose paths it remembers. And it looks at each entity: words of the question
that its name or its neighbours' names have are conditions ("in *Apollo 13*", "what *state*"). A reader may then read
the question together with each of the best paths.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from kg.arrays import BoolArray, DoubleArray, FloatArray, IntArray
from kg.errors import ConfigError, DataError
from kg.graphs import GraphIndex, Ids
from kg.paths.features import QuestionView, relation_words
from kg.paths.scorer import LearnedRelationScorer, TopicRules
from kg.paths.space import EntityPathAnswer, EntitySpace, Path, PathConfig, collected
from kg.paths.telling import UNNAMED, told
from kg.search import SearchStatistics

Vectors = Callable[[Sequence[str]], FloatArray]
"""One vector of length 1 for each text."""

Reader = Callable[[Sequence[tuple[str, str]]], FloatArray]
"""How well each path says what is asked, from pairs of a question and a path in words."""

FEATURES = (
    "last relation",
    "first relation",
    "last relation, topic named",
    "first relation, topic named",
    "further relations",
    "log of the entities",
    "one entity",
    "entities without a name",
    "conditions met",
    "words of these",
    "nearest",
    "first relation back",
    "last relation back",
    "less than the nearest",
    "conditions met on the average",
)
"""What is known of a path without a memory."""
REMEMBERED = ("same path", "same last relation", "like their paths", "nearest same path", "nearest like path")
"""What the answered questions that are nearest say of a path."""

READING = ("score", "read")
"""The features of a path that is read: its score without reading, and that of the reader."""

READ = 12
"""Paths of a question that are read, the best without reading."""

CANDIDATES = 40
"""Paths that are compared, the nearest by their relations' names."""
_EXPANDED = 400
"""States of each depth that are followed on."""
_NEAREST, _SHARPNESS = 15, 20.0
_MOST_WORDS, _WORDS_UNIT, _UNNAMED = 12.0, 8.0, 2.0


@dataclass(frozen=True)
class QuestionMemory:
    """Answered questions.

    Attributes:
        vectors: Of the questions, with the topic left out; shape ``(questions, width)``.
        paths: Of each question the relations of its likely paths, with their probabilities.
        topics: Of each question its topics, to leave out those about the same when a fit looks at itself.
    """

    vectors: FloatArray
    paths: tuple[tuple[tuple[tuple[str, ...], float], ...], ...]
    topics: tuple[tuple[str, ...], ...]

    @cached_property
    def wordings(self) -> IntArray:
        """Of each question the number of its wording; questions that differ in their topics alone share it."""
        _, numbers = np.unique(self.vectors, axis=0, return_inverse=True)
        return numbers.reshape(-1)


@dataclass(frozen=True)
class Candidates:
    """The paths of one question that are compared.

    Attributes:
        space: Where they lead.
        paths: The topic's place, then relations by number.
        features: Shape ``(paths, len(FEATURES))``.
        fits: For each path how well each of its entities fits the question's other words.
        question: The vector of the question with the topic left out.
    """

    space: EntitySpace
    paths: tuple[Path, ...]
    features: DoubleArray
    fits: tuple[DoubleArray, ...]
    question: FloatArray

    def log_shares(self, place: int) -> DoubleArray:
        """The log-probability of each entity of a path, less that of its best one; those without a name come last."""
        fit = self.fits[place] - _UNNAMED * _is_unnamed(self.space.index, self.space.answers(self.paths[place]))
        shares: DoubleArray = self.space.scorer.conditions * (fit - fit.max())
        return shares

    def told(self, place: int) -> str:
        """The path of a place in words, for a reader."""
        path, name = self.paths[place], self.space.index.name
        reached = self.space.answers(path)[np.argsort(-self.fits[place], kind="stable")]
        return told(name(int(self.space.topics[path[0]])), self.space.names(path), [name(int(one)) for one in reached])


class PathRanker:
    """Ranks the paths of questions.

    Args:
        vectors: The vectors of texts; the same in the fit and afterwards.
        weights: Of :data:`FEATURES` and, with a memory, :data:`REMEMBERED`.
        memory: Answered questions, or ``None``.
        reader: Reads the best paths; ``None`` to read none.
        reading: The weights of :data:`READING`; without them nothing is read.
    """

    def __init__(
        self,
        vectors: Vectors,
        weights: Mapping[str, float],
        memory: QuestionMemory | None = None,
        reader: Reader | None = None,
        reading: Mapping[str, float] | None = None,
    ) -> None:
        self.vectors, self.weights, self.memory = vectors, dict(weights), memory
        self.reader, self.reading = reader, dict(reading or {})
        self._known: dict[str, FloatArray] = {}

    def answer(
        self, index: GraphIndex, question: str, topics: Sequence[str], rules: TopicRules, config: PathConfig
    ) -> EntityPathAnswer:
        """Returns the paths, best first, and their entities; without any where no path leads from the topics."""
        found = self.candidates(index, question, topics, rules, config)
        count = len(found.paths)
        statistics = SearchStatistics(count, count, 0, max((len(path) - 1 for path in found.paths), default=0))
        if not found.paths:
            return EntityPathAnswer((), (), (), (), statistics)
        scores = self.features(found) @ self.vector
        if self.reader is not None and self.reading:
            scores = self.read(found, question, scores) @ np.array([self.reading[name] for name in READING])
        scores = scores - scores.max()
        scores = scores - math.log(np.exp(scores).sum())
        best = np.argsort(-scores, kind="stable").tolist()
        logs = [float(scores[place]) + found.log_shares(place) for place in best]
        return collected(found.space, [found.paths[place] for place in best], logs, statistics)

    @cached_property
    def vector(self) -> DoubleArray:
        """The weights in the order of the features."""
        return np.array([self.weights.get(name, 0.0) for name in (*FEATURES, *REMEMBERED)])

    def features(self, found: Candidates, leave_out: tuple[str, ...] | None = None) -> DoubleArray:
        """All features of a question's paths.

        Args:
            found: The paths.
            leave_out: The topics of questions that are not remembered now.
        """
        remembered = self._remembered(found, leave_out)
        result: DoubleArray = np.concatenate([found.features, remembered], axis=1)
        return result

    def read(self, found: Candidates, question: str, scores: DoubleArray) -> DoubleArray:
        """Returns :data:`READING` of each path; one that is not read has the least score of those that are.

        Args:
            found: The paths.
            question: The question.
            scores: Their scores without reading.

        Raises:
            ConfigError: There is no reader.
        """
        if self.reader is None:
            raise ConfigError("this ranker has no reader")
        best = np.argsort(-scores, kind="stable")[:READ]
        texts = [found.told(place) for place in best.tolist()]
        distinct = list(dict.fromkeys(texts))
        of_text = dict(zip(distinct, self.reader([(question, text) for text in distinct]).tolist(), strict=True))
        result = np.full((len(scores), len(READING)), min(of_text.values()))
        result[:, 0] = scores
        result[best, 1] = [of_text[text] for text in texts]
        return result

    def candidates(
        self, index: GraphIndex, question: str, topics: Sequence[str], rules: TopicRules, config: PathConfig
    ) -> Candidates:
        """Returns the paths that are compared."""
        space = EntitySpace(index, question, index.ids(topics), LearnedRelationScorer({}, {}, rules), config)
        view = QuestionView.of(question, topics)
        masked = " ".join((*view.before, *(("it",) if view.mentioned else ()), *view.after))
        own, whole = self.named([masked, question])
        names = self._relations(index)
        by_own, by_whole = names @ own, names @ whole
        likeness = (by_own + by_whole) / 2
        paths = _nearest(space, likeness, config.max_depth)
        space.look_up(paths)
        fits = tuple(space.fit(path) for path in paths)
        total = space.conditions.total if space.conditions is not None else 0.0
        rows = []
        near = [float(likeness[path[1]] + likeness[path[-1]]) for path in paths]
        for path, close, fit in zip(paths, near, fits, strict=True):
            unnamed = float(np.mean(_is_unnamed(index, space.answers(path)[:50])))
            row = [by_own[path[-1]], by_own[path[1]], by_whole[path[-1]], by_whole[path[1]], float(len(path) - 2)]
            row += [math.log(len(fit)), float(len(fit) == 1), unnamed]
            row += [
                float(fit.max()),
                min(float(fit.max()) * total, _MOST_WORDS) / _WORDS_UNIT,
                float(close == max(near)),
            ]
            row += [float(index.relations[relation].startswith("^")) for relation in (path[1], path[-1])]
            rows.append([*row, close - max(near), float(fit.mean())])
        features = np.array(rows, dtype=np.float64).reshape(len(paths), len(FEATURES))
        return Candidates(space, tuple(paths), features, fits, own)

    def named(self, texts: Sequence[str]) -> FloatArray:
        """The vectors of texts; those of earlier calls are kept."""
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        if new:
            self._known |= dict(zip(new, self.vectors(new), strict=True))
        return np.stack([self._known[text] for text in texts])

    def _relations(self, index: GraphIndex) -> FloatArray:
        return self.named([relation_text(name) for name in index.relations])

    def _remembered(self, found: Candidates, leave_out: tuple[str, ...] | None) -> DoubleArray:
        result = np.zeros((len(found.paths), len(REMEMBERED)))
        if self.memory is None or not found.paths:
            return result
        likeness = self.memory.vectors @ found.question
        nearest = np.argsort(-likeness, kind="stable")
        if leave_out is not None:
            nearest = nearest[[self.memory.topics[place] != leave_out for place in nearest]]
        _, first = np.unique(self.memory.wordings[nearest], return_index=True)  # of each wording the first
        nearest = nearest[np.sort(first)[:_NEAREST]]
        if not len(nearest):
            return result
        shares = np.exp(_SHARPNESS * (likeness[nearest] - likeness[nearest].max()))
        shares /= shares.sum()
        names = [found.space.names(path) for path in found.paths]
        own = self._ends(names)
        for place, share in zip(nearest.tolist(), shares, strict=True):
            known, weight = zip(*self.memory.paths[place], strict=True)
            weights = np.array(weight)
            same = np.array([[one == other for other in known] for one in names]) @ weights
            last = np.array([[one[-1] == other[-1] for other in known] for one in names]) @ weights
            theirs = self._ends(known)
            like = ((own[0] @ theirs[0].T + own[1] @ theirs[1].T) / 2) @ weights
            result[:, :3] += share * np.stack([same, last, like], axis=1)
            result[:, 3] = np.maximum(result[:, 3], likeness[place] * np.maximum(same, 0.8 * last))
            result[:, 4] = np.maximum(result[:, 4], likeness[place] * like)
        return result

    def _ends(self, paths: Sequence[tuple[str, ...]]) -> tuple[FloatArray, FloatArray]:
        """The vectors of the first and of the last relations."""
        return (
            self.named([relation_text(path[0]) for path in paths]),
            self.named([relation_text(path[-1]) for path in paths]),
        )

    def to_arrays(self) -> dict[str, Any]:
        """Weights and memory as arrays, to be written."""
        memory = self.memory if self.memory is not None else QuestionMemory(np.zeros((0, 0), dtype=np.float32), (), ())
        record = {"weights": self.weights, "reading": self.reading, "paths": memory.paths, "topics": memory.topics}
        text = json.dumps(record, sort_keys=True, ensure_ascii=False)
        return {"record": np.array(text), "vectors": memory.vectors.astype(np.float16)}

    @classmethod
    def from_arrays(cls, vectors: Vectors, arrays: Mapping[str, Any], reader: Reader | None = None) -> PathRanker:
        """Reads what :meth:`to_arrays` gave.

        Raises:
            DataError: It is something else.
        """
        try:
            record = json.loads(str(arrays["record"]))
            paths = tuple(
                tuple((tuple(names), float(share)) for names, share in question) for question in record["paths"]
            )
            topics = tuple(tuple(one) for one in record["topics"])
            weights, reading = (
                {str(name): float(weight) for name, weight in part.items()}
                for part in (record["weights"], record.get("reading", {}))
            )
            known = np.asarray(arrays["vectors"]).astype(np.float32)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise DataError(f"this is not a ranker of paths: {error!r}") from error
        if not len(known) == len(paths) == len(topics):
            raise DataError("a ranker's memory must have a vector, paths and topics for each question")
        if unknown := sorted(weights.keys() - {*FEATURES, *REMEMBERED}):
            raise DataError(f"this ranker was fitted with other features ({unknown[0]}): compile the program again")
        return cls(vectors, weights, QuestionMemory(known, paths, topics) if len(paths) else None, reader, reading)


def relation_text(name: str) -> str:
    """A relation as the encoder reads it: what stands before its own words, and those; "of" marks the way back.

    >>> relation_text("people.person.place_of_birth"), relation_text("^directed_by")
    ('people person place of birth', 'directed by of')
    """
    own, rest = relation_words(name)
    words = " ".join(word for word in own if word != "s")
    if name.startswith("^"):
        return " ".join((words, "of", *rest))
    return " ".join((*rest, words))


def _nearest(space: EntitySpace, likeness: FloatArray, depth: int) -> list[Path]:
    """The paths whose first and last relation are nearest to the question, and that reach something."""
    scored: list[tuple[float, Path]] = []
    level: list[Path] = [(place,) for place in range(len(space.topics))]
    for length in range(1, depth + 1):
        found: list[tuple[float, Path]] = []
        for path in level:
            for relation in np.flatnonzero(space.index.offered_at(space.slots(path))).tolist():
                first = path[1] if length > 1 else relation
                found.append((float(likeness[first] + likeness[relation]), (*path, relation)))
        found.sort(key=lambda pair: (-pair[0], pair[1]))
        scored += found
        level = [path for _, path in found[:_EXPANDED]] if length < depth else []
    scored.sort(key=lambda pair: (-pair[0], pair[1]))
    kept: list[Path] = []
    for _, path in scored:
        if len(kept) == CANDIDATES:
            break
        if len(space.answers(path)):
            kept.append(path)
    return kept


def _is_unnamed(index: GraphIndex, ids: Ids) -> BoolArray:
    """Whether each of some entities has an identifier in place of a name."""
    return np.array([UNNAMED.match(index.name(one)) is not None for one in ids.tolist()], dtype=np.bool_)
