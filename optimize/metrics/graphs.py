"""Metrics of answers from a graph, by exact matching.

    >>> score = score_question(gold, result, index)
    >>> score.hit_at[1], score.f1, score.valid_paths
    (True, 0.8, 10)
    >>> summarise_kgqa([score], seed=0)["hit_at_1"]
    1.0

Exact metrics compare whole names. *Hit@k*: a gold answer is among the first k answers. *Precision*, *recall*, *F1*: of
the answers that the program selects (all that the chosen relation path reaches), averaged over questions. *Path
validity*: the share of written paths of which every step is a triple of the graph.

An evaluation also writes its predictions in the form of GCR, whose own looser metrics read them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kg.errors import DataError
from kg.graphs import GraphIndex
from optimize.metrics.statistics import bootstrap_ratios
from programs.turns import PathDetail
from programs.worlds.paths import PathTurn

HIT_AT = (1, 3, 5, 10)
"""The depths at which it is asked whether a gold answer is among the answers."""

_PATH, _ANSWER = "# Reasoning Path:\n", "# Answer:\n"


@dataclass(frozen=True)
class KGQAScore:
    """An answered question with its gold; all shares are in [0, 1].

    Attributes:
        id: The question's id.
        question: The question.
        group: Its topics; questions of one group depend on each other.
        answer: The first answer.
        gold: The gold answers.
        rank: Place of the first right answer among the answers, from 1; ``None`` where none is right.
        precision: Share of the chosen answers that are gold; 0 without an answer.
        recall: Share of the gold answers that are chosen.
        f1: Their harmonic mean; 0 where both are 0.
        paths: Written paths.
        valid_paths: Those of which every step is a triple of the graph.
        failure: The reason for the missing answer.
        message: The failure in words.
        ambiguous: Whether the topic was linked by a label that several entities bear.
        lm_calls: Calls to a language model.
        seconds: Wall time.
        confidence: The probability in [0, 1] of the first answer; ``None`` without an answer.
    """

    id: str
    question: str
    group: str
    answer: str | None
    gold: tuple[str, ...]
    rank: int | None
    precision: float
    recall: float
    f1: float
    paths: int
    valid_paths: int
    failure: str | None = None
    message: str = ""
    ambiguous: bool = False
    lm_calls: int = 0
    seconds: float = 0.0
    confidence: float | None = None

    @property
    def hit_at(self) -> dict[int, bool]:
        """Whether a right answer is among the first ``k``, for each ``k`` of :data:`HIT_AT`."""
        return {k: self.rank is not None and self.rank <= k for k in HIT_AT}


def score_question(gold: Any, turn: PathTurn, graph: GraphIndex | None) -> KGQAScore:
    """Scores an answered question by its gold.

    Args:
        gold: The question, with ``id``, ``question``, ``topics`` and ``answers``, such as
            :class:`experiments.data.questions.KGQuestion`.
        turn: The program's turn.
        graph: The lookup of the steps of its paths; ``None`` if the question failed before it had a graph.

    Raises:
        DataError: The question has no gold answers, or a prediction is not written in its format.
    """
    if not gold.answers:
        raise DataError("has no answer to score against", place=f"question {gold.id!r}")
    detail = turn.detail or PathDetail()
    right = set(gold.answers)
    named = [answer for answer, _ in detail.answers]
    rank = next((place for place, answer in enumerate(named, start=1) if answer in right), None)
    precision, recall = shares(detail.chosen, gold.answers)
    read = [read_prediction(text) for text in detail.predictions]
    return KGQAScore(
        id=gold.id,
        question=gold.question,
        group=" | ".join(gold.topics) or gold.id,
        answer=named[0] if named else None,
        gold=gold.answers,
        rank=rank,
        precision=precision,
        recall=recall,
        f1=harmonic_mean(precision, recall),
        paths=len(read),
        valid_paths=sum(graph is not None and is_valid_path(path, graph) for path, _ in read),
        failure=turn.failure,
        message=turn.message,
        ambiguous=detail.is_ambiguous,
        lm_calls=turn.usage.lm_calls,
        seconds=turn.usage.seconds,
        confidence=turn.confidence,
    )


def shares(found: Sequence[str], right: Sequence[str]) -> tuple[float, float]:
    """Returns precision and recall of a set of answers; precision is 0 without an answer."""
    hits = len(set(found) & set(right))
    return hits / len(set(found)) if found else 0.0, hits / len(set(right))


def harmonic_mean(precision: float, recall: float) -> float:
    """F1; 0 where both are 0."""
    return 2 * precision * recall / (precision + recall) if precision + recall > 0 else 0.0


def read_prediction(text: str) -> tuple[str, str]:
    """Returns the path and the answer of a written prediction.

    Raises:
        DataError: It is not written as a path and an answer.
    """
    path, separator, answer = text.partition("\n" + _ANSWER)
    if not path.startswith(_PATH) or not separator:
        raise DataError(f"a prediction must be written {_PATH + '...' + chr(10) + _ANSWER + '...'!r}, got {text!r:.80}")
    return path.removeprefix(_PATH), answer


def is_valid_path(path: str, graph: GraphIndex) -> bool:
    """Returns whether a written path, ``e_0 -> r_1 -> e_1``, has a step, and every step is a triple of the graph."""
    parts = path.split(" -> ")
    steps = zip(parts[:-2:2], parts[1:-1:2], parts[2::2], strict=False)
    return len(parts) >= 3 and len(parts) % 2 == 1 and all(graph.contains(*step) for step in steps)


def summarise_kgqa(scores: Sequence[KGQAScore], *, seed: int, resamples: int = 1000) -> dict[str, float | None]:
    """Returns the figures of an evaluation under their stable names.

    ``hit_at_1`` to ``hit_at_10``, ``precision``, ``recall``, ``f1``, ``path_validity`` (``None`` where no path is)
    all in [0, 1], each with ``..._low`` and ``..._high``, the 95% bootstrap interval over
    groups of questions with the same topics; ``questions``, ``groups``, ``unanswered_questions``, ``failures_...`` by
    kind, ``ambiguous_questions``, ``lm_calls_per_question``, ``seconds_per_question_p50`` and
    ``seconds_per_question_p95``.

    Raises:
        ConfigError: There are no scores.
    """
    places = {group: place for place, group in enumerate(dict.fromkeys(score.group for score in scores))}
    columns: dict[str, tuple[list[float], list[float]]] = {}

    def add(name: str, values: Sequence[float], most: Sequence[float] | None = None) -> None:
        hits, totals = [0.0] * len(places), [0.0] * len(places)
        for score, value, weight in zip(scores, values, most or [1.0] * len(scores), strict=True):
            hits[places[score.group]] += value
            totals[places[score.group]] += weight
        if sum(totals) > 0:
            columns[name] = hits, totals

    for k in HIT_AT:
        add(f"hit_at_{k}", [score.hit_at[k] for score in scores])
    for name in ("precision", "recall", "f1"):
        add(name, [getattr(score, name) for score in scores])
    add("path_validity", [score.valid_paths for score in scores], [score.paths for score in scores])
    summary: dict[str, float | None] = {"path_validity": None}
    for name, interval in bootstrap_ratios(columns, seed=seed, resamples=resamples).items():
        summary |= {name: interval.value, f"{name}_low": interval.low, f"{name}_high": interval.high}
    return summary | _counts(scores, len(places))


def _counts(scores: Sequence[KGQAScore], groups: int) -> dict[str, float]:
    failures = [score.failure for score in scores if score.failure is not None]
    p50, p95 = np.percentile([score.seconds for score in scores], [50, 95])
    return {
        "questions": len(scores),
        "groups": groups,
        "unanswered_questions": len(failures),
        **{f"failures_{kind}": failures.count(kind) for kind in dict.fromkeys(sorted(failures))},
        "ambiguous_questions": sum(score.ambiguous for score in scores),
        "lm_calls_per_question": sum(score.lm_calls for score in scores) / len(scores),
        "seconds_per_question_p50": float(p50),
        "seconds_per_question_p95": float(p95),
    }
