"""The interface of a world: what a question is asked about, and all that differs between a report, a graph and texts.

    world = ReportWorld(report, reader)
    state = world.start()
    search = world.search(state, "what were revenues in 2008?")     # the beam; no model is asked
    search.candidates[0].answer                                     # Decimal('9362.2')
    search.prompt(config, predict)                                  # the inputs of Understand: the page
    search.execute(reply).candidate.path                            # what the model named, as a candidate

:class:`programs.beam.BeamQA` knows nothing else of a world. A state is a conversation after some turns
(:class:`programs.turns.conversation.State`); it is never changed.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

from programs.aggregate import Choice, EvidenceConfig, EvidencePlan, Execution
from programs.turns import AnyTurn, Kept
from signatures.understand import Understanding


class Search(ABC):
    """The search for one question, with the prompt of Understand, the execution of its reply and the turn of a choice.

    Attributes:
        state: The conversation before the question.
        question: The question.
        candidates: The beam's proposals, best first.
        nothing: Why a question without any candidate has no answer.
        signature: The signature by which a language model understands the question.
        attempts: Expressions that a turn may name: each after the reason why the one before it was refused.
        samples: Whether the calls are sampled by the settings of the reports' own prompts.
        tolerated: Errors of a language model after which the search answers alone.
    """

    state: Any
    question: str
    candidates: tuple[Any, ...]
    nothing: str = "nothing fits the question"
    signature: Any
    attempts: ClassVar[int] = 1
    samples: ClassVar[bool] = False
    tolerated: tuple[type[Exception], ...] = ()

    @abstractmethod
    def asks(self, plan: EvidencePlan, lm: Any) -> bool:
        """Whether the language model that is set is asked to understand the question, and what it is shown exists."""

    @abstractmethod
    def prompt(self, config: EvidenceConfig, predict: Any) -> dict[str, Any]:
        """The inputs by which a model understands the question, with an identifier for all that they show.

        Args:
            config: The budget of tokens.
            predict: The predictor that is asked; the inputs may have a narrower ``signature``.
        """

    def reply(self, predict: Any, **inputs: Any) -> Any:
        """Asks for an expression."""
        return predict(**inputs)

    def retry(self, prompt: dict[str, Any], reply: Any, reason: str) -> dict[str, Any]:  # noqa: ARG002
        """The inputs for another reply, with the reason why the last one's expression was refused."""
        return prompt

    @abstractmethod
    def understanding(self, reply: Any, refused: Sequence[str]) -> Understanding:
        """The reply of a model, after the expressions that were refused; ``reply`` is ``None`` where it failed."""

    @abstractmethod
    def execute(self, reply: Any, refused: Sequence[str] = ()) -> Execution:
        """The reply of a model, with its expression as a candidate.

        Raises:
            ProgramError: The expression is not over what the world shows.
            QueryError: The same, of a query.
        """

    @abstractmethod
    def combine(self, execution: Execution | None) -> Choice | None:
        """The choice of a world that weighs both by itself; ``None`` where Aggregate compares the candidates."""

    @abstractmethod
    def turn(self, choice: Choice, config: EvidenceConfig) -> AnyTurn:
        """The turn of a choice: the answer with its path and sources, or an abstention with what comes nearest."""

    def figures(self) -> tuple[Sequence[Any], Any] | None:
        """The observations and the report of the derivations that are answers; ``None`` where answers are none."""
        return None

    @abstractmethod
    def grounds(self, turn: AnyTurn) -> dict[str, str]:
        """The inputs ``calculation`` and ``facts`` of an explanation of an answer."""

    def after(self, turn: AnyTurn, choice: Choice) -> Any:  # noqa: ARG002
        """The state after the turn of a choice."""
        return self.state.after(turn)


class World(ABC):
    """A source of answers.

    Attributes:
        kind: ``report``, ``graph`` or ``texts``; the name of its predictor in Understand.
        name: A report's id, a graph's name.
    """

    kind: ClassVar[str]
    name: str

    @abstractmethod
    def start(self, turns: Sequence[AnyTurn] = (), kept: Kept = ()) -> Any:
        """The state before the first question, or after turns that were answered earlier.

        Args:
            turns: The earlier turns.
            kept: :meth:`programs.turns.conversation.State.kept` of the state after them.

        Raises:
            FinpathError: The world cannot be read.
        """

    @abstractmethod
    def search(self, state: Any, question: str) -> Search:
        """Searches candidates for a question; asks no language model."""
