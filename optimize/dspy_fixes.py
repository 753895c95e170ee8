"""DSPy's optimizers as finpath's programs need them: each class names the reason and the place in DSPy 3.4.1.

https://github.com/stanfordnlp/dspy/tree/3.4.1/dspy/teleprompt
"""

from __future__ import annotations

from typing import Any

import dspy
from dspy import teleprompt

from kg.errors import ConfigError
from optimize.examples import demonstrations, with_choices


class LabeledTurns(teleprompt.Teleprompter):
    """``LabeledFewShot`` for each predictor by itself, from the turn examples that have all of its fields.

    DSPy gives all predictors the same examples (teleprompt/vanilla.py#L17), with fields that only one of them has.

    Args:
        k: Demonstrations of each predictor.
        longest: Characters of a demonstration; longer ones are left out.
        seed: Of the choice.
    """

    def __init__(self, k: int = 6, longest: int = 700, seed: int = 0) -> None:
        super().__init__()
        self.k, self.longest, self.seed = k, longest, seed

    def compile(self, student: dspy.Module, *, trainset: list[dspy.Example]) -> dspy.Module:
        """Returns a copy of ``student`` with demonstrations.

        Raises:
            ConfigError: The gold programs give no demonstration for any predictor.
        """
        compiled: dspy.Module = student.deepcopy()
        labeled = teleprompt.LabeledFewShot(self.k)
        for predictor in compiled.predictors():
            chooses = {"candidates", "choice"} <= set(predictor.signature.fields)
            examples = with_choices(trainset, getattr(compiled, "turn", compiled)) if chooses else trainset
            if pool := demonstrations(examples, predictor.signature, self.longest, self.seed):
                # In order: the pool alternates between operations, and it is shuffled already.
                predictor.demos = labeled.compile(predictor, trainset=pool, sample=False).demos
        if not any(predictor.demos for predictor in compiled.predictors()):
            names = ", ".join(name for name, _ in compiled.named_predictors())
            raise ConfigError(
                f"none of the {len(trainset)} turns gives {names} a demonstration of {self.longest} signs"
            )
        return compiled


class BoundedSIMBA(teleprompt.SIMBA):
    """SIMBA with batches of at most all turns; DSPy 3.4 asserts that there are more (teleprompt/simba.py#L93)."""

    def compile(self, student: dspy.Module, *, trainset: list[dspy.Example], seed: int = 0) -> dspy.Module:
        """Returns an optimized copy of ``student``."""
        self.bsize: int = min(self.bsize, len(trainset))
        compiled: dspy.Module = super().compile(student, trainset=trainset, seed=seed)
        return compiled


class OwnRules(teleprompt.InferRules):
    """InferRules whose rules belong to the predictor, and are written by the prompt model.

    DSPy 3.4 sets ``predictor.signature.instructions`` (teleprompt/infer_rules.py#L83). Copies of a program share the
    signature's class, so all candidates would end up with the instructions of the last.
    """

    def __init__(
        self,
        metric: Any = None,
        prompt_model: dspy.LM | None = None,
        num_candidates: int = 3,
        num_rules: int = 5,
        num_threads: int | None = None,
        teacher_settings: dict[str, Any] | None = None,
        max_bootstrapped_demos: int = 4,
        max_labeled_demos: int = 2,
        max_rounds: int = 1,
    ) -> None:
        super().__init__(
            num_candidates,
            num_rules,
            num_threads,
            teacher_settings,
            metric=metric,
            max_bootstrapped_demos=max_bootstrapped_demos,
            max_labeled_demos=max_labeled_demos,
            max_rounds=max_rounds,
        )
        if prompt_model is not None:
            self.rules_induction_program.teacher_settings = {"lm": prompt_model}

    def update_program_instructions(self, predictor: Any, natural_language_rules: str) -> None:
        """Adds rules to a predictor's instructions."""
        text = f"{predictor.signature.instructions}\n\nKeep to these rules:\n{natural_language_rules}"
        predictor.signature = predictor.signature.with_instructions(text)
