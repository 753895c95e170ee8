"""Prompt optimizers, and the turns that they learn from."""

from typing import TYPE_CHECKING

from kg.lazy import lazy_exports

if TYPE_CHECKING:
    from optimize.prompts.few_shot import BootstrapOptimizer, LabeledOptimizer, NearestOptimizer, RandomSearchOptimizer
    from optimize.prompts.instructions import COPROOptimizer, GEPAOptimizer, MIPROOptimizer
    from optimize.prompts.reanchor import ReAnchorOptimizer
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
else:
    __getattr__ = lazy_exports(__name__, __file__)

__all__ = [
    "BootstrapOptimizer",
    "COPROOptimizer",
    "GEPAOptimizer",
    "InferRulesOptimizer",
    "LabeledOptimizer",
    "MIPROOptimizer",
    "NearestOptimizer",
    "RandomSearchOptimizer",
    "ReAnchorOptimizer",
    "SIMBAOptimizer",
    "TurnSplit",
    "TurnStudent",
    "apply_prompt_state",
    "prompt_state",
    "split_turns",
    "state_hash",
    "tidy_demonstrations",
]
