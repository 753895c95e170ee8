"""Answers from the sentences of documents without a language model, with a fitted confidence.

>>> answer = SpanAnswers(passages).answer("Who bought Talbridge Mining?")
>>> answer.values, answer.confidence
(('Corvex Resources',), 0.94)

Words and vectors of sentences retrieve documents, and the span reader reads them together. Spans with one value are one
candidate. A logistic model of a few features gives the probability that the best candidate is right; below its
threshold there is no answer. ``benchmarks/fit_news.py`` fits it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import pairwise
from pathlib import Path

import numpy as np
from pydantic import BaseModel, ConfigDict

from kg.news.library import Library, NearDocument
from kg.news.passages import Passage
from kg.news.spans import Span, SpanReader, windows_of
from kg.news.values import compared, value_of

READ, SPANS = 4, 10
"""Documents that are read for a question, and the best spans of each part of them."""

POLAR = ("yes", "no")


class AnswerConfidence(BaseModel):
    """A logistic model of the probability that an answer is right.

    Attributes:
        about: How it was fitted.
        weights: The weight of each feature, and ``intercept``, the only one without a value.
        threshold: The least confidence of an answer.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    about: str
    weights: dict[str, float]
    threshold: float

    def confidence(self, features: Mapping[str, float]) -> float:
        """Returns the probability in [0, 1] that an answer is right."""
        total = sum(weight * features.get(name, 1.0) for name, weight in self.weights.items())
        return 1 / (1 + math.exp(-total))


@cache
def span_confidence() -> AnswerConfidence:
    """Returns the confidence that ships."""
    path = Path(__file__).with_name("confidence.json")
    return AnswerConfidence.model_validate_json(path.read_text(encoding="utf-8"))


@dataclass(frozen=True)
class TextAnswer:
    """An answer from sentences.

    Attributes:
        values: The answers; none where there is none.
        passages: For each value the sentence that has it; of a calculated value the sentences of its parts.
        confidence: In [0, 1]; of an abstention that of the answer that is not given.
        why: The reason, where there is no answer.
        steps: The calculation of a value that is calculated.
        features: What the confidence depends on.
        shares: The share of each value that is read, by :func:`kg.news.values.compared`.
    """

    values: tuple[str, ...] = ()
    passages: tuple[Passage, ...] = ()
    confidence: float = 0.0
    why: str = ""
    steps: str = ""
    features: Mapping[str, float] = field(default_factory=dict)
    shares: Mapping[tuple[str, str], float] = field(default_factory=dict)

    def rated(self, model: AnswerConfidence) -> TextAnswer:
        """Returns the answer with its confidence by a model."""
        return replace(self, confidence=model.confidence(self.features)) if self.values else self

    def decided(self, model: AnswerConfidence) -> TextAnswer:
        """Returns the answer if its confidence suffices, or the reason why it is not given."""
        confidence = self.confidence
        if not self.values or confidence >= model.threshold:
            return self
        best, shown = "; ".join(self.values), math.floor(100 * confidence) / 100
        why = f"the best answer, {best!r}, has a confidence of {shown:.2f}; the least is {model.threshold:.2f}"
        return TextAnswer(confidence=confidence, why=why)


@dataclass(frozen=True)
class WindowReading:
    """The readings of a part of a document by the span reader.

    Attributes:
        document: The document.
        spans: The best spans with their scores, and the log-masses of the spans that are about the same.
        yes: The score of yes.
        no: The score of no.
        total: The log of the sum of the exponentials of all scores but that of no answer.
    """

    document: NearDocument
    spans: tuple[tuple[Span, float, float], ...]
    yes: float
    no: float
    total: float


@dataclass
class ValueCandidate:
    """A value with the spans that have it; ``share`` is its share of the probability of all answers and of none."""

    value: str
    share: float = 0.0
    score: float = -math.inf
    spans: list[tuple[float, Span, NearDocument]] = field(default_factory=list)


def read(question: str, near: Sequence[NearDocument], reader: SpanReader) -> list[WindowReading]:
    """Returns what the span reader reads in some documents.

    Args:
        question: The question.
        near: The documents.
        reader: The reader.
    """
    windows = [(document, window) for document in near for window in windows_of(document.passages)]
    readings = []
    for (document, window), scores in zip(windows, reader.read(question, [one for _, one in windows]), strict=True):
        spans = [
            (part, score, scores.mass(first, last))
            for first, last, score in scores.best(SPANS)
            if (part := window.part(first, last)) is not None
        ]
        readings.append(WindowReading(document, tuple(spans), scores.yes, scores.no, scores.total))
    return readings


def candidates_of(readings: Sequence[WindowReading]) -> list[ValueCandidate]:
    """Returns the values that are read, those with the largest shares first; yes and no are among them."""
    total = float(np.logaddexp.reduce([0.0, *(one.total for one in readings)]))
    found: dict[tuple[str, str], ValueCandidate] = {}
    seen: set[Span] = set()
    for reading in readings:
        for span, score, mass in reading.spans:
            if span in seen:  # of two windows
                continue
            seen.add(span)
            value = value_of(span.text, span.passage.published)
            candidate = found.setdefault(compared(value), ValueCandidate(value))
            candidate.share = min(candidate.share + math.exp(mass - total), 1.0)
            candidate.spans.append((score, span, reading.document))
            if score > candidate.score:
                candidate.score, candidate.value = score, value
        for verdict, score in zip(POLAR, (reading.yes, reading.no), strict=True):
            candidate = found.setdefault(("polar", verdict), ValueCandidate(verdict))
            candidate.share += math.exp(score - total)
            if score > candidate.score:
                passages = reading.document.passages
                nearest = passages[int(np.argmax(reading.document.similarities))]
                candidate.score = score
                candidate.spans = [(score, Span(nearest, 0, len(nearest.text)), reading.document)]
    for candidate in found.values():
        candidate.spans.sort(key=lambda one: -one[0])
    return sorted(found.values(), key=lambda one: (-one.share, -one.score))


MOST_LISTED, LEAST_LISTED, MOST_BETWEEN = 6, 0.02, 8
"""Values of one sentence that are answered together, the least share of one, and the characters between two."""

_LEAST_SHARE = 1e-4


def proposals_of(readings: Sequence[WindowReading]) -> list[TextAnswer]:
    """Returns what may be answered, with the features of its confidence: the best value, or several of its sentence.

    Args:
        readings: What the span reader reads in the documents nearest to a question.
    """
    candidates = candidates_of(readings)
    if not candidates:
        return []
    near = list({reading.document.name: reading.document for reading in readings}.values())
    none = math.exp(-float(np.logaddexp.reduce([0.0, *(one.total for one in readings)])))
    groups = [candidates[:1]]
    if candidates[0].value not in POLAR:
        passage = candidates[0].spans[0][1].passage
        beside = [one for one in candidates[1:MOST_LISTED] if one.spans[0][1].passage == passage]
        beside = [one for one in beside if one.share >= LEAST_LISTED and one.value not in POLAR]
        ordered = sorted([candidates[0], *beside], key=lambda one: one.spans[0][1].start)
        groups += [ordered] if beside else []
    return [_proposal(group, candidates, near, none) for group in groups]


def _proposal(
    group: Sequence[ValueCandidate], candidates: Sequence[ValueCandidate], near: Sequence[NearDocument], none: float
) -> TextAnswer:
    """Returns some values as an answer."""
    best = max(group, key=lambda one: one.share)
    _, span, document = best.spans[0]
    rivals = [one for one in candidates if one not in group]
    parts = [one.spans[0][1] for one in group]
    gaps = [after.start - before.end for before, after in pairwise(parts)]
    share = min(max(sum(one.share for one in group), _LEAST_SHARE), 1 - _LEAST_SHARE)
    features = {
        "share": share,
        "odds": math.log(share / (1 - share)) / 5,
        "least": min(one.share for one in group),
        "lead": min(one.share for one in group) - max((one.share for one in rivals), default=0.0),
        "none": none,
        "score": max(min(best.score, 10.0), -5.0) / 5,
        "similarity": document.similarity,
        "similarity lead": document.similarity - max(one.similarity for one in near),
        "sentence": document.similarities[document.passages.index(span.passage)],
        "words": document.words,
        "agreed": (min(len({one.name for _, _, one in best.spans}), 3) - 1) / 2,
        "newer": sum(one.published > document.published for one in near) / len(near),
        "polar": float(best.value in POLAR),
        "several": float(len(group) > 1),
        "apart": float(max(gaps, default=0) > MOST_BETWEEN),
        "amount": float(compared(best.value)[0] == "amount"),
        "day": float(re.fullmatch(r"\d{4}(?:-\d\d){1,2}", best.value) is not None),
    }
    return TextAnswer(
        tuple(one.value for one in group),
        tuple(part.passage for part in parts),
        features=features,
        shares={compared(one.value): one.share for one in candidates},
    )


class SpanAnswers:
    """Answers from the sentences of documents.

    Args:
        passages: The sentences.
        model: The confidence; by default the one that ships.
    """

    def __init__(self, passages: Iterable[Passage], model: AnswerConfidence | None = None) -> None:
        self.library = Library(passages)
        self.model = model if model is not None else span_confidence()
        self._reader = SpanReader.load() if self.library.encoder is not None else None

    def proposed(self, question: str) -> TextAnswer:
        """Returns what would be answered to a question, with its confidence; no values, and why, where nothing is."""
        if self._reader is None:
            return TextAnswer(why="the extra 'news' is not installed, so nothing is read without a language model")
        near = self.library.near(question, READ)
        proposals = proposals_of(read(question, near, self._reader)) if near else []
        if not proposals:
            return TextAnswer(why="there is no text to read")
        return max((one.rated(self.model) for one in proposals), key=lambda one: one.confidence)

    def answer(self, question: str) -> TextAnswer:
        """Returns the answer to a question, or why there is none."""
        return self.proposed(question).decided(self.model)
