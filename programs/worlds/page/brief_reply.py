"""The calculation that a fine-tuned model writes after the brief prompt, held to the figures that it is shown.

    >>> named_in_brief(lm, search, search.candidates[:10])
    Candidate(derivation=..., answer=Decimal('25587'), ...)

The search offers at most ten calculations, and the model may know another one. By the grammar each reply can be read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from dspy import lm15

from kg.candidates import Candidate, considered_figures
from kg.derivations import PastTurn
from kg.figures import ReportIndex
from kg.reports import Report
from programs.lm import GBNF
from programs.worlds.page.brief import BriefPage, brief_prompt
from programs.worlds.page.calculation import NamedCalculation, read_calculation
from programs.worlds.page.figures import CalculationError, PageFigures
from programs.worlds.page.grammar import answered, calculation_grammar, stated_numbers

LONGEST = 80
"""Tokens of a reply at the most."""


class Asked(Protocol):
    """A question about a report: see :class:`programs.worlds.report.ReportSearch`."""

    index: ReportIndex
    questions: tuple[str, ...]
    question: str
    past: tuple[PastTurn, ...]

    @property
    def report(self) -> Report:
        """The report."""
        ...


def named_in_brief(lm: Any, search: Asked, shown: Sequence[Candidate]) -> NamedCalculation | None:
    """Asks a fine-tuned model for the calculation that answers the question.

    Args:
        lm: The model; it runs in this process.
        search: The question.
        shown: The candidates whose figures the prompt shows.

    Returns:
        The calculation; ``None`` where the model writes none, or one without a result.
    """
    considered = considered_figures(shown)
    figures = PageFigures(search.index)
    every = [*considered, *(one for turn in search.past for one in turn.considered)]
    known = [one for one in dict.fromkeys(every) if figures.has(one)]
    if not known:
        return None
    grammar = calculation_grammar(known, answered(search.past), stated_numbers(search.questions))
    prompt = brief_prompt(BriefPage(search.report, search.index), search.past, search.question, considered)
    reply = lm(_held(lm, prompt, grammar))
    try:
        return read_calculation(reply.text or "", figures, search.past, search.questions)
    except CalculationError:
        return None


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
