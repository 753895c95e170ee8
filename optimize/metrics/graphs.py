"""Metrics of answers from a graph, by exact matching of whole names.

    >>> score = score_question(question, turn)
    >>> score.hit_at[1], score.f1
    (True, 0.8)
    >>> summarise_kgqa([score], seed=0)["hit_at_1"]
    1.0

*Hit@k*: a gold answer is among the first k answers. *Precision*, *recall*, *F1*: of the answers that the program
selects (all that the chosen relation path reaches), averaged over questions. An evaluation also writes its predictions
in the form of GCR, whose own looser metrics read them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kg.errors import DataError
from optimize.metrics.turns import with_intervals
from programs.turns import GraphDetail
from programs.worlds.graph import GraphTurn

HIT_AT = (1, 3, 5, 10)
"""The depths at which it is asked whether a gold answer is among the answers."""


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
        failure: The reason for the missing answer.
        message: The failure in words.
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
    failure: str | None = None
    message: str = ""
    lm_calls: int = 0
    seconds: float = 0.0
    confidence: float | None = None

    @property
    def hit_at(self) -> dict[int, bool]:
        """Whether a right answer is among the first ``k``, for each ``k`` of :data:`HIT_AT`."""
        return {k: self.rank is not None and self.rank <= k for k in HIT_AT}


def score_question(gold: Any, turn: GraphTurn) -> KGQAScore:
    """Scores an answered question by its gold.

    Args:
        gold: The question, with ``id``, ``question``, ``topics`` and ``answers``, such as
            :class:`experiments.data.questions.KGQuestion`.
        turn: The program's turn.

    Raises:
        DataError: The question has no gold answers.
    """
    if not gold.answers:
        raise DataError("has no answer to score against", place=f"question {gold.id!r}")
    detail = turn.detail or GraphDetail()
    right = set(gold.answers)
    named = [answer for answer, _ in detail.answers]
    rank = next((place for place, answer in enumerate(named, start=1) if answer in right), None)
    chosen = set(detail.nodes)
    precision = len(chosen & right) / len(chosen) if chosen else 0.0
    recall = len(chosen & right) / len(right)
    return KGQAScore(
        id=gold.id,
        question=gold.question,
        group=" | ".join(gold.topics) or gold.id,
        answer=named[0] if named else None,
        gold=gold.answers,
        rank=rank,
        precision=precision,
        recall=recall,
        f1=2 * precision * recall / (precision + recall) if precision + recall > 0 else 0.0,
        failure=turn.failure,
        message=turn.message,
        lm_calls=turn.usage.lm_calls,
        seconds=turn.usage.seconds,
        confidence=turn.confidence,
    )


def summarise_kgqa(scores: Sequence[KGQAScore], *, seed: int, resamples: int = 1000) -> dict[str, float]:
    """Returns the figures of an evaluation under their stable names.

    ``hit_at_1`` to ``hit_at_10``, ``precision``, ``recall`` and ``f1``, all in [0, 1], each with ``..._low`` and
    ``..._high``, the 95% bootstrap interval over groups of questions with the same topics; ``questions``, ``groups``,
    ``unanswered_questions``, ``failures_...`` by kind, ``lm_calls_per_question``, ``seconds_per_question_p50`` and
    ``..._p95``.

    Raises:
        ConfigError: There are no scores.
    """
    columns: dict[str, tuple[list[float], list[float] | None]] = {
        **{f"hit_at_{k}": ([score.hit_at[k] for score in scores], None) for k in HIT_AT},
        **{name: ([getattr(score, name) for score in scores], None) for name in ("precision", "recall", "f1")},
    }
    groups = [score.group for score in scores]
    return with_intervals(groups, columns, seed=seed, resamples=resamples) | _counts(scores, len(set(groups)))


def _counts(scores: Sequence[KGQAScore], groups: int) -> dict[str, float]:
    failures = [score.failure for score in scores if score.failure is not None]
    p50, p95 = np.percentile([score.seconds for score in scores], [50, 95])
    return {
        "questions": len(scores),
        "groups": groups,
        "unanswered_questions": len(failures),
        **{f"failures_{kind}": failures.count(kind) for kind in dict.fromkeys(sorted(failures))},
        "lm_calls_per_question": sum(score.lm_calls for score in scores) / len(scores),
        "seconds_per_question_p50": float(p50),
        "seconds_per_question_p95": float(p95),
    }
