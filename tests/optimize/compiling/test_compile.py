from __future__ import annotations

from typing import Any, ClassVar

import dspy
import pytest
from dspy.teleprompt import Teleprompter

from kg.errors import ConfigError
from optimize.compiling.chain import Outcome, choose
from optimize.compiling.compile import compile_program
from optimize.compiling.registry import OPTIMIZERS, OptimizerStep, parse_optimizers
from optimize.needs import Extras
from optimize.optimizer import Optimizer
from optimize.settings import settings


class Student(dspy.Module):
    def __init__(self) -> None:
        super().__init__()
        self.marks: list[str] = []


class Marking(Teleprompter):
    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name

    def compile(self, student: Student, *, trainset: Any, **_: Any) -> Student:
        compiled = student.deepcopy()
        compiled.marks.append(f"{self.name} on {len(trainset)}")
        return compiled


@settings
class MarkingOptimizer(Optimizer):
    summary: ClassVar[str] = "marks"
    name: str = "mark"

    def make(self, seed: int, extras: Extras) -> Marking:
        return Marking(f"{self.name}/{seed}")


@settings
class AskingOptimizer(MarkingOptimizer):
    needs_lm: ClassVar[bool] = True


@pytest.fixture(autouse=True)
def _marking(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(OPTIMIZERS, "mark", MarkingOptimizer)
    monkeypatch.setitem(OPTIMIZERS, "ask", AskingOptimizer)


def test_a_chain_is_read_from_names() -> None:
    assert parse_optimizers("scorer, mark") == (OptimizerStep("scorer"), OptimizerStep("mark"))
    assert parse_optimizers("none") == ()
    with pytest.raises(ConfigError, match=r"optimizer must be none or a chain of scorer, .*; got 'magic'"):
        parse_optimizers("scorer,magic")


def test_each_optimizer_goes_on_from_the_one_before() -> None:
    student: Any = Student()
    chain = [OptimizerStep("mark", {"name": "a"}), OptimizerStep("mark", {"name": "b"})]
    compiled: Any = compile_program(student, chain, trainset=[dspy.Example()], seed=7).program
    assert compiled.marks == ["a/7 on 1", "b/7 on 1"]
    assert student.marks == []


def test_an_empty_chain_copies() -> None:
    student: Any = Student()
    assert compile_program(student, [], trainset=[]).program is not student


def test_what_cannot_work_is_refused_before_anything_runs() -> None:
    student: Any = Student()
    with pytest.raises(ConfigError, match="trainset must hold at least one"):
        compile_program(student, parse_optimizers("mark"), trainset=[])
    with pytest.raises(ConfigError, match="'ask' asks a language model"):
        compile_program(student, parse_optimizers("mark,ask"), trainset=[dspy.Example()])


@pytest.mark.parametrize(
    ("scores", "fields", "kept"),
    [
        ([0.5, 0.6, 0.4], {}, "b"),
        ([0.5, 0.5, 0.4], {}, "b"),
        ([0.5, 0.5, 0.4], {"a": {"all": 0.3}, "b": {"all": 0.1}}, "a"),
        ([0.6, 0.5, None], {}, "a"),
        ([0.4, 0.5, None], {}, "c"),
    ],
)
def test_the_best_on_validation_turns_is_kept(scores: Any, fields: Any, kept: str) -> None:
    student: Any = Student()
    outcomes = [Outcome(one, score, student) for one, score in zip("abc", scores, strict=True)]
    assert choose(outcomes, fields, "best").name == kept
    assert choose(outcomes, fields, "last").name == "c"
