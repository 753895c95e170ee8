"""A model's evidence: the probabilities of candidates and of none, by hand."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from types import SimpleNamespace

import pytest
from dspy import lm15

from kg.errors import ConfigError
from programs.aggregate import Evidence, EvidenceConfig, EvidencePlan, scored
from programs.lm import probability_of, tokens_of

SCORES = [math.log(0.5), math.log(0.3), math.log(0.1)]
FOR_SECOND = Evidence(tuple(math.log(share) for share in (0.1, 0.8, 0.1)))


def test_probabilities_are_the_search_s_or_the_model_s() -> None:
    assert scored(SCORES).candidates == pytest.approx((0.5, 0.3, 0.1))
    assert scored(SCORES).none == pytest.approx(0.1)
    decided = scored(SCORES, FOR_SECOND)
    assert (decided.pick, sum(decided.candidates) + decided.none) == (1, pytest.approx(1))
    assert scored(SCORES, Evidence((-4.0, -3.0, -4.0), none=-0.1)).none > 0.8


def test_the_model_decides_unless_its_agreement_is_fitted() -> None:
    fitted = EvidencePlan(agreement={"search": 1.0, "agrees": 0.2})
    useless = EvidencePlan()
    config = EvidenceConfig(plans={"openai/small": fitted, "openai/useless": useless})
    small = SimpleNamespace(model="openai/small")
    assert config.plan_for(small) is fitted
    assert fitted.asks(small)
    assert not useless.asks(small)
    assert not fitted.asks(None)
    assert config.plan_for(SimpleNamespace(model="openai/large")).decides


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: EvidencePlan(shown=1), "shown must be at least 2, got 1"),
        (lambda: EvidencePlan(agreement={"share": 1.0}), "agreement must be of bias, search, agrees; got 'share'"),
        (lambda: EvidenceConfig(page_tokens=0), "page_tokens must be at least 1, got 0"),
        (lambda: EvidenceConfig(answer="never"), "answer must be confident or always, got 'never'"),
    ],
)
def test_wrong_settings_are_refused(make: Callable[[], object], message: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(message)):
        make()


def test_tokens_are_read_from_a_client_s_mappings_and_from_the_engine_s_types() -> None:
    typed = (lm15.TokenLogprob(token="3", logprob=-0.1, bytes=(51,), token_id=3, top=()),)
    assert tokens_of({"content": [{"token": "3", "logprob": -0.1}]}) == tokens_of(typed) == [("3", -0.1)]
    assert tokens_of(None) == []
    assert probability_of([("[", 0.0), ("r1c1", math.log(0.6)), ("]", 0.0), ("0", -3.0)], "[r1c1]") == pytest.approx(
        0.6
    )
    assert probability_of([], "[r1c1]") is None
