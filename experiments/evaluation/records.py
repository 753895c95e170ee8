"""Settings and result of an evaluation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Literal

from experiments.evaluation.task import ScoreT, TurnT
from experiments.lms import LMConfig
from kg.errors import ConfigError

TracesKept = Literal["none", "failed", "all"]
"""The turns whose traces are kept: none, those that are wrong or have no answer, or all."""


@dataclass(frozen=True)
class EvaluationConfig:
    """Settings of an evaluation.

    Attributes:
        lm: The language model of the program.
        history: The earlier turns that a turn sees, with the program's own answers or the gold ones. The latter is a
            diagnosis of carried-over errors, never a headline.
        limit: At most this many items, the first of the data.
        seed: Seed of the intervals.
        threads: Items at a time; ``None`` for 1, or 8 with a remote model.
        traces: The turns whose traces are logged.
        pages: The number of wrong conversations whose pages are logged.
    """

    lm: LMConfig = field(default_factory=LMConfig)
    history: Literal["own", "gold"] = "own"
    limit: int | None = None
    seed: int = 0
    threads: int | None = None
    traces: TracesKept = "all"
    pages: int = 10

    def __post_init__(self) -> None:
        for name in ("limit", "threads"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise ConfigError(f"{name} must be at least 1, got {value}")
        if self.traces not in ("none", "failed", "all"):
            raise ConfigError(f"traces must be none, failed or all, got {self.traces!r}")
        if self.pages < 0:
            raise ConfigError(f"pages must be at least 0, got {self.pages}")

    @property
    def thread_count(self) -> int:
        """The number of items at a time."""
        return self.threads if self.threads is not None else self.lm.default_threads


@dataclass(frozen=True)
class Evaluation(Generic[TurnT, ScoreT]):
    """The result of an evaluation.

    Attributes:
        name: The run's name.
        figures: All figures under their stable names, with ``run_id`` and the settings. Figures of turns count each
            call of a turn (``lm_calls_per_turn``). ``lm_calls``, ``lm_cache_hits``, ``lm_prompt_tokens``,
            ``lm_completion_tokens`` and ``lm_usd`` are totals of the evaluation, with the first short question to the
            model. All are 0 without a model.
        scores: The score of every turn.
        turns: Every turn as the program returned it, by item and index.
    """

    name: str
    figures: Mapping[str, Any]
    scores: Sequence[ScoreT]
    turns: Mapping[tuple[str, int], TurnT]

    @property
    def run_id(self) -> str | None:
        """The MLflow run, if there is one."""
        run_id: str | None = self.figures["run_id"]
        return run_id
