"""Answers to questions about the advisor's graph by a language model, where rules leave them open or as it reads them.

    answers = ModelAnswers(graph, lm, date.today())
    answers.answer("Who bought Tarn?").values       # ("Helixon Inc.",)

A model of an API reads numbered sentences and cites them (:class:`CitingReader`). An embedded model with an adapter for
news quotes spans of the documents (:class:`QuoteReader`); another embedded model adds nothing to the rules.

An answer by queries counts only if rows of the graph support it, with all its figures and names.
"""

from __future__ import annotations

from datetime import date
from functools import cached_property
from pathlib import Path
from threading import RLock

import dspy

from kg.comprehension import ClauseAnswers
from kg.growing import GrowingGraph
from kg.news import Passage
from kg.questions import EntityGraph
from programs.advisor.answering import (
    EMPTY,
    AnswerMemory,
    Answers,
    GraphAnswers,
    Proposed,
    TypedAnswers,
    is_empty,
    retrieved_answers_of,
)
from programs.advisor.citing import CitingReader
from programs.advisor.quoting import QuoteReader, quoting_model
from programs.advisor.readings import PassageAnswer
from programs.graphs import EntityQA
from programs.lm import is_embedded
from programs.thoughts import KnowledgeGraphOfThoughts, ThoughtsConfig
from programs.tools import ToolSettings, load_tools

SHOWN_NODES = 6
"""Nodes of the graph in a language model's prompt; they make up most of the prompt's tokens."""


class ModelAnswers:
    """Answers by rules and by a language model.

    The model reads the sentences of the graph. Where there are none, or documents are given, it asks the graph by
    queries (:func:`answer_question`).

    Args:
        graph: The graph; it grows as that of :class:`GraphAnswers`.
        lm: The language model.
        today: The date that freshness is judged by.
        folder: Documents that the model may inspect.
        typed: As of :class:`GraphAnswers`.
    """

    def __init__(
        self,
        graph: GrowingGraph,
        lm: dspy.LM,
        today: date,
        folder: str | None = None,
        typed: TypedAnswers | None = None,
    ) -> None:
        self._graph, self._lm, self._today, self._folder = graph, lm, today, folder
        self._rules = GraphAnswers(graph, typed)
        self._lock = RLock()

    @property
    def memory(self) -> AnswerMemory:
        """The inserted facts."""
        return self._rules.memory

    @cached_property
    def _clauses(self) -> ClauseAnswers | None:
        return self._rules.clauses if self._folder is None else None

    @cached_property
    def _quoter(self) -> QuoteReader | None:
        lm = quoting_model(self._lm) if self._clauses is not None else None
        return QuoteReader(self._clauses, lm) if self._clauses is not None and lm is not None else None

    @cached_property
    def _citer(self) -> CitingReader | None:
        reads = self._clauses is not None and not is_embedded(self._lm)
        return CitingReader(self._clauses) if self._clauses is not None and reads else None

    def answer(self, question: str) -> Answers:
        """Answers a question; several threads may ask, and then a model of an API reads for all of them at once.

        Raises:
            LMError: The model cannot be asked.
        """
        if is_empty(question):
            return EMPTY
        with self._lock:
            known = self._rules.memory.retrieved(question)
            if known:
                return retrieved_answers_of(known)
            if self._clauses is None:
                answer, why = answer_question(self._graph, question, self._lm, self._today, self._folder)
                return Answers((answer,), tuple(why.splitlines())) if answer is not None else Answers((), (), why)
            by_rules = self._rules.proposed(question)
            asked_for = self._rules.in_words_of_news(question)
            if self._citer is None or _is_of_paths(by_rules.answers):
                return self._answered(question, by_rules, *self._read(asked_for, by_rules.answers))
            near = self._citer.near(asked_for)
        asked = {"question": asked_for, "known": by_rules.answers.values, "near": near}
        with dspy.context(lm=self._lm):
            found = self._citer(confidence=by_rules.answers.confidence or 0.0, **asked).found
        with self._lock:
            return self._answered(question, by_rules, found, str(self._lm.model))

    def _answered(self, question: str, by_rules: Proposed, found: PassageAnswer, reader: str) -> Answers:
        """Returns the answer of the model, or of rules if it has none; what sentences state is inserted."""
        if found.steps:
            return Answers(found.values, (found.steps, *map(self._quoted, found.passages)), "", found.confidence)
        if found.values:
            pairs = zip(found.values, found.passages, strict=True)
            facts = [self._rules.answered_fact(question, *one, found.confidence, reader) for one in pairs]
            return self._rules.insert(question, facts)
        if by_rules.answers.values and self._keeps(by_rules.answers):
            return self._rules.insert(question, by_rules.facts) if by_rules.facts else by_rules.answers
        return Answers((), (), found.why or by_rules.answers.why, found.confidence or None)

    def _quoted(self, passage: Passage) -> str:
        return self._rules.as_published(passage).text

    def _keeps(self, by_rules: Answers) -> bool:
        """Whether the answer of rules is given, though a model that read what they answer does not."""
        reader = self._citer if self._citer is not None else self._quoter
        return by_rules.confidence is None or reader is None or by_rules.confidence >= reader.model.rules

    def _read(self, question: str, known: Answers) -> tuple[PassageAnswer, str]:
        """Returns what an embedded model quotes, and its name; one without the adapter for news reads nothing."""
        if self._quoter is None:
            why = f"{known.why}; {self._lm.model} has no adapter for news, so it reads no sentences"
            return PassageAnswer(why="" if self._citer is not None else why), ""
        if _is_of_paths(known):
            return PassageAnswer(), ""
        asked = {"question": question, "known": known.values, "confidence": known.confidence or 0.0}
        return self._quoter(**asked).found, str(self._quoter.lm.model)


def _is_of_paths(answers: Answers) -> bool:
    """Whether an answer is of paths of the graph, which have no confidence; a model does not read these."""
    return bool(answers.values) and answers.confidence is None


def answer_question(
    graph: GrowingGraph,
    question: str,
    lm: dspy.LM | None,
    today: date,
    folder: str | None = None,
    view: EntityGraph | None = None,
) -> tuple[str | None, str]:
    """Returns an answer and its support, or ``None`` and the reason.

    Args:
        graph: The graph; it stays as it is. A language model may add facts to a copy.
        question: The question.
        lm: The language model; ``None`` parses the question with the graph's lexicon.
        today: The date that freshness is judged by.
        folder: Documents that a language model may inspect.
        view: The current view of the graph, for several questions without a language model.
    """
    if lm is None:
        if view is None:
            answers = GraphAnswers(graph).answer(question)
            return ("; ".join(answers.values) or None), "\n".join(answers.facts) or answers.why
        turn = EntityQA()(graph=view, questions=[question]).turns[0]
        if turn.detail.found is None:
            return None, turn.message
        return turn.words, "\n".join(turn.detail.found.facts[:5])
    tools = load_tools(["inspect_document"] if folder else [], ToolSettings(folder=Path(folder) if folder else None))
    program = KnowledgeGraphOfThoughts(tools, ThoughtsConfig(shown=SHOWN_NODES, retrieve="both"))
    with graph.copy() as scratch:  # what a question adds is forgotten after its answer
        found = program(question=question, graph=scratch, today=today).thoughts
    why = found.query or "\n".join(found.paths) or "; ".join(found.refused)
    if found.answer is None or found.answer.casefold().rstrip(".") == "unknown":
        return None, why or "nothing was found"
    if found.retrieved is None or not found.retrieved.rows:
        return None, f"nothing in the graph says so; the model alone says {found.answer!r}"
    if not found.grounded:
        return None, f"what was found does not say so; the model alone says {found.answer!r}"
    return found.answer, why
