"""The blend: probabilities of candidates and of none, by hand."""

from __future__ import annotations

import math

import pytest

from kg.derivations.derivation import Derivation
from kg.errors import ConfigError
from programs.evidence.blend import BEAM_DECIDES, Blend, Evidence, length_of
from programs.evidence.plans import BEAM_ALONE, CAUTIOUS, EvidenceConfig, EvidencePlan
from programs.evidence.prompt import Demonstration

SCORES = [math.log(0.5), math.log(0.3), math.log(0.1)]
LENGTHS = [1, 3, 5]
FOR_SECOND = Evidence("likelihood", tuple(math.log(p) for p in (0.1, 0.8, 0.1)), (-5.0, -1.0, -6.0))


def test_the_beam_alone_keeps_its_probabilities() -> None:
    judged = BEAM_DECIDES.judge(SCORES, LENGTHS, FOR_SECOND)
    assert judged.candidates == pytest.approx((0.5, 0.3, 0.1))
    assert judged.none == pytest.approx(0.1)
    assert (judged.pick, BEAM_DECIDES.uses_evidence) == (0, False)


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


def test_without_fitted_weights_a_sure_model_turns_near_ties_only() -> None:
    sure = Evidence("index", (math.log(0.004), math.log(0.98), math.log(0.004)), none=math.log(0.004))
    assert CAUTIOUS.judge(SCORES, LENGTHS, sure).pick == 1
    assert CAUTIOUS.judge([math.log(0.7), math.log(0.2), math.log(0.05)], LENGTHS, sure).pick == 0


def test_a_model_that_says_none_raises_the_probability_of_none() -> None:
    blend = Blend({"beam": 1.0}, {"rest": 1.0, "none": 1.0})
    sure, unsure = (blend.judge(SCORES, LENGTHS, Evidence("index", (-3.0,) * 3, none=none)) for none in (-0.1, -4.0))
    assert sure.none > unsure.none


def test_a_derivation_is_as_long_as_its_figures_and_operations() -> None:
    assert length_of(Derivation.parse("10")) == 1
    assert length_of(Derivation.parse("subtract(10, 12), divide(#0, 12)")) == 5


def test_wrong_settings_are_named() -> None:
    with pytest.raises(ConfigError, match="got 'shares'"):
        Blend({"shares": 1.0})
    with pytest.raises(ConfigError, match="finite"):
        Blend({"beam": math.nan})
    with pytest.raises(ConfigError, match="shown must be at least 2, got 1"):
        EvidencePlan("index", shown=1)
    with pytest.raises(ConfigError, match=r"skip_above must be in \[0, 1\], got 2"):
        EvidencePlan("index", skip_above=2)
    with pytest.raises(ConfigError, match="mode must be one of"):
        EvidencePlan("guess")  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="escalate must be one of never, agent, thoughts, got 'always'"):
        EvidenceConfig(escalate="always")  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="samples must be at least 1"):
        EvidenceConfig(samples=0)
    with pytest.raises(ConfigError, match="evidence must be auto or one of"):
        EvidenceConfig(evidence="letter")  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="none_above"):
        EvidenceConfig(none_above=0)


class _Holdable:
    model, can_choose = "local/small", True


class _Remote:
    model, can_choose = "openai/large", False


def test_a_model_without_weights_does_not_overrule() -> None:
    with pytest.warns(UserWarning, match="no evidence weights are fitted for"):
        held, remote = EvidenceConfig().plan_for(_Holdable()), EvidenceConfig().plan_for(_Remote())
    assert not held.asks(SCORES), "a small model is not even asked"
    assert (remote.mode, remote.understand, remote.reads, remote.trust) == ("index", True, "page", "model")
    forced = EvidenceConfig(evidence="index").plan_for(_Holdable())
    assert (forced.asks(SCORES), forced.blend) == (True, BEAM_DECIDES)
    assert not EvidenceConfig().plan_for(None).asks(SCORES)


def test_the_weights_of_the_model_at_hand_are_taken() -> None:
    plan = EvidencePlan("likelihood", shown=5, skip_above=0.6, blend=Blend({"beam": 1.0, "share": 0.3}), fitted=True)
    config = EvidenceConfig(
        plans={"local/small": plan, BEAM_ALONE: EvidencePlan("likelihood", skip_above=0.0, alone=CAUTIOUS)}
    )
    assert config.plan_for(_Holdable()) == plan
    assert plan.asks([math.log(0.5), -3.0])
    assert not plan.asks([math.log(0.7), -3.0])
    assert not plan.asks([-1.0]), "there is nothing to choose among"
    assert config.plan_for(None).alone == CAUTIOUS
    assert config.plan_for(_Remote()).alone == CAUTIOUS, "how sure the beam is of itself is known whatever the model"
    assert EvidenceConfig(evidence="index", plans=config.plans).plan_for(_Holdable()).blend == BEAM_DECIDES
    assert EvidenceConfig(understand=True, plans=config.plans).plan_for(_Holdable()).understand


def test_settings_are_read_as_they_were_written() -> None:
    plan = EvidencePlan("index", understand=True, blend=Blend({"beam": 0.5, "share": 1.25}, {"bias": -1.0}, "3 turns"))
    config = EvidenceConfig(samples=3, plans={"m": plan}, demonstrations=(Demonstration("Q1: a?", "[b, c]"),))
    assert EvidenceConfig.from_dict(config.to_dict()) == config
