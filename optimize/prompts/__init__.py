"""Prompt optimizers, and the turns that they learn from."""

from optimize.prompts.turns import (
    TurnSplit,
    TurnStudent,
    apply_prompt_state,
    prompt_state,
    split_turns,
    state_hash,
    tidy_demonstrations,
)

__all__ = [
    "TurnSplit",
    "TurnStudent",
    "apply_prompt_state",
    "prompt_state",
    "split_turns",
    "state_hash",
    "tidy_demonstrations",
]
