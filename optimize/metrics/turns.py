"""Metrics of turns: the official accuracies first, then recall, calibration, errors and costs.

The official execution accuracy compares the exact result with ``exe_ans`` at five digits. The program accuracy compares
the calculation with the gold one. Both are over all turns, answered with the program's own history::

    >>> exact_match(Decimal("0.1413573"), Decimal("0.14136"))
    True
    >>> score = score_turn(conversation, 1, turn)
    >>> verdict(score)
    'right answer found, not picked (rank 3); wrong sign'
    >>> summarise([score, ...], seed=0)["exe_accuracy"]
    0.7

Every accuracy is in [0, 1] (``dspy.Evaluate`` uses 0 to 100). The turns of a conversation depend on each other, so the
intervals draw whole conversations (:func:`with_intervals`).

Two calculations are equal where they are the same function of the gold program's literals (:func:`program_match`)::

    >>> program_match("add(5, 3), divide(#0, 5)", "add(3, 5), divide(#0, 5)")
    True
    >>> program_match("subtract(5, 3)", "subtract(3, 5)")
    False

``add``, ``subtract``, ``multiply`` and ``divide`` make rational functions of the literals as symbols; two of them are
equal when they agree at a random point of a field of 2**127 - 1 elements. Equal functions always agree there. Different
ones agree with a chance below 10**-30 for a program of up to twenty steps (Schwartz-Zippel lemma). Unlike expanding
polynomials, this takes no longer for a program that squares a sum repeatedly. ``exp``, ``greater`` and the ``table_*``
operations are equal when their arguments are.
"""

from __future__ import annotations

import dataclasses
import hashlib
import operator
from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal

import numpy as np

from kg.calculations import same_name
from kg.errors import ConfigError, DataError, ProgramError
from kg.reports import Report
from kg.search import Answer, Derivation, StepResult, merge_key
from kg.text import find_quantities
from programs.turns import Failure, Turn, plain, read_exactly

RECALL_AT = (1, 3, 5, 10, 20)
"""The depths of the candidates at which recall is reported."""

USAGE = ("lm_calls", "prompt_tokens", "completion_tokens", "seconds", "cached_prompt_tokens")
"""The costs that a score takes over from its turn."""

_PRIME = 2**127 - 1

Stage = Literal["right", "failed", "not_in_beam", "not_picked", "not_in_report"]
"""The stage of an error: an exception; no candidate with the right answer; one that was not selected; or an answer to a
question that the report does not answer."""

Difference = Literal["sign", "scale", "order", "operation", "period", "line_item", "figures"]
"""The difference of a wrong derivation. The right figures may have the wrong sign, power of ten, order or operations. A
wrong figure may be from the right row (``period``), from the right column (``line_item``), or from elsewhere."""


@dataclass(frozen=True)
class TurnScore:
    """One answered question with its gold.

    Attributes:
        conversation_id: The id of its conversation.
        turn_index: Its place there, counted from 0 (the names of metrics count from 1).
        question: The question.
        answer: The program's answer, exact; ``None`` where it failed.
        gold_answer: The official result, rounded to five digits; or the answer of a file that has answers alone,
            ``None`` where the report does not answer.
        program: The program's derivation, if it has one.
        gold_program: The gold derivation; ``None`` in a file that has answers alone.
        exact: Whether the answer is right, or rightly missing, as ``exe_accuracy`` counts it.
        program_correct: Whether the derivation is the gold one symbolically.
        rank: Place of the gold answer among the candidates, from 1; ``None`` if it is not among them.
        is_selection: Whether the gold program only selects a number.
        stage: The stage of the error: ``right``, or one of :data:`Stage`.
        difference: The kind of the difference between a wrong derivation and the gold one, if it has one.
        failure: The reason for the missing answer.
        message: The failure in words.
        confidence: Probability in [0, 1] that the program gave to its answer.
        lm_calls: Calls to a language model.
        prompt_tokens: Tokens read by the model.
        completion_tokens: Tokens written by the model.
        seconds: Wall time.
        cached_prompt_tokens: Those of the prompts' tokens that the model had in its cache.
        refused: Calculations of the model that were refused.
        named: Whether the model's own calculation is right; ``None`` where it was not asked for one.
    """

    conversation_id: str
    turn_index: int
    question: str
    answer: Answer | None
    gold_answer: Answer | None
    program: str | None
    gold_program: str | None
    exact: bool
    program_correct: bool
    rank: int | None
    is_selection: bool
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
    refused: int = 0
    named: bool | None = None


def exact_match(answer: Answer | None, gold: Answer | None) -> bool:
    """Returns the official execution accuracy of one turn: equal at five digits, or the same word (``yes``/``no``).

    Names are equal but for case, punctuation, spacing and marks of footnotes, and a year is equal to a date in it; an
    answer must have all names and no others, and a number is a name where the gold answer is names. ``None``, a turn
    without an answer, is right where the report does not answer.
    """
    if answer is None or gold is None:
        return answer is gold
    if not isinstance(gold, tuple):
        return not isinstance(answer, tuple) and merge_key(answer) == merge_key(gold)
    left = list(gold)
    one = f"{answer.normalize():f}" if isinstance(answer, Decimal) else answer
    for name in one if isinstance(one, tuple) else (one,):
        place = next((number for number, wanted in enumerate(left) if same_name(name, wanted)), None)
        if place is None:
            return False
        del left[place]
    return not left


def program_match(program: Derivation | str | None, gold: str) -> bool:
    """Returns whether a program is the gold one but for the order and form of its arithmetic.

    A constant is a literal like any other: ``a/b - const_1`` is not ``(a - b)/b``, since the one has a literal that the
    other lacks, and a look-up equals only the same look-up. The official evaluation has the same rule.

    Args:
        program: A derivation, its text, or ``None`` for a turn without one; a text that cannot be parsed never matches.
        gold: The gold program.

    Raises:
        ProgramError: The gold program cannot be parsed.
    """
    wanted = Derivation.parse(gold)
    if isinstance(program, str):
        try:
            program = Derivation.parse(program)
        except ProgramError:
            return False
    if program is None or program.is_look_up != wanted.is_look_up:
        return False
    if not _literals(program) <= _literals(wanted):
        return False
    try:
        return _value(program) == _value(wanted)
    except ValueError:
        # A divisor that is zero whatever its figures are: no function to compare, so only the same text is equal.
        return str(program) == str(wanted)


def _literals(derivation: Derivation) -> set[str]:
    """Returns figures and constants as written, and ``table_*`` steps whole."""
    literals: set[str] = set()
    for step in derivation.steps:
        if step.operation.startswith("table_"):
            literals.add(str(step))
        else:
            literals.update(str(operand) for operand in step.operands if not isinstance(operand, StepResult))
    return literals


def _value(derivation: Derivation) -> int:
    """Returns the derivation's result with every symbol replaced by its own random element of the field.

    Raises:
        ValueError: A divisor is zero whatever its figures are.
    """
    results: list[int] = []
    for step in derivation.steps:
        operands = (results[one.index] if isinstance(one, StepResult) else _element(str(one)) for one in step.operands)
        if step.operation.startswith("table_"):
            results.append(_element(str(step)))
        elif step.operation in _ARITHMETIC:
            results.append(_ARITHMETIC[step.operation](*operands) % _PRIME)
        else:  # exp and greater: a new symbol, the same for the same arguments
            results.append(_element(f"{step.operation}({', '.join(map(str, operands))})"))
    return results[-1]


_ARITHMETIC: dict[str, Callable[..., int]] = {
    "select": lambda value: value,
    "add": operator.add,
    "subtract": operator.sub,
    "multiply": operator.mul,
    "divide": lambda value, divisor: value * pow(divisor, -1, _PRIME),
}


def _element(symbol: str) -> int:
    """Returns a symbol's element of the field: random over symbols, and the same in every run."""
    return int.from_bytes(hashlib.sha256(symbol.encode()).digest()) % _PRIME


@dataclass(frozen=True)
class ScoredTurn:
    """A program's turn with its gold: the id of its report, the score and the turn."""

    report: str
    score: TurnScore
    turn: Turn

    @property
    def name(self) -> str:
        """``CONVERSATION:NUMBER``, as ``--turn`` takes it; turns count from 1."""
        return f"{self.score.conversation_id}:{self.score.turn_index + 1}"


def score_turn(conversation: Any, index: int, turn: Turn) -> TurnScore:
    """Scores a turn of a conversation by its gold.

    Args:
        conversation: With ``id``, ``report``, ``questions``, and ``programs`` and ``answers`` or ``gold``, such as
            :class:`experiments.data.conversations.ConversationRecord`.
        index: The place of the question, from 0.
        turn: The program's turn.

    Raises:
        DataError: The conversation has no gold.
    """
    answers = conversation.answers if conversation.answers is not None else conversation.gold
    if answers is None:
        raise DataError("has no gold answers to score against", place=f"conversation {conversation.id!r}")
    gold_program = conversation.programs[index] if conversation.programs is not None else None
    gold_answer = answers[index]
    error = diagnose(turn, gold_program, gold_answer, conversation.report)
    read, page = plain(turn.understanding), dict[str, Any]()  # a turn that was read back has it as JSON
    if isinstance(read, Mapping) and "refused" in read:
        named = exact_match(read_exactly(read.get("answer")), gold_answer)
        page = {"refused": len(read["refused"]), "named": named}
    return TurnScore(
        conversation_id=conversation.id,
        turn_index=index,
        question=conversation.questions[index],
        answer=turn.answer,
        gold_answer=gold_answer,
        program=str(turn.derivation) if turn.derivation is not None else None,
        gold_program=gold_program,
        exact=error.stage == "right",
        program_correct=gold_program is not None and program_match(turn.derivation, gold_program),
        rank=error.rank,
        is_selection=gold_program is not None and Derivation.parse(gold_program).is_look_up,
        stage=error.stage,
        difference=error.difference,
        failure=turn.failure,
        message=turn.message,
        confidence=turn.confidence,
        **{name: getattr(turn.usage, name) for name in USAGE},
        **page,
    )


def score_record(score: TurnScore) -> dict[str, Any]:
    """Returns a score as plain JSON values, its numbers written exactly."""
    return {name: plain(value) for name, value in dataclasses.asdict(score).items()}


def read_score(row: Mapping[str, Any]) -> TurnScore:
    """Reads the score that :func:`score_record` wrote; other keys of the row are ignored."""
    values = {name.name: row[name.name] for name in dataclasses.fields(TurnScore) if name.name in row}
    for name in ("answer", "gold_answer"):
        values[name] = read_exactly(values[name])
    return TurnScore(**values)


def verdict(score: TurnScore) -> str:
    """Returns ``right``, or in a few words the stage and the kind of the error."""
    if score.exact:
        return "right"
    words = {
        "not_in_beam": "right answer not found",
        "not_picked": "right answer found, not picked",
        "not_in_report": "the report does not answer",
    }
    stage = words.get(score.stage, score.stage.replace("_", " "))
    parts = [
        f"{stage} (rank {score.rank})" if score.rank is not None else stage,
        f"wrong {score.difference.replace('_', ' ')}" if score.difference is not None else "",
        f"no answer: {score.failure.replace('_', ' ')}" if score.failure is not None else "",
    ]
    return "; ".join(part for part in parts if part)


@dataclass(frozen=True)
class Diagnosis:
    """The error of a turn.

    Attributes:
        stage: The stage of the error.
        rank: Place of the gold answer among the candidates, from 1, if it is among them.
        difference: Its difference from the gold derivation; ``None`` for a right turn or one without a derivation.
    """

    stage: Stage
    rank: int | None
    difference: Difference | None


def diagnose(turn: Turn, gold_program: str | None, gold_answer: Answer | None, report: Report) -> Diagnosis:
    """Returns the error of a turn.

    Raises:
        ProgramError: The gold program cannot be parsed.
    """
    places = enumerate(turn.candidates, start=1)
    rank = next((place for place, candidate in places if exact_match(candidate.answer, gold_answer)), None)
    if turn.failure in ("lm_error", "error"):
        return Diagnosis("failed", rank, None)
    if exact_match(turn.answer, gold_answer):
        return Diagnosis("right", rank, None)
    stage: Stage = "not_in_report" if gold_answer is None else "not_in_beam" if rank is None else "not_picked"
    difference = None
    if turn.derivation is not None and turn.answer is not None and gold_program is not None and gold_answer is not None:
        difference = _difference(turn.derivation, turn.answer, Derivation.parse(gold_program), gold_answer, report)
    return Diagnosis(stage, rank, difference)


def _difference(
    derivation: Derivation, answer: Answer, gold: Derivation, gold_answer: Answer, report: Report
) -> Difference:
    used, needed = _figures(derivation), _figures(gold)
    if isinstance(answer, Decimal) and isinstance(gold_answer, Decimal) and used == needed:
        if merge_key(answer) == merge_key(-gold_answer):
            return "sign"
        if _is_power_of_ten(answer, gold_answer):
            return "scale"
    if used.keys() == needed.keys():
        same = Counter(s.operation for s in derivation.steps) == Counter(s.operation for s in gold.steps)
        return "order" if same else "operation"
    return _misplaced(used.keys() - needed.keys(), needed.keys() - used.keys(), report)


def _figures(derivation: Derivation) -> Counter[Decimal]:
    """Returns the figures as read, with their counts; 5% is the figure 5, on another scale."""
    return Counter(Decimal(number.text.removesuffix("%")) for number in derivation.numbers)


def _is_power_of_ten(answer: Decimal, gold: Decimal) -> bool:
    if not answer or not gold:
        return False
    # The gold is rounded to five digits, so a small ratio times 100 agrees only as far as those go.
    return any(
        merge_key(answer.scaleb(-shift)) == merge_key(gold) or merge_key(gold.scaleb(-shift)) == merge_key(answer)
        for shift in (2, 3, 6, 9)
    )


def _misplaced(wrong: set[Decimal], missing: set[Decimal], report: Report) -> Difference:
    """Returns whether a wrong figure is in the row or in the column of a missing one."""
    places = _places(report)
    pairs = [(a, b) for x in wrong for y in missing for a in places.get(x, ()) for b in places.get(y, ())]
    if any(a[0] == b[0] for a, b in pairs):
        return "period"
    if any(a[1] == b[1] for a, b in pairs):
        return "line_item"
    return "figures"


def _places(report: Report) -> dict[Decimal, list[tuple[int, int]]]:
    """Returns the cells, as (row, column), of each figure."""
    places: dict[Decimal, list[tuple[int, int]]] = {}
    for row, cells in enumerate(report.table):
        for column, cell in enumerate(cells):
            for quantity in find_quantities(cell):
                places.setdefault(quantity.value, []).append((row, column))
    return places


def with_intervals(
    groups: Sequence[Hashable],
    columns: Mapping[str, tuple[Sequence[float], Sequence[float] | None]],
    *,
    seed: int,
    resamples: int = 1000,
) -> dict[str, float]:
    """Returns ratios under ``NAME``, with their 95% percentile intervals under ``NAME_low`` and ``NAME_high``.

    A ratio is the sum of hits over the sum of what is possible. Whole groups are drawn with replacement, the same ones
    for all figures.

    Args:
        groups: The conversation of each turn.
        columns: By name, the hits of each turn (perhaps differences, below 0), and the most that is possible in each;
            ``None`` for 1. A figure that no turn counts for is left out.
        seed: Of the draws; the same for any figure over the same number of groups.
        resamples: The number of draws, at least 100.

    Raises:
        ConfigError: There is no turn, or there are too few resamples.
    """
    if resamples < 100:
        raise ConfigError(f"resamples must be at least 100, got {resamples}")
    if not groups:
        raise ConfigError("figures must be over at least one turn, got none")
    numbers: dict[Hashable, int] = {}
    place = [numbers.setdefault(group, len(numbers)) for group in groups]
    count = len(numbers)
    drawn = np.random.default_rng(seed).multinomial(count, np.full(count, 1 / count), size=resamples).astype(float)
    figures: dict[str, float] = {}
    for name, (hits, most) in columns.items():
        above, below = (np.bincount(place, weights, count).astype(float) for weights in (hits, most))
        if not below.any():
            continue
        sampled = drawn @ below
        # A draw without any group that counts for this figure has no ratio.
        ratios = (drawn @ above)[sampled > 0] / sampled[sampled > 0]
        low, high = np.percentile(ratios, [2.5, 97.5])
        figures |= {name: float(above.sum() / below.sum()), f"{name}_low": float(low), f"{name}_high": float(high)}
    return figures


def expected_calibration_error(confidences: Sequence[float], right: Sequence[bool], bins: int = 10) -> float:
    """Returns the mean difference between confidence and accuracy, over bins of equal width weighted by their turns.

    Args:
        confidences: Probabilities in [0, 1], at least one.
        right: Whether each turn is right.
        bins: The number of bins.

    Returns:
        In [0, 1]; 0 if the accuracy of every bin is its mean confidence.

    Raises:
        ConfigError: The lists are empty, differ in length, or a confidence is not a probability.
    """
    if not confidences or len(confidences) != len(right):
        sizes = f"{len(confidences)} and {len(right)}"
        raise ConfigError(f"confidences and right must be of one length and not empty, got {sizes}")
    probabilities, correct = np.array(confidences, dtype=float), np.array(right, dtype=float)
    if not ((probabilities >= 0) & (probabilities <= 1)).all():
        raise ConfigError("confidences must be probabilities in [0, 1]")
    place = np.minimum((probabilities * bins).astype(int), bins - 1)
    counts = np.bincount(place, minlength=bins)
    gaps = np.abs(np.bincount(place, probabilities, bins) - np.bincount(place, correct, bins))
    return float(gaps.sum() / counts.sum())


def summarise(scores: Sequence[TurnScore], *, seed: int, resamples: int = 1000) -> dict[str, float]:
    """Returns the figures of an evaluation under their stable names.

    ``exe_accuracy``, ``program_accuracy``, ``conversation_accuracy`` (every turn right), ``recall_at_1`` to
    ``recall_at_20``, and ``exe_accuracy_…`` by ``number_selection``/``program``, ``turn_1``…, ``type_1``/``type_2``,
    each with ``…_low`` and ``…_high``, the 95% bootstrap interval over conversations;
    ``expected_calibration_error``; ``turns``, ``conversations``, ``failed_turns``, ``failures_…`` by kind,
    ``stage_…`` and ``difference_…`` counts of wrong turns; ``lm_calls_per_turn``, ``prompt_tokens_per_turn``,
    ``uncached_prompt_tokens_per_turn``, ``completion_tokens_per_turn``, ``seconds_per_turn_p50`` and ``…_p95``;
    ``refused_calculations`` of a model that reads the page, and ``named_accuracy`` of its own calculations. A breakdown
    without turns is left out.

    Raises:
        ConfigError: There are no scores.
    """
    if not scores:
        raise ConfigError("scores must hold at least one turn, got none")
    confidences = [score.confidence if score.confidence is not None else 0.0 for score in scores]
    groups = [score.conversation_id for score in scores]
    accuracies = with_intervals(groups, _columns(scores), seed=seed, resamples=resamples)
    error = expected_calibration_error(confidences, [score.exact for score in scores])
    return accuracies | {"expected_calibration_error": error} | _counts(scores) | _costs(scores)


Columns = dict[str, tuple[list[bool], list[bool] | None]]


def _columns(scores: Sequence[TurnScore]) -> Columns:
    """Returns for each accuracy the right turns among those that it counts, and these (``None`` for all)."""
    exact = [score.exact for score in scores]

    def among(counted: list[bool]) -> tuple[list[bool], list[bool]]:
        return [right and counts for right, counts in zip(exact, counted, strict=True)], counted

    wrong = {score.conversation_id for score in scores if not score.exact}
    places = {score.conversation_id: place for place, score in reversed(list(enumerate(scores)))}
    starts = [places[score.conversation_id] == place for place, score in enumerate(scores)]
    whole = [first and score.conversation_id not in wrong for first, score in zip(starts, scores, strict=True)]
    calculated = [score.gold_program is not None for score in scores]
    answerable = [score.gold_answer is not None for score in scores]
    columns: Columns = {
        "exe_accuracy": (exact, None),
        "program_accuracy": ([score.program_correct for score in scores], calculated),
        "conversation_accuracy": (whole, starts),
        "named_accuracy": ([score.named is True for score in scores], [score.named is not None for score in scores]),
    }
    for depth in RECALL_AT:
        within = [score.rank is not None and score.rank <= depth for score in scores]
        columns[f"recall_at_{depth}"] = within, answerable
    columns["exe_accuracy_number_selection"] = among([score.is_selection for score in scores])
    columns["exe_accuracy_program"] = among(
        [score.gold_program is not None and not score.is_selection for score in scores]
    )
    for index in sorted({score.turn_index for score in scores}):
        columns[f"exe_accuracy_turn_{index + 1}"] = among([score.turn_index == index for score in scores])
    return columns


def _counts(scores: Sequence[TurnScore]) -> dict[str, float]:
    wrong = [score for score in scores if not score.exact]
    kinds = Counter(
        [
            *(f"failures_{score.failure}" for score in scores if score.failure is not None),
            *(f"stage_{score.stage}" for score in wrong),
            *(f"difference_{score.difference}" for score in wrong if score.difference is not None),
            *("refused_calculations" for score in scores for _ in range(score.refused)),
        ]
    )
    return {
        "turns": len(scores),
        "conversations": len({score.conversation_id for score in scores}),
        "failed_turns": sum(score.failure is not None for score in scores),
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
