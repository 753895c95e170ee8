"""The optimizers by name, their settings, and chains of them."""

from __future__ import annotations

from typing import Any

import dspy
import pytest

from experiments.data import graph_and_questions
from experiments.kgqa import graph_job
from experiments.lms import LMConfig
from experiments.saved import find_program
from kg.errors import ConfigError
from optimize.optimizers import OptimizerStep, compile_chain, parse_optimizers
from optimize.scorers.derivations import ScorerConfig
from programs.lm import Budget
from programs.lm.guarded import GuardedLM
from programs.worlds.graph import GraphConfig

SETTINGS = {
    "labeled-few-shot": ["labeled-few-shot.k=3"],
    "bootstrap": ["bootstrap.max_bootstrapped_demos=2"],
    "bootstrap-random-search": ["bootstrap-random-search.num_candidate_programs=2"],
    "miprov2": ["miprov2.num_candidates=3", "miprov2.num_trials=2"],
    "gepa": ["gepa.max_metric_calls=16"],
    "simba": ["simba.num_candidates=2", "simba.max_steps=1"],
    "copro": ["copro.breadth=2", "copro.depth=1"],
}


def test_a_chain_is_read_from_names() -> None:
    assert parse_optimizers("scorer + gepa") == (OptimizerStep("scorer"), OptimizerStep("gepa"))
    assert parse_optimizers("none") == ()
    with pytest.raises(ConfigError, match=r"none or a chain \(a\+b\) of scorer, .*; got 'magic'"):
        parse_optimizers("scorer+magic")


def test_settings_are_arguments_of_the_optimizer() -> None:
    texts = ["miprov2.num_trials=3", "miprov2.init_temperature=0.5", "miprov2.auto=light", "scorer.operands.hidden=8"]
    scorer, mipro = parse_optimizers("scorer+miprov2", texts)
    assert mipro.settings == {"num_trials": 3, "init_temperature": 0.5, "auto": "light"}
    assert scorer.settings["settings"].operands.hidden == 8
    assert scorer.settings["settings"].form_steps == ScorerConfig().form_steps
    assert parse_optimizers("simba", ["simba.bsize=4"])[0].settings == {"bsize": 4}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("bootstrap.rounds=3", "optimizer 'bootstrap' has no setting 'rounds'; it has max_rounds, "),
        ("bootstrap.metric=x", "optimizer 'bootstrap' has no setting 'metric'"),
        ("bootstrap.max_rounds=many", "bootstrap.max_rounds cannot be 'many'"),
        ("scorer.steps=1", "optimizer 'scorer' has no setting 'steps'; it has form_steps, "),
        ("scorer.folds.x=1", "folds is one value, so there is no 'folds.x'"),
        ("gepa.max_metric_calls=5", "is for 'gepa', which is not in the chain"),
        ("max_rounds", r"written NAME\.KEY=VALUE, got 'max_rounds'"),
    ],
)
def test_what_cannot_be_a_setting_is_refused(text: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        parse_optimizers("scorer+bootstrap", [text])


def compiled_with(name: str, program: Any, train: list[dspy.Example], lm: GuardedLM, **options: Any) -> Any:
    chain = parse_optimizers(name, [text for one in name.split("+") for text in SETTINGS[one]])
    return compile_chain(program, chain, train, lms={"task": lm, **options}, train_turns=6, val_turns=3)


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=pytest.mark.slow if name in ("copro", "simba") else ()) for name in sorted(SETTINGS)],
)
def test_every_prompt_optimizer_compiles(
    name: str, shipped_beam: Any, sample_train: list[dspy.Example], any_lm: GuardedLM
) -> None:
    before = [str(one.signature.instructions) for one in shipped_beam.predictors()]
    compiled = compiled_with(name, shipped_beam, sample_train, any_lm)
    assert compiled.failure is None
    assert [one for one, _ in compiled.scores] == ["start", name]
    for predictor in compiled.program.predictors():
        assert predictor.lm is None
        for demo in predictor.demos:
            assert set(demo) - {"augmented"} <= set(predictor.signature.fields)
    assert [str(one.signature.instructions) for one in shipped_beam.predictors()] == before
    assert not shipped_beam.turn.understand.predict.demos


def test_the_agent_is_compiled(sample_train: list[dspy.Example], any_lm: GuardedLM) -> None:
    compiled = compiled_with("bootstrap", find_program("agent").program, sample_train, any_lm)
    assert [one for one, _ in compiled.scores] == ["start", "bootstrap"]


def test_other_models_have_their_own_roles(
    shipped_beam: Any, sample_train: list[dspy.Example], any_lm: GuardedLM
) -> None:
    teacher, reflection = (any_lm.copy(engine=type(any_lm.engine)()) for _ in range(2))
    compiled_with("bootstrap", shipped_beam, sample_train, any_lm, teacher=teacher)
    assert teacher.engine.prompts
    compiled_with("gepa", shipped_beam, sample_train, any_lm, reflection=reflection)
    assert any("Wrong. Question:" in prompt for prompt in reflection.engine.prompts)


def test_a_spent_budget_ends_a_compile_with_its_reason(
    shipped_beam: Any, sample_train: list[dspy.Example], any_lm: GuardedLM
) -> None:
    any_lm.budget, any_lm.cache = Budget(calls=9), False
    compiled = compiled_with("bootstrap+gepa", shipped_beam, sample_train, any_lm)
    assert "the budget of local/qwen2.5-coder-1.5b is spent: 9 calls" in compiled.failure
    assert any_lm.spent.calls == 9
    assert compiled.program(report=sample_train[0].report, question="net income?").turn.question == "net income?"


def test_prompts_about_a_graph_are_compiled(any_lm: GuardedLM) -> None:
    loaded, questions = graph_and_questions("sample:graph", ["sample:train"], "metaqa")
    job = graph_job(loaded, questions, GraphConfig(), optimizers=parse_optimizers("bootstrap"), lm=LMConfig("local"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("experiments.compiling.language_models", lambda *_: {"task": any_lm})
        fit = job.fit(print)
        job = graph_job(
            loaded, questions, GraphConfig(), optimizers=parse_optimizers("labeled-few-shot"), lm=LMConfig("local")
        )
        with pytest.raises(ConfigError, match="'labeled-few-shot' cannot change the program about graphs"):
            job.fit(print)
    assert {"val_score_0_start", "val_score_1_bootstrap"} <= set(fit.figures)
    assert any("member_of" in prompt for prompt in any_lm.engine.prompts)


def test_what_cannot_work_is_refused(shipped_beam: Any, sample_train: list[dspy.Example], any_lm: GuardedLM) -> None:
    with pytest.raises(ConfigError, match="'gepa' asks a language model"):
        compile_chain(shipped_beam, parse_optimizers("gepa"), sample_train)
    with pytest.raises(ConfigError, match="turns of other reports to choose on"):
        compile_chain(shipped_beam, parse_optimizers("gepa"), sample_train[:1], lms={"task": any_lm})
    for name in ("scorer", "labeled-few-shot"):
        with pytest.raises(ConfigError, match=f"'{name}' cannot change the agent"):
            compile_chain(find_program("agent").program, parse_optimizers(name), sample_train, lms={"task": any_lm})
    assert not any_lm.engine.prompts
    chain = parse_optimizers("labeled-few-shot", ["labeled-few-shot.longest=3"])
    with pytest.raises(ConfigError, match=r"none of the \d turns gives"):
        compile_chain(shipped_beam, chain, sample_train, lms={"task": any_lm}, train_turns=3, val_turns=2)
    assert compile_chain(shipped_beam, [], []).program is not shipped_beam
