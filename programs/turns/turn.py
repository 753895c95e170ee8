"""What a program returns for a question, and what it remembers of it.

A program sees a report (or its graph), a question and the turns before it; none of these types can hold a gold answer.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from kg.derivations import Answer, Candidate, Derivation, PastTurn
from kg.reports import Observation

__all__ = ["FactReading", "Failure", "PastTurn", "ToolCall", "Turn", "Usage"]

Failure = Literal["empty_beam", "no_valid_choice", "picked_none", "lm_error", "error"]
"""Why a turn has no answer; every kind is counted apart in a run's metrics."""


@dataclass(frozen=True)
class Usage:
    """What a turn cost.

    Attributes:
        lm_calls: Calls to a language model: those that DSPy's cache answered and those that failed count too.
        prompt_tokens: Tokens read by the model; what the cache answered took none.
        completion_tokens: Tokens written by the model; what the cache answered took none.
        seconds: Wall time.
    """

    lm_calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    seconds: float = 0.0


@dataclass(frozen=True)
class ToolCall:
    """A call of a tool by an agent.

    Attributes:
        tool: Its name.
        arguments: What the language model gave it.
        output: What the language model was told.
        seconds: Wall time.
        failed: Whether the output is an error.
    """

    tool: str
    arguments: Mapping[str, Any]
    output: str
    seconds: float
    failed: bool = False


@dataclass(frozen=True)
class FactReading:
    """What a turn read from the report's text because no candidate seemed right.

    Attributes:
        inserted: The figures that were read, in the order of reading; they lie in the conversation's own layer.
        iterations: Decisions taken.
        repairs: How often something was written again, by what it was.
        refused: What was refused, one line each.
        forced: Whether the iterations were over before a candidate seemed right.
        usage: What it took, searches and choices in between included; a part of the turn's usage.
    """

    inserted: tuple[Observation, ...] = ()
    iterations: int = 0
    repairs: Mapping[str, int] = field(default_factory=dict)
    refused: tuple[str, ...] = ()
    forced: bool = False
    usage: Usage = field(default_factory=Usage)


@dataclass(frozen=True)
class Turn:
    """A question with all that led to its answer.

    Attributes:
        question: The question as asked.
        answer: The exact answer, or ``None`` when ``failure`` says why there is none.
        derivation: How the answer is calculated.
        candidates: What the beam proposed, best first, answers merged numerically.
        pick: Index of the chosen candidate.
        confidence: Probability in [0, 1] that the program gives to its answer.
        failure: Why there is no answer.
        message: The failure in words.
        understanding: What the Understand module made of the question, if it ran.
        usage: Calls, tokens and time.
        tool_calls: Every call of a tool, in order; of an agent only.
        evidence: What the language model made of the candidates (:class:`programs.evidence.blend.Evidence`), if asked.
        escalated: What was asked because no candidate seemed right: ``agent`` or ``thoughts``; ``None`` for nothing.
        reading: What was read from the text, of a turn that escalated to ``thoughts``.
        words: The answer as a person would say it, with unit, sign and scale; empty where there is none.
    """

    question: str
    answer: Answer | None = None
    derivation: Derivation | None = None
    candidates: tuple[Candidate, ...] = ()
    pick: int | None = None
    confidence: float | None = None
    failure: Failure | None = None
    message: str = ""
    understanding: Any = None
    usage: Usage = field(default_factory=Usage)
    tool_calls: tuple[ToolCall, ...] = ()
    words: str = ""
    evidence: Any = None
    escalated: str | None = None
    reading: FactReading | None = None

    def past(self) -> PastTurn:
        """What later turns remember of this one."""
        return PastTurn(self.question, self.derivation, self.answer, self.confidence)
