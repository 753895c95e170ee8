"""Ranking of the beam's relation paths by vectors of the relations' names and by the entities that they reach.

    >>> ranker = PathRanker(encoder.vectors, weights)
    >>> answer_question(index, "who directed Alien?", ["Alien"], scorer, widened(config), ranker.ranked).chosen
    ('Ridley Scott',)

The scorer judges a step when it is taken, by the words of training questions. The ranker sees a path with all that it
reaches, and knows relations that training did not have by the meaning of their names.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from kg.arrays import BoolArray, DoubleArray, FloatArray
from kg.errors import DataError
from kg.graphs import GraphIndex, Ids
from kg.paths.features import QuestionView, relation_words
from kg.paths.space import EntitySpace, Path, PathConfig

Vectors = Callable[[Sequence[str]], FloatArray]
"""One vector of length 1 for each text."""

FEATURES = ("beam", "last relation", "first relation", "one entity", "entities without a name", "conditions met")
"""The scorer's log-probability; the likeness of relations to the question, in [-1, 1]; 1 for a single entity; the share
of entities without a name; the best fit of an entity to the question's conditions, in [0, 1]."""

CANDIDATES = 40
"""The number of paths that are compared, the beam's best."""

_UNNAMED = re.compile(r"_:|[mg]\.[0-9a-z_]+$")
"""Blank nodes, and Freebase's identifiers, which stand in place of names."""

_LEAST, _BEHIND, _LOOKED_AT = -30.0, 2.0, 50
"""The least log-probability, the fit that an entity without a name lacks, and entities whose names are looked at."""


class PathRanker:
    """Ranks the paths of questions.

    Args:
        vectors: The vectors of texts; the same in the fit and afterwards.
        weights: Of :data:`FEATURES`.

    Raises:
        DataError: There are weights of other features.
    """

    def __init__(self, vectors: Vectors, weights: Mapping[str, float]) -> None:
        if unknown := sorted(set(weights) - set(FEATURES)):
            raise DataError(f"this ranker was fitted with other features ({unknown[0]}): compile the program again")
        self.vectors, self.weights = vectors, dict(weights)
        self._known: dict[str, FloatArray] = {}

    def ranked(self, space: EntitySpace, paths: Sequence[tuple[Path, float]]) -> tuple[list[Path], list[DoubleArray]]:
        """The best paths in a new order, and of each the log-probabilities of its entities.

        Args:
            space: The question, whose conditions were looked up.
            paths: The beam's paths with their log-probabilities, best first, at least one.
        """
        paths = paths[:CANDIDATES]
        scores = self.features(space, paths) @ [self.weights.get(name, 0.0) for name in FEATURES]
        scores -= np.logaddexp.reduce(scores)
        best = np.argsort(-scores, kind="stable").tolist()
        logs = []
        for place in best:
            path = paths[place][0]
            fit = space.fit(path) - _BEHIND * is_unnamed(space.index, space.reached(path))
            logs.append(scores[place] + space.scorer.conditions * (fit - fit.max()))
        return [paths[place][0] for place in best], logs

    def features(self, space: EntitySpace, paths: Sequence[tuple[Path, float]]) -> DoubleArray:
        """The features of each path; shape ``(paths, len(FEATURES))``."""
        view = QuestionView.of(space.question, [space.index.name(topic) for topic in space.topics])
        masked = " ".join((*view.before, *(("it",) if view.mentioned else ()), *view.after))
        [question] = self._named([masked])
        rows = []
        for path, score in paths:
            first, last = self._named([relation_text(space.index.relations[path[place]]) for place in (1, -1)])
            ends, fit = space.reached(path), space.fit(path)
            unnamed = float(is_unnamed(space.index, ends[:_LOOKED_AT]).mean())
            likeness = (float(last @ question), float(first @ question))
            rows.append((max(score, _LEAST), *likeness, float(len(ends) == 1), unnamed, float(fit.max())))
        return np.array(rows, dtype=np.float64).reshape(len(rows), len(FEATURES))

    def _named(self, texts: Sequence[str]) -> FloatArray:
        """The vectors of texts; those of earlier calls are kept."""
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        if new:
            self._known |= dict(zip(new, self.vectors(new), strict=True))
        return np.stack([self._known[text] for text in texts])


def widened(config: PathConfig) -> PathConfig:
    """The settings of a beam that completes enough paths to be compared."""
    return replace(config, answer_threshold=0.0, beam_width=max(config.beam_width, CANDIDATES))


def relation_text(name: str) -> str:
    """A relation as the encoder reads it: what stands before its own words, and those; "of" marks the way back.

    >>> relation_text("people.person.place_of_birth"), relation_text("^directed_by")
    ('people person place of birth', 'directed by of')
    """
    own, rest = relation_words(name)
    words = " ".join(word for word in own if word != "s")
    return " ".join((words, "of", *rest)) if name.startswith("^") else " ".join((*rest, words))


def is_unnamed(index: GraphIndex, ids: Ids) -> BoolArray:
    """Whether each of some entities has an identifier in place of a name."""
    return np.array([_UNNAMED.match(index.name(entity)) is not None for entity in ids.tolist()], dtype=np.bool_)
