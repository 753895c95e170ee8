"""The fit of the encoder's weight relative to the scorer's, on reports that neither was fitted on.

    >>> scorer = fit_blend(replace(scorer, encoder=encoder), held_out_turns)
    >>> scorer.blend.forms
    (0.31, 0.74)

Each pair of weights makes the right forms, figures and earlier answers most probable. The ranker's weights do so for
the right candidates of a search that uses the pairs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.optimize import minimize
from threadpoolctl import threadpool_limits

from kg.arrays import BoolArray, DoubleArray, FloatArray
from kg.candidates import (
    DerivationConfig,
    DerivationSpace,
    WeightedHistory,
    as_float,
    features_of,
    pool,
    with_conversions,
)
from kg.derivations import Constant, Number
from kg.errors import DataError
from kg.scoring import MORE_JOINT, DerivationScorer, EncoderBlend, ParsedForm
from kg.search import beam_search
from optimize.needs import Progress, silent
from optimize.scorers import TrainingTurn, right_items, right_turns

Choice = tuple[FloatArray, FloatArray, BoolArray]
"""The scorer's and the encoder's log-probabilities of alternatives, and which of them are right."""

_ALONE = EncoderBlend(forms=(1.0, 0.0), figures=(1.0, 0.0), answers=(1.0, 0.0))
_PENALTY = 1e-3
_ABSENT = -2


@dataclass
class _Choices:
    forms: list[Choice]
    figures: list[Choice]
    answers: list[Choice]


def fit_blend(
    scorer: DerivationScorer,
    turns: Sequence[TrainingTurn],
    config: DerivationConfig | None = None,
    progress: Progress = silent,
) -> DerivationScorer:
    """Returns the scorer with fitted weights of its encoder.

    Args:
        scorer: With a ranker and an encoder.
        turns: Turns with gold histories, of reports that neither the scorer nor the encoder was fitted on.
        config: The search whose candidates are ranked.
        progress: Receives a line for each stage.

    Raises:
        DataError: The scorer has no encoder or no ranker, or no turn has a form that it knows.
    """
    if scorer.encoder is None or scorer.ranker is None:
        raise DataError("the scorer must have an encoder and a ranker")
    with threadpool_limits(limits=1):
        progress(f"forms and operands of {len(turns)} turns")
        choices = _choices(replace(scorer, blend=_ALONE), turns)
        if not choices.forms or not choices.figures:
            raise DataError("no turn has a form that the scorer knows: nothing can be fitted")
        start = EncoderBlend()
        blend = EncoderBlend(
            forms=fit_pair(choices.forms, start.forms),
            figures=fit_pair(choices.figures, start.figures),
            answers=fit_pair(choices.answers, start.answers) if choices.answers else start.answers,
        )
        progress(f"candidates of {len(turns)} turns")
        blended = replace(scorer, blend=blend)
        ranker = _fit_ranker(blended, turns, config if config is not None else DerivationConfig())
    return replace(scorer, blend=replace(blend, ranker=ranker))


def fit_pair(choices: Sequence[Choice], start: tuple[float, float]) -> tuple[float, float]:
    """Returns the two weights under which the right alternatives are most probable."""
    first, second, right = (np.concatenate(parts) for parts in zip(*choices, strict=True))
    segments = _Segments([len(one[0]) for one in choices])

    def loss(weights: DoubleArray) -> float:
        return segments.loss(weights[0] * first + weights[1] * second, right)[0]

    found = minimize(loss, start, method="Nelder-Mead", options={"xatol": 0.01, "fatol": 1e-4}).x
    return float(found[0]), float(found[1])


class _Segments:
    """Alternatives of many choices, one after the other."""

    def __init__(self, sizes: Sequence[int]) -> None:
        self.starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
        self.owner = np.repeat(np.arange(len(sizes)), sizes)

    def loss(self, scores: DoubleArray, right: BoolArray) -> tuple[float, DoubleArray]:
        """The mean of minus the log-probability of the right alternatives, and its gradient by the scores."""
        exponent = np.exp(scores - np.maximum.reduceat(scores, self.starts)[self.owner])
        every = np.add.reduceat(exponent, self.starts)
        some = np.maximum(np.add.reduceat(exponent * right, self.starts), 1e-12)
        error = exponent / every[self.owner] - exponent * right / some[self.owner]
        return -float(np.log(some / every).mean()), error / len(self.starts)


def _choices(scorer: DerivationScorer, turns: Sequence[TrainingTurn]) -> _Choices:
    """The alternatives of every turn's form and operands."""
    found = _Choices([], [], [])
    names = list(scorer.forms.forms)
    for turn in turns:
        if turn.collapsed is None or turn.collapsed.form not in names or not turn.has_report:
            continue
        space = DerivationSpace(turn.index, turn.questions, [WeightedHistory(turn.history, 0.0)], scorer)
        number = names.index(turn.collapsed.form)
        found.forms.append((space.form_log_probabilities[0], space.read_forms[0], np.arange(len(names)) == number))
        _add_operands(found, space, turn, number)
    return found


def _add_operands(found: _Choices, space: DerivationSpace, turn: TrainingTurn, number: int) -> None:
    assert turn.collapsed is not None
    assert space.pointers is not None
    form: ParsedForm = space.scorer.parsed[number]
    first = -1
    for position, operand in enumerate(turn.collapsed.operands):
        if isinstance(operand, Constant):
            continue
        right = right_items(turn.index, operand) if isinstance(operand, Number) else right_turns(turn, operand)
        numbers, logs = space.operands(np.array([0, number, first, _ABSENT]), position)
        read = space.pointers.operands(0, form, position, first if position else -1)
        if not right.any() or not len(numbers) or read is None:
            first = -1
            continue
        kept = found.figures if form.kinds[position] == "A" else found.answers
        kept.append((logs, read, right))
        first = int(numbers[np.flatnonzero(right)[0]])


def _fit_ranker(scorer: DerivationScorer, turns: Sequence[TrainingTurn], config: DerivationConfig) -> tuple[float, ...]:
    """The weights of the ranker's score and of the encoder's features of a candidate."""
    assert scorer.ranker is not None
    rows: list[FloatArray] = []
    rights: list[BoolArray] = []
    for turn in turns:
        if not turn.has_report:
            continue
        space = DerivationSpace(turn.index, turn.questions, [WeightedHistory(turn.history, 0.0)], scorer)
        found = pool(space, with_conversions(space, beam_search(space, config)), config.pool)
        right = np.isclose(np.round(found.values, 5), as_float(turn.answer), rtol=1e-9, atol=1e-6)
        if right.any():
            assert space.pointers is not None
            own = scorer.ranker.scores(features_of(space, found), space.question.context[None])[0]
            read = space.pointers.candidate_features(scorer.parsed, space.read_forms, found.states)
            rows.append(np.concatenate([own[:, None], read], axis=1))
            rights.append(right)
    if not rows:
        raise DataError("the search proposes no right candidate for any turn: nothing can be fitted")
    segments = _Segments([len(one) for one in rows])
    table, right = np.concatenate(rows).astype(np.float64), np.concatenate(rights)

    def loss(weights: Any) -> tuple[float, Any]:
        value, error = segments.loss(table @ weights, right)
        gradient = table.T @ error
        gradient[1:] += 2 * _PENALTY * weights[1:]
        return value + _PENALTY * float((weights[1:] ** 2).sum()), gradient

    start = np.zeros(1 + len(MORE_JOINT))
    start[0] = 1.0
    return tuple(float(one) for one in minimize(loss, start, jac=True, method="L-BFGS-B").x)
