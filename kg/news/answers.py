"""Answers from the sentences of documents without a language model, with a fitted confidence.

>>> answer = SpanAnswers(passages).proposed("Who bought Talbridge Mining?")
>>> answer.values, answer.confidence
(('Corvex Resources',), 0.94)

Words and vectors of sentences retrieve documents, and the span reader reads them together. Spans with one value are one
candidate. A logistic model of a few features gives the probability that the best candidate is right; below its
threshold there is no answer. ``benchmarks/fit_news.py`` fits it.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import pairwise
from pathlib import Path

import numpy as np
from pydantic import BaseModel, ConfigDict

from kg.logistic import LogisticModel
from kg.news.documents import Passage
from kg.news.library import Library, NearDocument
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
        return LogisticModel(self.weights).probability({"intercept": 1.0, **features})


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

    def is_confident(self, model: AnswerConfidence) -> bool:
        """Whether it answers with the confidence that a model asks for."""
        return bool(self.values) and self.confidence >= model.threshold

    def decided(self, model: AnswerConfidence) -> TextAnswer:
        """Returns the answer if its confidence suffices, or the reason why it is not given."""
        confidence = self.confidence
        if not self.values or self.is_confident(model):
            return self
        best, shown = "; ".join(self.values), math.floor(100 * confidence) / 100
        why = f"the best answer, {best!r}, has a confidence of {shown:.2f}; the least is {model.threshold:.2f}"
        return TextAnswer(confidence=confidence, why=why)


@dataclass(frozen=True)
class SpanReading:
    """A span that may answer a question, with its score; yes and no are read in the nearest sentence of a document.

    Attributes:
        value: The span as an answer.
        span: The span.
        document: Its document.
        score: Its score.
        mass: The log of the sum of the exponentials of the spans that are about the same.
    """

    value: str
    span: Span
    document: NearDocument
    score: float
    mass: float


def read(question: str, near: Sequence[NearDocument], reader: SpanReader) -> tuple[list[SpanReading], float]:
    """Returns the best spans of some documents, and the log of the sum of the exponentials of all scores.

    Args:
        question: The question.
        near: The documents.
        reader: The reader.
    """
    windows = [(document, window) for document in near for window in windows_of(document.passages)]
    found: dict[tuple[Span, str], SpanReading] = {}
    totals = [0.0]  # of no answer
    for (document, window), scores in zip(windows, reader.read(question, [one for _, one in windows]), strict=True):
        totals.append(scores.total)
        sentence = document.passages[int(np.argmax(document.similarities))]
        for verdict, score in zip(POLAR, (scores.yes, scores.no), strict=True):
            span = Span(sentence, 0, len(sentence.text))
            if score > found.get((span, verdict), SpanReading("", span, document, -math.inf, 0)).score:
                found[span, verdict] = SpanReading(verdict, span, document, score, score)
        for first, last, score in scores.best(SPANS):
            part = window.part(first, last)
            if part is not None and (part, "") not in found:  # of two windows, the first
                value = value_of(part.text, part.passage.published)
                found[part, ""] = SpanReading(value, part, document, score, scores.mass(first, last))
    return list(found.values()), float(np.logaddexp.reduce(totals))


@dataclass(frozen=True)
class ValueCandidate:
    """A value with its spans, the best first, and its share of the probability of all answers and of none."""

    value: str
    share: float
    spans: tuple[SpanReading, ...]


def candidates_of(spans: Sequence[SpanReading], total: float) -> list[ValueCandidate]:
    """Returns the values that are read, those with the largest shares first; yes and no are among them."""
    groups: defaultdict[tuple[str, str], list[SpanReading]] = defaultdict(list)
    for one in sorted(spans, key=lambda span: -span.score):
        groups[compared(one.value)].append(one)
    found = [
        ValueCandidate(group[0].value, min(sum(math.exp(one.mass - total) for one in group), 1.0), tuple(group))
        for group in groups.values()
    ]
    return sorted(found, key=lambda one: (-one.share, -one.spans[0].score))


MOST_LISTED, LEAST_LISTED, MOST_BETWEEN = 6, 0.02, 8
"""Values of one sentence that are answered together, the least share of one, and the characters between two."""

_LEAST_SHARE = 1e-4


def proposals_of(spans: Sequence[SpanReading], total: float) -> list[TextAnswer]:
    """Returns what may be answered, with the features of its confidence: the best value, or several of its sentence.

    Args:
        spans: The spans that :func:`read` returns.
        total: The log of the sum of the exponentials of all scores.
    """
    candidates = candidates_of(spans, total)
    if not candidates:
        return []
    best = candidates[0]
    passage = best.spans[0].span.passage
    likely = [one for one in candidates[:MOST_LISTED] if one.share >= LEAST_LISTED and one.value not in POLAR]
    beside = sorted(
        (one for one in likely if one.spans[0].span.passage == passage), key=lambda one: one.spans[0].span.start
    )
    gaps = [passage.text[one.spans[0].span.end : other.spans[0].span.start] for one, other in pairwise(beside)]
    is_list = len(beside) > 1 and best in beside and all(gap.strip() for gap in gaps)
    groups = [[best], beside] if is_list else [[best]]
    return [_proposal(group, candidates, math.exp(-total)) for group in groups]


def _proposal(group: Sequence[ValueCandidate], candidates: Sequence[ValueCandidate], none: float) -> TextAnswer:
    """Returns some values as an answer."""
    best = max(group, key=lambda one: one.share)
    first, document, is_polar = best.spans[0], best.spans[0].document, best.value in POLAR
    near = {one.document.name: one.document for candidate in candidates for one in candidate.spans}.values()
    rivals = [one.share for one in candidates if one not in group]
    parts = [one.spans[0].span for one in group]
    share = min(max(sum(one.share for one in group), _LEAST_SHARE), 1 - _LEAST_SHARE)
    documents = 1 if is_polar else len({one.document.name for one in best.spans})
    features = {
        "share": share,
        "odds": math.log(share / (1 - share)) / 5,
        "least": min(one.share for one in group),
        "lead": min(one.share for one in group) - max(rivals, default=0.0),
        "none": none,
        "score": max(min(first.score, 10.0), -5.0) / 5,
        "similarity": document.similarity,
        "similarity lead": document.similarity - max(one.similarity for one in near),
        "sentence": document.similarities[document.passages.index(first.span.passage)],
        "words": document.words,
        "agreed": (min(documents, 3) - 1) / 2,
        "newer": sum(one.published > document.published for one in near) / len(near),
        "polar": float(is_polar),
        "several": float(len(group) > 1),
        "apart": float(any(after.start - before.end > MOST_BETWEEN for before, after in pairwise(parts))),
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
    """

    def __init__(self, passages: Iterable[Passage]) -> None:
        self.library = Library(passages)
        self.model = span_confidence()
        self._reader = SpanReader.load() if self.library.encoder is not None else None

    def proposed(self, question: str) -> TextAnswer:
        """Returns what would be answered to a question, with its confidence; no values, and why, where nothing is."""
        if self._reader is None:
            return TextAnswer(why="the extra 'news' is not installed, so nothing is read without a language model")
        near = self.library.near(question, READ)
        proposals = proposals_of(*read(question, near, self._reader)) if near else []
        if not proposals:
            return TextAnswer(why="there is no text to read")
        return max((one.rated(self.model) for one in proposals), key=lambda one: one.confidence)
