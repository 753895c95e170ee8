"""The evidence of a language model on the candidates of a turn, by the mode of its plan.

>>> evidence = gathered(plan, shown, asked, report, config, aggregate, rate, "the net income of 2009")
>>> evidence.first
0
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import dspy

from kg.candidates import Candidate, considered_figures
from kg.errors import LMError
from kg.reports import Report
from programs.evidence import Evidence, EvidenceConfig, EvidencePlan, can_choose
from programs.evidence import index as evidence_index
from programs.evidence import likelihood as evidence_likelihood
from programs.evidence import per_path as evidence_per_path
from programs.page import NO_ANSWER, BriefPage, brief_prompt, brief_reply, merged, written_evidence, written_turns
from programs.reports.question import QuestionContext
from programs.wording import pick_among

LEAST_SHARE = -9.0
"""The log-share of a candidate that was not shown, as another one with the same calculation was."""


def gathered(
    plan: EvidencePlan,
    shown: Sequence[Candidate],
    asked: QuestionContext,
    report: Report,
    config: EvidenceConfig,
    aggregate: dspy.Predict,
    rate: Callable[..., Any] | None,
    meaning: str,
    named: int | None = None,
) -> Evidence:
    """The model's evidence for some candidates.

    Args:
        plan: The way the model is asked.
        shown: The candidates, at least one.
        asked: The question.
        report: The report.
        config: The demonstrations and samples.
        aggregate: The predictor of the choice among candidates.
        rate: The predictor for one candidate at a time; ``None`` except in mode ``per-path``.
        meaning: The question spelled out.
        named: The candidate that the model has named itself.

    Raises:
        LMError: The mode is likelihood and the model has none.
    """
    lm = dspy.settings.lm
    if plan.mode != "index" and can_choose(lm):
        about = (shown, asked.past, asked.question, asked.index)
        if plan.mode == "likelihood" and plan.prompt == "brief":
            found = _by_brief_prompt(lm, shown, asked, report, with_none=plan.abstention is not None)
        elif plan.mode == "likelihood":
            found = evidence_likelihood.by_likelihood(lm, *about, config.demonstrations, prior=plan.prior)
        else:
            found = evidence_per_path.by_choice(lm, *about)
        return replace(found, named=named)
    if plan.mode == "likelihood":
        raise LMError(f"{lm.model} does not say how probable a given reply is: choose another mode of evidence")
    page = (report, asked.index, asked.past)
    inputs: dict[str, Any] = {"history": written_turns(asked.past), "question": asked.question, "meaning": meaning}
    if rate is not None:
        rated = [rate(**inputs, candidate=written_evidence([one], *page)) for one in shown]
        return replace(evidence_per_path.evidence_of(list(map(evidence_per_path.rating_of, rated))), named=named)
    groups = merged(shown, asked.past, named)
    inputs["candidates"] = written_evidence([shown[places[0]] for places in groups], *page)
    most = plan.shown if can_choose(lm) else None
    inputs["signature"] = pick_among(aggregate.signature, len(groups), most)
    replies = [aggregate(**inputs, config=evidence_index.sampling(lm, number)) for number in range(config.samples)]
    evidence = evidence_index.evidence_of(replies, len(groups))
    shares = [LEAST_SHARE] * len(shown)
    for share, places in zip(evidence.shares, groups, strict=True):
        shares[places[0]] = share
    return replace(evidence, shares=tuple(shares), named=named)


def _by_brief_prompt(
    lm: Any, shown: Sequence[Candidate], asked: QuestionContext, report: Report, *, with_none: bool
) -> Evidence:
    """The evidence of a fine-tuned model: the lines of the considered figures, the conversation, and each reply."""
    page = BriefPage(report, asked.index)
    prompt = brief_prompt(page, asked.past, asked.question, considered_figures(shown))
    replies = [brief_reply(one.derivation, asked.past) for one in shown]
    if not with_none:
        return evidence_likelihood.evidence_of_replies(lm, prompt, replies)
    return evidence_likelihood.evidence_beside_none(lm, prompt, replies, NO_ANSWER)
