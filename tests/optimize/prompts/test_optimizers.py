from __future__ import annotations

from typing import Any

import dspy
import pytest

from kg.scoring import DerivationScorer
from optimize.compiling.compile import compile_program
from optimize.compiling.plan import CompilePlan, CompileSettings
from optimize.compiling.registry import OPTIMIZERS, parse_optimizers
from programs.agent import AgentConfig, AgentQA
from programs.conversation import ConversationQA
from programs.lm.guarded import GuardedLM
from programs.worlds.reader import ReportReader

SMALL = CompileSettings(train_turns=8, val_turns=4, measure_turns=1, keep="last")
SETTINGS = {
    "labeled-few-shot": ["labeled-few-shot.k=3"],
    "bootstrap": ["bootstrap.max_bootstrapped_demos=2"],
    "bootstrap-random-search": ["bootstrap-random-search.num_candidate_programs=2"],
    "miprov2": ["miprov2.num_candidates=3", "miprov2.num_trials=2"],
    "gepa": ["gepa.max_metric_calls=16"],
    "simba": ["simba.bsize=4", "simba.num_candidates=2", "simba.max_steps=2"],
    "infer-rules": ["infer-rules.num_candidates=2", "infer-rules.shown=4"],
    "copro": ["copro.breadth=2", "copro.depth=2"],
    "knn-few-shot": ["knn-few-shot.k=2", "knn-few-shot.pool=6"],
}


def compiled_with(name: str, program: Any, train: list[dspy.Example], lm: GuardedLM, **options: Any) -> Any:
    with dspy.context(lm=lm):
        chain = parse_optimizers(name, [text for one in name.split(",") for text in SETTINGS[one]])
        return compile_program(program, chain, trainset=train, lms={"task": lm}, settings=SMALL, **options)


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=pytest.mark.slow if name in ("copro", "simba") else ()) for name in sorted(SETTINGS)],
)
def test_every_prompt_optimizer_compiles_within_its_budget(
    name: str, shipped_beam: Any, sample_train: list[dspy.Example], any_lm: GuardedLM
) -> None:
    before = [str(one.signature.instructions) for one in shipped_beam.turn.predictors()]
    plans: list[CompilePlan] = []
    done = compiled_with(name, shipped_beam, sample_train, any_lm, announce=plans.append)
    assert done.stopped is None
    assert [one for one, _ in done.scores] == ["start", name]
    for role, budget in plans[0].budgets.items():
        assert done.spent.get(f"{role}_lm_calls", 0) <= budget.calls, role
    for predictor in done.program.turn.predictors():
        for demo in predictor.demos:
            assert set(demo) - {"augmented"} <= set(predictor.signature.fields)
    assert [str(one.signature.instructions) for one in shipped_beam.turn.predictors()] == before
    assert all(not one.demos for one in shipped_beam.turn.predictors())


def test_the_same_seed_gives_the_same_prompts(
    shipped_beam: Any, sample_train: list[dspy.Example], any_lm: GuardedLM
) -> None:
    first, again = (compiled_with("labeled-few-shot", shipped_beam, sample_train, any_lm, seed=3) for _ in range(2))
    other = compiled_with("labeled-few-shot", shipped_beam, sample_train, any_lm, seed=4)
    assert first.prompts_after == again.prompts_after
    assert first.prompts_after != other.prompts_after


def test_optimizers_follow_one_another(shipped_beam: Any, sample_train: list[dspy.Example], any_lm: GuardedLM) -> None:
    done = compiled_with("labeled-few-shot,infer-rules", shipped_beam, sample_train, any_lm)
    assert [name for name, _ in done.scores] == ["start", "labeled-few-shot", "infer-rules"]
    assert "Keep to these rules:" in done.prompts_after["read_page"]["instructions"]


def test_the_candidates_of_infer_rules_keep_their_own_rules(
    shipped_beam: Any, sample_train: list[dspy.Example], any_lm: GuardedLM
) -> None:
    """DSPy writes them into the signature's class, which all copies of the program share."""
    from signatures.understand import UnderstandReport

    before = UnderstandReport.instructions
    compiled_with("infer-rules", shipped_beam, sample_train, any_lm)
    assert UnderstandReport.instructions == before


def test_a_teacher_answers_in_place_of_the_program_s_own_model(
    shipped_beam: Any, sample_train: list[dspy.Example], any_lm: GuardedLM
) -> None:
    teacher = any_lm.copy(engine=type(any_lm.engine)())
    chain = parse_optimizers("bootstrap")
    done = compile_program(
        shipped_beam, chain, trainset=sample_train, lms={"task": any_lm, "teacher": teacher}, settings=SMALL
    )
    assert done.spent["teacher_lm_calls"] == len(teacher.engine.prompts) > 0


def test_gepa_reflects_on_our_feedback(shipped_beam: Any, sample_train: list[dspy.Example], any_lm: GuardedLM) -> None:
    reflection = any_lm.copy(engine=type(any_lm.engine)())
    chain = parse_optimizers("gepa", SETTINGS["gepa"])
    lms: Any = {"task": any_lm, "reflection": reflection}
    compile_program(shipped_beam, chain, trainset=sample_train, lms=lms, settings=SMALL)
    assert any("Wrong. Question:" in prompt for prompt in reflection.engine.prompts)


def test_every_optimizer_of_the_issue_is_there() -> None:
    wanted = "labeled-few-shot bootstrap bootstrap-random-search miprov2 gepa simba infer-rules copro knn-few-shot"
    assert set(wanted.split()) | {"scorer"} <= set(OPTIMIZERS)
    assert [step.name for step in parse_optimizers("better-together:scorer,bootstrap")] == ["scorer", "bootstrap"]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["bootstrap", "gepa"])
def test_the_tool_agent_is_compiled_alike(
    name: str, shipped_beam: Any, sample_train: list[dspy.Example], any_lm: GuardedLM
) -> None:
    settings = AgentConfig(2)
    agent = ConversationQA(AgentQA(ReportReader(shipped_beam.ontology, DerivationScorer.untrained()), settings))
    chain = parse_optimizers(name, ["gepa.max_metric_calls=4"] if name == "gepa" else [])
    small = CompileSettings(train_turns=3, val_turns=2, measure_turns=1, keep="last")
    done = compile_program(agent, chain, trainset=sample_train, lms={"task": any_lm}, settings=small)
    assert done.stopped is None
    assert done.program.kind == "agent"
    assert done.plan is not None
    assert len(done.plan.measured.active) >= 2
