from __future__ import annotations

import pytest

from kg.errors import ConfigError
from optimize.compiling.registry import OptimizerStep, parse_optimizers
from optimize.prompts import BootstrapOptimizer, GEPAOptimizer, MIPROOptimizer
from optimize.scorers.derivation_training import ScorerConfig
from optimize.settings import with_setting


def test_settings_are_read_by_their_types() -> None:
    assert with_setting(BootstrapOptimizer(), "max_rounds", "3").max_rounds == 3
    assert with_setting(MIPROOptimizer(), "data_aware", "false").data_aware is False
    assert with_setting(MIPROOptimizer(), "init_temperature", "0.5").init_temperature == 0.5
    assert with_setting(GEPAOptimizer(), "candidate_selection", "current_best").candidate_selection == "current_best"
    assert with_setting(ScorerConfig(), "operands.hidden", "8").operands.hidden == 8


@pytest.mark.parametrize(
    ("key", "text", "message"),
    [
        ("rounds", "3", "BootstrapOptimizer has no setting 'rounds'; it has max_bootstrapped_demos, max_labeled_demos"),
        ("max_rounds", "many", "max_rounds must be a whole number, got 'many'"),
        ("max_rounds", "0", "max_rounds must be at least 1, got 0"),
        ("max_rounds.x", "1", "max_rounds holds one value"),
    ],
)
def test_what_cannot_be_a_setting_is_refused(key: str, text: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        with_setting(BootstrapOptimizer(), key, text)


def test_a_choice_must_be_one_of_the_choices() -> None:
    with pytest.raises(ConfigError, match="candidate_selection must be 'pareto' or 'current_best', got 'best'"):
        with_setting(GEPAOptimizer(), "candidate_selection", "best")


def test_a_chain_takes_settings_by_name() -> None:
    scorer, bootstrap = parse_optimizers("scorer,bootstrap", ["bootstrap.max_rounds=2", "scorer.operands.hidden=8"])
    assert bootstrap.settings == {"max_rounds": 2}
    assert bootstrap.optimizer() == BootstrapOptimizer(max_rounds=2)
    assert scorer.all_settings()["operands.hidden"] == 8
    assert scorer.all_settings()["form_steps"] == ScorerConfig().form_steps


def test_settings_for_nothing_in_the_chain_are_refused() -> None:
    with pytest.raises(ConfigError, match="is for 'gepa', which is not in the chain 'bootstrap'"):
        parse_optimizers("bootstrap", ["gepa.max_metric_calls=5"])
    with pytest.raises(ConfigError, match=r"written NAME\.KEY=VALUE, got 'max_rounds'"):
        parse_optimizers("bootstrap", ["max_rounds"])
    with pytest.raises(ConfigError, match="optimizer 'bootstrap' has no setting 'rounds'"):
        OptimizerStep("bootstrap", {"rounds": 1}).optimizer()
