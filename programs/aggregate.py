"""Aggregate: the probability of each candidate, by the search, a language model, or the blend of both.

    >>> choice = aggregate(search, config, execution)
    >>> choice.candidates[choice.scores.pick].answer
    Decimal('25587')

A model that has named an expression is asked to choose only where the search's best candidate is another one. It sees
the candidates in an order that a seed shuffles, so that their place has no meaning. Small models that run in this
process give the likelihood of each candidate's calculation instead (:mod:`programs.evidence.likelihood`).
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import dspy

from kg.errors import LMError
from kg.search import merge_key
from programs.evidence import (
    Choice,
    Evidence,
    EvidenceConfig,
    EvidencePlan,
    ScoredCandidates,
    can_choose,
    evidence_of,
    sampling,
)
from programs.wording import pick_among
from programs.worlds.base import Execution
from signatures.aggregate import Aggregate as AggregateCandidates

LEAST_SHARE = -9.0
"""The log-share of a candidate that was not shown, as another one with the same calculation was."""


class Aggregate(dspy.Module):
    """Chooses among the candidates of a search, or none of them.

    Args:
        compares: Whether a language model compares candidates; a world that weighs them by itself needs no prompt.
    """

    def __init__(self, *, compares: bool = True) -> None:
        super().__init__()
        if compares:
            self.predict = dspy.Predict(AggregateCandidates)

    def forward(self, search: Any, config: EvidenceConfig, execution: Execution | None = None) -> Choice:
        """Scores the candidates.

        Args:
            search: The question, with its candidates.
            config: The plans for language models.
            execution: What the model understood, if it was asked.

        Raises:
            LMError: The plan is for likelihoods, and the model gives none.
        """
        own: Choice | None = search.combine(execution)
        if own is not None:
            return own
        lm = dspy.settings.lm
        plan = config.plan_for(lm)
        candidates, named = search.candidates, None
        evidence: Evidence | None = None
        if execution is not None:
            if execution.candidate is not None:
                candidates, named = with_named(candidates, execution.candidate, plan.shown)
            evidence = self._compared(search, config, plan, candidates[: plan.shown], execution, named)
        elif plan.asks(lm) and plan.prompt != "page" and len(candidates) > 1:
            if not can_choose(lm):
                raise LMError(f"{lm.model} does not say how probable a given reply is: fit its evidence again")
            evidence = search.likelihood(lm, plan, candidates[: plan.shown], config)
        shown = candidates[: plan.shown]
        scores = ScoredCandidates((), 1.0)
        if shown:
            scores = plan.blend.judge([one.score for one in shown], search.lengths(shown), evidence)
        return Choice(candidates, scores, evidence, execution.understanding if execution is not None else None, plan)

    def _compared(
        self,
        search: Any,
        config: EvidenceConfig,
        plan: EvidencePlan,
        shown: Sequence[Any],
        execution: Execution,
        named: int | None,
    ) -> Evidence | None:
        """The model's understanding where the search agrees with it, else its choice among the candidates."""
        if not shown:
            return None
        understanding = execution.understanding
        groups = search.groups(shown, named)
        if named is not None:
            own = next(places for places in groups if named in places)
            if len(groups) == 1 or (search.candidates and 0 in own):
                return stated_evidence(understanding.confidence, named, len(shown))
        elif understanding.says_none and search.abstains:
            return stated_evidence(understanding.confidence, None, len(shown))
        random.Random(f"{config.seed} {search.question}").shuffle(groups)
        reply = self.predict(
            **search.options([shown[places[0]] for places in groups], understanding.description),
            signature=pick_among(
                self.predict.signature, len(groups), plan.shown if can_choose(dspy.settings.lm) else None
            ),
            config=sampling(dspy.settings.lm),
        )
        evidence = evidence_of(reply, len(groups))
        shares = [LEAST_SHARE] * len(shown)
        for share, places in zip(evidence.shares, groups, strict=True):
            shares[places[0]] = share
        return replace(evidence, shares=tuple(shares), named=named)


def with_named(candidates: Sequence[Any], named: Any, most: int) -> tuple[tuple[Any, ...], int]:
    """Candidates with the named one among the first ``most``, and its place; an equal answer takes its derivation."""
    key = merge_key(named.answer)
    equal = [place for place, one in enumerate(candidates) if merge_key(one.answer) == key]
    others = [one for place, one in enumerate(candidates) if place not in equal]
    place = min([*equal, max(most - 1, 0), len(others)])
    return (*others[:place], named, *others[place:]), place


def stated_evidence(stated: float, place: int | None, count: int) -> Evidence:
    """The evidence of a stated confidence in one of ``count`` candidates, or in none, which is not asked for again."""
    confidence = min(max(stated, 1e-4), 1 - 1e-4)
    rest = math.log((1 - confidence) / count)
    shares = tuple(math.log(confidence) if number == place else rest for number in range(count))
    return Evidence("index", shares, none=math.log(confidence) if place is None else rest, named=place)
