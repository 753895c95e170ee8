"""The names among a question's candidates: comparisons over whole lines join the pool, and names get their features.

    >>> with_comparisons(space, pool).answers
    {300: ('europe',), 301: ('asia',)}

A comparison becomes a state at the ends of its line, so that later turns, the network's features and the confidence
see it as they see every other candidate.
"""

from __future__ import annotations

import numpy as np

from kg.calculations.comparisons import LineComparison, LineComparisons
from kg.calculations.linear_models import NAME_FEATURES, feature_matrix
from kg.calculations.names import as_float, is_name_code
from kg.calculations.ranking import Pool, answered_at
from kg.calculations.space import DerivationSpace
from kg.errors import ProgramError
from kg.search import Derivation, Names

LEAST_NAMES = 0.1
"""The least probability of the templates of names at which comparisons join the pool."""

_LEAST = -8.0


def expected_names(space: DerivationSpace) -> float:
    """Returns the probability in [0, 1] that the templates of the best history give to names."""
    places = [place for place, one in enumerate(space.scorer.parsed) if one.operation.startswith(("argmax", "argmin"))]
    logs = space.form_log_probabilities[int(np.argmax(space.priors)), places]
    return min(float(np.exp(logs).sum()), 1.0)


def with_comparisons(space: DerivationSpace, beam: Pool) -> Pool:
    """Returns a pool with the comparisons of a question that may ask for a name; the same pool for other questions."""
    share = expected_names(space)
    if space.scorer.final is None or share < LEAST_NAMES:
        return beam
    comparisons = LineComparisons(space)
    executed = list(_executed(comparisons))
    if not executed and not is_name_code(beam.values).any():
        return beam
    pool = _joined(beam, comparisons, executed)
    answers = {len(beam) + number: names for number, (_, _, names) in enumerate(executed)}
    for place in np.flatnonzero(is_name_code(beam.values)).tolist():
        found = answered_at(space, beam, place)
        if found is not None and isinstance(found[1], tuple):
            answers[place] = found[1]
    known = set(beam.values.tolist())
    rows: list[dict[str, float]] = [{} for _ in range(len(pool))]
    for number, (comparison, _, _) in enumerate(executed):
        rows[len(beam) + number] = comparisons.features_of(comparison)
    for place, names in answers.items():
        own = {"expected": max(float(np.log(max(share, 1e-6))), _LEAST) / 3}
        rows[place] |= own | _of_answer(comparisons, names, supported=as_float(names) in known)
    return Pool(pool.states, pool.scores, pool.values, pool.compared, feature_matrix(rows, NAME_FEATURES), answers)


def _executed(comparisons: LineComparisons) -> list[tuple[LineComparison, Derivation, Names]]:
    found: list[tuple[LineComparison, Derivation, Names]] = []
    for comparison in comparisons.all:
        derivation = comparisons.derivation(comparison)
        try:
            names = derivation.execute()
        except ProgramError:
            continue
        if isinstance(names, tuple):
            found.append((comparison, derivation, names))
    return found


def _joined(beam: Pool, comparisons: LineComparisons, executed: list[tuple[LineComparison, Derivation, Names]]) -> Pool:
    """The pool with each comparison as a state over the ends of its line."""
    if not executed:
        return beam
    space, items = comparisons.space, comparisons.item
    forms = [form.name for form in space.scorer.parsed]
    states = np.array(
        [
            (comparisons.history, forms.index(f"{one.operation}(A, A)"), items[one.ends[0]], items[one.ends[1]])
            for one, _, _ in executed
        ],
        dtype=np.int64,
    )
    prior = float(space.priors[comparisons.history])
    scores = np.array([prior + comparisons.log_probability(one) for one, _, _ in executed], dtype=np.float32)
    return Pool(
        np.concatenate([beam.states, states]),
        np.concatenate([beam.scores, scores]),
        np.concatenate([beam.values, np.array([as_float(names) for _, _, names in executed])]),
        {len(beam) + number: derivation for number, (_, derivation, _) in enumerate(executed)},
    )


def _of_answer(comparisons: LineComparisons, answer: Names, *, supported: bool) -> dict[str, float]:
    """The features of a candidate's names, which are ``supported`` if the beam without comparisons gives them, too."""
    asked = comparisons.asked
    return {
        "name": 1.0,
        "unsupported": float(not supported),
        "length_fits": float(1 < asked.count == len(answer)),
        "length_differs": float(1 < asked.count != len(answer)),
        "several": float(len(answer) > 1),
    }
