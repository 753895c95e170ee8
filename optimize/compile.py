"""The optimizers by name, and compiling with one or several of them in a row.

    chain = parse_optimizers("scorer")
    compiled = compile_program(student, chain, trainset=examples, seed=0)

Every optimizer is a DSPy ``Teleprompter`` whose ``compile`` takes conversation examples; a chain hands the program that
one returns to the next.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from kg.errors import ConfigError

if TYPE_CHECKING:
    import dspy
    from dspy.teleprompt import Teleprompter

    from programs.conversation import ConversationQA


@dataclass(frozen=True)
class OptimizerStep:
    """One optimizer of a chain.

    Attributes:
        name: Its name in :data:`OPTIMIZERS`.
        settings: Its own settings, those that differ from their defaults.
    """

    name: str
    settings: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Extras:
    """What an optimizer is given besides its settings and the examples.

    Attributes:
        dialogues: Training conversations whose reports are not known, as ``(id, questions, programs)``.
        progress: Told the name of each stage as it begins.
    """

    dialogues: Sequence[tuple[str, Sequence[str], Sequence[str]]] = ()
    progress: Callable[[str], None] | None = None


@dataclass(frozen=True)
class Optimizer:
    """An entry of the registry.

    Attributes:
        summary: What it changes, in a few words.
        needs_lm: Whether it asks a language model.
        make: Builds it from its settings, the seed and what else it is given.
    """

    summary: str
    needs_lm: bool
    make: Callable[[Mapping[str, Any], int, Extras], Teleprompter]


def _make_scorer_fitting(settings: Mapping[str, Any], seed: int, extras: Extras) -> Teleprompter:
    from optimize.scorer import FitScorer
    from optimize.scorer_training import ScorerConfig

    config = ScorerConfig(**settings)
    return FitScorer(seed=seed, config=config, dialogues=extras.dialogues, progress=extras.progress)


OPTIMIZERS: dict[str, Optimizer] = {
    "scorer": Optimizer("fits the weights of the beam's scorer", needs_lm=False, make=_make_scorer_fitting),
}
"""All optimizers, by the name that the command takes."""


def parse_optimizers(text: str) -> tuple[OptimizerStep, ...]:
    """Reads a chain such as ``scorer`` or ``scorer,bootstrap``; ``none`` is the empty chain.

    Raises:
        ConfigError: A name is not in the registry.
    """
    if text.strip() == "none":
        return ()
    names = [name.strip() for name in text.split(",")]
    for name in names:
        if name not in OPTIMIZERS:
            raise ConfigError(f"optimizer must be none or a chain of {', '.join(OPTIMIZERS)}; got {name!r}")
    return tuple(OptimizerStep(name) for name in names)


def compile_program(
    student: ConversationQA,
    chain: Sequence[OptimizerStep],
    *,
    trainset: list[dspy.Example],
    valset: list[dspy.Example] | None = None,
    seed: int = 0,
    has_lm: bool = False,
    extras: Extras = Extras(),
) -> ConversationQA:
    """The program that the optimizers of ``chain`` make of ``student``, one after the other.

    Args:
        student: The program to start from; it is not changed.
        chain: The optimizers; an empty chain returns a copy of ``student``.
        trainset: Conversation examples with gold.
        valset: Examples to choose on; without them an optimizer sets some of ``trainset`` aside if it needs any.
        seed: Given to every optimizer.
        has_lm: Whether a language model is set.
        extras: What the optimizers may use besides.

    Raises:
        ConfigError: An optimizer needs a language model and none is set, or ``trainset`` is empty.
    """
    program: ConversationQA = student.deepcopy()
    if chain and not trainset:
        raise ConfigError("trainset must hold at least one conversation, got none")
    for step in chain:
        if OPTIMIZERS[step.name].needs_lm and not has_lm:
            raise ConfigError(f"optimizer {step.name!r} asks a language model; name one with lm, got none")
    for step in chain:
        optimizer = OPTIMIZERS[step.name].make(step.settings, seed, extras)
        program = optimizer.compile(program, trainset=trainset, valset=valset)
    return program
