"""The optimizer that calibrates decisions: ``ReAnchor``."""

from __future__ import annotations

from typing import Any, ClassVar

import dspy
from dspy.teleprompt import Teleprompter
from dspy.teleprompt.reanchor import ReAnchor
from dspy.teleprompt.reanchor.calibrate import predictors as decision_predictors

from kg.errors import ConfigError
from optimize.metrics import keep_turn
from optimize.needs import Extras, Need, Sizes
from optimize.prompts.base import PromptOptimizer
from optimize.settings import settings


@settings
class ReAnchorOptimizer(PromptOptimizer):
    """``reanchor``: DSPy's ``ReAnchor`` for programs with decision outputs; its folds are fixed, it has no settings."""

    summary: ClassVar[str] = "thresholds and weights of decisions"

    def need(self, sizes: Sizes) -> Need:
        """Returns one pass; candidates are decided from the same replies, and later predictors may be asked again."""
        return Need(turns=3 * sizes.train + 2 * sizes.val)

    def make(self, seed: int, extras: Extras) -> Teleprompter:
        """Returns the optimizer."""
        del seed
        return _Calibrate(extras.threads, str(extras.folder / "reanchor") if extras.folder is not None else None)


class _Calibrate(Teleprompter):
    """``ReAnchor`` with a clear error for a program without decision outputs."""

    def __init__(self, threads: int, folder: str | None) -> None:
        super().__init__()
        self.optimizer = ReAnchor(keep_turn, num_threads=threads, log_dir=folder, require_cache=False)

    def compile(
        self,
        student: dspy.Module,
        *,
        trainset: list[dspy.Example],
        valset: list[dspy.Example] | None = None,
        **_: Any,
    ) -> dspy.Module:
        """Returns a calibrated copy of ``student``.

        Raises:
            ConfigError: It has no decision outputs.
        """
        asked = dict(student.named_predictors())
        if not any(name in asked for name, _ in decision_predictors(student)):
            raise ConfigError(
                f"reanchor calibrates decisions (bool, Literal, Choice); {', '.join(asked)} have none "
                "(the optimizer evidence fits the beam's choice)"
            )
        calibrated: dspy.Module = self.optimizer.compile(student, trainset=trainset, valset=valset)
        return calibrated
