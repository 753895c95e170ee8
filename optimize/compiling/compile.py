"""Compiling a program with a chain of optimizers.

    chain = parse_optimizers("scorer,bootstrap")
    compiled = compile_program(student, chain, trainset=examples, lms={"task": lm}, tell=print)
    compiled.program, compiled.scores        # the program, and [(start, 0.70), (bootstrap, 0.85)]

Each optimizer continues from the program of the one before it (:mod:`optimize.compiling.chain`). Before the first, a
few turns are measured, and the most that the chain asks of language models is announced. After each, the program is
scored on turns that were set aside; the best of all is kept. When the announced budget is spent, the compile ends with
the best candidate until then.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, Any, get_args

import dspy

from kg.errors import ConfigError
from optimize.compiling.candidates import CandidateLog, PromptCandidate
from optimize.compiling.chain import ChainRun, choose
from optimize.compiling.checkpoints import Checkpoints
from optimize.compiling.compilation import Compilation, prompts_of
from optimize.compiling.ledger import Ledger
from optimize.compiling.plan import CompilePlan, CompileSettings, plan_chain, split_for
from optimize.compiling.registry import OptimizerStep
from optimize.needs import NO_EXTRAS, Extras, Role
from programs.lm import SuitedAdapter

if TYPE_CHECKING:
    from programs.conversation import ConversationQA
    from programs.lm import Budget

DEFAULT_SETTINGS, NO_CHECKPOINTS = CompileSettings(), Checkpoints()


def compile_program(
    student: ConversationQA,
    chain: Sequence[OptimizerStep],
    *,
    trainset: list[dspy.Example],
    seed: int = 0,
    lms: Mapping[Role, dspy.LM] | None = None,
    settings: CompileSettings = DEFAULT_SETTINGS,
    extras: Extras = NO_EXTRAS,
    cap: Budget | None = None,
    checkpoints: Checkpoints = NO_CHECKPOINTS,
    announce: Callable[[CompilePlan], None] | None = None,
    tell: Callable[[PromptCandidate], None] | None = None,
) -> Compilation:
    """Returns ``student`` after the optimizers of ``chain``.

    Args:
        student: The program to start from; it is not changed.
        chain: The optimizers; an empty chain returns a copy of ``student``.
        trainset: Conversation examples with gold.
        seed: Given to every optimizer; it also shuffles and splits the turns.
        lms: The language models: ``task``, and for ``teacher``, ``prompt`` and ``reflection`` others than that.
        settings: The settings common to all optimizers.
        extras: Further data of the optimizers; models, threads and folder are filled in.
        cap: The user's limit on all models together, where it is less than the chain's budget.
        checkpoints: A folder to keep finished steps in, and to continue from.
        announce: Called with the plan before the chain starts.
        tell: Called with every candidate as it is scored.

    Raises:
        ConfigError: An optimizer needs a language model and none is set, ``trainset`` is empty, or an optimizer
            cannot work on this program.
    """
    if chain and not trainset:
        raise ConfigError("trainset must hold at least one conversation, got none")
    lms = dict(lms or {})
    for step in chain:
        if step.optimizer().needs_lm and not lms:
            raise ConfigError(f"optimizer {step.name!r} asks a language model; name one with lm, got none")
    resumed = checkpoints.is_begun
    log = CandidateLog(checkpoints.candidates, tell)
    split = split_for(chain, student, trainset, settings, seed)
    plan = plan_chain(chain, student, trainset, split, settings, lms, checkpoints)
    compilation = Compilation(student, plan, resumed=resumed, prompts_before=prompts_of(student))
    if (done := checkpoints.read("done")) is not None:
        return _completed(compilation, done, log, checkpoints)
    if plan is not None and announce is not None:
        announce(plan)
    ledger = Ledger(plan.budgets if plan is not None else {}, checkpoints.read("spent"), cap)
    held = {role: ledger.hold(role, lms.get(role, lms["task"])) for role in get_args(Role)} if plan is not None else {}
    extras = replace(extras, lms=held or lms, has_teacher="teacher" in lms, threads=settings.threads)
    active = plan.measured.active if plan is not None else ()
    run = ChainRun(student, chain, trainset, split, extras, active, seed, log, ledger, checkpoints)
    with _models_and_log(held, log, settings.threads):
        stopped = run.run()
    best = choose(run.outcomes, run.fields, settings.keep)
    compilation = replace(
        compilation,
        program=best.program,
        candidates=tuple(log.found),
        scores=tuple((one.name, one.score) for one in run.outcomes if one.score is not None),
        kept=best.name,
        stopped=stopped,
        spent=ledger.figures(),
        prompts_after=prompts_of(best.program),
        fields=run.fields,
    )
    if stopped is None:  # a stopped compile continues when its budget is larger
        checkpoints.save_result(compilation.program)
        checkpoints.write("done", {"scores": compilation.scores, "kept": compilation.kept})
    return compilation


def _completed(
    compilation: Compilation, done: Mapping[str, Any], log: CandidateLog, checkpoints: Checkpoints
) -> Compilation:
    """Returns a compile that its checkpoints hold completely."""
    program = checkpoints.result()
    assert program is not None
    return replace(
        compilation,
        program=program,
        candidates=tuple(log.found),
        scores=tuple((name, score) for name, score in done["scores"]),
        kept=done["kept"],
        spent=checkpoints.read("spent") or {},
        resumed=True,
        prompts_after=prompts_of(program),
        fields=checkpoints.read("fields") or {},
    )


def _models_and_log(held: Mapping[Role, dspy.LM], log: CandidateLog, threads: int) -> AbstractContextManager[Any]:
    """Returns DSPy's settings while a chain runs: models that are held to the budget, and the log of candidates."""
    if not held:
        return nullcontext()
    context: AbstractContextManager[Any] = dspy.context(
        lm=held["task"],
        adapter=SuitedAdapter(),
        callbacks=[*dspy.settings.callbacks, log],
        num_threads=threads,
    )
    return context
