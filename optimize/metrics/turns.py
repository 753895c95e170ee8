"""Metrics of turns: the official accuracies first, then recall, calibration, failures and costs.

The official execution accuracy compares the exact result with ``exe_ans`` at five digits. The program accuracy compares
the calculation with the gold one. Both are over all turns, answered with the program's own history::

    >>> exact_match(Decimal("0.1413573"), Decimal("0.14136"))
    True
    >>> scores = score_conversation(conversation, turns)
    >>> summarise(scores, seed=0)["exe_accuracy"]
    0.7

Every accuracy is in [0, 1] (``dspy.Evaluate`` speaks 0 to 100).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from kg.derivations import Answer, Derivation
from kg.errors import ConfigError, DataError
from kg.search import merge_key
from optimize.metrics.abstention import COVERAGES, expected_calibration_error, most_confident
from optimize.metrics.equality import program_match
from optimize.metrics.feedback import diagnose
from optimize.metrics.statistics import Interval, bootstrap_ratios
from programs.turns import Failure, Turn
from signatures.understand import Understanding

RECALL_AT = (1, 3, 5, 10, 20)
"""The depths of the candidates at which recall is reported."""

USAGE = ("lm_calls", "prompt_tokens", "completion_tokens", "seconds", "cached_prompt_tokens")
"""The costs that a score takes over from its turn."""


@dataclass(frozen=True)
class TurnScore:
    """One answered question with its gold.

    Attributes:
        conversation_id: The id of its conversation.
        turn_index: Its place there, counted from 0 (the names of metrics count from 1).
        question: The question.
        answer: The program's answer, exact; ``None`` where it failed.
        gold_answer: The official result, rounded to five digits.
        program: The program's derivation, if it has one.
        gold_program: The gold derivation.
        exact: Whether the answer is right, as ``exe_accuracy`` counts it.
        program_correct: Whether the derivation is the gold one symbolically.
        rank: Place of the gold answer among the candidates, from 1; ``None`` if it is not among them.
        is_selection: Whether the gold program only selects a number.
        conversation_type: ConvFinQA's Type I or II.
        stage: The stage of the error: ``right``, ``failed``, ``not_in_beam`` or ``not_picked``.
        difference: The kind of the difference between a wrong derivation and the gold one, if it has one.
        failure: The reason for the missing answer.
        message: The failure in words.
        confidence: Probability in [0, 1] that the program gave to its answer.
        lm_calls: Calls to a language model.
        prompt_tokens: Tokens read by the model.
        completion_tokens: Tokens written by the model.
        seconds: Wall time.
        cached_prompt_tokens: Those of the prompts' tokens that the model had in its cache.
        rows_cut: Rows of the page that the prompt did not show.
        sentences_cut: Sentences of the page that the prompt did not show.
        refused: Calculations of the model that were refused.
    """

    conversation_id: str
    turn_index: int
    question: str
    answer: Answer | None
    gold_answer: Answer
    program: str | None
    gold_program: str
    exact: bool
    program_correct: bool
    rank: int | None
    is_selection: bool
    conversation_type: Literal["I", "II"]
    stage: str
    difference: str | None
    failure: Failure | None
    message: str
    confidence: float | None
    lm_calls: int
    prompt_tokens: int
    completion_tokens: int
    seconds: float
    cached_prompt_tokens: int = 0
    rows_cut: int = 0
    sentences_cut: int = 0
    refused: int = 0


def exact_match(answer: Answer | None, gold: Answer) -> bool:
    """Returns the official execution accuracy of one turn: equal at five digits, or the same word (``yes``/``no``).

    ``None``, a turn without an answer, is wrong.
    """
    return answer is not None and merge_key(answer) == merge_key(gold)


def score_conversation(conversation: Any, turns: Sequence[Turn]) -> list[TurnScore]:
    """Scores the turns of a conversation by its gold.

    Args:
        conversation: With ``id``, ``report``, ``questions``, ``programs``, ``answers`` and ``conversation_type``, such
            as :class:`experiments.data.conversations.ConversationRecord`.
        turns: The program's turns.

    Raises:
        DataError: The conversation has no gold.
        ConfigError: There is not one turn for each question.
    """
    if conversation.programs is None or conversation.answers is None:
        raise DataError("has no gold answers to score against", place=f"conversation {conversation.id!r}")
    if len(turns) != len(conversation.questions):
        raise ConfigError(
            f"turns must be one for each of the {len(conversation.questions)} questions of {conversation.id!r}, "
            f"got {len(turns)}"
        )
    gold = zip(turns, conversation.programs, conversation.answers, strict=True)
    return [_score_turn(conversation, place, turn, *own) for place, (turn, *own) in enumerate(gold)]


def _score_turn(conversation: Any, index: int, turn: Turn, gold_program: str, gold_answer: Answer) -> TurnScore:
    found = diagnose(turn, gold_program, gold_answer, conversation.report)
    read = turn.understanding
    page: dict[str, Any] = {}
    if isinstance(read, Understanding):
        page = {"rows_cut": read.rows_cut, "sentences_cut": read.sentences_cut, "refused": len(read.refused)}
    return TurnScore(
        conversation_id=conversation.id,
        turn_index=index,
        question=conversation.questions[index],
        answer=turn.answer,
        gold_answer=gold_answer,
        program=str(turn.derivation) if turn.derivation is not None else None,
        gold_program=gold_program,
        exact=exact_match(turn.answer, gold_answer),
        program_correct=program_match(turn.derivation, gold_program),
        rank=found.rank,
        is_selection=Derivation.parse(gold_program).is_look_up,
        conversation_type=conversation.conversation_type,
        stage=found.stage,
        difference=found.difference,
        failure=turn.failure,
        message=turn.message,
        confidence=turn.confidence,
        **{name: getattr(turn.usage, name) for name in USAGE},
        **page,
    )


def summarise(scores: Sequence[TurnScore], *, seed: int, resamples: int = 1000) -> dict[str, float]:
    """Returns the figures of an evaluation under their stable names.

    ``exe_accuracy``, ``program_accuracy``, ``conversation_accuracy`` (every turn right), ``recall_at_1`` to
    ``recall_at_20``, ``accuracy_at_coverage_10`` to ``…_100`` (over the most confident turns), and
    ``exe_accuracy_…`` by ``number_selection``/``program``, ``turn_1``…, ``type_1``/``type_2``, each with ``…_low``
    and ``…_high``, the 95% bootstrap interval over conversations; ``expected_calibration_error``
    (:mod:`optimize.metrics.abstention`); ``turns``, ``conversations``, ``failed_turns``, ``failures_…`` by kind,
    ``stage_…`` and ``difference_…`` counts of wrong turns; ``lm_calls_per_turn``, ``prompt_tokens_per_turn``,
    ``uncached_prompt_tokens_per_turn``, ``completion_tokens_per_turn``, ``seconds_per_turn_p50`` and ``…_p95``;
    ``turns_with_cut_page`` and ``refused_calculations`` of a model that reads the page. A breakdown without turns is
    left out.

    Raises:
        ConfigError: There are no scores.
    """
    if not scores:
        raise ConfigError("scores must hold at least one turn, got none")
    summary: dict[str, float] = {}
    for name, interval in _intervals(scores, seed, resamples).items():
        summary |= {name: interval.value, f"{name}_low": interval.low, f"{name}_high": interval.high}
    confidences = [score.confidence if score.confidence is not None else 0.0 for score in scores]
    error = expected_calibration_error(confidences, [score.exact for score in scores])
    return summary | {"expected_calibration_error": error} | _counts(scores) | _costs(scores)


def _intervals(scores: Sequence[TurnScore], seed: int, resamples: int) -> dict[str, Interval]:
    groups: dict[str, list[TurnScore]] = {}
    for score in scores:
        groups.setdefault(score.conversation_id, []).append(score)
    figures: dict[str, tuple[list[float], list[float]]] = {}

    def add(name: str, right: Sequence[bool], counted: Sequence[bool] | None = None) -> None:
        hit = {id(score): float(one) for score, one in zip(scores, right, strict=True)}
        of = {id(score): float(one) for score, one in zip(scores, counted or [True] * len(scores), strict=True)}
        totals = [sum(of[id(score)] for score in group) for group in groups.values()]
        if any(totals):
            figures[name] = [sum(hit[id(one)] * of[id(one)] for one in group) for group in groups.values()], totals

    exact = [score.exact for score in scores]
    add("exe_accuracy", exact)
    add("program_accuracy", [score.program_correct for score in scores])
    whole = [float(all(score.exact for score in group)) for group in groups.values()]
    figures["conversation_accuracy"] = whole, [1.0] * len(groups)
    for depth in RECALL_AT:
        add(f"recall_at_{depth}", [score.rank is not None and score.rank <= depth for score in scores])
    confidences = [score.confidence if score.confidence is not None else 0.0 for score in scores]
    for share in COVERAGES:
        chosen = set(most_confident(confidences, share))
        add(f"accuracy_at_coverage_{round(100 * share)}", exact, [place in chosen for place in range(len(scores))])
    add("exe_accuracy_number_selection", exact, [score.is_selection for score in scores])
    add("exe_accuracy_program", exact, [not score.is_selection for score in scores])
    for index in sorted({score.turn_index for score in scores}):
        add(f"exe_accuracy_turn_{index + 1}", exact, [score.turn_index == index for score in scores])
    for number, kind in enumerate(("I", "II"), start=1):
        add(f"exe_accuracy_type_{number}", exact, [score.conversation_type == kind for score in scores])
    return bootstrap_ratios(figures, seed=seed, resamples=resamples)


def _counts(scores: Sequence[TurnScore]) -> dict[str, float]:
    counts: dict[str, float] = {
        "turns": len(scores),
        "conversations": len({score.conversation_id for score in scores}),
        "failed_turns": sum(score.failure is not None for score in scores),
    }
    cut = sum(score.rows_cut + score.sentences_cut > 0 for score in scores)
    some = {"turns_with_cut_page": cut, "refused_calculations": sum(score.refused for score in scores)}
    wrong = [score for score in scores if not score.exact]
    kinds = Counter(
        [
            *(f"failures_{score.failure}" for score in scores if score.failure is not None),
            *(f"stage_{score.stage}" for score in wrong),
            *(f"difference_{score.difference}" for score in wrong if score.difference is not None),
        ]
    )
    return {
        **counts,
        **{name: count for name, count in some.items() if count},
        **dict(sorted(kinds.items())),
    }


def _costs(scores: Sequence[TurnScore]) -> dict[str, float]:
    totals = {name: sum(getattr(score, name) for score in scores) for name in USAGE}
    seconds = [score.seconds for score in scores]
    return {
        "lm_calls_per_turn": totals["lm_calls"] / len(scores),
        "prompt_tokens_per_turn": totals["prompt_tokens"] / len(scores),
        "uncached_prompt_tokens_per_turn": (totals["prompt_tokens"] - totals["cached_prompt_tokens"]) / len(scores),
        "completion_tokens_per_turn": totals["completion_tokens"] / len(scores),
        "seconds_per_turn_p50": float(np.percentile(seconds, 50)),
        "seconds_per_turn_p95": float(np.percentile(seconds, 95)),
    }
