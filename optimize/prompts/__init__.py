"""Prompt optimizers, and the turns that they learn from."""

from optimize.prompts.few_shot import BootstrapOptimizer, LabeledOptimizer, NearestOptimizer, RandomSearchOptimizer
from optimize.prompts.instructions import COPROOptimizer, GEPAOptimizer, MIPROOptimizer
from optimize.prompts.rules import InferRulesOptimizer, SIMBAOptimizer
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
    "BootstrapOptimizer",
    "COPROOptimizer",
    "GEPAOptimizer",
    "InferRulesOptimizer",
    "LabeledOptimizer",
    "MIPROOptimizer",
    "NearestOptimizer",
    "RandomSearchOptimizer",
    "SIMBAOptimizer",
    "TurnSplit",
    "TurnStudent",
    "apply_prompt_state",
    "prompt_state",
    "split_turns",
    "state_hash",
    "tidy_demonstrations",
]
