"""The calculation that a fine-tuned model writes after the brief prompt, held to the figures that it is shown.

    >>> named_in_brief(lm, asked, found, found.candidates[:10], report)
    Candidate(derivation=..., answer=Decimal('25587'), ...)

The search offers at most ten calculations, and the model may know another one. By the grammar each reply can be read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dspy import lm15

from kg.candidates import Candidate, TurnSearch, considered_figures
from kg.reports import Report
from programs.lm import GBNF
from programs.page import (
    BriefPage,
    CalculationError,
    PageFigures,
    answered,
    brief_prompt,
    calculation_grammar,
    read_calculation,
    stated_numbers,
)
from programs.reports.page_answer import candidate_of
from programs.reports.question import QuestionContext

LONGEST = 80
"""Tokens of a reply at the most."""


def named_in_brief(
    lm: Any, asked: QuestionContext, found: TurnSearch, shown: Sequence[Candidate], report: Report
) -> Candidate | None:
    """Asks a fine-tuned model for the calculation that answers the question.

    Args:
        lm: The model; it runs in this process.
        asked: The question.
        found: The result of its search.
        shown: The candidates whose figures the prompt shows.
        report: The report.

    Returns:
        The calculation; ``None`` where the model writes none, or one without a result.
    """
    considered = considered_figures(shown)
    figures = PageFigures(asked.index)
    every = [*considered, *(one for turn in asked.past for one in turn.considered)]
    known = [one for one in dict.fromkeys(every) if figures.has(one)]
    if not known:
        return None
    grammar = calculation_grammar(known, answered(asked.past), stated_numbers(asked.questions))
    prompt = brief_prompt(BriefPage(report, asked.index), asked.past, asked.question, considered)
    reply = lm(_held(lm, prompt, grammar))
    try:
        named = read_calculation(reply.text or "", figures, asked.past, asked.questions)
    except CalculationError:
        return None
    return candidate_of(named, found, asked.index) if named is not None else None


def _held(lm: Any, prompt: Sequence[Mapping[str, str]], grammar: str) -> lm15.Request:
    """A request whose reply is held to a grammar."""
    system, *turns = prompt
    roles = {"user": lm15.Message.user, "assistant": lm15.Message.assistant}
    held = {"type": "json_schema", "name": GBNF, "schema": {"grammar": grammar}}
    return lm15.Request(
        model=lm.model,
        system=system["content"],
        messages=tuple(roles[one["role"]](one["content"]) for one in turns),
        config=lm15.Config(max_tokens=LONGEST, temperature=lm.kwargs.get("temperature"), response_format=held),
    )
