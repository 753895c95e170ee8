"""The interface of a task of an evaluation: a set of items with gold, and everything in which evaluations differ."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from experiments.lms import LMConfig
    from experiments.saved import SavedProgram
    from experiments.tracking import DataInput, Run, RunKind, TraceFacts


@dataclass(frozen=True)
class EvaluationConfig:
    """Settings of an evaluation.

    Attributes:
        lm: The language model of the program; ``None`` for none.
        limit: At most this many items, the first of the data.
        seed: Seed of the intervals.
        threads: Items at a time; ``None`` for 1, or 8 with a remote model.
        traces: Whether a trace of each turn is logged.
    """

    lm: LMConfig | None = None
    limit: int | None = None
    seed: int = 0
    threads: int | None = None
    traces: bool = True


@dataclass(frozen=True)
class Scored:
    """A turn that a program has answered, with its score.

    Attributes:
        item: The id of its conversation or question.
        index: Its place in the item, from 0.
        turn: The program's result.
        score: Its score.
        right: Whether the answer is right.
    """

    item: str
    index: int
    turn: Any
    score: Any
    right: bool


@dataclass(frozen=True)
class Description:
    """The program, settings and data of an evaluation, for its run.

    Attributes:
        program: The program, with the settings that the task asks for.
        key: The settings that determine the turns: equal keys, equal turns.
        params: Settings under their stable names.
        tags: Hashes and versions.
        figures: Names and settings that accompany the figures.
        data: The data set.
    """

    program: Any
    key: Mapping[str, Any]
    params: Mapping[str, object]
    tags: Mapping[str, str]
    figures: Mapping[str, Any]
    data: DataInput


class Task(ABC):
    """A set of items (conversations or questions) with gold: everything in which evaluations differ.

    Attributes:
        run_kind: The kind of its runs.
        name: The data's name.
    """

    run_kind: RunKind
    name: str

    @abstractmethod
    def items(self, limit: int | None = None) -> Sequence[Any]:
        """Returns the items, at most ``limit``, each with an ``id`` of its own and ``questions``.

        Raises:
            DataError: There are none, or an item has no gold.
        """

    @abstractmethod
    def describe(self, saved: SavedProgram, config: EvaluationConfig) -> Description:
        """Returns the settings of an evaluation.

        Raises:
            ConfigError: The program cannot be evaluated on this task with these settings.
        """

    @abstractmethod
    def answer(self, program: Any, item: Any) -> Iterator[Any]:
        """Yields a turn for each question of an item, also for one that fails; an exception ends the evaluation."""

    @abstractmethod
    def score(self, item: Any, index: int, turn: Any) -> tuple[Any, bool]:
        """Returns the score of a turn, and whether it is right."""

    @abstractmethod
    def figures(self, scored: Sequence[Scored], *, seed: int) -> dict[str, Any]:
        """Returns the figures under their stable names, with intervals."""

    @abstractmethod
    def log(self, run: Run, saved: SavedProgram, figures: Mapping[str, Any], scored: Sequence[Scored]) -> None:
        """Logs figures and tables; also called for a part of the items, after a stop, and without tracking."""

    @abstractmethod
    def trace(self, scored: Scored) -> TraceFacts:
        """Returns the content of a turn's trace in addition to its calls."""

    @abstractmethod
    def table(self, name: str, figures: Mapping[str, Any]) -> str:
        """Returns the headline figures of an evaluation with its name."""
