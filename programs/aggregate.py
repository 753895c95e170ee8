"""Aggregate: the probability of each candidate, by the search, a language model, or the blend of both.

    >>> choice = aggregate(search, config, execution)
    >>> choice.candidates[choice.scores.pick].answer
    Decimal('25587')

A model that has named an expression is asked to choose only where the search's best candidate is another one. It sees
the candidates in an order that a seed shuffles, so that their place has no meaning.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

import dspy

from kg.search import merge_key
from programs.evidence import Choice, Evidence, EvidenceConfig, ScoredCandidates, evidence_of, stated_evidence
from programs.lm import LEAST_SHARE, sampling
from programs.worlds.base import Execution
from signatures.aggregate import Aggregate as AggregateCandidates


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
        """
        own: Choice | None = search.combine(execution)
        if own is not None:
            return own
        plan = config.plan_for(dspy.settings.lm)
        candidates, evidence, named = search.candidates, None, None
        if execution is not None:
            if execution.candidate is not None:
                candidates, named = with_named(candidates, execution.candidate, plan.shown)
            evidence = self._compared(search, config, candidates[: plan.shown], execution, named)
        shown = candidates[: plan.shown]
        scores = ScoredCandidates((), 1.0)
        if shown:
            scores = plan.blend.judge([candidate.score for candidate in shown], search.lengths(shown), evidence)
        understanding = execution.understanding if execution is not None else None
        return Choice(candidates, scores, evidence, understanding, plan.decides)

    def _compared(
        self, search: Any, config: EvidenceConfig, shown: Sequence[Any], execution: Execution, named: int | None
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
            signature=pick_among(self.predict.signature, len(groups)),
            config=sampling(dspy.settings.lm),
        )
        evidence = evidence_of(reply, len(groups))
        shares = [LEAST_SHARE] * len(shown)
        for share, places in zip(evidence.shares, groups, strict=True):
            shares[places[0]] = share
        return replace(evidence, shares=tuple(shares), named=named)


def pick_among(signature: Any, count: int) -> Any:
    """The signature with ``choice`` narrowed to 0 (none) and the numbers of ``count`` candidates."""
    if signature.output_fields["choice"].annotation is not int:
        return signature  # an optimizer has given the field a type of its own
    among: Any = Literal[tuple(range(count + 1))]
    return signature.with_updated_fields("choice", type_=among)


def with_named(candidates: Sequence[Any], named: Any, most: int) -> tuple[tuple[Any, ...], int]:
    """Candidates with the named one among the first ``most``, and its place; an equal answer takes its derivation."""
    key = merge_key(named.answer)
    equal = [place for place, candidate in enumerate(candidates) if merge_key(candidate.answer) == key]
    others = [candidate for place, candidate in enumerate(candidates) if place not in equal]
    place = min([*equal, max(most - 1, 0), len(others)])
    return (*others[:place], named, *others[place:]), place
