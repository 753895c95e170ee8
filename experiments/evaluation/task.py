"""Task: a set of items that programs answer, with their scores and figures; the one interface of all evaluations.

    task = ConvFinQA(load_conversations("sample:dev"))
    for item in task.items():                                     # conversations
        for turn, score, right in task.answer(program, item):
            ...
    task.figures(scored, seed=0)                                  # {"exe_accuracy": 0.71, "exe_accuracy_low": ...}

An item has one turn (a question) or several (a conversation). The evaluation adds threads, the journal, resuming, the
run, traces and pages; a task adds only the parts that differ.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar

from experiments.lms import LMConfig
from experiments.saved import SavedProgram
from experiments.tracking import DataInput, Run, RunKind, Span, TraceFacts
from kg.errors import ConfigError
from optimize.metrics import bootstrap_ratio

TURNS, DETAILS = "turns", "details"
"""The tables of an evaluation's run: one row a turn with its scores, and one with the program's whole result."""

REPORTS, ONTOLOGY = "reports.json", "ontology.ttl"
"""The artifacts from which a report's graph can be built again."""


class Item(Protocol):
    """A conversation or a question."""

    @property
    def id(self) -> str:
        """Unique in its task."""
        ...


ItemT = TypeVar("ItemT", bound=Item)
TurnT = TypeVar("TurnT")
ScoreT = TypeVar("ScoreT")


@dataclass(frozen=True)
class EvaluationConfig:
    """Settings of an evaluation.

    Attributes:
        lm: The language model of the program.
        limit: At most this many items, the first of the data.
        seed: Seed of the intervals.
        threads: Items at a time; ``None`` for 1, or 8 with a remote model.
        traces: Whether a trace of each turn is logged.
    """

    lm: LMConfig = field(default_factory=LMConfig)
    limit: int | None = None
    seed: int = 0
    threads: int | None = None
    traces: bool = True

    def __post_init__(self) -> None:
        for name, value in (("limit", self.limit), ("threads", self.threads)):
            if value is not None and value < 1:
                raise ConfigError(f"{name} must be at least 1, got {value}")

    @property
    def thread_count(self) -> int:
        """The number of items at a time."""
        return self.threads if self.threads is not None else self.lm.default_threads


@dataclass(frozen=True)
class Scored(Generic[TurnT, ScoreT]):
    """A turn that a program has answered, with its score.

    Attributes:
        item: The id of its item.
        index: Its place in the item, from 0.
        turn: The program's result.
        score: Its score.
        right: Whether the answer is right.
        source: The report or graph of the question.
        spans: The calls of modules, tools and language models.
        start: Its start, in nanoseconds since 1970.
        end: Its end.
    """

    item: str
    index: int
    turn: TurnT
    score: ScoreT
    right: bool
    source: str = ""
    spans: Sequence[Span] = ()
    start: int = 0
    end: int = 0


@dataclass(frozen=True)
class Description:
    """The settings and data of an evaluation, for its run.

    Attributes:
        key: The settings that determine the turns: equal keys, equal turns.
        params: Settings under their stable names.
        tags: Hashes and versions.
        figures: Names and settings that accompany the figures.
        data: The data set.
    """

    key: Mapping[str, Any]
    params: Mapping[str, object]
    tags: Mapping[str, str] = field(default_factory=dict)
    figures: Mapping[str, Any] = field(default_factory=dict)
    data: DataInput | None = None


class Task(ABC, Generic[ItemT, TurnT, ScoreT]):
    """A set of items with gold.

    Attributes:
        run_kind: The kind of its runs.
        unit: The name of its turns in messages.
        name: The data's name.
    """

    run_kind: RunKind
    unit: str = "turns"
    name: str

    @abstractmethod
    def items(self, limit: int | None = None) -> Sequence[ItemT]:
        """Returns the items, at most ``limit``.

        Raises:
            DataError: There are none, or an item has no gold.
        """

    def size(self, item: ItemT) -> int:  # noqa: ARG002
        """Returns the number of turns of an item."""
        return 1

    def source(self, item: ItemT) -> str:  # noqa: ARG002
        """Returns the name of the report or graph of an item."""
        return ""

    def prepared(self, saved: SavedProgram) -> SavedProgram:
        """Returns the program with the settings that the task asks for."""
        return saved

    @abstractmethod
    def describe(self, saved: SavedProgram, config: EvaluationConfig) -> Description:
        """Returns the settings of an evaluation.

        Raises:
            ConfigError: The program cannot be evaluated on this task with these settings.
        """

    @abstractmethod
    def answer(self, program: Any, item: ItemT) -> Iterator[tuple[TurnT, ScoreT, bool]]:
        """Yields each turn of an item with its score and whether it is right.

        A turn that fails is a turn too; an exception ends the whole evaluation.
        """

    @abstractmethod
    def figures(self, scored: Sequence[Scored[TurnT, ScoreT]], *, seed: int) -> dict[str, Any]:
        """Returns the figures under their stable names, with intervals; needs no items."""

    def log(self, run: Run, figures: Mapping[str, Any], scored: Sequence[Scored[TurnT, ScoreT]]) -> None:
        """Logs figures and tables; also called for a part of the turns, after a stop. Needs no items."""

    def log_items(
        self, run: Run, saved: SavedProgram, items: Sequence[ItemT], scored: Sequence[Scored[TurnT, ScoreT]]
    ) -> None:
        """Logs the items, and pages of the first that have a wrong turn."""

    def trace(self, scored: Scored[TurnT, ScoreT]) -> TraceFacts | None:  # noqa: ARG002
        """Returns what the trace of a turn shows in addition to its calls; ``None`` for no trace."""
        return None

    def score_record(self, score: ScoreT) -> Any:
        """Returns a score as JSON, for the journal."""
        return score

    def read_score(self, record: Any, turn: TurnT) -> ScoreT:  # noqa: ARG002
        """Returns the score of a turn from what :meth:`score_record` wrote."""
        found: ScoreT = record
        return found


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


def accuracy_figures(scored: Sequence[Scored[Any, Any]], *, seed: int) -> dict[str, Any]:
    """Returns turns, conversations, right turns, and the accuracy in [0, 1] with its interval over conversations."""
    groups: dict[str, list[bool]] = {}
    for one in scored:
        groups.setdefault(one.item, []).append(one.right)
    found = bootstrap_ratio([sum(group) for group in groups.values()], list(map(len, groups.values())), seed=seed)
    return {
        "turns": len(scored),
        "conversations": len(groups),
        "right": sum(one.right for one in scored),
        "accuracy": found.value,
        "accuracy_low": found.low,
        "accuracy_high": found.high,
    }
