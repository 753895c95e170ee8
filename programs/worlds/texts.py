"""A collection of texts as a world: the news that a growing graph holds, with a number for every sentence.

    >>> world = TextsWorld(GraphAnswers(graph))
    >>> program.ask(world.start(), "By how much did Orvane raise its offer?").turns[-1].words
    '$40 million'

The candidate of the search is what rules answer. A model of an API reads the nearest documents and cites the sentences
that answer, or calculates with their amounts; an embedded model with the adapter for news quotes them. What sentences
state is inserted into the graph, and the answer is retrieved from the graph.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from threading import RLock
from typing import Any, ClassVar

import dspy
from dspy.utils.exceptions import AdapterParseError

from kg.comprehension import Asked
from kg.errors import QueryError
from programs.evidence import Choice, EvidenceConfig, EvidencePlan, ScoredCandidates
from programs.lm import is_embedded
from programs.turns import AnyTurn, Kept, State, TextDetail, Turn
from programs.worlds.base import Execution, Search, World
from programs.worlds.news.answering import (
    EMPTY,
    GraphAnswers,
    Proposed,
    SupportedAnswers,
    is_empty,
    retrieved_answers_of,
)
from programs.worlds.news.citing import cited, citing_model, near, shown
from programs.worlds.news.documents import NearDocument, near_documents
from programs.worlds.news.quoting import quotation, quote, quote_models, quoting_model
from programs.worlds.news.readings import PassageAnswer, ReadingModel
from signatures.news import UnderstandTexts
from signatures.understand import Understanding

TextTurn = Turn[tuple[str, ...], TextDetail]
"""A turn about texts: names, amounts and days, or yes and no."""

_SURENESS = {"certain": 0.95, "likely": 0.75, "unsure": 0.4}


class TextsWorld(World):
    """The sentences of a growing graph.

    Args:
        answers: What rules answer; its graph grows, or a copy of it if it is only read.
        name: The graph's name.
    """

    kind: ClassVar[str] = "texts"

    def __init__(self, answers: GraphAnswers, name: str = "") -> None:
        self.answers, self.name = answers, name
        self.lock = RLock()

    def start(self, turns: Sequence[AnyTurn] = (), kept: Kept = ()) -> State[TextsWorld]:  # noqa: ARG002
        """See :meth:`programs.worlds.base.World.start`; no question depends on those before it."""
        return State(self, tuple(turns))

    def search(self, state: State[TextsWorld], question: str) -> TextSearch:
        """See :meth:`programs.worlds.base.World.search`; several threads may search."""
        with self.lock:
            return TextSearch(state, question)


class TextSearch(Search):
    """The answer of rules to one question, and the readings of a model for it.

    Args:
        state: The conversation before it.
        question: The question.
    """

    signature = UnderstandTexts
    tolerated: ClassVar[tuple[type[Exception], ...]] = (AdapterParseError, RecursionError)

    def __init__(self, state: State[TextsWorld], question: str) -> None:
        self.state, self.question = state, question
        self.world = state.world
        answers = state.world.answers
        self._known = [] if is_empty(question) else answers.memory.retrieved(question)
        self._rules = Proposed(EMPTY)
        if not self._known and not is_empty(question):
            self._rules = answers.proposed(question)
        self.candidates: tuple[SupportedAnswers, ...] = (self._rules.answers,)
        self._quoter: dspy.LM | None = None
        self._reads, self._why = False, ""

    def asks(self, plan: EvidencePlan, lm: Any) -> bool:  # noqa: ARG002
        """Whether a model reads sentences for the question; answers by paths of the graph stay as they are."""
        rules = self._rules.answers
        is_of_paths = bool(rules.values) and rules.confidence is None
        if lm is None or self._known or is_of_paths or is_empty(self.question):
            return False
        if self.world.answers.clauses is None:
            self._why = f"{rules.why}; the graph has no sentences that {lm.model} could read"
            return False
        self._quoter = quoting_model(lm) if is_embedded(lm) else None
        if is_embedded(lm) and self._quoter is None:
            self._why = f"{rules.why}; {lm.model} has no adapter for news, so it reads no sentences"
            return False
        self._reads = True
        if not self._near[1]:
            self._why = "no document has what is asked for"
        return bool(self._near[1])

    @cached_property
    def _near(self) -> tuple[Asked, list[NearDocument]]:
        with self.world.lock:
            clauses, question = self.world.answers.clauses, self.world.answers.in_words_of_news(self.question)
            assert clauses is not None
            if self._quoter is None:
                found = near(clauses, question)
            else:
                asked = clauses.parse(question)
                found = asked, near_documents(asked, clauses.library)
        return found

    @property
    def _model(self) -> ReadingModel:
        """The fitted confidence in what the model reads."""
        return quote_models()[str(self._quoter.model)] if self._quoter is not None else citing_model()

    def prompt(self, config: EvidenceConfig, predict: Any) -> dict[str, Any]:  # noqa: ARG002
        """See :meth:`programs.worlds.base.Search.prompt`."""
        asked, documents = self._near
        return {"documents": shown(documents), "question": asked.text}

    def reply(self, predict: Any, **inputs: Any) -> Any:
        """See :meth:`programs.worlds.base.Search.reply`; a model with the adapter quotes."""
        return predict(**inputs) if self._quoter is None else quote(self._quoter, *self._near)

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
        rules = self._rules.answers
        known, confidence = rules.values, rules.confidence or 0.0
        understanding = self.understanding(reply, refused)
        if self._quoter is not None:
            clauses = self.world.answers.clauses
            assert clauses is not None
            with self.world.lock:
                reading = quotation(clauses, *self._near, reply, known, confidence)
            if reading is None:
                return Execution(understanding, PassageAnswer(why="the documents do not say so"))
            answer, features = reading.answer, reading.features
        else:
            try:
                found = cited(reply, self._near, known, confidence)
            except ValueError as error:
                raise QueryError(str(error)) from error
            answer, features = found.answer, found.features
        if answer.values:
            answer = self._model.decided(answer, self._model.confidence(features))
        return Execution(understanding, answer)

    def combine(self, execution: Execution | None) -> Choice:
        """The answer of the model, or of rules if it has none and they are confident enough."""
        with self.world.lock:
            self._answer = self._joined(execution)
        answers = self._answer.answers
        scores = ScoredCandidates((answers.confidence or 0.0,) if answers.values else (), 1 - (answers.confidence or 0))
        return Choice((answers,), scores, understanding=execution.understanding if execution is not None else None)

    def _joined(self, execution: Execution | None) -> Proposed:
        answers = self.world.answers
        if self._known:
            return Proposed(retrieved_answers_of(self._known))
        rules = self._rules.answers
        found = PassageAnswer(why=self._why)
        if execution is not None:
            found = execution.candidate or PassageAnswer(why="; ".join(execution.understanding.refused))
        if found.steps:
            sources = (answers.as_published(one).text for one in found.passages)
            return Proposed(SupportedAnswers(found.values, (found.steps, *sources), "", found.confidence))
        if found.values:
            reader = str((self._quoter if self._quoter is not None else dspy.settings.lm).model)
            pairs = zip(found.values, found.passages, strict=True)
            facts = [answers.answered_fact(self.question, *one, found.confidence, reader) for one in pairs]
            return Proposed(SupportedAnswers(found.values, (), "", found.confidence), tuple(facts))
        is_kept = not self._reads or rules.confidence is None or rules.confidence >= self._model.rules
        if (rules.values and is_kept) or not (self._reads or self._why):
            return self._rules
        return Proposed(SupportedAnswers((), (), found.why or rules.why, found.confidence or None))

    def turn(self, choice: Choice, config: EvidenceConfig | None = None) -> TextTurn:  # noqa: ARG002
        """See :meth:`programs.worlds.base.Search.turn`; what sentences state is inserted."""
        answers = self._answer.answers
        if self._answer.facts:
            with self.world.lock:
                answers = self.world.answers.insert(self.question, self._answer.facts)
        about: dict[str, Any] = {"confidence": answers.confidence, "understanding": choice.understanding}
        about["detail"] = TextDetail(answers.facts, answers.retrieved)
        if not answers.values:
            return TextTurn(self.question, failure="not_answered", message=answers.why, **about)
        return TextTurn(self.question, answer=answers.values, words="; ".join(answers.values), **about)

    def grounds(self, turn: AnyTurn) -> dict[str, str]:
        """See :meth:`programs.worlds.base.Search.grounds`."""
        return {"calculation": "none", "facts": "\n".join((turn.detail or TextDetail()).facts)}


def answers_of(turn: TextTurn) -> SupportedAnswers:
    """The answers of a turn, with what they rest on."""
    detail = turn.detail or TextDetail()
    return SupportedAnswers(turn.answer or (), detail.facts, turn.message, turn.confidence, detail.retrieved)
