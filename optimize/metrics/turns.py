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

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal, Protocol

import numpy as np

from kg.derivations import Answer, Derivation
from kg.errors import ConfigError, DataError
from kg.reports import Report
from kg.search import merge_key
from optimize.metrics.calibration import COVERAGES, expected_calibration_error, most_confident
from optimize.metrics.equality import program_match
from optimize.metrics.feedback import diagnose
from optimize.metrics.statistics import Interval, bootstrap_ratios
from programs.turns import Failure, Turn
from signatures.understand import Understanding

RECALL_AT = (1, 3, 5, 10, 20)
"""The depths of the candidates at which recall is reported."""

ConversationType = Literal["I", "II"]


class GoldConversation(Protocol):
    """A conversation with its gold, such as ``experiments.data.conversations.ConversationRecord``."""

    @property
    def id(self) -> str:
        """Unique among the conversations scored together."""
        ...

    @property
    def report(self) -> Report:
        """The report that the questions are about."""
        ...

    @property
    def questions(self) -> tuple[str, ...]:
        """The questions in order."""
        ...

    @property
    def programs(self) -> tuple[str, ...] | None:
        """The gold programs."""
        ...

    @property
    def answers(self) -> tuple[Answer, ...] | None:
        """The official results."""
        ...

    @property
    def conversation_type(self) -> ConversationType:
        """ConvFinQA's Type I or II."""
        ...


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
        lenient: Whether :func:`lenient_match` accepts it.
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
        cached_is_estimate: Whether this is an estimate.
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
    lenient: bool
    rank: int | None
    is_selection: bool
    conversation_type: ConversationType
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
    cached_is_estimate: bool = False
    rows_cut: int = 0
    sentences_cut: int = 0
    refused: int = 0


def exact_match(answer: Answer | None, gold: Answer) -> bool:
    """Returns the official execution accuracy of one turn: equal at five digits, or the same word (``yes``/``no``).

    ``None``, a turn without an answer, is wrong.
    """
    return answer is not None and merge_key(answer) == merge_key(gold)


def lenient_match(answer: Answer | None, gold: Answer) -> bool:
    """Returns whether two answers are within 0.1 of each other, after everything but digits and the point is stripped.

    It is reported under its own name only, because it loses signs. A constant answer of 0 passes wherever the gold is a
    small ratio, which is about a quarter of the divisions of ConvFinQA.
    """
    if not isinstance(answer, Decimal) or not isinstance(gold, Decimal):
        return answer == gold
    return abs(_stripped(answer) - _stripped(gold)) < Decimal("0.1")


def _stripped(number: Decimal) -> Decimal:
    return Decimal(re.sub(r"[^0-9.]", "", f"{number:f}"))


def score_conversation(conversation: GoldConversation, turns: Sequence[Turn]) -> list[TurnScore]:
    """Scores the turns of a conversation by its gold.

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
    return [
        _score_turn(conversation, index, turn, program, answer) for index, (turn, program, answer) in enumerate(gold)
    ]


def _score_turn(
    conversation: GoldConversation, index: int, turn: Turn, gold_program: str, gold_answer: Answer
) -> TurnScore:
    found = diagnose(turn, gold_program, gold_answer, conversation.report)
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
        lenient=lenient_match(turn.answer, gold_answer),
        rank=found.rank,
        is_selection=Derivation.parse(gold_program).is_look_up,
        conversation_type=conversation.conversation_type,
        stage=found.stage,
        difference=found.difference,
        failure=turn.failure,
        message=turn.message,
        confidence=turn.confidence,
        lm_calls=turn.usage.lm_calls,
        prompt_tokens=turn.usage.prompt_tokens,
        completion_tokens=turn.usage.completion_tokens,
        seconds=turn.usage.seconds,
        cached_prompt_tokens=turn.usage.cached_prompt_tokens,
        cached_is_estimate=turn.usage.cached_is_estimate,
        **_page(turn),
    )


def _page(turn: Turn) -> dict[str, int]:
    """Returns the cuts of the page that the language model read, and its refused calculations."""
    read = turn.understanding
    if not isinstance(read, Understanding):
        return {}
    return {"rows_cut": read.rows_cut, "sentences_cut": read.sentences_cut, "refused": len(read.refused)}


def summarise(scores: Sequence[TurnScore], *, seed: int, resamples: int = 1000) -> dict[str, float]:
    """Returns the figures of an evaluation under their stable names.

    ``exe_accuracy``, ``program_accuracy``, ``conversation_accuracy`` (every turn right), ``lenient_accuracy``,
    ``recall_at_1`` to ``recall_at_20``, ``accuracy_at_coverage_10`` to ``…_100`` (over the most confident turns), and
    ``exe_accuracy_…`` by ``number_selection``/``program``, ``turn_1``…, ``type_1``/``type_2`` and, if turns differ, the
    number of LM calls (``calls_0``…), each with ``…_low`` and ``…_high``, the 95% bootstrap interval over
    conversations; ``expected_calibration_error`` (:mod:`optimize.metrics.calibration`); ``turns``, ``conversations``,
    ``failed_turns``, ``failures_…`` by kind, ``stage_…`` and ``difference_…`` counts of wrong turns;
    ``lm_calls_per_turn``, ``prompt_tokens_per_turn``, ``uncached_prompt_tokens_per_turn``,
    ``completion_tokens_per_turn``, ``seconds_per_turn_p50`` and ``…_p95``; ``turns_with_estimated_cache``, whose cached
    tokens are an estimate; ``turns_with_cut_page`` and ``refused_calculations`` of a model that reads the page. A
    breakdown without turns is left out.

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


def _always(score: TurnScore) -> bool:
    del score
    return True


def _is_exact(score: TurnScore) -> bool:
    return score.exact


def _within(depth: int) -> Callable[[TurnScore], bool]:
    return lambda score: score.rank is not None and score.rank <= depth


def _is_at(index: int) -> Callable[[TurnScore], bool]:
    return lambda score: score.turn_index == index


def _calls(number: int) -> Callable[[TurnScore], bool]:
    return lambda score: score.lm_calls == number


def _among(chosen: set[int]) -> Callable[[TurnScore], bool]:
    return lambda score: id(score) in chosen


def _intervals(scores: Sequence[TurnScore], seed: int, resamples: int) -> dict[str, Interval]:
    conversations: dict[str, list[TurnScore]] = {}
    for score in scores:
        conversations.setdefault(score.conversation_id, []).append(score)
    groups = list(conversations.values())
    figures: dict[str, tuple[list[float], list[float]]] = {}

    def add(name: str, right: Callable[[TurnScore], bool], counted: Callable[[TurnScore], bool] = _always) -> None:
        totals = [float(sum(map(counted, group))) for group in groups]
        if any(totals):
            figures[name] = ([float(sum(right(one) for one in group if counted(one))) for group in groups], totals)

    add("exe_accuracy", _is_exact)
    add("program_accuracy", lambda score: score.program_correct)
    figures["conversation_accuracy"] = (
        [float(all(score.exact for score in group)) for group in groups],
        [1.0] * len(groups),
    )
    add("lenient_accuracy", lambda score: score.lenient)
    for depth in RECALL_AT:
        add(f"recall_at_{depth}", _within(depth))
    confidences = [score.confidence if score.confidence is not None else 0.0 for score in scores]
    for share in COVERAGES:
        chosen = {id(scores[place]) for place in most_confident(confidences, share)}
        add(f"accuracy_at_coverage_{round(100 * share)}", _is_exact, _among(chosen))
    add("exe_accuracy_number_selection", _is_exact, lambda score: score.is_selection)
    add("exe_accuracy_program", _is_exact, lambda score: not score.is_selection)
    for index in sorted({score.turn_index for score in scores}):
        add(f"exe_accuracy_turn_{index + 1}", _is_exact, _is_at(index))
    called = sorted({score.lm_calls for score in scores})
    for calls in called if len(called) > 1 else ():
        add(f"exe_accuracy_calls_{calls}", _is_exact, _calls(calls))
    add("exe_accuracy_type_1", _is_exact, lambda score: score.conversation_type == "I")
    add("exe_accuracy_type_2", _is_exact, lambda score: score.conversation_type == "II")
    return bootstrap_ratios(figures, seed=seed, resamples=resamples)


def _counts(scores: Sequence[TurnScore]) -> dict[str, float]:
    counts: dict[str, float] = {
        "turns": len(scores),
        "conversations": len({score.conversation_id for score in scores}),
        "failed_turns": sum(score.failure is not None for score in scores),
    }
    wrong = [score for score in scores if not score.exact]
    kinds = [
        *(f"failures_{score.failure}" for score in scores if score.failure is not None),
        *(f"stage_{score.stage}" for score in wrong),
        *(f"difference_{score.difference}" for score in wrong if score.difference is not None),
    ]
    if any(score.rows_cut or score.sentences_cut for score in scores):
        counts["turns_with_cut_page"] = sum(score.rows_cut + score.sentences_cut > 0 for score in scores)
    if any(score.cached_is_estimate for score in scores):
        counts["turns_with_estimated_cache"] = sum(score.cached_is_estimate for score in scores)
    if any(score.refused for score in scores):
        counts["refused_calculations"] = sum(score.refused for score in scores)
    called = [score.lm_calls for score in scores]
    if len(set(called)) > 1:
        counts |= {f"turns_with_calls_{calls}": called.count(calls) for calls in sorted(set(called))}
    return counts | {kind: kinds.count(kind) for kind in sorted(set(kinds))}


def _costs(scores: Sequence[TurnScore]) -> dict[str, float]:
    seconds = [score.seconds for score in scores]
    return {
        "lm_calls_per_turn": _mean(score.lm_calls for score in scores),
        "prompt_tokens_per_turn": _mean(score.prompt_tokens for score in scores),
        "uncached_prompt_tokens_per_turn": _mean(score.prompt_tokens - score.cached_prompt_tokens for score in scores),
        "completion_tokens_per_turn": _mean(score.completion_tokens for score in scores),
        "seconds_per_turn_p50": float(np.percentile(seconds, 50)),
        "seconds_per_turn_p95": float(np.percentile(seconds, 95)),
    }


def _mean(figures: Iterable[float]) -> float:
    collected = list(figures)
    return sum(collected) / len(collected)
