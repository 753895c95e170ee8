"""Possible answers of a question from all statements, ranked by a linear model over their features.

>>> ranked = rank(asked, library, weights)
>>> ranked[0].values, round(ranked[0].probability, 2)
(('Corvex Resources',), 0.93)
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from kg.arrays import FloatArray
from kg.clauses import Library, Text
from kg.comprehension.candidates import FEATURES, SpanCandidate
from kg.comprehension.matching import StatementMatch
from kg.comprehension.questions import Asked
from kg.comprehension.reader import SpanReader, Window, WindowScores, windows_of
from kg.news import number_of
from kg.sentences import Mention, plain_name

STATEMENTS, NEAREST = 20, 8
"""Statements of which candidates are taken: those with most words and names, and those nearest by their meaning."""

COMPARED = 80
"""Statements whose meaning is compared with the question's."""

READ, BEST = 4, 12
"""Documents that are read for a question, and values that are candidates although they are of another kind."""

SPANS, LESS, LESS_AS_VALUE = 6, 0.4, 1.0
"""The best spans of a document that may be answers, and how much less phrases and other values in them must score."""

UNREAD = 10.0
"""How much less a candidate scores that is not read."""


@dataclass(frozen=True)
class Ranked:
    """A value with the candidates that have it.

    Attributes:
        value: The answer.
        probability: Its share of the probability of all values.
        score: The score of its best candidate.
        candidates: Its candidates, the best first.
    """

    value: str
    probability: float
    score: float
    candidates: tuple[SpanCandidate, ...]


@dataclass(frozen=True)
class Nearest:
    """The statements and documents nearest to a question.

    Attributes:
        matches: The statements, the nearest first, and those of the documents.
        kept: How many of them are nearest by themselves.
        features: What they share with their documents, and how near their meanings are, by their ids.
        texts: The documents, the nearest first.
    """

    matches: list[StatementMatch]
    kept: int
    features: dict[int, dict[str, float]]
    texts: list[Text]


def nearest_of(asked: Asked, library: Library) -> Nearest:
    """Returns the statements and the documents nearest to a question.

    Args:
        asked: The question.
        library: The documents.
    """
    matches = [StatementMatch(asked, statement, library) for statement in library.statements]
    order = sorted(matches, key=lambda match: -match.score)
    compared = order[:COMPARED]
    documents = _documents(matches, _meanings(asked, compared, library))
    names = sorted(documents, key=lambda name: -documents[name]["document words"] - documents[name]["document lead"])
    texts = [library.text_of[name] for name in names[:READ]]
    compared += [match for match in order[COMPARED:] if match.text in texts]
    meanings = _meanings(asked, compared, library)
    kept = [match for match in order[:STATEMENTS] if match.score >= 0.4 * order[0].score]
    nearest = sorted(compared, key=lambda match: -meanings[id(match)]["meaning"])[:NEAREST]
    kept += [match for match in nearest if library.encoder is not None and match not in kept]
    others = [match for match in compared if match.text in texts and match not in kept]
    features = {id(match): {**meanings[id(match)], **documents[match.text.name]} for match in (*kept, *others)}
    return Nearest([*kept, *others], len(kept), features, texts)


def _documents(
    matches: Sequence[StatementMatch], meanings: Mapping[int, Mapping[str, float]]
) -> dict[str, dict[str, float]]:
    """Returns for each document how much of the question it has, in whatever sentences, and what the best one has."""
    of: defaultdict[str, list[StatementMatch]] = defaultdict(list)
    for match in matches:
        of[match.text.name].append(match)
    words, names, nearest = {}, {}, {}
    for name, own in of.items():
        terms = zip(*(match.terms for match in own), strict=True)
        words[name] = sum(max(max(one.strength for one in each), 0.0) for each in terms) / own[0].total
        strengths = [
            max(strength for _, strength in each) for each in zip(*(match.names for match in own), strict=True)
        ]
        names[name] = sum(strengths) / len(strengths) if strengths else 0.5
        nearest[name] = max((meanings[id(match)]["meaning"] for match in own if id(match) in meanings), default=0.0)
    return {
        name: {
            "document words": words[name],
            "document words lead": words[name] - max(words.values()),
            "document names": names[name],
            "document lead": nearest[name] - max(nearest.values()),
        }
        for name in of
    }


def candidates_of(asked: Asked, library: Library) -> list[SpanCandidate]:
    """Returns the possible answers in the statements nearest to a question."""
    nearest = nearest_of(asked, library)
    kept = nearest.matches[: nearest.kept]
    if not kept:
        return []
    read = read_texts(asked.text, nearest.texts)
    well = [key for key, score in read.scores.items() if score >= read.least]
    holding = {place for place, _ in well}
    days = sorted({match.statement.passage.published for match in kept if match.score >= 0.75 * kept[0].score})
    found = []
    for match in [*kept, *(one for one in nearest.matches[nearest.kept :] if id(one.statement) in holding)]:
        day = match.statement.passage.published
        recency = sum(one <= day for one in days) / len(days) if days else 0.0
        timed = asked.earlier or asked.first or asked.period is not None
        features = {
            **nearest.features[id(match)],
            "newest": 0.0 if timed else recency,
            "newest asked": recency if asked.latest and not timed else 0.0,
            "oldest asked": 1 - recency if asked.earlier or asked.first else 0.0,
        }
        also = [mention for place, mention in well if place == id(match.statement)]
        found += [
            replace(one, features={**one.features, **features, **read.features(one)}) for one in match.candidates(also)
        ]
    return [_timed(asked, one, found) for one in _with_local_meaning(asked, found, library)]


def _with_local_meaning(asked: Asked, candidates: list[SpanCandidate], library: Library) -> list[SpanCandidate]:
    """Returns the candidates with how near the words around each are to the question without its names."""
    if library.encoder is None or not candidates:
        return candidates
    bare = " ".join(token.text for token in asked.parse.tokens if token.part not in ("PROPN", "PUNCT"))
    question = library.encoder.vectors([bare])[0]
    windows = library.encoder.vectors([one.window for one in candidates]) @ question
    clauses = library.encoder.vectors([one.clause for one in candidates]) @ question
    strong = [place for place, one in enumerate(candidates) if one.features["kind"]] or range(len(candidates))
    best_window, best_clause = windows[strong].max(), clauses[strong].max()
    found = []
    for one, window, clause in zip(candidates, windows, clauses, strict=True):
        features = {
            "window": float(window),
            "clause": float(clause),
            "window lead": float(window - best_window),
            "clause lead": float(clause - best_clause),
        }
        found.append(replace(one, features={**one.features, **features}))
    return found


@dataclass(frozen=True)
class Read:
    """The scores of a reader for a question and some documents; nothing where it is not installed.

    Attributes:
        scores: The score of each value and of the best other spans, by the id of its statement.
        masses: The logarithm of the sum of the exponentials of the spans that are about the same.
        polar: The scores of yes and of no for each document, by its name.
        total: The logarithm of the sum of the exponentials of all scores, that of no answer among them.
    """

    scores: Mapping[tuple[int, Mention], float] = field(default_factory=dict)
    masses: Mapping[tuple[int, Mention], float] = field(default_factory=dict)
    polar: Sequence[tuple[str, str, float]] = ()
    total: float = 0.0

    @cached_property
    def least(self) -> float:
        """The least score of a value that is one of the best."""
        best = sorted(self.scores.values(), reverse=True)[:BEST]
        return best[-1] if best else 0.0

    @cached_property
    def _best(self) -> float:
        return max(self.scores.values())

    def features(self, candidate: SpanCandidate) -> dict[str, float]:
        """Returns the features of a candidate; none without a reader."""
        if not self.scores:
            return {}
        key = id(candidate.statement), candidate.mention
        score = self.scores.get(key, min(self._best, 0.0) - UNREAD)
        return {
            "reader": max(score, -UNREAD) / 5,
            "reader lead": max(score - self._best, -UNREAD) / 5,
            "reader share": math.exp(score - self.total),
            "reader first": float(score == self._best),
            "reader none": math.exp(-self.total),
            "reader mass": math.exp(self.masses.get(key, -math.inf) - self.total),
        }


def read_texts(question: str, texts: Sequence[Text]) -> Read:
    """Returns what the installed reader says of some documents.

    Args:
        question: The question.
        texts: The documents.
    """
    reader = SpanReader.load()
    windows = [window for text in texts for window in windows_of(text)]
    if reader is None or not windows:
        return Read()
    found = reader.read(question, windows)
    scores: dict[tuple[int, Mention], float] = {}
    masses: dict[tuple[int, Mention], float] = {}
    polar: list[tuple[str, str, float]] = []
    parts = [0.0]
    for window, own in zip(windows, found, strict=True):
        for key, score, mass in _scored(window, own):
            scores[key] = max(score, scores.get(key, -math.inf))
            masses[key] = max(mass, masses.get(key, -math.inf))
        polar += [(window.document, "yes", own.yes), (window.document, "no", own.no)]
        parts += [own.yes, own.no, float(np.logaddexp.reduce(own.spans[np.isfinite(own.spans)]))]
    return Read(scores, masses, polar, float(np.logaddexp.reduce(parts)))


def _scored(window: Window, found: WindowScores) -> Iterator[tuple[tuple[int, Mention], float, float]]:
    """Yields the values of a window with their scores and masses, and the best spans that are no values."""
    of: defaultdict[int, list[tuple[Mention, float, float]]] = defaultdict(list)
    for line, statement in enumerate(window.statements):
        for value in statement.values if statement is not None else ():
            ends = window.ends(line, value.start, value.end)
            if statement is not None and ends is not None:
                of[id(statement)].append((value, found.near(*ends), found.mass(*ends)))
    for first, last, score in found.best(SPANS):
        part = window.part(first, last)
        if part is not None:
            statement, start, end = part
            own = of[id(statement)]
            inside = [one for one in own if one[0].start < end and start < one[0].end]
            if not any(near >= score - (LESS if one.kind == "phrase" else LESS_AS_VALUE) for one, near, _ in inside):
                span = Mention("phrase", statement.parse.text[start:end], start, end)
                own.append((span, score, found.mass(first, last)))
    for place, values in of.items():
        for value, score, mass in values:
            yield (place, value), score, mass


def _meanings(asked: Asked, matches: Sequence[StatementMatch], library: Library) -> dict[int, dict[str, float]]:
    """Returns for each statement how near its meaning is to the question's, alone and with its headline."""
    if library.encoder is None or not matches:
        return {id(match): dict.fromkeys(("meaning", "meaning alone", "meaning lead"), 0.0) for match in matches}
    question = library.encoder.vectors([asked.text])[0]
    alone = library.encoder.vectors([match.parse.text for match in matches]) @ question
    headed = library.encoder.vectors([match.headed for match in matches]) @ question
    both = (alone + headed) / 2
    return {
        id(match): {
            "meaning": float(both[place]),
            "meaning alone": float(alone[place]),
            "meaning lead": float(both[place] - both.max()),
        }
        for place, match in enumerate(matches)
    }


def _timed(asked: Asked, candidate: SpanCandidate, others: Sequence[SpanCandidate]) -> SpanCandidate:
    """Returns a candidate with the features of its time: whether a newer source has another value, or an older one."""
    value = same_value(candidate)
    rivals = [
        one for one in others if one.kind == candidate.kind and _rivals(candidate, one) and same_value(one) != value
    ]
    day = candidate.statement.passage.published
    newer = any(one.statement.passage.published > day for one in rivals)
    older = any(one.statement.passage.published < day for one in rivals)
    early = asked.earlier or asked.first
    features = {
        "superseded": float(newer and not early and asked.period is None),
        "superseded asked": float(newer and early),
        "superseding asked": float(older and not newer and asked.latest and not early),
    }
    return replace(candidate, features={**candidate.features, **features})


def _rivals(candidate: SpanCandidate, other: SpanCandidate) -> bool:
    """Whether another candidate fits a question about as well."""
    mine, its = candidate.features, other.features
    return (
        its["words"] >= mine["words"] - 0.15
        and its["weakest name"] >= mine["weakest name"] - 0.15
        and its.get("noun", 0.0) >= mine.get("noun", 0.0) - 0.2
        and its["former"] <= mine["former"]
    )


def features_of(candidates: Sequence[SpanCandidate]) -> FloatArray:
    """Returns the features as an array; shape ``(candidates, features)``."""
    return np.array([[one.features.get(name, 0.0) for name in FEATURES] for one in candidates], dtype=np.float64)


def same_value(candidate: SpanCandidate) -> tuple[str, str]:
    """Returns what candidates of one value share."""
    if candidate.kind in ("money", "percent", "count"):
        number = number_of(candidate.value)
        if number is not None:
            return "number", format(abs(number).normalize(), "f")
    return "name", plain_name(candidate.value)


def rank(candidates: Sequence[SpanCandidate], weights: Mapping[str, float]) -> list[Ranked]:
    """Returns the values of some candidates, the likeliest first.

    Args:
        candidates: The candidates.
        weights: The weight of each feature.
    """
    if not candidates:
        return []
    scores = features_of(candidates) @ np.array([weights.get(name, 0.0) for name in FEATURES])
    shares = np.exp(scores - scores.max())
    shares /= shares.sum()
    groups: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
    for place, candidate in enumerate(candidates):
        groups[same_value(candidate)].append(place)
    found = []
    for places in groups.values():
        order = sorted(places, key=lambda place: -scores[place])
        best = candidates[order[0]]
        share = float(shares[places].sum())
        found.append(Ranked(best.value, share, float(scores[order[0]]), tuple(candidates[place] for place in order)))
    return sorted(found, key=lambda one: -one.probability)
