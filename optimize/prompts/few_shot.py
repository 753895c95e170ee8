"""Optimizers that select demonstrations: labelled ones, the nearest to a question, or bootstrapped ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import dspy
from dspy import teleprompt
from dspy.teleprompt import Teleprompter

from kg.errors import ConfigError
from optimize.metrics import keep_turn
from optimize.needs import Extras, Need, Sizes
from optimize.prompts.base import Bound, PromptOptimizer, teacher_settings
from optimize.prompts.choices import with_choices
from optimize.prompts.turns import demonstrations
from optimize.settings import AtLeast0, AtLeast1, settings
from programs.lm import NearestPredict


class _PerPredictor(Teleprompter):
    """Gives each predictor demonstrations of its own, from examples that have all of its fields.

    Args:
        longest: Characters of a demonstration at most.
        seed: Of the choice.
        give: Gives a predictor demonstrations out of a pool; returns whether it could.
    """

    def __init__(self, longest: int, seed: int, give: Callable[[Any, list[dspy.Example]], bool]) -> None:
        super().__init__()
        self.longest, self.seed, self.give = longest, seed, give

    def compile(self, student: dspy.Module, *, trainset: list[dspy.Example], **_: Any) -> dspy.Module:
        """Returns a copy of ``student`` with demonstrations.

        Raises:
            ConfigError: The gold programs give no demonstration for any predictor.
        """
        compiled: dspy.Module = student.deepcopy()
        shown = 0
        for _, predictor in compiled.named_predictors():
            chooses = {"candidates", "choice"} <= set(predictor.signature.fields)
            examples = with_choices(trainset, compiled.turn) if chooses else trainset
            pool = demonstrations(examples, predictor.signature, self.longest, self.seed)
            shown += bool(pool) and self.give(predictor, pool)
        if not shown:
            raise ConfigError(
                f"none of the {len(trainset)} training turns makes a demonstration of at most {self.longest} "
                f"characters for {', '.join(name for name, _ in compiled.named_predictors())}"
            )
        return compiled


@settings
class LabeledOptimizer(PromptOptimizer):
    """``labeled-few-shot``: DSPy's ``LabeledFewShot`` for each predictor, from the labels of the gold programs.

    Attributes:
        k: Demonstrations of each predictor.
        longest: Characters of a demonstration at most; longer ones are left out.
    """

    summary: ClassVar[str] = "demonstrations from the gold programs"
    k: AtLeast1 = 6
    longest: AtLeast1 = 700

    def make(self, seed: int, extras: Extras) -> Teleprompter:
        """Returns the optimizer."""
        del extras

        def give(predictor: Any, pool: list[dspy.Example]) -> bool:
            # In order: the pool alternates between operations, and it is shuffled already.
            labeled = teleprompt.LabeledFewShot(k=self.k)
            predictor.demos = labeled.compile(predictor, trainset=pool, sample=False).demos
            return True

        return _PerPredictor(self.longest, seed, give)


@settings
class NearestOptimizer(PromptOptimizer):
    """``knn-few-shot``: a pool of demonstrations for each predictor, which shows the nearest to each question.

    DSPy's ``KNNFewShot`` bootstraps its neighbours again at every question, and patches a method that no saved program
    keeps. The search for neighbours, ``dspy.KNN``, is the same; the demonstrations are labelled ones.

    Attributes:
        k: Demonstrations that are shown for a question.
        pool: Demonstrations that the program keeps to choose from.
        longest: Characters of a demonstration at most; longer ones are left out.
    """

    summary: ClassVar[str] = "demonstrations nearest to each question"
    k: AtLeast1 = 4
    pool: AtLeast1 = 64
    longest: AtLeast1 = 700

    def make(self, seed: int, extras: Extras) -> Teleprompter:
        """Returns the optimizer."""
        del extras

        def give(predictor: Any, pool: list[dspy.Example]) -> bool:
            if not isinstance(predictor, NearestPredict):
                return False
            predictor.demos = pool[: self.pool]
            predictor.nearest = self.k
            return True

        return _PerPredictor(self.longest, seed, give)


@settings
class BootstrapOptimizer(PromptOptimizer):
    """``bootstrap``: DSPy's ``BootstrapFewShot``; its order is that of the examples, which the seed shuffled before.

    Attributes:
        max_bootstrapped_demos: Demonstrations of each predictor from turns that were answered correctly.
        max_labeled_demos: Together with labelled ones at most this many; the teacher is shown as many.
        max_rounds: Attempts at each turn, the later ones with another temperature.
    """

    summary: ClassVar[str] = "demonstrations from turns answered correctly"
    max_bootstrapped_demos: AtLeast1 = 4
    max_labeled_demos: AtLeast0 = 2
    max_rounds: AtLeast1 = 1

    @property
    def bootstrapping(self) -> dict[str, int]:
        """The settings of the bootstrap, as DSPy names them."""
        return {
            "max_bootstrapped_demos": self.max_bootstrapped_demos,
            "max_labeled_demos": self.max_labeled_demos,
            "max_rounds": self.max_rounds,
        }

    def need(self, sizes: Sizes) -> Need:
        """Returns every training turn in each round: it stops earlier with enough demonstrations."""
        return Need(teacher_turns=sizes.train * self.max_rounds)

    def make(self, seed: int, extras: Extras) -> Teleprompter:
        """Returns the optimizer."""
        del seed
        teacher = teacher_settings(extras)
        return Bound(teleprompt.BootstrapFewShot(keep_turn, teacher_settings=teacher, **self.bootstrapping))


@settings
class RandomSearchOptimizer(BootstrapOptimizer):
    """``bootstrap-random-search``: DSPy's ``BootstrapFewShotWithRandomSearch``.

    Its seeds are fixed, so the seed acts through the order of the examples.

    Attributes:
        num_candidate_programs: Random sets of demonstrations, in addition to none, labelled ones and those in order.
    """

    summary: ClassVar[str] = "the best of several sets of demonstrations"
    num_candidate_programs: AtLeast1 = 4

    def need(self, sizes: Sizes) -> Need:
        """Returns a bootstrap for each set, and a validation for each set, for none and for labelled ones."""
        sets = self.num_candidate_programs
        return Need(turns=(sets + 3) * sizes.val, teacher_turns=(sets + 1) * sizes.train * self.max_rounds)

    def make(self, seed: int, extras: Extras) -> Teleprompter:
        """Returns the optimizer."""
        del seed
        search = teleprompt.BootstrapFewShotWithRandomSearch(
            keep_turn,
            teacher_settings=teacher_settings(extras),
            num_candidate_programs=self.num_candidate_programs,
            num_threads=extras.threads,
            **self.bootstrapping,
        )
        return Bound(search)
