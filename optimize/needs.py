"""The sizes of the data of an optimizer, its need of language models, and its further inputs.

>>> Need(turns=10) + Need(teacher_turns=60)
Need(turns=10, teacher_turns=60, prompt_calls=0, reflection_calls=0, evidence_calls=0, training_seconds=0.0)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol, TypeVar

if TYPE_CHECKING:
    import dspy

Role = Literal["task", "teacher", "prompt", "reflection"]
"""The task of a language model in a compile."""


Dialogues = Sequence[tuple[str, Sequence[str], Sequence[str]]]
"""Conversations without their reports: id, questions and gold programs."""


Progress = Callable[[str], None]
"""Receives a line for each stage of a fit as it begins."""


Plot = Callable[[Mapping[str, float], int], None]
"""Receives the values of curves at a step."""


ItemT = TypeVar("ItemT")
ResultT = TypeVar("ResultT")


def silent(line: str) -> None:
    """Drops the line: the progress of a fit whose caller asks for none."""


class Mapper(Protocol):
    """Runs independent parts of a fit, perhaps in other processes."""

    def __call__(self, work: Callable[[ItemT], ResultT], items: Sequence[ItemT]) -> list[ResultT]:
        """Returns the result of ``work`` for each item, in their order."""
        ...


def in_turn(work: Callable[[ItemT], ResultT], items: Sequence[ItemT]) -> list[ResultT]:
    """Runs the parts in this process, one after another."""
    return [work(item) for item in items]


@dataclass(frozen=True)
class Sizes:
    """The data of a compile.

    Attributes:
        train: Turns that prompt optimizers learn from.
        val: Turns that they choose on.
        predictors: Predictors of the program that they may change.
        turns: All turns of the training conversations.
    """

    train: int
    val: int
    predictors: int
    turns: int = 0


@dataclass(frozen=True)
class Need:
    """The most that an optimizer asks of language models, and the longest that it trains one.

    Attributes:
        turns: Questions that the program answers with the task model.
        teacher_turns: Questions that it answers with the teacher model.
        prompt_calls: Calls to the prompt model.
        reflection_calls: Calls to the reflection model.
        evidence_calls: Calls to the task model for evidence on candidates.
        training_seconds: Time for the training of a model.
    """

    turns: int = 0
    teacher_turns: int = 0
    prompt_calls: int = 0
    reflection_calls: int = 0
    evidence_calls: int = 0
    training_seconds: float = 0.0

    def __add__(self, other: Need) -> Need:
        return Need(
            self.turns + other.turns,
            self.teacher_turns + other.teacher_turns,
            self.prompt_calls + other.prompt_calls,
            self.reflection_calls + other.reflection_calls,
            self.evidence_calls + other.evidence_calls,
            self.training_seconds + other.training_seconds,
        )


@dataclass(frozen=True)
class Extras:
    """The inputs of an optimizer in addition to its settings and the examples.

    Attributes:
        dialogues: Training conversations without their reports.
        progress: Called with the name of each stage as it begins.
        lms: The language models by role; every role has one, or none has.
        has_teacher: Whether the teacher is another model than the program's own.
        threads: Turns at a time.
        folder: A folder for the files of the step, which a stopped compile keeps; ``None`` if nothing is kept.
        mapper: Runs the parts of a cross-fitted search; by default one after another.
        without_programs: Examples with ``report``, ``questions`` and ``gold`` answers, which are ``None`` where the
            report does not answer.
        plot: Receives the points of a training's curves.
    """

    dialogues: Dialogues = ()
    progress: Progress = silent
    lms: Mapping[Role, dspy.LM] = field(default_factory=dict)
    has_teacher: bool = False
    threads: int = 1
    folder: Path | None = None
    mapper: Mapper = in_turn
    without_programs: Sequence[dspy.Example] = ()
    plot: Plot | None = None


NO_EXTRAS = Extras()
