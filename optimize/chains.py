"""Chains of optimizers: prompt optimizers that follow each other are one ``dspy.BetterTogether``.

    >>> chain = parse_optimizers("scorer+bootstrap")
    >>> compiled = compile_chain(program, chain, conversation_examples(train), lms={"task": lm})
    >>> compiled.program, compiled.scores
    (ConversationQA(...), (('start', 0.7), ('bootstrap', 0.85)))

BetterTogether keeps the program with the best score on validation turns, of equal ones the first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any, Literal, get_args

import dspy
from dspy import teleprompt

from kg.errors import ConfigError, LMError
from optimize.examples import split_turns, tidy_demonstrations
from optimize.metrics import metric
from optimize.optimizers import FITS, OptimizerStep
from programs.lm import SuitedAdapter

Role = Literal["task", "teacher", "prompt", "reflection"]
"""The task of a language model in a compile."""


class Chain(teleprompt.BetterTogether):
    """BetterTogether that keeps the error that ended it; DSPy 3.4 only logs it (teleprompt/bettertogether.py#L489)."""

    error: Exception | None = None

    def _run_and_evaluate_step(self, *arguments: Any, **others: Any) -> Any:
        try:
            return super()._run_and_evaluate_step(*arguments, **others)
        except Exception as error:
            self.error = error
            raise


@dataclass(frozen=True)
class ChainResult:
    """The result of a chain.

    Attributes:
        program: The compiled program.
        scores: The scores in [0, 1] on validation turns at the start and after each prompt optimizer, by name.
        failure: The last error of a language model, in words; candidates after it were not scored fairly.
    """

    program: Any
    scores: tuple[tuple[str, float], ...] = ()
    failure: str | None = None


def compile_chain(
    student: Any,
    chain: Sequence[OptimizerStep],
    trainset: list[dspy.Example],
    *,
    lms: Mapping[Role, dspy.LM] | None = None,
    train_turns: int = 60,
    val_turns: int = 24,
    seed: int = 0,
    threads: int = 1,
    **fitted_with: Any,
) -> ChainResult:
    """Returns ``student`` after the optimizers of a chain, each of which continues from the program before it.

    Args:
        student: The program; it is not changed.
        chain: The optimizers; an empty chain returns a copy of ``student``.
        trainset: Conversation examples with gold.
        lms: The language models: ``task``, and others than that for ``teacher``, ``prompt`` and ``reflection``.
        train_turns: Turns that prompt optimizers learn from, at most.
        val_turns: Turns of other reports that select among programs, at most.
        seed: Given to every optimizer; it also shuffles and splits the turns.
        threads: Turns at a time.
        **fitted_with: Further arguments of the fits: ``dialogues``, ``progress``, ``without_programs`` ...

    Raises:
        ConfigError: A prompt optimizer has no language model or too few reports, or it cannot work on this program.
    """
    lms = lms if lms is not None else {}
    compiled = ChainResult(student.deepcopy())
    for is_fit, group in groupby(chain, lambda step: step.name in FITS):
        steps = list(group)
        if is_fit:
            for step in steps:
                fit, _ = step.make({"seed": seed, **fitted_with})
                with dspy.context(lm=lms.get("task")):
                    compiled = replace(compiled, program=fit.compile(compiled.program, trainset=trainset))
            continue
        if "task" not in lms:
            raise ConfigError(f"optimizer {steps[0].name!r} asks a language model; name one with lm, got none")
        turns = split_turns(trainset, compiled.program, train=train_turns, val=val_turns, seed=seed)
        compiled = _compile_prompts(compiled.program, steps, *turns, lms, seed, threads)
    return compiled


def _compile_prompts(
    program: Any,
    steps: Sequence[OptimizerStep],
    train: list[dspy.Example],
    val: list[dspy.Example],
    lms: Mapping[Role, dspy.LM],
    seed: int,
    threads: int,
) -> ChainResult:
    if not train or not val:
        raise ConfigError(
            "prompt optimizers need turns to learn from and turns of other reports to choose on; the conversations "
            f"give {len(train)} and {len(val)}"
        )
    failures: list[str] = []

    def scored(gold: Any, pred: Any, trace: Any = None, pred_name: str | None = None, pred_trace: Any = None) -> Any:
        turn = getattr(pred, "turn", None)
        if turn is not None and turn.failure == "lm_error":  # no reply says nothing about a prompt
            failures.append(turn.message)
            raise LMError(turn.message)
        return metric(gold, pred, trace, pred_name, pred_trace)

    role = {name: lms.get(name, lms["task"]) for name in get_args(Role)}
    given = {
        "metric": scored,
        "prompt_model": role["prompt"],
        "task_model": role["task"],
        "reflection_lm": role["reflection"].copy(temperature=1.0),
        "teacher_settings": {"lm": role["teacher"]} if "teacher" in lms else None,
        "eval_kwargs": {"num_threads": threads, "display_progress": False},
        "num_threads": threads,
        "seed": seed,
    }
    made = {step.name: step.make(given) for step in steps}
    chain = Chain(metric=scored, **{name: optimizer for name, (optimizer, _) in made.items()})
    program._compiled = False  # DSPy's bootstrapping refuses a program that is compiled already
    program.set_lm(lms["task"])  # BetterTogether insists on it
    with dspy.context(lm=lms["task"], adapter=SuitedAdapter(), num_threads=threads):
        best = chain.compile(
            program,
            trainset=train,
            valset=val,
            num_threads=threads,
            seed=seed,
            strategy=Chain.STRAT_SEP.join(step.name for step in steps),
            optimizer_compile_args={name: arguments for name, (_, arguments) in made.items()},
        )
    if chain.error is not None and not failures:
        raise chain.error
    tidy_demonstrations(best)
    in_order = sorted(best.candidate_programs, key=lambda candidate: len(candidate["strategy"]))
    scores = [(one["strategy"].rpartition(Chain.STRAT_SEP)[2] or "start", one["score"] / 100) for one in in_order]
    return ChainResult(best, tuple(scores), failures[-1] if failures else None)
