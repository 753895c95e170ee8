"""Task: a set of items that programs answer, with gold, scores and figures; the one interface of all evaluations.

    task = ConvFinQA(load_conversations("sample:dev"))
    for item in task.items():                               # conversations
        for answered in task.answer(program, item, (), config):
            task.score(item, answered)
    task.figures(scored, seed=0)                            # {"exe_accuracy": 0.71, "exe_accuracy_low": ...}

An item has one turn (a question) or several (a conversation). The evaluation adds threads, the journal, resuming, the
run, traces and pages; a task adds only the parts that differ.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from experiments.tracking import CONVERSATION_TAG, TURN_TAG, Run, RunKind, Span, Trace

if TYPE_CHECKING:
    from experiments.evaluation.records import EvaluationConfig
    from experiments.saved import SavedProgram


class Item(Protocol):
    """A conversation, a question, or a step of a demonstration."""

    @property
    def id(self) -> str:
        """Unique in its task."""
        ...


ItemT = TypeVar("ItemT", bound=Item)
TurnT = TypeVar("TurnT")
ScoreT = TypeVar("ScoreT")


@dataclass(frozen=True)
class Answered(Generic[TurnT]):
    """A turn that a program has answered.

    Attributes:
        item: The id of its item.
        index: Its place in the item, from 0.
        turn: The program's result.
        histories: The state that later turns of the item need, as JSON.
        spans: The calls of modules, tools and language models.
        start: Its start, in nanoseconds since 1970.
        end: Its end.
        graph: The graph that its score needs; not in the journal.
    """

    item: str
    index: int
    turn: TurnT
    histories: Sequence[Mapping[str, Any]] = ()
    spans: Sequence[Span] = ()
    start: int = 0
    end: int = 0
    graph: Any = None


@dataclass(frozen=True)
class Scored(Generic[TurnT, ScoreT]):
    """An answered turn with its score.

    Attributes:
        answered: The turn.
        score: Its score.
        source: The report or graph of the question.
    """

    answered: Answered[TurnT]
    score: ScoreT
    source: str = ""


@dataclass(frozen=True)
class Description:
    """The settings and data of an evaluation, for its run.

    Attributes:
        key: The settings that determine the turns: equal keys, equal turns.
        params: Settings under their stable names.
        tags: Hashes and versions.
        figures: Names and settings that accompany the figures.
    """

    key: Mapping[str, Any]
    params: Mapping[str, object]
    tags: Mapping[str, str]
    figures: Mapping[str, Any] = field(default_factory=dict)


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

    def prepared(self, saved: SavedProgram) -> SavedProgram:
        """Returns the program with the settings that the task asks for."""
        return saved

    def size(self, item: ItemT) -> int:  # noqa: ARG002
        """Returns the number of turns of an item."""
        return 1

    @abstractmethod
    def answer(
        self, program: Any, item: ItemT, done: Sequence[Answered[TurnT]], config: EvaluationConfig
    ) -> Iterator[Answered[TurnT]]:
        """Yields the turns of an item that are not done.

        A turn that fails is a turn too; an exception ends the whole evaluation.

        Args:
            program: The program.
            item: The item.
            done: Its first turns, which were answered earlier.
            config: The evaluation's settings.
        """

    @abstractmethod
    def score(self, item: ItemT, answered: Answered[TurnT]) -> ScoreT:
        """Returns the score of a turn."""

    @abstractmethod
    def is_right(self, score: ScoreT) -> bool:
        """Whether a turn's answer is right."""

    @abstractmethod
    def figures(self, scored: Sequence[Scored[TurnT, ScoreT]], *, seed: int) -> dict[str, Any]:
        """Returns the figures under their stable names, with intervals; needs no items."""

    @abstractmethod
    def describe(self, saved: SavedProgram, config: EvaluationConfig) -> Description:
        """Returns the settings of an evaluation.

        Raises:
            ConfigError: The program cannot be evaluated on this task with these settings.
        """

    @abstractmethod
    def record(self, scored: Scored[TurnT, ScoreT]) -> dict[str, Any]:
        """Returns ``turn`` and ``score`` as JSON, for the journal."""

    @abstractmethod
    def read(self, line: Mapping[str, Any]) -> tuple[TurnT, ScoreT]:
        """Returns the turn and the score of a line that :meth:`record` wrote; needs no items."""

    def source(self, item: ItemT) -> str:  # noqa: ARG002
        """Returns the name of the report or graph of an item."""
        return ""

    def log_start(self, run: Run, saved: SavedProgram, items: Sequence[ItemT]) -> None:
        """Logs the inputs on the run."""

    def log_results(self, run: Run, figures: Mapping[str, Any], done: Sequence[Scored[TurnT, ScoreT]]) -> None:
        """Logs figures and tables on the run; also called for a part of the turns, after a stop."""

    def log_pages(self, run: Run, items: Sequence[ItemT], done: Sequence[Scored[TurnT, ScoreT]], count: int) -> None:
        """Logs pages of the first ``count`` items that have a wrong turn."""

    def trace(self, run: Run, program: str, scored: Scored[TurnT, ScoreT]) -> Trace | None:  # noqa: ARG002
        """Returns the turn's trace, if the task has traces."""
        return None


def trace_of(
    run: Run,
    program: str,
    answered: Answered[Any],
    *,
    right: bool,
    inputs: Mapping[str, Any],
    outputs: Mapping[str, Any],
) -> Trace:
    """Returns the trace of a turn with its calls, tagged with its run, its program and whether it is right."""
    return Trace(
        name=answered.item if not answered.index else f"{answered.item}/{answered.index}",
        key=(answered.item, answered.index),
        start=answered.start,
        end=answered.end,
        inputs=inputs,
        outputs=outputs,
        spans=answered.spans,
        tags={
            "finpath.run": str(run.id),
            "finpath.program": program,
            CONVERSATION_TAG: answered.item,
            TURN_TAG: str(answered.index),
            "finpath.correct": str(right).lower(),
        },
    )
