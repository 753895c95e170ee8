"""Answers to questions about the advisor's graph: by its own lexicon, or by a language model over its facts.

    answer, why = answer_question(graph, "Where is Helixon Inc. based?", None, date.today())
    answer      # "Germany"

An answer of a language model counts only if rows of the graph support it, with all its figures and names.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import dspy

from kg.clauses import ClauseAnswers, SentenceEncoder, SentenceParser
from kg.growing import GrowingGraph, entity_view
from kg.news import Fact, NewsAnswer, NewsAnswers, Passage, directory_of, stored_facts, stored_passages
from kg.questions import EntityGraph
from kg.sentences import plain_name
from programs.advisor.passages import PassageReader
from programs.graphs import EntityQA
from programs.thoughts import KnowledgeGraphOfThoughts, ThoughtsConfig
from programs.tools import ToolSettings, load_tools

SHOWN_NODES = 6
"""Nodes of the graph in a language model's prompt; they make up most of the prompt's tokens."""


@dataclass(frozen=True)
class Answers:
    """The answers of a question.

    Attributes:
        values: The answers; none where it abstains.
        facts: What they rest on, one line each with the sentence and its source.
        why: The reason of an abstention.
        confidence: In [0, 1]: the fitted one of an answer from sentences, or that of the least certain typed fact. An
            abstention has that of the answer that was not given. ``None`` where none is estimated, as for paths.
    """

    values: tuple[str, ...]
    facts: tuple[str, ...]
    why: str = ""
    confidence: float | None = None


class GraphAnswers:
    """Answers to several questions about one graph, without a language model.

    Args:
        graph: The graph; it stays as it is.
    """

    def __init__(self, graph: GrowingGraph) -> None:
        facts, passages = stored_facts(graph), stored_passages(graph)
        self._news = NewsAnswers(facts, directory_of(graph)) if facts else None
        self._graph = graph
        self._view: EntityGraph | None = None
        parser = SentenceParser.load() if passages and SentenceEncoder.load() is not None else None
        self._clauses = ClauseAnswers(passages, parser, self._typed) if parser is not None else None

    @property
    def clauses(self) -> ClauseAnswers | None:
        """The answers from sentences; ``None`` where the graph has none or no parser is installed."""
        return self._clauses

    def _typed(self, question: str) -> tuple[str, ...]:
        return self._news.answer(question).values if self._news is not None else ()

    def answer(self, question: str) -> Answers:
        """Answers a question by the sentences and statements of news, else by the graph's lexicon."""
        if self._clauses is not None and _GRAPH_WORDS.search(question):
            by_graph = self._by_graph(question)
            if by_graph.values:
                return by_graph
        found = self._news.answer(question) if self._news is not None else NewsAnswer()
        if self._clauses is not None:
            clause = self._clauses.answer(question)
            unsure = clause.confidence <= _UNSURE
            if clause.values and found.values and unsure and not _agree(clause.values, found.values):
                return Answers(
                    (),
                    (),
                    confidence=clause.confidence,
                    why=f"sentences say {clause.values[0]!r}, and facts say {found.values[0]!r}",
                )
            if clause.values:
                against = (f"otherwise {_quoted(passage)}" for passage in clause.otherwise)
                quoted = (*map(_quoted, clause.passages), *against)
                return Answers(clause.values, quoted, confidence=clause.confidence)
            if not found.values or not self._clauses.leaves_to_facts(question):
                by_graph = self._by_graph(question)
                return by_graph if by_graph.values else Answers((), (), clause.why, clause.confidence)
        if found.values and self._clauses is not None and found.values[0] not in ("yes", "no"):
            share = self._clauses.share_of(question, found.values)
            if share < _LEAST_SHARE:
                return Answers((), (), f"facts say {'; '.join(found.values)}, and sentences do not", share)
        if found.values:
            sourced = tuple(_sourced(fact) for fact in dict.fromkeys(found.facts))
            return Answers(found.values, sourced, confidence=min(fact.confidence for fact in found.facts))
        return self._by_graph(question)

    def _by_graph(self, question: str) -> Answers:
        """Answers a question by the graph's own types, edges and names."""
        self._view = self._view if self._view is not None else entity_view(self._graph)
        turn = EntityQA()(graph=self._view, questions=[question]).turns[0]
        if turn.detail.found is None:
            return Answers((), (), turn.message)
        return Answers((turn.words,), tuple(turn.detail.found.facts[:5]))


class ModelAnswers:
    """Answers by rules first, and by a language model to the questions that they leave open.

    The model is asked about the sentences of the graph. Where there are none, or documents are given, it asks the graph
    by queries (:func:`answer_question`).

    Args:
        graph: The graph; it stays as it is.
        lm: The language model.
        today: The date that freshness is judged by.
        folder: Documents that the model may inspect.
    """

    def __init__(self, graph: GrowingGraph, lm: dspy.LM, today: date, folder: str | None = None) -> None:
        self._graph, self._lm, self._today, self._folder = graph, lm, today, folder
        self._rules = GraphAnswers(graph)
        clauses = self._rules.clauses
        self._reader = PassageReader(clauses) if clauses is not None and folder is None else None

    def answer(self, question: str) -> Answers:
        """Answers a question.

        Raises:
            LMError: The model cannot be asked.
        """
        if self._reader is None:
            answer, why = answer_question(self._graph, question, self._lm, self._today, self._folder)
            return Answers((answer,), tuple(why.splitlines())) if answer is not None else Answers((), (), why)
        by_rules = self._rules.answer(question)
        if by_rules.values:
            return by_rules
        with dspy.context(lm=self._lm):
            found = self._reader(question=question).found
        if found.passage is None:
            return Answers((), (), found.why or by_rules.why, found.confidence or None)
        return Answers((found.value,), (_quoted(found.passage),), confidence=found.confidence)


_GRAPH_WORDS = re.compile(
    r"\b(?:events?|insights?|news|signals?|patterns?|sectors?|asset class(?:es)?|correlat\w+|affect\w*)\b", re.I
)
"""Words for what only the graph knows: its events, insights and edges."""

_LEAST_SHARE = 0.5
"""The least share of the probability of what sentences say that values of typed facts have."""

_UNSURE = 0.6
"""The confidence up to which an answer must not contradict the typed facts."""


def _agree(one: Sequence[str], other: Sequence[str]) -> bool:
    return {plain_name(value) for value in one} == {plain_name(value) for value in other}


def _quoted(passage: Passage) -> str:
    return f"{passage.document}, {passage.published}: {passage.text}"


def _sourced(fact: Fact) -> str:
    until = f", until {fact.valid_to}" if fact.valid_to else ""
    return f"{fact} ({fact.document}, {fact.published}{until}): {fact.sentence}"


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
