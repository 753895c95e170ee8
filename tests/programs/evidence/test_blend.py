"""The blend: probabilities of candidates and of none, by hand."""

from __future__ import annotations

import math
import re
from collections.abc import Callable

import pytest

from kg.errors import ConfigError
from kg.search.derivation import Derivation
from programs.evidence.blend import BEAM_ALONE, Blend, Evidence, EvidenceConfig, EvidencePlan, length_of
from programs.evidence.prompt import Demonstration

SCORES = [math.log(0.5), math.log(0.3), math.log(0.1)]
LENGTHS = [1, 3, 5]
FOR_SECOND = Evidence("likelihood", tuple(math.log(p) for p in (0.1, 0.8, 0.1)), (-5.0, -1.0, -6.0))


def test_the_beam_alone_keeps_its_probabilities() -> None:
    judged = Blend().judge(SCORES, LENGTHS, FOR_SECOND)
    assert judged.candidates == pytest.approx((0.5, 0.3, 0.1))
    assert judged.none == pytest.approx(0.1)
    assert (judged.pick, Blend().uses_evidence) == (0, False)


def test_probabilities_sum_to_one_whatever_the_weights() -> None:
    names = ("beam", "share", "likelihood", "first", "agrees", "length")
    blend = Blend(dict.fromkeys(names, 0.7), {"bias": -1.0, "rest": 0.4, "likelihood": 0.2, "none": 0.1})
    for evidence in (None, FOR_SECOND, Evidence("index", (-0.1, -3.0, -4.0), none=-2.0)):
        judged = blend.judge(SCORES, LENGTHS, evidence)
        assert sum(judged.candidates) + judged.none == pytest.approx(1)
    assert blend.judge([], [], None).none == pytest.approx(1)


def test_shares_shift_the_odds_by_their_weight() -> None:
    judged = Blend({"beam": 1.0, "share": 0.5}, {"rest": 1.0}).judge(SCORES, LENGTHS, FOR_SECOND)
    assert judged.candidates[1] / judged.candidates[0] == pytest.approx(0.3 / 0.5 * math.sqrt(0.8 / 0.1))
    assert judged.pick == 1


def test_the_first_choice_and_lengths_count_by_themselves() -> None:
    judged = Blend({"beam": 1.0, "first": 1.0}, {"rest": 1.0}).judge(SCORES, LENGTHS, FOR_SECOND)
    assert judged.candidates[1] / judged.candidates[0] == pytest.approx(0.6 * math.e)
    shorter = Blend({"beam": 1.0, "length": -0.5}, {"rest": 1.0}).judge(SCORES, LENGTHS, None)
    assert shorter.candidates[1] / shorter.candidates[0] == pytest.approx(0.6 * math.exp(-1))


def test_a_model_that_says_none_raises_the_probability_of_none() -> None:
    blend = Blend({"beam": 1.0}, {"rest": 1.0, "none": 1.0})
    sure, unsure = (blend.judge(SCORES, LENGTHS, Evidence("index", (-3.0,) * 3, none=none)) for none in (-0.1, -4.0))
    assert sure.none > unsure.none


def test_a_derivation_is_as_long_as_its_figures_and_operations() -> None:
    assert length_of(Derivation.parse("10")) == 1
    assert length_of(Derivation.parse("subtract(10, 12), divide(#0, 12)")) == 5


class _Holdable:
    model, can_choose = "local/small", True


class _Remote:
    model, can_choose = "openai/large", False


def test_the_model_decides_unless_weights_are_fitted_for_it() -> None:
    fitted = EvidencePlan("shown", blend=Blend({"beam": 1.0, "share": 0.2}))
    useless = EvidencePlan("shown", blend=Blend({"beam": 1.0, "length": -0.1}))
    config = EvidenceConfig(plans={"local/small": fitted, "local/useless": useless})
    assert config.plan_for(_Holdable()) is fitted
    assert fitted.asks(_Holdable())
    assert not useless.asks(_Holdable())
    assert not fitted.asks(None)
    assert config.plan_for(_Remote()).decides
    with pytest.warns(UserWarning, match=r"no evidence weights are fitted for local/small: it decides alone"):
        assert EvidenceConfig().plan_for(_Holdable()).decides


def test_settings_are_read_as_they_were_written() -> None:
    plan = EvidencePlan("brief", 5, Blend({"beam": 0.9, "share": 0.1}))
    config = EvidenceConfig(page_tokens=99, seed=3, demonstrations=(Demonstration("a", "b"),), plans={"x": plan})
    assert EvidenceConfig.from_dict(config.to_dict()) == config


def test_plans_of_earlier_revisions_are_read() -> None:
    blend, alone = {"weights": {"beam": 1.0, "share": 0.2}, "none": {}}, {"weights": {"beam": 0.9}, "none": {}}
    old = {"mode": "likelihood", "understand": False, "shown": 10, "skip_above": 0.6, "prompt": "brief"}
    old |= {"blend": blend, "alone": alone, "fitted": True, "trust": "blend", "reads": "labels"}
    plans = {"a": old, "b": {**old, "skip_above": 0.0}, BEAM_ALONE: {**old, "skip_above": 0.0}}
    config = EvidenceConfig.from_dict({"evidence": "auto", "samples": 3, "page_tokens": 3000, "plans": plans})
    assert (config.plans["a"].prompt, config.plans["a"].blend.weights["share"]) == ("brief", 0.2)
    assert "share" not in config.plans["b"].blend.weights
    assert config.plan_for(None).blend.weights == {"beam": 0.9}


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: EvidencePlan("loud"), "prompt must be one of page, shown, brief, got 'loud'"),
        (lambda: EvidencePlan(shown=1), "shown must be at least 2, got 1"),
        (lambda: EvidenceConfig(page_tokens=0), "page_tokens must be at least 1, got 0"),
        (lambda: EvidenceConfig(answer="never"), "answer must be confident or always, got 'never'"),
    ],
)
def test_wrong_settings_are_refused(make: Callable[[], object], message: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(message)):
        make()
