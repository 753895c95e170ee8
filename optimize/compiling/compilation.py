"""What a compile is told, what it states before it starts, and what comes of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from kg.errors import ConfigError
from optimize.compiling.plan import Measured, RoleBudget
from optimize.needs import Need, Sizes

if TYPE_CHECKING:
    from optimize.compiling.candidates import PromptCandidate
    from programs.reports import ConversationQA


@dataclass(frozen=True)
class CompileSettings:
    """What is common to all prompt optimizers of a chain.

    Attributes:
        train_turns: Turns that they learn from, at most.
        val_turns: Turns of other reports that choose between candidates; at most a third of all.
        measure_turns: Training turns that are answered before the start, to know what one takes.
        threads: Turns at a time.
        keep: ``best`` returns the program that scored best on the validation turns (of equals the one that understands
            more of them rightly, then the later one), which may be the one that was started from; ``last`` what the
            chain ends with.
    """

    train_turns: int = 60
    val_turns: int = 24
    measure_turns: int = 2
    threads: int = 1
    keep: Literal["best", "last"] = "best"

    def __post_init__(self) -> None:
        for name, low in (("train_turns", 1), ("val_turns", 1), ("measure_turns", 1), ("threads", 1)):
            if getattr(self, name) < low:
                raise ConfigError(f"{name} must be at least {low}, got {getattr(self, name)}")


@dataclass(frozen=True)
class CompilePlan:
    """What a compile states before it starts.

    Attributes:
        sizes: Turns and predictors.
        need: Turns and calls at most.
        measured: What one turn took.
        budgets: What each role may use up.
    """

    sizes: Sizes
    need: Need
    measured: Measured
    budgets: Mapping[str, RoleBudget]

    @property
    def seconds(self) -> float:
        """How long the turns take at most, at the speed that was measured, one at a time."""
        return (self.need.turns + self.need.teacher_turns) * self.measured.seconds


@dataclass(frozen=True)
class Compilation:
    """What came of compiling.

    Attributes:
        program: The compiled program.
        plan: What was stated; ``None`` where no optimizer asks a language model.
        candidates: Every candidate that was scored, in order.
        scores: What the program scored on the validation turns at the start and after each prompt optimizer, by name.
        kept: Which of those was kept.
        stopped: Why it ended before all was done, in words; ``None`` where it did not.
        spent: What the language models took, by role.
        resumed: Whether it went on from a checkpoint, or was there already.
        prompts_before: Instructions and demonstrations of the program that was started from.
        prompts_after: Those of the compiled one.
        fields: How often each field of what was understood of the validation turns is right, by the names of
            ``scores``; see :func:`optimize.metrics.labels.field_accuracies`.
    """

    program: ConversationQA
    plan: CompilePlan | None = None
    candidates: Sequence[PromptCandidate] = ()
    scores: Sequence[tuple[str, float]] = ()
    kept: str = "start"
    stopped: str | None = None
    spent: Mapping[str, float] = field(default_factory=dict)
    resumed: bool = False
    prompts_before: Mapping[str, Any] = field(default_factory=dict)
    prompts_after: Mapping[str, Any] = field(default_factory=dict)
    fields: Mapping[str, Mapping[str, float]] = field(default_factory=dict)


def prompts_of(program: ConversationQA) -> dict[str, dict[str, Any]]:
    """Instructions and demonstrations of a program's predictors, by name; none of one that has no such program."""
    import dspy

    from optimize.prompts import prompt_state

    turn = getattr(program, "turn", None)
    return prompt_state(turn) if isinstance(turn, dspy.Module) else {}
