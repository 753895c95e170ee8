"""The common part of compiles that select demonstrations: settings, the origin of the saved program, the result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from experiments.lms import LMConfig
from experiments.saved import SavedProgram
from experiments.tracking import describe_environment


@dataclass(frozen=True)
class DemonstrationConfig:
    """Settings of a compile.

    Attributes:
        optimizer: Its name.
        lm: The language model, for the figures and for optimizers that ask one.
        demonstrations: Their count.
        seed: Of everything random.
    """

    optimizer: str
    lm: LMConfig
    demonstrations: int = 4
    seed: int = 0

    def params(self) -> dict[str, Any]:
        """The parameters of the run."""
        return {**self.lm.params(), "optimizer": self.optimizer, "demonstrations": self.demonstrations}

    def origin(self, train: Sequence[str], learned: Mapping[str, Any], run_id: str | None) -> dict[str, Any]:
        """The origin of the program, as :func:`experiments.saved.save_program` writes it.

        Args:
            train: The folders that it was compiled on.
            learned: Their hash and counts.
            run_id: The run, if there is one.
        """
        return {
            "optimizers": [{"name": self.optimizer, "demonstrations": self.demonstrations}],
            "seed": self.seed,
            "train": {"name": " ".join(train), **learned},
            "lm": self.lm.params(),
            "run_id": run_id,
            "python": describe_environment().python,
        }


@dataclass(frozen=True)
class CompiledDemonstrations:
    """The result of a compile.

    Attributes:
        saved: The saved program.
        figures: The figures by name.
        run_id: The run; empty without a tracking store.
    """

    saved: SavedProgram
    figures: dict[str, Any]
    run_id: str
