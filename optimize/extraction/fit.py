"""The fit of demonstrations for the extraction of facts, by two of DSPy's optimizers.

>>> fit = fit_extraction(FactExtraction(), "labeled-few-shot", examples, seed=0)
>>> len(fit.program.extract_facts.demos)
4
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

import dspy
from dspy.teleprompt import BootstrapFewShot, LabeledFewShot

from kg.errors import ConfigError
from optimize.extraction.examples import demonstration, fact_metric
from programs.advisor import FactExtraction

EXTRACTION_OPTIMIZERS = ("none", "labeled-few-shot", "bootstrap")

LONGEST = 900
"""Characters of a demonstration; each is read with every prompt."""


@dataclass(frozen=True)
class ExtractionFit:
    """A compiled program.

    Attributes:
        program: The program.
        pool: Sentences that could become demonstrations.
        demonstrations: Those that the program shows.
    """

    program: FactExtraction
    pool: int
    demonstrations: int


def fit_extraction(
    student: FactExtraction, optimizer: str, examples: Sequence[dspy.Example], *, count: int = 4, seed: int = 0
) -> ExtractionFit:
    """Returns a copy of a program with demonstrations of its own.

    Args:
        student: The program; it is not changed.
        optimizer: One of :data:`EXTRACTION_OPTIMIZERS`. ``labeled-few-shot`` shows sentences with their gold facts,
            one of them without a fact. ``bootstrap`` shows what the model itself read rightly, and then labelled ones.
        examples: Sentences with gold facts.
        count: Demonstrations.
        seed: Of their order.

    Raises:
        ConfigError: There is no such optimizer, or no sentence can be a demonstration.
        LMError: The model of ``bootstrap`` cannot be asked.
    """
    if optimizer not in EXTRACTION_OPTIMIZERS:
        raise ConfigError(
            f"the optimizer of advisor must be one of {', '.join(EXTRACTION_OPTIMIZERS)}, got {optimizer!r}"
        )
    if optimizer == "none":
        copied: FactExtraction = student.deepcopy()
        return ExtractionFit(copied, 0, len(copied.extract_facts.demos))
    order = list(examples)
    random.Random(seed).shuffle(order)
    pool = _pool(order, count)
    if not pool:
        raise ConfigError(f"none of the {len(order)} sentences can be a demonstration of at most {LONGEST} characters")
    compiled: FactExtraction = student.deepcopy()
    compiled.extract_facts.demos = (
        LabeledFewShot(k=count).compile(compiled.extract_facts, trainset=pool, sample=False).demos
    )
    if optimizer == "bootstrap":
        compiled = _bootstrapped(compiled, [one for one in order if one.gold], count)
    return ExtractionFit(compiled, len(pool), len(compiled.extract_facts.demos))


def _pool(order: Sequence[dspy.Example], count: int) -> list[dspy.Example]:
    """Returns the sentences with their facts, those with most facts first, and one without a fact among the first."""
    written = [one for one in map(demonstration, order) if one is not None and _length(one) <= LONGEST]
    stated = sorted((one for one in written if one.facts), key=lambda one: -len(one.facts))
    empty = [one for one in written if not one.facts]
    return [*stated[: count - 1], *empty[:1], *stated[count - 1 :]] if stated else []


def _length(example: dspy.Example) -> int:
    return sum(len(str(value)) for value in example.toDict().values())


def _bootstrapped(student: FactExtraction, examples: list[dspy.Example], count: int) -> FactExtraction:
    """Returns a program with demonstrations of its own replies, filled up with the labelled ones."""
    labelled = list(student.extract_facts.demos)
    optimizer = BootstrapFewShot(fact_metric, max_bootstrapped_demos=count, max_labeled_demos=0, max_rounds=1)
    compiled: FactExtraction = optimizer.compile(student.reset_copy(), teacher=student, trainset=examples)
    own = [
        dspy.Example(**{k: v for k, v in one.items() if k in student.extract_facts.signature.fields})
        for one in compiled.extract_facts.demos
    ]
    compiled.extract_facts.demos = [*own, *labelled][:count]
    return compiled
