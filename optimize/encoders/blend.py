"""The fit of the encoder's weight relative to the scorer's, on reports that neither was fitted on.

    >>> scorer = fit_blend(replace(scorer, encoder=encoder), held_out_turns)
    >>> scorer.blend.forms
    (0.31, 0.74)

Each pair of weights makes the right forms, figures and earlier answers most probable.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from threadpoolctl import threadpool_limits

from kg.arrays import BoolArray, FloatArray
from kg.calculations import (
    DerivationScorer,
    DerivationSpace,
    EncoderBlend,
    ParsedForm,
    WeightedHistory,
)
from kg.errors import DataError
from kg.search import Constant, Number
from optimize.fitting import Progress, silent
from optimize.logistic import fit_choices
from optimize.scorers import TrainingTurn, right_items, right_turns

Alternatives = tuple[FloatArray, BoolArray]
"""The scorer's and the encoder's log-probabilities of alternatives, a row each, and which of them are right."""

_ALONE = EncoderBlend(forms=(1.0, 0.0), figures=(1.0, 0.0), answers=(1.0, 0.0))
_ABSENT = -2
_LEAST = -50.0
"""The least log-probability; impossible alternatives have it too."""


def fit_blend(
    scorer: DerivationScorer,
    turns: Sequence[TrainingTurn],
    progress: Progress = silent,
) -> DerivationScorer:
    """Returns the scorer with fitted weights of its encoder.

    Args:
        scorer: With a ranker and an encoder.
        turns: Turns with gold histories, of reports that neither the scorer nor the encoder was fitted on.
        progress: Receives a line for each stage.

    Raises:
        DataError: The scorer has no encoder or no ranker, or no turn has a form that it knows.
    """
    if scorer.encoder is None or scorer.ranker is None:
        raise DataError("the scorer must have an encoder and a ranker")
    with threadpool_limits(limits=1):
        progress(f"forms and operands of {len(turns)} turns")
        choices = _choices(replace(scorer, blend=_ALONE), turns)
        if not choices["forms"] or not choices["figures"]:
            raise DataError("no turn has a form that the scorer knows: nothing can be fitted")
        blend = EncoderBlend()
        for name in (name for name, own in choices.items() if own):
            rows, right = zip(*choices[name], strict=True)
            first, second = fit_choices(rows, right, penalty=0.0, start=getattr(blend, name)).tolist()
            blend = replace(blend, **{name: (first, second)})
    return replace(scorer, blend=blend)


def _choices(scorer: DerivationScorer, turns: Sequence[TrainingTurn]) -> dict[str, list[Alternatives]]:
    """The alternatives of every turn's form and operands: ``forms``, ``figures`` and ``answers``."""
    choices: dict[str, list[Alternatives]] = {"forms": [], "figures": [], "answers": []}
    names = list(scorer.forms.forms)
    for turn in turns:
        if turn.collapsed is None or turn.collapsed.form not in names or not turn.has_report:
            continue
        space = DerivationSpace(turn.index, turn.questions, [WeightedHistory(turn.history, 0.0)], scorer)
        number = names.index(turn.collapsed.form)
        rows = _rows(space.form_log_probabilities[0], space.read_forms[0])
        choices["forms"].append((rows, np.arange(len(names)) == number))
        for kind, own in _operands(space, turn, number):
            choices[kind].append(own)
    return choices


def _rows(scorer: FloatArray, encoder: FloatArray) -> FloatArray:
    rows: FloatArray = np.maximum(np.stack([scorer, encoder], axis=1), _LEAST)
    return rows


def _operands(space: DerivationSpace, turn: TrainingTurn, number: int) -> Iterator[tuple[str, Alternatives]]:
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
        yield "figures" if form.kinds[position] == "A" else "answers", (_rows(logs, read), right)
        first = int(numbers[np.flatnonzero(right)[0]])
