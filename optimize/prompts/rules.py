"""Optimizers that write rules into instructions: ``SIMBA`` and ``InferRules``."""

from __future__ import annotations

from typing import Any, ClassVar

import dspy
from dspy import teleprompt
from dspy.teleprompt import Teleprompter

from optimize.metrics import keep_turn, score_turn
from optimize.needs import Extras, Need, Sizes
from optimize.prompts.base import Bound, PromptOptimizer, teacher_settings
from optimize.prompts.few_shot import BootstrapOptimizer
from optimize.settings import AtLeast0, AtLeast1, AtLeast2, settings


@settings
class SIMBAOptimizer(PromptOptimizer):
    """``simba``: DSPy's ``SIMBA``.

    Attributes:
        bsize: Turns of a batch; at most as many as there are.
        num_candidates: New programs a step.
        max_steps: Steps.
        max_demos: Demonstrations of a predictor at most.
        demo_input_field_maxlen: Characters of a demonstration's field before it is cut.
    """

    summary: ClassVar[str] = "rules and demonstrations from turns that vary"
    bsize: AtLeast2 = 8
    num_candidates: AtLeast2 = 3
    max_steps: AtLeast1 = 3
    max_demos: AtLeast0 = 4
    demo_input_field_maxlen: AtLeast1 = 600

    def need(self, sizes: Sizes) -> Need:
        """Returns samples and scores of each step, the first sample a teacher's, and the best on all turns."""
        batch = min(self.bsize, sizes.train)
        step = batch * self.num_candidates + (self.num_candidates + 1) * batch
        return Need(
            turns=self.max_steps * step + (self.num_candidates + 1) * sizes.train,
            teacher_turns=self.max_steps * batch,
            prompt_calls=self.max_steps * batch,
        )

    def make(self, seed: int, extras: Extras) -> Teleprompter:
        """Returns the optimizer; a batch is never larger than the training data."""

        def simba(trainset: list[dspy.Example]) -> Teleprompter:
            # SIMBA writes a rollout_id into it, so it must be a copy.
            teacher = {"lm": extras.lms["teacher"].copy(temperature=1.0)} if extras.has_teacher else None
            return teleprompt.SIMBA(
                metric=score_turn,
                bsize=min(self.bsize, len(trainset)),
                num_candidates=self.num_candidates,
                max_steps=self.max_steps,
                max_demos=self.max_demos,
                prompt_model=extras.lms["prompt"],
                teacher_settings=teacher,
                demo_input_field_maxlen=self.demo_input_field_maxlen,
                num_threads=extras.threads,
            )

        return Bound(simba, {"seed": seed})


class _InferRules(teleprompt.InferRules):
    """``InferRules`` with instructions that belong to the predictor, not to the signature's class.

    DSPy 3.4 sets ``predictor.signature.instructions``. Copies of a program share the class, so all candidates would
    end up with the instructions of the last.
    """

    def update_program_instructions(self, predictor: Any, natural_language_rules: str) -> None:
        signature = predictor.signature
        text = f"{signature.instructions}\n\nKeep to these rules:\n{natural_language_rules}"
        predictor.signature = signature.with_instructions(text)


@settings
class InferRulesOptimizer(BootstrapOptimizer):
    """``infer-rules``: DSPy's ``InferRules``; the prompt model writes the rules.

    Attributes:
        num_candidates: Sets of rules that are tried.
        num_rules: Rules in a set.
        shown: Training turns that the rules are inferred from; all of them would not fit into a small model's context.
    """

    summary: ClassVar[str] = "rules inferred from training turns"
    num_candidates: AtLeast1 = 3
    num_rules: AtLeast1 = 5
    shown: AtLeast2 = 16

    def need(self, sizes: Sizes) -> Need:
        """Returns a bootstrap, rules for each predictor and a validation for each candidate."""
        return Need(
            turns=self.num_candidates * sizes.val,
            teacher_turns=min(self.shown, sizes.train) * self.max_rounds,
            prompt_calls=self.num_candidates * sizes.predictors,
        )

    def make(self, seed: int, extras: Extras) -> Teleprompter:
        """Returns the optimizer."""
        del seed
        optimizer = _InferRules(
            metric=keep_turn,
            num_candidates=self.num_candidates,
            num_rules=self.num_rules,
            num_threads=extras.threads,
            teacher_settings=teacher_settings(extras),
            **self.bootstrapping,
        )
        optimizer.rules_induction_program.teacher_settings = {"lm": extras.lms["prompt"]}
        return Bound(optimizer, trains_on=lambda examples: examples[: self.shown])
