"""The result of a question, with everything that led to it: one type for reports, graphs and growing graphs.

A program sees a world (a report, a graph), a question and the turns before it. None of these types can hold a gold
answer.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from html import escape
from typing import Annotated, Any, Generic, Literal

from pydantic import PlainSerializer
from typing_extensions import TypeVar

from kg.calculations import considered_figures
from kg.errors import FinpathError
from kg.graphs import GraphContext
from kg.search import Answer
from kg.search import PastTurn as PastTurn
from programs.turns.codecs import CandidateField, DerivationField, PlainField, plain

Failure = Literal["no_topic", "empty_beam", "no_valid_choice", "picked_none", "not_answered", "lm_error", "error"]
"""The reason for a turn without an answer. A run's metrics count each kind separately.

``no_topic``: the question names no entity of the graph. ``empty_beam``: the search found no candidate.
``no_valid_choice``: a reply of the language model could not be used. ``picked_none``: the program abstained.
``not_answered``: the question could not be parsed, or the graph does not hold its answer. ``lm_error``: the language
model failed. ``error``: the data or the search failed.
"""

AnswerT = TypeVar("AnswerT", default=Answer)
DetailT = TypeVar("DetailT", default=None)


class NoAnswerError(FinpathError):
    """A question without an answer, for a reason that is no fault of the program.

    Args:
        failure: The reason.
        message: The reason in words.
    """

    def __init__(self, failure: Failure, message: str) -> None:
        super().__init__(message)
        self.failure: Failure = failure


@dataclass(frozen=True)
class Usage:
    """The cost of a turn.

    Attributes:
        lm_calls: Calls to a language model, including cached and failed ones.
        prompt_tokens: Tokens of the prompts; a cached reply takes none.
        completion_tokens: Tokens written by the model; a cached reply takes none.
        seconds: Wall time.
        cached_prompt_tokens: Those of the prompts' tokens that the model did not compute again, as a prompt before
            began alike.
    """

    lm_calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    seconds: float = 0.0
    cached_prompt_tokens: int = 0


@dataclass(frozen=True)
class ToolCall:
    """A call of a tool by an agent.

    Attributes:
        tool: Its name.
        arguments: The arguments that the language model gave.
        output: The text that the language model was shown.
        seconds: Wall time.
        failed: Whether the output is an error.
    """

    tool: str
    arguments: Annotated[Mapping[str, Any], PlainSerializer(plain)]
    output: str
    seconds: float
    failed: bool = False


@dataclass(frozen=True)
class Resolution:
    """A question and the things that it refers to.

    Attributes:
        question: As asked.
        canonical: The same, standing alone.
        referents: The entities or figures that it refers to without naming them.
        turns: The earlier turns that these come from; counted from 0.
    """

    question: str
    canonical: str
    referents: tuple[str, ...] = ()
    turns: tuple[int, ...] = ()


@dataclass(frozen=True, repr=False)
class Turn(Generic[AnswerT, DetailT]):
    """A question with everything that led to its answer.

    Attributes:
        question: The question as asked.
        answer: The exact answer; ``None`` if ``failure`` is set. Reports give numbers or yes and no, graphs also names.
        derivation: The calculation of the answer.
        candidates: The beam's proposals, best first, answers merged numerically.
        pick: Index of the chosen candidate.
        confidence: Probability in [0, 1] that the program gives to its answer.
        failure: The reason for a missing answer.
        message: The failure in words.
        understanding: The reply of the Understand module, if it ran.
        usage: Calls, tokens and time.
        tool_calls: Every call of a tool, in order.
        words: The answer in words, with unit, sign and scale; empty without an answer.
        evidence: The language model's evidence on the candidates (:class:`programs.evidence.Evidence`), if asked.
        explanation: One sentence on the answer by a language model, where that was asked for and it is grounded.
        resolution: The references of the question, where the program resolves them.
        context: The entities of the graph context, where the program looks them up.
        detail: Results that only one world has.
    """

    question: str
    answer: AnswerT | None = None
    derivation: DerivationField | None = None
    candidates: tuple[CandidateField, ...] = ()
    pick: int | None = None
    confidence: float | None = None
    failure: Failure | None = None
    message: str = ""
    understanding: PlainField = None
    usage: Usage = field(default_factory=Usage)
    tool_calls: tuple[ToolCall, ...] = ()
    words: str = ""
    evidence: PlainField = None
    explanation: str = ""
    resolution: Resolution | None = None
    context: GraphContext = field(default_factory=GraphContext)
    detail: DetailT | None = None

    def __repr__(self) -> str:
        answer = self.words or (str(self.answer) if self.answer is not None else f"no answer ({self.failure})")
        confidence = f", confidence {self.confidence:.0%}" if self.confidence is not None else ""
        return f"Turn({self.question!r} -> {answer!r}{confidence})"

    def _repr_html_(self) -> str:
        return f"<p><b>{escape(self.question)}</b><br>{escape(repr(self).rpartition(' -> ')[2].removesuffix(')'))}</p>"

    @property
    def resolved(self) -> Resolution:
        """The references of the question; none where the program resolves none."""
        return self.resolution if self.resolution is not None else Resolution(self.question, self.question)

    @property
    def canonical(self) -> str:
        """The question with its references spelled out."""
        return self.resolved.canonical

    def past(self: Turn[Answer, Any]) -> PastTurn:
        """A turn about a report as later turns see it."""
        considered = considered_figures(self.candidates)
        return PastTurn(self.question, self.derivation, self.answer, self.confidence, considered)
