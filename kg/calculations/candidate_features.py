"""Features of a whole candidate: whether its operands together say what the question says.

The search scores operands one after the other. Once a calculation is complete, the question can be checked against it:
are all the years that it names used, are its words explained by the figures' labels, does the result's scale fit "in
millions", can the result be "a portion"? Every feature is a column;
:data:`kg.calculations.operand_features.JOINT_NAMES` lists the first.
"""

from __future__ import annotations

import numpy as np

from kg.arrays import BoolArray, DoubleArray, FloatArray, IntArray
from kg.calculations.forms import ParsedForm
from kg.calculations.operand_features import JOINT_NAMES
from kg.calculations.question_features import PAIR_FEATURES, pair_features
from kg.calculations.space import DerivationSpace
from kg.search import OPERATIONS
from kg.text import content_tokens, stem, tokens

_FALL = frozenset(tokens("decrease decline reduction loss drop fall"))
_RISE = frozenset(tokens("increase growth rise gain"))
_SCALES = {stem("thousand"): 3.0, stem("million"): 6.0, stem("billion"): 9.0, stem("dollar"): 0.0}
_POWERS = {"const_1000": 3.0, "const_1000000": 6.0, "const_1000000000": 9.0}
_PORTION = frozenset(tokens("portion proportion percent percentage share fraction"))


def joint_features(
    space: DerivationSpace, states: IntArray, scores: FloatArray, values: DoubleArray, support: DoubleArray
) -> FloatArray:
    """The features of a pool of completed candidates.

    Args:
        space: What was searched.
        states: ``(history, form, first, second)`` a row.
        scores: The search's log-probabilities within each candidate's history.
        values: The results.
        support: The log of the summed probabilities of all candidates of the pool with the same result.

    Returns:
        Shape ``(candidates, len(JOINT_NAMES) + operations + 6 + PAIR_FEATURES)``.
    """
    columns = {
        "score": scores,
        "history": np.maximum(space.priors[states[:, 0]], -15),
        "behind_best": np.maximum(scores - scores.max(initial=-50.0), -20) / 5,
        "form": np.maximum(space.form_log_probabilities[states[:, 0], states[:, 1]], -12) / 3,
        "support": np.maximum(support - scores, 0) / 2,
        **_words(space, states),
        **_direction(space, values),
        **_years(space, states),
        **_scale(space, states),
        **_portion(space, states, values),
        "same_operands": states[:, 2] == states[:, 3],
        "repeats_answer": _repeats(space, states, values),
        "zero_or_one": np.isin(values, (0.0, 1.0)),
    }
    joint = np.stack([columns[name] for name in JOINT_NAMES], axis=1)
    return np.concatenate([joint, _kinds(space, states), _pairs(space, states)], axis=1).astype(np.float32)


def _years(space: DerivationSpace, states: IntArray) -> dict[str, FloatArray]:
    """Whether the operands are of the years that the question names, or an earlier one where it names none."""
    question = space.question
    named = tuple(dict.fromkeys(question.years or question.carried_years))
    dated = (
        np.stack([question.periods == year for year in named], axis=1) if named else np.zeros((len(space.index.row), 0))
    )
    first, second = (_of_operands(space, states, dated.astype(bool), position) for position in (0, 1))
    used = (first | second).sum(axis=1) / max(len(named), 1)
    own = float(bool(question.years))
    return {
        "years_used": used * own,
        "every_year_used": (used >= 1) * own,
        "first_in_years": first.any(axis=1) * own,
        "second_in_years": second.any(axis=1) * own,
        "years_carried": used * (1 - own),
    }


def _words(space: DerivationSpace, states: IntArray) -> dict[str, FloatArray]:
    """The share of the question's words that the labels of the operands have, and their whole rows or sentences."""
    question = space.question
    found = {}
    for name, facts in (("near_words", question.near_words), ("all_words", question.all_words)):
        said = _of_operands(space, states, facts, 0) | _of_operands(space, states, facts, 1)
        found[name] = said @ question.known_weights / question.mass
    return found


def _of_operands(space: DerivationSpace, states: IntArray, facts: BoolArray, position: int) -> BoolArray:
    """The facts of each candidate's operand, a row of ``facts`` a figure; none for constants."""
    items = len(space.index)
    chosen = states[:, 2 + position]
    result = np.zeros((len(states), facts.shape[1]), dtype=bool)
    is_item = (chosen >= 0) & (chosen < items)
    result[is_item] = facts[space.index.base[chosen[is_item]]]
    for history, weighted in enumerate(space.histories):
        for turn, record in enumerate(weighted.turns):
            places = (states[:, 0] == history) & (chosen == items + turn)
            if record.all_figures and places.any():
                result[places] = facts[list(record.all_figures)].any(axis=0)
    return result


def _kinds(space: DerivationSpace, states: IntArray) -> FloatArray:
    """The operation and the kinds of the operands, one-hot."""
    rows = np.zeros((len(space.scorer.parsed), len(OPERATIONS) + 6), dtype=np.float32)
    for place, form in enumerate(space.scorer.parsed):
        rows[place, OPERATIONS.index(form.operation)] = 1
        for position, kind in enumerate(form.kinds):
            rows[place, len(OPERATIONS) + 3 * position + "ARC".index(kind)] = 1
    result: FloatArray = rows[states[:, 1]]
    return result


def _pairs(space: DerivationSpace, states: IntArray) -> FloatArray:
    """The relation of the second operand to the first; zeros where the report has no figures, as in the search."""
    if not len(space.index):
        return np.zeros((len(states), PAIR_FEATURES), dtype=np.float32)
    table = np.stack([under.observations for under in space.under])
    first, second = (
        np.where(states[:, 2 + p] >= 0, table[states[:, 0], np.maximum(states[:, 2 + p], 0)], -1) for p in (0, 1)
    )
    return pair_features(space.index, first, second)


def _scale(space: DerivationSpace, states: IntArray) -> dict[str, BoolArray]:
    """Whether the scale that the question asks for is the result's, where it asks for one and one figure gives it.

    ``whole_units`` marks conversions to single units, where no scale is asked for.
    """
    words = tokens(space.question.questions[-1])
    asked = [power for word, power in _SCALES.items() if word in words]
    index, operands = space.index, states[:, 2]
    known = (operands >= 0) & (operands < len(index))
    own = np.zeros(len(states), dtype=np.float32)
    own[known] = np.log10(index.scale[index.base[operands[known]]])
    shifts = np.array([_shift(form) for form in space.scorer.parsed])[states[:, 1]]
    reached = own + shifts
    nothing = np.zeros(len(states), dtype=bool)
    if len(asked) != 1:
        whole = known & (shifts != 0) & (reached == 0)
        return {"scale_fits": nothing, "scale_differs": nothing, "whole_units": whole}
    fits = np.abs(reached - asked[0]) < 0.5
    return {"scale_fits": known & fits, "scale_differs": known & ~fits, "whole_units": nothing}


def _shift(form: ParsedForm) -> float:
    """By how many powers of ten a form changes the scale of its first operand."""
    power = _POWERS.get(form.constants[-1], 0.0) if form.operands == 2 else 0.0
    return -power if form.operation == "multiply" else power if form.operation == "divide" else 0.0


def _portion(space: DerivationSpace, states: IntArray, values: DoubleArray) -> dict[str, BoolArray]:
    asked = not _PORTION.isdisjoint(tokens(space.question.questions[-1]))
    divides = np.array([form.operation == "divide" for form in space.scorer.parsed])[states[:, 1]] & asked
    below_one = np.abs(values) <= 1
    return {"portion_fits": divides & below_one, "portion_differs": divides & ~below_one}


def _direction(space: DerivationSpace, values: DoubleArray) -> dict[str, BoolArray]:
    words = set(content_tokens(space.question.questions[-1]))
    falls, rises = bool(words & _FALL), bool(words & _RISE)
    up = values > 0
    one_way = np.full(len(values), falls != rises)
    return {
        "direction_fits": one_way & (up == rises),
        "direction_differs": one_way & (up != rises),
        "negative": values < 0,
    }


def _repeats(space: DerivationSpace, states: IntArray, values: DoubleArray) -> BoolArray:
    """Whether the result is an answer that its history has already given."""
    earlier = np.array([[turn.value for turn in history.turns] for history in space.histories]).reshape(
        len(space.histories), -1
    )[states[:, 0]]
    # A turn without a number is nan, which fmin passes over.
    apart: DoubleArray = np.fmin.reduce(np.abs(earlier - values[:, None]), axis=1, initial=np.inf)
    return apart < 5e-6
