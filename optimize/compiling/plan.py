"""What a compile will take of language models, worked out before it starts.

    >>> need_bootstrap(BootstrapSettings(max_rounds=1), Sizes(train=60, val=20, predictors=2))
    Need(turns=0, teacher_turns=60, prompt_calls=0, reflection_calls=0, evidence_calls=0)

The counts are upper bounds: an optimizer that finds what it wants early asks less. Tokens and money follow from turns
that are answered for measure (:class:`Measured`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING

from optimize.needs import NO_NEED, Need, Sizes

if TYPE_CHECKING:
    from optimize.prompts import settings as known
    from optimize.scorers import EvidenceSettings

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


def need_evidence(settings: EvidenceSettings, sizes: Sizes) -> Need:
    """A call for each turn that is judged, or for each of its candidates; what else is asked about it comes on top."""
    turns = sizes.turns if settings.turns is None else min(settings.turns, sizes.turns)
    each = (settings.shown if settings.mode == "per-path" else 1) + settings.understand + settings.prior
    return Need(evidence_calls=turns * each)


def need_labeled_few_shot(settings: known.LabeledSettings, sizes: Sizes) -> Need:
    """Labels come from the gold programs."""
    del settings, sizes
    return NO_NEED


def need_knn_few_shot(settings: known.NearestSettings, sizes: Sizes) -> Need:
    """Labels come from the gold programs."""
    del settings, sizes
    return NO_NEED


def need_bootstrap(settings: known.BootstrapSettings, sizes: Sizes) -> Need:
    """Every training turn in each round, until there are enough demonstrations."""
    return Need(teacher_turns=sizes.train * settings.max_rounds)


def need_bootstrap_random_search(settings: known.RandomSearchSettings, sizes: Sizes) -> Need:
    """A bootstrap for each random set and the ordered one; a validation for each of them, none and labels."""
    sets = settings.num_candidate_programs
    return Need(turns=(sets + 3) * sizes.val, teacher_turns=(sets + 1) * sizes.train * settings.max_rounds)


def need_miprov2(settings: known.MIPROSettings, sizes: Sizes) -> Need:
    """Sets of demonstrations; a proposal a candidate and predictor, and the data's summary; a validation a trial."""
    sets = max(settings.num_candidates - 2, 0)
    summary = 2 + math.ceil(sizes.train / 10) if settings.data_aware else 0
    described = 2 * sizes.predictors * settings.num_candidates if settings.program_aware else 0
    return Need(
        turns=(settings.num_trials + 1) * sizes.val,
        teacher_turns=sets * sizes.train,
        prompt_calls=summary + described + settings.num_candidates * sizes.predictors,
    )


def need_gepa(settings: known.GEPASettings, sizes: Sizes) -> Need:
    """Scored turns as set, with the last candidate's validation; a reflection for each pair of small batches."""
    small = 2 * settings.reflection_minibatch_size
    return Need(
        turns=settings.max_metric_calls + sizes.val + small,
        reflection_calls=math.ceil(settings.max_metric_calls / small) + 1,
    )


def need_simba(settings: known.SIMBASettings, sizes: Sizes) -> Need:
    """Each step samples and scores its candidates on a batch, the first sample a teacher's; the best on all turns."""
    batch = min(settings.bsize, sizes.train)
    step = batch * settings.num_candidates + (settings.num_candidates + 1) * batch
    return Need(
        turns=settings.max_steps * step + (settings.num_candidates + 1) * sizes.train,
        teacher_turns=settings.max_steps * batch,
        prompt_calls=settings.max_steps * batch,
    )


def need_infer_rules(settings: known.InferRulesSettings, sizes: Sizes) -> Need:
    """A bootstrap, then rules for each predictor and a validation for each candidate."""
    return Need(
        turns=settings.num_candidates * sizes.val,
        teacher_turns=min(settings.shown, sizes.train) * settings.max_rounds,
        prompt_calls=settings.num_candidates * sizes.predictors,
    )


def need_copro(settings: known.COPROSettings, sizes: Sizes) -> Need:
    """Each depth scores what there is of each predictor on the training turns; with several predictors all again."""
    rounds = range(1, settings.depth + 1)
    scored = sum(settings.breadth * (depth if sizes.predictors > 1 else 1) for depth in rounds)
    return Need(
        turns=scored * sizes.predictors * sizes.train,
        prompt_calls=settings.depth * settings.breadth * sizes.predictors,
    )


def need_reanchor(settings: known.ReAnchorSettings, sizes: Sizes) -> Need:
    """One pass; candidates are decided from the same replies, and later predictors may be asked anew."""
    del settings
    return Need(turns=3 * sizes.train + 2 * sizes.val)
