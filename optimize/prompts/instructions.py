"""Optimizers that search for instructions: ``MIPROv2``, ``GEPA`` and ``COPRO``."""

from __future__ import annotations

import math
from typing import ClassVar, Literal

from dspy import teleprompt
from dspy.teleprompt import Teleprompter

from kg.errors import ConfigError
from optimize.metrics import keep_turn, score_turn
from optimize.needs import Extras, Need, Sizes
from optimize.prompts.base import Bound, PromptOptimizer, teacher_settings
from optimize.settings import AtLeast0, AtLeast1, AtLeast2, NotNegative, settings


@settings
class MIPROOptimizer(PromptOptimizer):
    """``miprov2``: DSPy's ``MIPROv2`` without its presets, which are for hundreds of validation examples.

    Every trial is scored on the whole validation set.

    Attributes:
        num_candidates: Instructions, and sets of demonstrations, to choose from.
        num_trials: Combinations that are tried.
        max_bootstrapped_demos: As for ``bootstrap``.
        max_labeled_demos: As for ``bootstrap``.
        init_temperature: Temperature of the proposals.
        data_aware: Whether the proposer sees a summary of the data.
        program_aware: Whether it sees the program's code.
        tip_aware: Whether it is given one of MIPRO's hints.
        fewshot_aware: Whether it sees demonstrations.
    """

    summary: ClassVar[str] = "instructions and demonstrations, searched together"
    num_candidates: AtLeast2 = 4
    num_trials: AtLeast1 = 6
    max_bootstrapped_demos: AtLeast0 = 2
    max_labeled_demos: AtLeast0 = 2
    init_temperature: NotNegative = 1.0
    data_aware: bool = True
    program_aware: bool = False
    tip_aware: bool = True
    fewshot_aware: bool = True

    def need(self, sizes: Sizes) -> Need:
        """Returns the sets of demonstrations, a proposal a candidate and predictor, and a validation a trial."""
        sets = max(self.num_candidates - 2, 0)
        summary = 2 + math.ceil(sizes.train / 10) if self.data_aware else 0
        described = 2 * sizes.predictors * self.num_candidates if self.program_aware else 0
        return Need(
            turns=(self.num_trials + 1) * sizes.val,
            teacher_turns=sets * sizes.train,
            prompt_calls=summary + described + self.num_candidates * sizes.predictors,
        )

    def make(self, seed: int, extras: Extras) -> Teleprompter:
        """Returns the optimizer.

        Raises:
            ConfigError: Optuna, its search, is not installed.
        """
        try:
            import optuna  # noqa: F401
        except ImportError as error:
            raise ConfigError("miprov2 needs optuna: pip install optuna") from error
        optimizer = teleprompt.MIPROv2(
            keep_turn,
            prompt_model=extras.lms["prompt"],
            task_model=extras.lms["task"],
            teacher_settings=teacher_settings(extras),
            max_bootstrapped_demos=self.max_bootstrapped_demos,
            max_labeled_demos=self.max_labeled_demos,
            auto=None,
            num_candidates=self.num_candidates,
            num_threads=extras.threads,
            seed=seed,
            init_temperature=self.init_temperature,
        )
        options = {
            "num_trials": self.num_trials,
            "seed": seed,
            "minibatch": False,
            "program_aware_proposer": self.program_aware,
            "data_aware_proposer": self.data_aware,
            "tip_aware_proposer": self.tip_aware,
            "fewshot_aware_proposer": self.fewshot_aware,
        }
        return Bound(optimizer, options)


@settings
class GEPAOptimizer(PromptOptimizer):
    """``gepa``: DSPy's ``GEPA`` with the feedback of :mod:`optimize.metrics.feedback`; a stopped search continues.

    Attributes:
        max_metric_calls: Turns that are scored at most.
        reflection_minibatch_size: Turns that are reflected on at once.
        candidate_selection: The rule that selects the parent of the next candidate.
        use_merge: Whether candidates are merged.
        reflection_temperature: Temperature of the reflecting model.
    """

    summary: ClassVar[str] = "instructions, by reflection on finpath's feedback"
    max_metric_calls: AtLeast1 = 150
    reflection_minibatch_size: AtLeast1 = 3
    candidate_selection: Literal["pareto", "current_best"] = "pareto"
    use_merge: bool = True
    reflection_temperature: NotNegative = 1.0

    def need(self, sizes: Sizes) -> Need:
        """Returns the scored turns with the last candidate's validation, and a reflection a pair of batches."""
        small = 2 * self.reflection_minibatch_size
        return Need(
            turns=self.max_metric_calls + sizes.val + small,
            reflection_calls=math.ceil(self.max_metric_calls / small) + 1,
        )

    def make(self, seed: int, extras: Extras) -> Teleprompter:
        """Returns the optimizer."""
        optimizer = teleprompt.GEPA(
            score_turn,
            max_metric_calls=self.max_metric_calls,
            reflection_minibatch_size=self.reflection_minibatch_size,
            candidate_selection_strategy=self.candidate_selection,
            reflection_lm=extras.lms["reflection"].copy(temperature=self.reflection_temperature),
            use_merge=self.use_merge,
            num_threads=extras.threads,
            log_dir=str(extras.folder / "gepa") if extras.folder is not None else None,
            track_stats=True,
            seed=seed,
        )
        return Bound(optimizer)


@settings
class COPROOptimizer(PromptOptimizer):
    """``copro``: DSPy's ``COPRO``; only the proposals are random, by the language model's own sampling.

    Attributes:
        breadth: New instructions of a predictor at each depth.
        depth: Rounds of proposals; each round sees the best instructions of the rounds before.
        init_temperature: Temperature of the proposals.
    """

    summary: ClassVar[str] = "instructions, by coordinate ascent"
    breadth: AtLeast2 = 3
    depth: AtLeast1 = 2
    init_temperature: NotNegative = 1.0

    def need(self, sizes: Sizes) -> Need:
        """Returns a score on the training turns for every proposal; with several predictors all are scored again."""
        rounds = range(1, self.depth + 1)
        scored = sum(self.breadth * (depth if sizes.predictors > 1 else 1) for depth in rounds)
        return Need(
            turns=scored * sizes.predictors * sizes.train,
            prompt_calls=self.depth * self.breadth * sizes.predictors,
        )

    def make(self, seed: int, extras: Extras) -> Teleprompter:
        """Returns the optimizer."""
        del seed
        optimizer = teleprompt.COPRO(
            prompt_model=extras.lms["prompt"],
            metric=keep_turn,
            breadth=self.breadth,
            depth=self.depth,
            init_temperature=self.init_temperature,
            track_stats=True,
        )
        return Bound(optimizer, {"eval_kwargs": {"num_threads": extras.threads, "display_progress": False}})
