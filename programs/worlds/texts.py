"""A collection of texts as a world: the sentences that a growing graph holds.

    >>> world = TextsWorld(GraphAnswers(graph))
    >>> program.ask(world.start(), "By how much did Orvane raise its offer?").turns[-1].words
    '$40 million'

Without a language model the span reader answers, or abstains. A model of an API reads the nearest documents and cites
the sentences that answer, or calculates with their amounts. An embedded model with the adapter for news quotes them
where the span reader is not confident; where it is, it is right more often than the model.
Asking writes nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from threading import RLock
from typing import Any, ClassVar

import dspy
from dspy.utils.exceptions import AdapterParseError

from kg.errors import QueryError
from kg.news import AnswerConfidence, NearDocument, TextAnswer
from programs.aggregate import Choice, EvidenceConfig, EvidencePlan, Execution, ScoredCandidates
from programs.turns import AnyTurn, Kept, State, TextDetail, Turn, is_embedded
from programs.worlds.base import Search, World
from programs.worlds.news.answering import GraphAnswers, SupportedAnswers
from programs.worlds.news.reading import (
    ADAPTER,
    API,
    SHOWN,
    cited,
    confidence_models,
    numbered,
    quotation,
    quote,
    quoting_model,
)
from signatures.news import UnderstandTexts
from signatures.understand import Understanding

TextTurn = Turn[tuple[str, ...], TextDetail]
"""A turn about texts: names, amounts and days, or yes and no."""

_SURENESS = {"certain": 0.95, "likely": 0.75, "unsure": 0.4}


class TextsWorld(World):
    """The sentences of a growing graph.

    Args:
        answers: The answers without a language model.
        name: The graph's name.
        shows_all: Whether a model of an API is shown documents however far they are from a question.
    """

    kind: ClassVar[str] = "texts"

    def __init__(self, answers: GraphAnswers, name: str = "", *, shows_all: bool = False) -> None:
        self.answers, self.name, self.shows_all = answers, name, shows_all
        self.lock = RLock()

    def start(self, turns: Sequence[AnyTurn] = (), kept: Kept = ()) -> State[TextsWorld]:  # noqa: ARG002
        """See :meth:`programs.worlds.base.World.start`; no question depends on those before it."""
        return State(self, tuple(turns))

    def search(self, state: State[TextsWorld], question: str) -> TextSearch:
        """See :meth:`programs.worlds.base.World.search`; several threads may search."""
        with self.lock:
            return TextSearch(state, question)


class TextSearch(Search):
    """The answer of the span reader to one question, and the readings of a language model for it.

    Args:
        state: The conversation before it.
        question: The question.
    """

    signature = UnderstandTexts
    tolerated = (AdapterParseError, RecursionError)

    def __init__(self, state: State[TextsWorld], question: str) -> None:
        self.state, self.question = state, question
        self.world = state.world
        answers = state.world.answers
        self._is_empty = not any(letter.isalnum() for letter in question)
        self._own = TextAnswer(why="the question has no words")
        if not self._is_empty:
            self._own = answers.texts.proposed(self.question)
        self.candidates: tuple[TextAnswer, ...] = (self._own,)
        self._quoter: dspy.LM | None = None
        self._why = ""

    def asks(self, plan: EvidencePlan, lm: Any) -> bool:  # noqa: ARG002
        """Whether a model reads sentences for the question; an embedded one where the span reader is not confident."""
        if lm is None or self._is_empty:
            return False
        self._quoter = quoting_model(lm) if is_embedded(lm) else None
        if is_embedded(lm) and self._quoter is None:
            self._why = f"{lm.model} has no adapter for news, so it reads no sentences"
            return False
        self._why = "" if self._near else f"the graph has no sentences that {lm.model} could read"
        is_quoted = self._quoter is not None
        return bool(self._near) and not (is_quoted and self._own.is_confident(self.world.answers.texts.model))

    @cached_property
    def _near(self) -> list[NearDocument]:
        with self.world.lock:
            most, least = SHOWN[API if self._quoter is None else ADAPTER]
            least = 0.0 if self.world.shows_all and self._quoter is None else least
            return self.world.answers.texts.library.near(self.question, most, least)

    @property
    def _model(self) -> AnswerConfidence:
        """The fitted confidence in what the language model reads."""
        return confidence_models()[API if self._quoter is None else str(self._quoter.model)]

    def prompt(self, config: EvidenceConfig, predict: Any) -> dict[str, Any]:  # noqa: ARG002
        """See :meth:`programs.worlds.base.Search.prompt`."""
        return {"documents": numbered(self._near), "question": self.question}

    def reply(self, predict: Any, **inputs: Any) -> Any:
        """See :meth:`programs.worlds.base.Search.reply`; a model with the adapter quotes."""
        return predict(**inputs) if self._quoter is None else quote(self._quoter, self.question, self._near)

    def understanding(self, reply: Any, refused: Sequence[str]) -> Understanding:
        """See :meth:`programs.worlds.base.Search.understanding`."""
        if reply is None:
            return Understanding(description=self.question, refused=["the reply could not be read"])
        if self._quoter is not None:
            return Understanding(description=self.question, calculation=reply.text, refused=list(refused))
        return Understanding(
            description=self.question,
            calculation=reply.calculation or "; ".join(map(str, reply.answers or ())) or "none",
            confidence=_SURENESS[reply.sureness],
            refused=list(refused),
        )

    def execute(self, reply: Any, refused: Sequence[str] = ()) -> Execution:
        """See :meth:`programs.worlds.base.Search.execute`."""
        try:
            read = cited if self._quoter is None else quotation
            answer = read(reply, self._near, self._own)
        except ValueError as error:
            raise QueryError(str(error)) from error
        return Execution(self.understanding(reply, refused), answer.rated(self._model))

    def combine(self, execution: Execution | None) -> Choice:
        """The answer of the model, or without one that of the span reader; else that of the graph's own edges."""
        with self.world.lock:
            self._answer = self._joined(execution)
        confidence = self._answer.confidence or 0.0
        scores = ScoredCandidates((confidence,) if self._answer.values else (), 1 - confidence)
        understanding = execution.understanding if execution is not None else None
        return Choice((self._answer,), scores, understanding=understanding)

    def _joined(self, execution: Execution | None) -> SupportedAnswers:
        answers = self.world.answers
        if self._is_empty:
            return SupportedAnswers(why=self._own.why)
        answer = self._own.decided(answers.texts.model)
        if execution is not None:
            refused = TextAnswer(why="; ".join(execution.understanding.refused))
            answer = (execution.candidate or refused).decided(self._model)
        if answer.values:
            return answers.by_sentences(answer)
        why = "; ".join(filter(None, (self._why, answer.why)))
        return answers.by_edges(self.question) or SupportedAnswers(why=why, confidence=answer.confidence or None)

    def turn(self, choice: Choice, config: EvidenceConfig | None = None) -> TextTurn:  # noqa: ARG002
        """See :meth:`programs.worlds.base.Search.turn`."""
        answer = self._answer
        about: dict[str, Any] = {"confidence": answer.confidence, "understanding": choice.understanding}
        about["detail"] = TextDetail(answer.facts, answer.paths)
        if not answer.values:
            return TextTurn(self.question, failure="not_answered", message=answer.why, **about)
        return TextTurn(self.question, answer=answer.values, words="; ".join(answer.values), **about)

    def grounds(self, turn: AnyTurn) -> dict[str, str]:
        """See :meth:`programs.worlds.base.Search.grounds`."""
        return {"calculation": "none", "facts": "\n".join((turn.detail or TextDetail()).facts)}
