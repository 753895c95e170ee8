"""The settings of the prompt optimizers.

The defaults are for a small model on a few cores, where every demonstration takes time: a handful of short ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from optimize.settings import OptimizerSettings, at_least


@dataclass(frozen=True)
class LabeledSettings(OptimizerSettings):
    """``labeled-few-shot``.

    Attributes:
        k: Demonstrations of each predictor.
        longest: Characters that a demonstration may have; longer ones are left out.
    """

    k: int = at_least(1, 6)
    longest: int = at_least(1, 700)


@dataclass(frozen=True)
class BootstrapSettings(OptimizerSettings):
    """``bootstrap``: DSPy's ``BootstrapFewShot``.

    Attributes:
        max_bootstrapped_demos: Demonstrations of each predictor that come from turns answered rightly.
        max_labeled_demos: With labelled ones at most this many in all; the teacher is shown as many.
        max_rounds: Attempts at each turn, the later ones with another temperature.
    """

    max_bootstrapped_demos: int = at_least(1, 4)
    max_labeled_demos: int = at_least(0, 2)
    max_rounds: int = at_least(1, 1)


@dataclass(frozen=True)
class RandomSearchSettings(BootstrapSettings):
    """``bootstrap-random-search``: DSPy's ``BootstrapFewShotWithRandomSearch``.

    Attributes:
        num_candidate_programs: Random sets of demonstrations, besides none, labelled ones and those in order.
    """

    num_candidate_programs: int = at_least(1, 4)


@dataclass(frozen=True)
class MIPROSettings(OptimizerSettings):
    """``miprov2``: DSPy's ``MIPROv2``, every trial on the whole validation set.

    Attributes:
        num_candidates: Instructions, and sets of demonstrations, to choose from.
        num_trials: Combinations that are tried.
        max_bootstrapped_demos: As for ``bootstrap``.
        max_labeled_demos: As for ``bootstrap``.
        init_temperature: Temperature of the proposals.
        data_aware: Whether the proposer is told about the data.
        program_aware: Whether it is shown the program's code.
        tip_aware: Whether it is given one of MIPRO's hints.
        fewshot_aware: Whether it is shown demonstrations.
    """

    num_candidates: int = at_least(2, 4)
    num_trials: int = at_least(1, 6)
    max_bootstrapped_demos: int = at_least(0, 2)
    max_labeled_demos: int = at_least(0, 2)
    init_temperature: float = at_least(0, 1.0)
    data_aware: bool = True
    program_aware: bool = False
    tip_aware: bool = True
    fewshot_aware: bool = True


@dataclass(frozen=True)
class GEPASettings(OptimizerSettings):
    """``gepa``: DSPy's ``GEPA``, with the feedback of :mod:`optimize.metrics.feedback`.

    Attributes:
        max_metric_calls: Turns that are scored at most.
        reflection_minibatch_size: Turns that are reflected on at once.
        candidate_selection: Which candidate the next one is made from.
        use_merge: Whether candidates are merged.
        reflection_temperature: Temperature of the reflecting model.
    """

    max_metric_calls: int = at_least(1, 150)
    reflection_minibatch_size: int = at_least(1, 3)
    candidate_selection: Literal["pareto", "current_best"] = "pareto"
    use_merge: bool = True
    reflection_temperature: float = at_least(0, 1.0)


@dataclass(frozen=True)
class SIMBASettings(OptimizerSettings):
    """``simba``: DSPy's ``SIMBA``.

    Attributes:
        bsize: Turns of a batch; at most as many as there are.
        num_candidates: New programs a step.
        max_steps: Steps.
        max_demos: Demonstrations of a predictor; 0 for rules only.
        demo_input_field_maxlen: Characters of a demonstration's field before it is cut.
    """

    bsize: int = at_least(2, 8)
    num_candidates: int = at_least(2, 3)
    max_steps: int = at_least(1, 3)
    max_demos: int = at_least(0, 4)
    demo_input_field_maxlen: int = at_least(1, 600)


@dataclass(frozen=True)
class InferRulesSettings(BootstrapSettings):
    """``infer-rules``: DSPy's ``InferRules``.

    Attributes:
        num_candidates: Sets of rules that are tried.
        num_rules: Rules in a set.
        shown: Training turns that the rules are inferred from; all of them would not fit into a small model's context.
    """

    num_candidates: int = at_least(1, 3)
    num_rules: int = at_least(1, 5)
    shown: int = at_least(2, 16)


@dataclass(frozen=True)
class COPROSettings(OptimizerSettings):
    """``copro``: DSPy's ``COPRO``.

    Attributes:
        breadth: New instructions of a predictor at each depth.
        depth: Times that new instructions are asked for, those before as examples.
        init_temperature: Temperature of the proposals.
    """

    breadth: int = at_least(2, 3)
    depth: int = at_least(1, 2)
    init_temperature: float = at_least(0, 1.0)


@dataclass(frozen=True)
class NearestSettings(OptimizerSettings):
    """``knn-few-shot``.

    Attributes:
        k: Demonstrations that are shown for a question: those whose questions are nearest.
        pool: Demonstrations that the program keeps to choose from.
        longest: Characters that a demonstration may have; longer ones are left out.
    """

    k: int = at_least(1, 4)
    pool: int = at_least(1, 64)
    longest: int = at_least(1, 700)


@dataclass(frozen=True)
class ReAnchorSettings(OptimizerSettings):
    """``reanchor``: DSPy's ``ReAnchor`` where the program has decision outputs; it has no settings of its own."""
