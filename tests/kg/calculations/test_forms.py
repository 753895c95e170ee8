"""Which calculation a question asks for."""

from __future__ import annotations

import numpy as np
import pytest

from kg.calculations.forms import FormScorer, PastForm, history_terms, question_terms, question_words
from kg.search.derivation import Derivation
from kg.search.history import collapse


def _past(*programs: str) -> list[PastForm]:
    derivations = [Derivation.parse(program) for program in programs]
    return [PastForm.of(collapse(one, derivations[:place])) for place, one in enumerate(derivations)]


def test_features_do_not_hold_the_report_s_figures_or_years() -> None:
    one = question_terms(["what was it in 2008?", "and in 2009, above $ 15?"])
    other = question_terms(["what was it in 1999?", "and in 2001, above $ 78?"])
    assert one == other


def test_features_tell_questions_and_histories_apart() -> None:
    assert question_terms(["a change?"]) != question_terms(["a sum?"])
    assert question_terms(["x?", "a?"]) != question_terms(["y?", "a?"])
    words = question_words("a?")
    kinds = [_past(), _past("5"), _past("5", "3"), _past("5", "subtract(5, 3)")]
    features = [tuple(history_terms(past, words)) for past in kinds]
    assert len(set(features)) == len(kinds)


def _model() -> FormScorer:
    weights = np.array([[1.0, 0.0], [0.0, 3.0], [-2.0, 0.0]], dtype=np.float32)
    return FormScorer(["select(A)", "subtract(R, R)"], {"bias": 0, "u:growth": 1, "f1:-": 2}, weights)


def test_log_probabilities_add_up_the_weights_of_known_features() -> None:
    result = _model().log_probabilities(["net growth?"], [[], _past("5")])
    logits = np.array([[1.0 - 2.0, 3.0], [1.0, 3.0]])
    expected = logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))
    assert result == pytest.approx(expected, abs=1e-5)
