"""Answers to questions about the advisor's graph without a language model: from its sentences, facts and edges.

    answers = GraphAnswers(graph)
    answers.answer("Where is Helixon Inc. based?").values      # ("Germany",)

What a sentence answers is inserted first, and the answer is retrieved from the graph (:class:`AnswerMemory`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from kg.clauses import SentenceEncoder, SentenceParser
from kg.comprehension import ClauseAnswer, ClauseAnswers, SpanReader, relation_of, subject_of
from kg.facts import FactGraph
from kg.growing import GrowingGraph, graph_triples
from kg.news import (
    AnsweredFact,
    Fact,
    Insertion,
    NewsAnswer,
    NewsAnswers,
    Passage,
    RetrievedAnswer,
    answer_insertion,
    directory_of,
    insert_answers,
    names_by_hand,
    retrieved_answers,
    state_of,
    stored_facts,
    stored_passages,
    with_full_names,
)
from kg.parsing import QuestionReader
from kg.sentences import plain_name
from programs.turns import QueryDetail
from programs.worlds.graph import GraphConfig, GraphWorld, QueryTurn


@dataclass(frozen=True)
class SupportedAnswers:
    """The answers of a question.

    Attributes:
        values: The answers; none where it abstains.
        facts: What they rest on, one line each with the sentence and its source.
        why: The reason of an abstention.
        confidence: In [0, 1]: the fitted one of an answer from sentences, or that of the least certain typed fact. An
            abstention has that of the answer that was not given. ``None`` where none is estimated, as for paths.
        retrieved: The inserted facts that the answer was retrieved from, with their paths; none where it rests on other
            facts.
    """

    values: tuple[str, ...]
    facts: tuple[str, ...]
    why: str = ""
    confidence: float | None = None
    retrieved: tuple[RetrievedAnswer, ...] = ()


EMPTY = SupportedAnswers((), (), "the question has no words")
"""The answer to an empty question."""


def is_empty(question: str) -> bool:
    """Whether a question has neither a letter nor a digit."""
    return not any(letter.isalnum() for letter in question)


@dataclass(frozen=True)
class Proposed:
    """An answer that is not inserted yet.

    Attributes:
        answers: The answer.
        facts: The facts of sentences that answer; none where it rests on other facts.
    """

    answers: SupportedAnswers
    facts: tuple[AnsweredFact, ...] = ()


class AnswerMemory:
    """The answers that a graph holds.

    Args:
        graph: The graph; it grows. Of one that is only read, a copy in memory grows in its place.

    Attributes:
        insertions: What was inserted, for another copy of the graph.
    """

    def __init__(self, graph: GrowingGraph) -> None:
        self._given = graph
        self._graph: GrowingGraph | None = None if graph.read_only else graph
        self._read = state_of(graph)
        self.insertions: list[Insertion] = []

    def retrieved(self, question: str) -> list[RetrievedAnswer]:
        """Returns the facts of the graph that answer a question, if the documents are those that were read for it."""
        return retrieved_answers(self._graph if self._graph is not None else self._given, question, self._read)

    def inserted(self, question: str, facts: Sequence[AnsweredFact]) -> list[RetrievedAnswer]:
        """Inserts facts that answer a question, and retrieves them."""
        if self._graph is None:
            self._graph = self._given.copy()
        with self._graph.writing:
            insertion = answer_insertion(self._graph, question, facts, self._read)
            insert_answers(self._graph, [insertion])
            self.insertions.append(insertion)
        return self.retrieved(question)


class GraphAnswers:
    """Answers to several questions about one graph, without a language model.

    Args:
        graph: The graph; facts that answer a question are inserted into it, or into a copy if it is only read.
        typed: Answers questions from the types and edges of the graph; ``None`` for sentences and facts alone.

    Attributes:
        memory: The inserted facts.
    """

    def __init__(self, graph: GrowingGraph, typed: TypedAnswers | None = None) -> None:
        self.memory = AnswerMemory(graph)
        self._graph = graph
        self._by_query = typed

    @cached_property
    def clauses(self) -> ClauseAnswers | None:
        """The answers from sentences; ``None`` where the graph has none or a package of the extra is not installed.

        The confidence is fitted on features of the encoder and the reader, so it needs both.
        """
        passages = [replace(one, text=with_full_names(one.text, self._joined)) for one in self._published.values()]
        is_installed = SentenceEncoder.load() is not None and SpanReader.load() is not None
        parser = SentenceParser.load() if passages and is_installed else None
        return ClauseAnswers(passages, parser, self._typed) if parser is not None else None

    @cached_property
    def _published(self) -> dict[tuple[str, int], Passage]:
        """The sentences as they were published; those that answer have full names in place of aliases by hand."""
        return {(one.document, one.place): one for one in stored_passages(self._graph)}

    def as_published(self, passage: Passage) -> Passage:
        """Returns a sentence that answers as it was published."""
        return self._published.get((passage.document, passage.place), passage)

    @cached_property
    def _facts(self) -> list[Fact]:
        return stored_facts(self._graph)

    @cached_property
    def _joined(self) -> list[tuple[str, str]]:
        """The names that a person joined to others."""
        return [(alias, entity.name) for alias, entity in names_by_hand(self._graph)]

    @cached_property
    def _news(self) -> NewsAnswers | None:
        return NewsAnswers(self._facts, directory_of(self._graph)) if self._facts else None

    def _typed(self, question: str) -> tuple[str, ...]:
        return self._news.answer(question).values if self._news is not None else ()

    def answer(self, question: str) -> SupportedAnswers:
        """Answers a question by an inserted fact, the sentences and statements of news, or the graph's edges."""
        if is_empty(question):
            return EMPTY
        known = self.memory.retrieved(question)
        if known:
            return retrieved_answers_of(known)
        found = self.proposed(question)
        return self.insert(question, found.facts) if found.facts else found.answers

    def insert(self, question: str, facts: Sequence[AnsweredFact]) -> SupportedAnswers:
        """Inserts facts that answer a question, and answers it from the graph."""
        return retrieved_answers_of(self.memory.inserted(question, facts))

    def answered_fact(
        self, question: str, value: str, passage: Passage, confidence: float, reader: str
    ) -> AnsweredFact:
        """Returns a value of a sentence as a fact that answers a question.

        Raises:
            ValueError: The graph has no sentences.
        """
        if self.clauses is None:
            raise ValueError("facts of sentences need a graph with sentences")
        asked = self.clauses.parse(self.in_words_of_news(question))
        text = self.clauses.library.text_of[passage.document]
        subject = subject_of(asked, text.statements[0].passage.text)
        named = (mention for statement in text.statements for mention in statement.mentions)
        kind = next(
            (one.kind for one in named if plain_name(value) in (plain_name(one.value), plain_name(one.text))), ""
        )
        return AnsweredFact(
            subject[1], subject[0], relation_of(asked), value, kind, self.as_published(passage), confidence, reader
        )

    def proposed(self, question: str) -> Proposed:
        """Returns the answer of the first source that has one, with its facts if that source is the sentences.

        The sources come in this order:

        1. the types and edges of the graph, if the question has a word for what only they know;
        2. the typed facts, if sentences answer with a value that a newer source replaced;
        3. the sentences, which abstain if typed facts contradict an answer of low confidence;
        4. the typed facts, if the question is left to them, which abstain if sentences contradict them;
        5. the types and edges of the graph.
        """
        question = self.in_words_of_news(question)
        if self.clauses is not None and _GRAPH_WORDS.search(question):
            by_graph = self._by_graph(question)
            if by_graph.values:
                return Proposed(by_graph)
        found = self._news.answer(question) if self._news is not None else NewsAnswer()
        if self.clauses is None:
            return Proposed(self._stated(question, found))
        clause = self.clauses.answer(question)
        if self._of_another_time(question, clause.values, found):
            return Proposed(_by_facts(found))
        if clause.values:
            return self._by_sentences(question, clause, found)
        if found.values and self.clauses.leaves_to_facts(question):
            return Proposed(self._stated(question, found))
        by_graph = self._by_graph(question)
        return Proposed(by_graph if by_graph.values else SupportedAnswers((), (), clause.why, clause.confidence))

    def _by_sentences(self, question: str, clause: ClauseAnswer, found: NewsAnswer) -> Proposed:
        """Returns the answer of sentences; none if its confidence is low and typed facts have another one."""
        is_low = clause.confidence <= _LEAST_CONFIDENCE
        if is_low and found.values and not _agree(clause.values, found.values):
            why = f"sentences say {clause.values[0]!r}, and facts say {found.values[0]!r}"
            return Proposed(SupportedAnswers((), (), why, clause.confidence))
        sourced = tuple(self.as_published(one).text for one in clause.passages)
        answers = SupportedAnswers(clause.values, sourced, confidence=clause.confidence)
        return Proposed(answers, tuple(self._facts_of(question, clause)))

    def in_words_of_news(self, question: str) -> str:
        """Returns a question with the full names in place of those that a person joined, which no sentence may have."""
        return with_full_names(question, self._joined)

    def _stated(self, question: str, found: NewsAnswer) -> SupportedAnswers:
        """Answers a question by the statements of news, if sentences do not speak against them, or by the graph."""
        if found.values and self.clauses is not None and found.values[0] not in ("yes", "no"):
            share = self.clauses.share_of(question, found.values)
            if share < _LEAST_SHARE:
                return SupportedAnswers((), (), f"facts say {'; '.join(found.values)}, and sentences do not", share)
        return _by_facts(found) if found.values else self._by_graph(question)

    def _of_another_time(self, question: str, said: Sequence[str], found: NewsAnswer) -> bool:
        """Whether sentences give a value that a newer source replaced, and typed facts the one of the question's time.

        Args:
            question: The question.
            said: The values of sentences; none where several fit alike.
            found: The values of typed facts.
        """
        about = {(fact.subject, fact.relation) for fact in found.facts}
        values = {plain_name(value) for value in found.values}
        family = [fact for fact in self._facts if (fact.subject, fact.relation) in about]
        others = {plain_name(fact.object) for fact in family} - values
        if self.clauses is None or not others or not any(fact.valid_to for fact in family):
            return False
        if said:
            return {plain_name(value) for value in said} <= others
        return self.clauses.share_of(question, (*values, *others)) >= _LEAST_SHARE

    def _facts_of(self, question: str, clause: ClauseAnswer) -> list[AnsweredFact]:
        """Returns the values of an answer from sentences as facts, each with the sentence that has it."""
        found = []
        for place, value in enumerate(clause.values):
            holding = (one for one in clause.passages if plain_name(value) in plain_name(one.text))
            passage = next(holding, clause.passages[min(place, len(clause.passages) - 1)])
            fact = self.answered_fact(question, value, passage, clause.confidence, "rules")
            found.append(fact if place else replace(fact, against=tuple(map(self.as_published, clause.otherwise))))
        return found

    def _by_graph(self, question: str) -> SupportedAnswers:
        """Answers a question by the graph's own types, edges and names."""
        answers = self._by_query.answer(self._graph, question) if self._by_query is not None else None
        return answers if answers is not None else SupportedAnswers((), (), "the graph does not state it")


class TypedAnswers:
    """Answers from the types and edges of a growing graph, read as any graph.

    Args:
        reader_of: Returns the reader of questions about a graph.
        answer_from: The confidence from which a question that sentences leave open is answered.
    """

    def __init__(self, reader_of: Callable[[FactGraph], QuestionReader], answer_from: float = 0.9) -> None:
        self._reader_of = reader_of
        self._config = GraphConfig(answer_from=answer_from)
        self._read: tuple[GrowingGraph, GraphWorld] | None = None

    def answer(self, graph: GrowingGraph, question: str) -> SupportedAnswers | None:
        """Returns the answer; ``None`` where the confidence is too low, and for "no", as a graph leaves out much.

        Args:
            graph: The graph; it is read once.
            question: The question.
        """
        if self._read is None or self._read[0] is not graph:
            world = GraphWorld(self._reader_of(FactGraph.build(graph_triples(graph))), config=self._config)
            self._read = graph, world
        turn = self._read[1].answered(question)
        if turn.answer in (None, "no") or not turn.words:
            return None
        detail = turn.detail or QueryDetail()
        return SupportedAnswers(
            _values(turn), tuple(detail.facts[:_MOST_FACTS]) or (detail.path,), confidence=turn.confidence
        )


def _values(turn: QueryTurn) -> tuple[str, ...]:
    """Returns the answer of a turn as texts: each name or value by itself, a number or yes and no in words."""
    return tuple(dict.fromkeys(turn.answer)) if isinstance(turn.answer, tuple) else (turn.words,)


_MOST_FACTS = 5

_GRAPH_WORDS = re.compile(
    r"\b(?:events?|insights?|news|signals?|patterns?|sectors?|asset class(?:es)?|correlat\w+|affect\w*|happened to)\b",
    re.I,
)
"""Words for what only the graph knows: its events, insights and edges."""

_LEAST_SHARE = 0.45
"""The least share of the probability of values in sentences for those of typed facts; another may fit alike."""

_LEAST_CONFIDENCE = 0.6
"""The confidence up to which an answer must not contradict the typed facts."""


def _by_facts(found: NewsAnswer) -> SupportedAnswers:
    """Returns the answer of typed facts with their sentences."""
    sourced = tuple(_sourced(fact) for fact in dict.fromkeys(found.facts))
    return SupportedAnswers(found.values, sourced, confidence=min(fact.confidence for fact in found.facts))


def _agree(one: Sequence[str], other: Sequence[str]) -> bool:
    return {plain_name(value) for value in one} == {plain_name(value) for value in other}


_OTHERWISE = "otherwise "
"""The beginning of a fact that is a sentence of the same day with another value."""


def retrieved_answers_of(known: Sequence[RetrievedAnswer]) -> SupportedAnswers:
    """Returns the answers of inserted facts."""
    against = tuple(f"{_OTHERWISE}{text}" for one in known for text in one.against)
    quoted = (*dict.fromkeys(one.quoted for one in known), *against)
    values = tuple(one.value for one in known)
    return SupportedAnswers(values, quoted, confidence=min(one.confidence for one in known), retrieved=tuple(known))


def _sourced(fact: Fact) -> str:
    until = f", until {fact.valid_to}" if fact.valid_to else ""
    note = f", {fact.note}" if fact.note else ""
    return f"{fact} ({fact.document}, {fact.published}{until}{note}): {fact.sentence}"
