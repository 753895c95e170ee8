"""Evidence by likelihood: each candidate's derivation is a reply that the model may be held to.

This mode suits a small model, which is near chance when it is asked for a number in a list. Candidates are written over
rows and columns (:mod:`programs.evidence.prompt`), and only their branches are scored (:mod:`programs.lm.choice`).
Instructions and demonstrations are read once. All candidates of a turn are one call.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from kg.calculations import Candidate, ReportIndex
from kg.search import PastTurn
from programs.evidence.blend import Evidence
from programs.evidence.prompt import (
    Demonstration,
    likelihood_prompt,
    written_conversation,
    written_derivation,
)
from programs.lm import Prompt, ReplyChoice


class Chooser(Protocol):
    """A language model with probabilities of given replies: :class:`programs.lm.guarded.GuardedLM`."""

    def choose(self, prompt: Prompt, replies: Sequence[str]) -> list[ReplyChoice]:
        """The choice among replies."""


def by_likelihood(
    lm: Chooser,
    candidates: Sequence[Candidate],
    past: Sequence[PastTurn],
    question: str,
    index: ReportIndex,
    demonstrations: Sequence[Demonstration],
) -> Evidence:
    """Asks how probable each candidate's derivation is as the reply.

    Args:
        lm: The language model.
        candidates: At least one.
        past: The turns before the question, as they were answered.
        question: The question.
        index: The report's index.
        demonstrations: The demonstrations before the question.
    """
    replies = [written_derivation(one.derivation, past, index) for one in candidates]
    conversation = written_conversation(past, question, index, derivations=True)
    return evidence_of_replies(lm, likelihood_prompt(demonstrations, conversation), replies)


def evidence_of_replies(lm: Chooser, prompt: Prompt, replies: Sequence[str]) -> Evidence:
    """Asks how probable given replies to a prompt are."""
    found = lm.choose(prompt, replies)
    shares, likelihoods = zip(*((one.log_share, one.log_probability) for one in found), strict=True)
    return Evidence("likelihood", shares, likelihoods)
