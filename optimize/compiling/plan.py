"""The plan of a compile: its settings, the turns that it works on, and its budget of language models.

    >>> role_budgets(Need(turns=10), Measured(calls=2.0, tokens=500.0, usd=None, seconds=1.0))
    {'task': RoleBudget(calls=25, tokens=12500, usd=None)}

The counts are upper bounds: an optimizer that reaches its goal early asks less. Tokens and money follow from turns that
are measured before the start (:class:`optimize.compiling.measure.Measured`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Literal

import dspy

from kg.errors import ConfigError
from optimize.compiling.checkpoints import Checkpoints
from optimize.compiling.measure import Measured, measure, measured_from
from optimize.compiling.registry import OptimizerStep
from optimize.needs import Need, Role, Sizes
from optimize.prompts import TurnSplit, split_turns
from optimize.settings import AtLeast1, settings

if TYPE_CHECKING:
    from programs.conversation import ConversationQA

PROPOSAL_TOKENS = 4000
"""Assumed tokens of a proposal of instructions, rules or reflections: prompt and reply."""

EVIDENCE_TOKENS = 1000
"""Assumed tokens of a call for evidence: the conversation, the candidates, and the demonstrations."""

MARGIN = 1.25
"""The budget as a multiple of the computed need: replies that cannot be read are asked for again."""


@settings
class CompileSettings:
    """The settings common to all prompt optimizers of a chain.

    Attributes:
        train_turns: Turns that they learn from, at most.
        val_turns: Turns of other reports that select among candidates; at most a third of all.
        measure_turns: Training turns that are answered before the start, to measure one.
        threads: Turns at a time.
        keep: ``best`` returns the program that scored best on the validation turns, which may be the first (see
            :func:`optimize.compiling.chain.choose`); ``last`` returns the program at the end of the chain.
    """

    train_turns: AtLeast1 = 60
    val_turns: AtLeast1 = 24
    measure_turns: AtLeast1 = 2
    threads: AtLeast1 = 1
    keep: Literal["best", "last"] = "best"


@dataclass(frozen=True)
class RoleBudget:
    """The limits of a language model in one role; ``None`` where not known."""

    calls: int
    tokens: int | None
    usd: Decimal | None


@dataclass(frozen=True)
class CompilePlan:
    """The announced use of language models.

    Attributes:
        sizes: Turns and predictors.
        need: Turns and calls at most.
        measured: The mean use of a turn.
        budgets: The limits of each role.
    """

    sizes: Sizes
    need: Need
    measured: Measured
    budgets: Mapping[str, RoleBudget]

    @property
    def seconds(self) -> float:
        """The longest time of all turns, one at a time, at the measured speed, and of the training."""
        return (self.need.turns + self.need.teacher_turns) * self.measured.seconds + self.need.training_seconds


def role_budgets(need: Need, one: Measured) -> dict[str, RoleBudget]:
    """Returns the budget of each role that a compile asks; roles that are not asked have none."""
    wanted = {
        "task": (
            need.turns * one.calls + need.evidence_calls,
            need.turns * one.tokens + need.evidence_calls * EVIDENCE_TOKENS,
        ),
        "teacher": (need.teacher_turns * one.calls, need.teacher_turns * one.tokens),
        "prompt": (float(need.prompt_calls), float(need.prompt_calls * PROPOSAL_TOKENS)),
        "reflection": (float(need.reflection_calls), float(need.reflection_calls * PROPOSAL_TOKENS)),
    }
    found: dict[str, RoleBudget] = {}
    for role, (calls, tokens) in wanted.items():
        if calls > 0:
            allowed = math.ceil(MARGIN * calls)
            # Demonstrations make prompts longer than the measured ones, up to twice as long.
            most = math.ceil((MARGIN if role in ("prompt", "reflection") else 2 * MARGIN) * tokens) or None
            usd = None
            if one.usd is not None and most is not None:
                usd = one.usd / Decimal(str(one.tokens / one.calls)) * most if one.tokens else one.usd
            found[role] = RoleBudget(allowed, most, usd)
    return found


def split_for(
    chain: Sequence[OptimizerStep],
    student: ConversationQA,
    trainset: list[dspy.Example],
    settings: CompileSettings,
    seed: int,
) -> TurnSplit | None:
    """Returns the turns to learn from and to choose on; ``None`` if no optimizer of the chain works on turns.

    Raises:
        ConfigError: There are too few reports for both.
    """
    if all(step.optimizer().level == "conversation" for step in chain):
        return None
    split = split_turns(trainset, student.turn.reader, train=settings.train_turns, val=settings.val_turns, seed=seed)
    if not split.train or not split.val:
        raise ConfigError(
            f"prompt optimizers need turns to learn from and turns of other reports to choose on; "
            f"{len(trainset)} conversations give {len(split.train)} and {len(split.val)}"
        )
    return split


def plan_chain(
    chain: Sequence[OptimizerStep],
    student: ConversationQA,
    trainset: list[dspy.Example],
    split: TurnSplit | None,
    settings: CompileSettings,
    lms: Mapping[Role, dspy.LM],
    checkpoints: Checkpoints,
) -> CompilePlan | None:
    """Returns the most that a chain asks of language models, after measuring a few turns; ``None`` without a model."""
    if "task" not in lms:
        return None
    known = checkpoints.read("plan")
    examples = split.train[: settings.measure_turns] if split is not None else []
    measured = measured_from(known) if known else measure(student.turn, lms["task"], examples)
    checkpoints.write("plan", asdict(measured))
    train, val = (len(split.train), len(split.val)) if split is not None else (0, 0)
    sizes = Sizes(train, val, len(measured.active), sum(len(one.questions) for one in trainset))
    optimizers = [step.optimizer() for step in chain]
    need = Need(turns=(sum(one.level == "turn" for one in optimizers) + 1) * val)
    for one in optimizers:
        need += one.need(sizes)
    return CompilePlan(sizes, need, measured, role_budgets(need, measured))
