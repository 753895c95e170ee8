"""What a compile will take of language models, worked out before it starts.

    >>> role_budgets(Need(turns=10), Measured(calls=2.0, tokens=500.0, usd=None, seconds=1.0))
    {'task': RoleBudget(calls=25, tokens=12500, usd=None)}

The counts are upper bounds: an optimizer that finds what it wants early asks less. Tokens and money follow from turns
that are answered for measure (:class:`Measured`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal

from optimize.needs import Need

PROPOSAL_TOKENS = 4000
"""Tokens that a proposal of instructions, rules or reflections is reckoned to take: prompt and reply."""

EVIDENCE_TOKENS = 1000
"""Tokens that a call for evidence is reckoned to take: the conversation, the candidates, and what is shown before."""

MARGIN = 1.25
"""How much more than worked out the stated budget allows: replies that cannot be read are asked for again."""


@dataclass(frozen=True)
class Measured:
    """What one turn took when a few were answered for measure.

    Attributes:
        calls: Calls to the language model.
        tokens: Tokens of prompts and replies together.
        usd: Dollars a call; ``None`` where the price is not known.
        seconds: Wall time.
        active: The predictors that were asked, by name.
    """

    calls: float
    tokens: float
    usd: Decimal | None
    seconds: float
    active: tuple[str, ...] = ()


@dataclass(frozen=True)
class RoleBudget:
    """What a language model may use up in one role: stated before a compile, and held to; ``None`` where not known."""

    calls: int
    tokens: int | None
    usd: Decimal | None


def role_budgets(need: Need, one: Measured) -> dict[str, RoleBudget]:
    """The budget of each role that a compile asks; roles that are not asked have none."""
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
            # Demonstrations make prompts longer than those that were measured: up to twice is allowed for.
            most = math.ceil((MARGIN if role in ("prompt", "reflection") else 2 * MARGIN) * tokens) or None
            usd = None
            if one.usd is not None and most is not None:
                usd = one.usd / Decimal(str(one.tokens / one.calls)) * most if one.tokens else one.usd
            found[role] = RoleBudget(allowed, most, usd)
    return found
