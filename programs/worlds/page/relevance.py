"""The relevance of a page's rows and sentences to a question: the search's own probabilities of their figures.

    >>> relevance = relevance_of(found)
    >>> relevance.rows[3], relevance.sentences[7]
    (0.62, 0.04)

It decides which lines of a page that is longer than its budget of tokens are shown.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from kg.calculations import TurnSearch

FORMS = 6
"""Calculations of the best history whose operands count, the most probable ones."""

CANDIDATES = 10
"""Candidates whose figures count, the most probable ones."""


@dataclass(frozen=True)
class Relevance:
    """Probabilities of rows and sentences, by their numbers; those that are left out have none.

    Attributes:
        rows: The highest probability of a figure of each row.
        sentences: The same of each sentence.
    """

    rows: Mapping[int, float]
    sentences: Mapping[int, float]


def relevance_of(found: TurnSearch) -> Relevance:
    """The probability that the search gives to the figures of each row and sentence."""
    space, index = found.space, found.space.index
    weights = np.zeros(len(index.observations))
    history = int(np.argmax(space.priors)) if len(space.priors) else 0
    forms = space.form_log_probabilities[history]
    for form in np.argsort(-forms, kind="stable")[:FORMS].tolist():
        if "A" not in space.scorer.parsed[form].kinds[:1]:
            continue
        numbers, logs = space.operands(np.array([history, form]), 0)
        np.maximum.at(weights, index.base[numbers], np.exp(forms[form] + logs))
    places = {one.id: place for place, one in enumerate(index.observations)}
    for candidate in found.candidates[:CANDIDATES]:
        for number in candidate.derivation.numbers:
            if number.source in places:
                place = places[str(number.source)]
                weights[place] = max(weights[place], float(np.exp(candidate.score)))
    rows: dict[int, float] = {}
    sentences: dict[int, float] = {}
    for place, weight in enumerate(weights.tolist()):
        held, line = (rows, int(index.row[place])) if index.row[place] >= 0 else (sentences, int(index.sentence[place]))
        held[line] = max(held.get(line, 0.0), weight)
    return Relevance(rows, sentences)
