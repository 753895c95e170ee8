"""Units: in which scale a question wants its answer, and the conversions of a figure that bring it there.

A question asks "in millions" for a figure that stands as "$ 20.8 billion"; a table in thousands gives 1060 shares and
the question asks for their number. The search alone would propose such a conversion only where the question's words
often go with one. Here it follows from the figure's own scale::

    20.8 billion, asked in millions      ->  multiply(20.8, const_1000)
    1060 thousand, no scale asked for    ->  multiply(1060, const_1000)
"""

from __future__ import annotations

import numpy as np

from kg.arrays import FloatArray, IntArray
from kg.calculations.space import CONSTANT, DerivationSpace
from kg.text import stem, tokens

CONVERTED = 12
"""Looked-up figures of each history whose conversions are proposed: the most probable ones."""

_SCALE_WORDS = {stem("thousand"): 3.0, stem("million"): 6.0, stem("billion"): 9.0, stem("dollar"): 0.0}
_POWERS = {"const_1000": 3.0, "const_1000000": 6.0, "const_1000000000": 9.0}


def asked_power(question: str) -> float | None:
    """The power of ten that a question wants its answer in; ``None`` where it names no scale or several."""
    words = tokens(question)
    asked = [power for word, power in _SCALE_WORDS.items() if word in words]
    return asked[0] if len(asked) == 1 else None


def shift(operation: str, constants: tuple[str, ...]) -> float:
    """By how many powers of ten a form changes the scale of its first operand."""
    power = _POWERS.get(constants[-1], 0.0) if len(constants) == 2 else 0.0
    return -power if operation == "multiply" else power if operation == "divide" else 0.0


def own_powers(space: DerivationSpace, operands: IntArray) -> FloatArray:
    """The power of ten of each figure's own scale; ``nan`` for operands that are no figures of the report."""
    result: FloatArray = np.full(len(operands), np.nan, dtype=np.float32)
    figures = (operands >= 0) & (operands < len(space.index))
    result[figures] = np.log10(space.index.scale[space.index.base[operands[figures]]].astype(np.float64))
    return result


def conversions(space: DerivationSpace, states: IntArray, scores: FloatArray) -> tuple[IntArray, FloatArray]:
    """The conversions that bring looked-up figures to the scale that is asked for, as further completed states.

    Where no scale is asked for, they bring figures to single units. A conversion's score is that of its look-up, with
    the conversion's log-probability among the forms instead of the look-up's.

    Args:
        space: What was searched.
        states: Completed states, ``(history, form, first, second)`` a row.
        scores: Their log-probabilities.
    """
    parsed = space.scorer.parsed
    shifts = [shift(form.operation, form.constants) for form in parsed]
    forms = {power: number for number, power in enumerate(shifts) if power and parsed[number].kinds == ("A", "C")}
    look_up = next((number for number, form in enumerate(parsed) if form.name == "select(A)"), None)
    if look_up is None or not forms:
        return states[:0], scores[:0]
    places = _most_probable(states, scores, look_up)
    asked = asked_power(space.question.questions[-1])
    apart = (0.0 if asked is None else asked) - own_powers(space, states[places, 2])
    converted = np.array([forms.get(power, -1) for power in apart.tolist()], dtype=np.int64)
    chosen, converted = places[converted >= 0], converted[converted >= 0]
    found = states[chosen].copy()
    found[:, 1], found[:, 3] = converted, CONSTANT
    known = set(map(tuple, states.tolist()))
    new = np.array([tuple(state) not in known for state in found.tolist()], dtype=bool)
    log_forms = space.form_log_probabilities[found[:, 0]]
    gained = log_forms[np.arange(len(found)), converted] - log_forms[:, look_up]
    return found[new], (scores[chosen] + gained)[new]


def _most_probable(states: IntArray, scores: FloatArray, look_up: int) -> IntArray:
    """The places of the best look-ups of each history."""
    places = np.flatnonzero(states[:, 1] == look_up)
    places = places[np.argsort(-scores[places], kind="stable")]
    kept = [places[states[places, 0] == history][:CONVERTED] for history in np.unique(states[places, 0])]
    return np.concatenate([places[:0], *kept])
