from __future__ import annotations

from pathlib import Path
from typing import Any

import dspy
import pytest

from experiments.compiling.run import describe_plan
from experiments.saved import Origin, load_program, save_program
from optimize.compiling.checkpoints import Checkpoints
from optimize.compiling.compile import compile_program
from optimize.compiling.ledger import BudgetSpent, Ledger
from optimize.compiling.measure import Measured
from optimize.compiling.plan import CompilePlan, CompileSettings, RoleBudget, role_budgets
from optimize.compiling.registry import OPTIMIZERS, parse_optimizers
from optimize.needs import Need, Sizes
from programs.lm.budget import Budget
from programs.lm.guarded import GuardedLM

SMALL = CompileSettings(train_turns=8, val_turns=4, measure_turns=1, keep="last")


@pytest.fixture
def checkpoints(tmp_path: Path) -> Checkpoints:
    return Checkpoints(
        tmp_path / "kept",
        lambda program, folder: save_program(program, folder, Origin()),
        lambda folder: load_program(folder).program,
    )


@pytest.fixture(autouse=True)
def _empty_cache() -> None:
    dspy.configure_cache(enable_disk_cache=False)


@pytest.mark.slow
def test_a_spent_budget_ends_the_compile_with_the_best_until_then(
    shipped_beam: Any, sample_train: list[dspy.Example], any_lm: GuardedLM
) -> None:
    chain = parse_optimizers("bootstrap-random-search")
    plans: list[CompilePlan] = []
    done = compile_program(
        shipped_beam,
        chain,
        trainset=sample_train,
        lms={"task": any_lm},
        settings=SMALL,
        cap=Budget(calls=30),
        announce=plans.append,
    )
    assert done.stopped is not None
    assert "30 calls" in done.stopped
    assert sum(value for name, value in done.spent.items() if name.endswith("_lm_calls")) <= 30
    assert sum(one.calls for one in plans[0].budgets.values()) > 30
    assert done.program is not shipped_beam
    best = max(one.score for one in done.candidates if one.step == 0 and one.turns == 4)
    assert done.scores[-1] == ("bootstrap-random-search", best)


def test_a_budget_is_held_whatever_catches_errors(any_lm: GuardedLM) -> None:
    ledger = Ledger({"task": RoleBudget(calls=2, tokens=10_000, usd=None)})
    lm = ledger.hold("task", any_lm)
    lm("one", cache=False)
    lm.copy(temperature=0.5)("two", cache=False)
    with pytest.raises(BudgetSpent, match="2 calls"):
        lm("three", cache=False)
    assert not issubclass(BudgetSpent, Exception)
    assert ledger.figures()["task_lm_calls"] == 2
    assert any_lm.spent.calls == 0


def test_a_budget_goes_on_where_it_was() -> None:
    ledger = Ledger({"task": RoleBudget(5, 100, None)}, {"task_lm_calls": 4.0, "task_lm_prompt_tokens": 90.0})
    left = ledger._left(Budget(5, 100), ("task",))
    assert (left.calls, left.tokens) == (1, 10)


def test_no_call_gets_through_when_the_compile_has_ended(any_lm: GuardedLM) -> None:
    ledger = Ledger({})
    lm = ledger.hold("task", any_lm)
    ledger.close()
    with pytest.raises(BudgetSpent):
        lm("late", cache=False)


_DEFECT = pytest.mark.xfail(
    reason="defect: in one process with many other tests, a resumed compile may draw other demonstrations", strict=False
)


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("bootstrap-random-search", marks=[_DEFECT, pytest.mark.slow]),
        "gepa",
        pytest.param("simba", marks=[_DEFECT, pytest.mark.slow]),
    ],
)
def test_a_compile_that_was_killed_goes_on_and_asks_nothing_twice(
    name: str, shipped_beam: Any, sample_train: list[dspy.Example], any_lm: GuardedLM, checkpoints: Checkpoints
) -> None:
    settings = {"gepa": ["gepa.max_metric_calls=16"], "simba": ["simba.bsize=4", "simba.max_steps=2"]}
    chain = parse_optimizers(f"labeled-few-shot,{name}", settings.get(name, []))
    whole = compile_program(shipped_beam, chain, trainset=sample_train, lms={"task": any_lm}, settings=SMALL)
    calls = sum(value for key, value in whole.spent.items() if key.endswith("_lm_calls"))

    dspy.cache.reset_memory_cache()
    engine: Any = any_lm.engine
    asked_before = len(engine.prompts)
    engine.stop_after = asked_before + int(calls * 0.6)
    with pytest.raises(KeyboardInterrupt):
        compile_program(
            shipped_beam, chain, trainset=sample_train, lms={"task": any_lm}, settings=SMALL, checkpoints=checkpoints
        )
    assert checkpoints.is_begun
    assert checkpoints.result() is None
    found = (checkpoints.folder / "candidates.jsonl").read_text().splitlines()
    assert len(found) >= 2
    engine.stop_after = None

    done = compile_program(
        shipped_beam, chain, trainset=sample_train, lms={"task": any_lm}, settings=SMALL, checkpoints=checkpoints
    )
    assert done.resumed
    assert done.prompts_after == whole.prompts_after
    assert done.scores == whole.scores
    # The replies until the kill were kept: only the one that was cut off, and those that measure, are asked again.
    assert len(engine.prompts) - asked_before <= calls + 4


def test_a_finished_compile_is_not_repeated(
    shipped_beam: Any, sample_train: list[dspy.Example], any_lm: GuardedLM, checkpoints: Checkpoints
) -> None:
    chain = parse_optimizers("bootstrap")
    options: dict[str, Any] = {"trainset": sample_train, "lms": {"task": any_lm}, "settings": SMALL}
    first = compile_program(shipped_beam, chain, checkpoints=checkpoints, **options)
    engine: Any = any_lm.engine
    asked = len(engine.prompts)
    again = compile_program(shipped_beam, chain, checkpoints=checkpoints, **options)
    assert len(engine.prompts) == asked
    assert again.resumed
    assert again.prompts_after == first.prompts_after
    assert (again.scores, again.kept, again.spent) == (first.scores, first.kept, first.spent)


def test_what_is_stated_is_an_upper_bound() -> None:
    budgets = role_budgets(Need(turns=10, prompt_calls=3), Measured(calls=2.0, tokens=500.0, usd=None, seconds=1.0))
    assert budgets["task"].calls == 25
    assert budgets["task"].usd is None
    assert set(budgets) == {"task", "prompt"}


def test_the_time_of_a_training_is_in_the_plan() -> None:
    (step,) = parse_optimizers("finetune", ["finetune.training.hours=0.5"])
    need = Need(turns=10) + step.optimizer().need(Sizes(8, 4, 2))
    plan = CompilePlan(Sizes(8, 4, 2), need, Measured(calls=2.0, tokens=500.0, usd=None, seconds=1.0), {})
    assert plan.seconds == 10 + 1800
    assert "about 30 minutes" in describe_plan(plan)


def test_more_data_takes_no_less() -> None:
    for name, entry in OPTIMIZERS.items():
        if entry.needs_lm:
            small, large = (entry().need(Sizes(n, n // 2, 2)) for n in (10, 100))
            assert large.turns >= small.turns, name
            assert large.teacher_turns >= small.teacher_turns, name
