"""A model's evidence and its blend with the search: probabilities of candidates and of none, by hand."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from types import SimpleNamespace

import pytest
from dspy import lm15

from kg.errors import ConfigError
from programs.aggregate import Blend, Evidence, EvidenceConfig, EvidencePlan, evidence_of
from programs.lm import ReplyToken, tokens_of

SCORES = [math.log(0.5), math.log(0.3), math.log(0.1)]
LENGTHS = [1, 3, 5]
FOR_SECOND = Evidence(tuple(math.log(share) for share in (0.1, 0.8, 0.1)))


def test_probabilities_sum_to_one_whatever_the_weights() -> None:
    blend = Blend(dict.fromkeys(("beam", "share", "length"), 0.7), {"bias": -1.0, "rest": 0.4, "none": 0.1})
    for evidence in (None, FOR_SECOND, Evidence((-0.1, -3.0, -4.0), none=-2.0)):
        judged = blend.judge(SCORES, LENGTHS, evidence)
        assert sum(judged.candidates) + judged.none == pytest.approx(1)
    assert blend.judge([], [], None).none == pytest.approx(1)


def test_the_model_decides_unless_weights_are_fitted_for_it() -> None:
    fitted = EvidencePlan(blend=Blend({"beam": 1.0, "share": 0.2}))
    useless = EvidencePlan(blend=Blend({"beam": 1.0, "length": -0.1}))
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
        (lambda: EvidenceConfig(page_tokens=0), "page_tokens must be at least 1, got 0"),
        (lambda: EvidenceConfig(answer="never"), "answer must be confident or always, got 'never'"),
    ],
)
def test_wrong_settings_are_refused(make: Callable[[], object], message: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(message)):
        make()


def test_tokens_are_read_from_a_client_s_mappings_and_from_the_engine_s_types() -> None:
    mapping = {"content": [{"token": "3", "logprob": -0.1, "top_logprobs": [{"token": "1", "logprob": -2.0}]}]}
    top = (lm15.TopLogprob(token="1", logprob=-2.0, bytes=(49,), token_id=1),)
    typed = (lm15.TokenLogprob(token="3", logprob=-0.1, bytes=(51,), token_id=3, top=top),)
    assert tokens_of(mapping) == tokens_of(typed) == [ReplyToken("3", -0.1, {"1": -2.0})]
    assert tokens_of(None) == []


def test_the_probabilities_of_a_reply_count_and_else_what_it_states() -> None:
    logprobs = [{"token": "choice: ", "logprob": 0.0}, {"token": "2", "logprob": -0.1}]
    logprobs[1]["top_logprobs"] = [{"token": "2", "logprob": math.log(0.9)}, {"token": "0", "logprob": math.log(0.06)}]
    shown = evidence_of(SimpleNamespace(choice=2, confidence=10, logprobs=logprobs), 2)
    assert shown.shares == pytest.approx((math.log(0.04 / 3), math.log(0.9 + 0.04 / 3)), abs=0.01)
    stated = evidence_of(SimpleNamespace(choice=0, confidence=80), 2)
    assert math.exp(stated.none) == pytest.approx(0.8)
    assert [math.exp(share) for share in stated.shares] == pytest.approx([0.1, 0.1])
