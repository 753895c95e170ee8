"""DSPy's own optimizers on the program for a conversation, with finpath's metrics and without its command."""

from __future__ import annotations

import pickle
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import dspy

import finpath
from kg.search import Derivation
from optimize import metric, turn_examples
from programs.lm.guarded import GuardedLM
from programs.turns import Turn


def test_an_optimizer_compiles_the_conversation_program(
    shipped_beam: Any, sample_train: list[dspy.Example], any_lm: GuardedLM
) -> None:
    train = turn_examples(sample_train[:2], shipped_beam)[:4]
    optimizer = dspy.MIPROv2(
        metric=metric, auto=None, num_candidates=2, prompt_model=any_lm, task_model=any_lm, max_bootstrapped_demos=1
    )
    with dspy.context(lm=any_lm):
        compiled = optimizer.compile(
            shipped_beam.deepcopy(), trainset=train, valset=train, num_trials=1, minibatch=False
        )
        found = compiled(**train[0].inputs())
    assert found.turn.question == train[0].question
    assert pickle.loads(pickle.dumps(found)).answer == found.answer


def test_a_conversation_is_scored_by_its_turns(sample_train: list[dspy.Example]) -> None:
    gold = sample_train[0]
    derivations = [Derivation.parse(program) for program in gold.programs]
    turns = [
        Turn(question, answer=answer, derivation=derivation)
        for question, answer, derivation in zip(gold.questions, gold.answers, derivations, strict=True)
    ]
    assert metric(gold, dspy.Prediction(turns=turns)).score == 1
    assert metric(gold, dspy.Prediction(turns=turns), []) is True
    turns[0] = Turn(gold.questions[0], answer=Decimal("0.123"), derivation=Derivation.parse("0.123"))
    found = metric(gold, dspy.Prediction(turns=turns))
    assert found.score == 1 - 1 / len(turns)
    assert gold.questions[0] in found.feedback
    assert metric(gold, dspy.Prediction(turns=turns), []) is False
    assert metric(gold, dspy.Prediction()).score == 0


def test_bootstrap_takes_whole_conversations(
    shipped_beam: Any, sample_train: list[dspy.Example], any_lm: GuardedLM
) -> None:
    def answered(gold: Any, pred: Any, trace: Any = None) -> bool:
        del trace
        assert len(pred.turns) == len(gold.answers)
        return any(turn.answer is not None for turn in pred.turns)

    with dspy.context(lm=any_lm):
        optimizer = dspy.BootstrapFewShot(metric=answered, max_bootstrapped_demos=1, max_labeled_demos=0)
        compiled = optimizer.compile(shipped_beam.deepcopy(), trainset=sample_train[:3])
    assert any(one.demos for one in compiled.predictors())


def test_a_model_without_weight_is_asked_as_soon_as_prompts_are_compiled_for_it(
    sample_train: list[dspy.Example], any_lm: GuardedLM, tmp_path: Path
) -> None:
    shipped = finpath.load("beam")  # not the one of other tests, whose instructions DSPy's InferRules changes in place

    def prompts(program: Any) -> int:
        """The calls of a turn of a command, which asks a model only where it has weight."""
        before = len(any_lm.engine.prompts)
        with dspy.context(lm=any_lm):
            program.ask(program.start(program.world(sample_train[0].report)), sample_train[0].questions[0])
        return len(any_lm.engine.prompts) - before

    assert prompts(shipped) == 0
    with dspy.context(lm=any_lm):
        shipped(report=sample_train[0].report, question=sample_train[0].questions[0])
    assert any_lm.engine.prompts, "an optimizer calls the module, and sees its replies"
    train = turn_examples(sample_train[:2], shipped)
    compiled = dspy.LabeledFewShot(k=2).compile(shipped.deepcopy(), trainset=train)
    finpath.save(compiled, tmp_path / "mine")
    assert prompts(finpath.load(str(tmp_path / "mine"))) > 0
    plan = compiled.evidence.plans[any_lm.model]
    plan = replace(plan, prompts=compiled.turn.prompts_for(plan))
    compiled.evidence = replace(compiled.evidence, plans={any_lm.model: plan})
    assert prompts(compiled) == 0, "weights that are fitted with the compiled prompts count"
