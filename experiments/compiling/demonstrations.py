"""The common part of compiles that select demonstrations: settings, the origin of the program, figures, the result."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from experiments.console import progress
from experiments.lms import LMConfig
from experiments.saved import SavedProgram
from experiments.tracking import describe_environment

Program = TypeVar("Program")


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


def dev_figures(
    scored: Callable[[Program, Callable[[], None]], Mapping[str, float]],
    before: Program,
    after: Program,
    count: int,
    unit: str,
) -> dict[str, float]:
    """The figures on dev of a program before and after a compile: ``dev/f1_before`` and ``dev/f1``.

    Args:
        scored: Returns the figures of a program by name, and calls its second argument after each example.
        before: The program before the compile.
        after: The compiled program.
        count: The number of examples.
        unit: An example in one word, for the progress bar and the figure ``seconds_per_...``.
    """
    figures: dict[str, float] = {}
    for program, ending in ((before, "_before"), (after, "")):
        began, bar = time.perf_counter(), progress(count, unit)
        values = dict(scored(program, bar.update))
        bar.close()
        values[f"seconds_per_{unit}"] = (time.perf_counter() - began) / max(count, 1)
        figures |= {f"dev/{name}{ending}": value for name, value in values.items()}
    return figures
