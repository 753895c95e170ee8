"""The result of a compile."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import dspy

from optimize.compiling.candidates import PromptCandidate
from optimize.compiling.plan import CompilePlan
from optimize.prompts import prompt_state

if TYPE_CHECKING:
    from programs.conversation import ConversationQA


@dataclass(frozen=True)
class Compilation:
    """A compiled program, with the course of its compile.

    Attributes:
        program: The compiled program.
        plan: The announced use; ``None`` without a language model.
        candidates: Every candidate that was scored, in order.
        scores: The scores on the validation turns at the start and after each prompt optimizer, by name.
        kept: The name of the program that was kept.
        stopped: The spent budget that ended it early, in words; ``None`` if it was completed.
        spent: The use of the language models, by role.
        resumed: Whether it continued from a checkpoint, or was complete there.
        prompts_before: Instructions and demonstrations of the program before.
        prompts_after: Those of the compiled one.
        fields: The accuracy of each understood field on the validation turns, by the names of ``scores``; see
            :func:`optimize.metrics.labels.field_accuracies`.
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
    """Returns instructions and demonstrations of the predictors of a program's turn, by name; empty if it has none."""
    turn = getattr(program, "turn", None)
    return prompt_state(turn) if isinstance(turn, dspy.Module) else {}
