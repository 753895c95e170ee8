"""The program for a graph of entities: resolve what a question refers to, read it, answer it from triples.

    >>> program = EntityQA()
    >>> turns = program(graph=graph, questions=["Which countries border Germany?", "What is its capital?"]).turns
    >>> turns[1].resolution.canonical, turns[1].labels
    ("What is Germany's capital?", ('Berlin',))

Without a language model the references are resolved by the graph (:mod:`kg.references`). With one, and
``resolve_with_lm``, the model spells the question out, by names from the graph context alone; what it says otherwise is
refused, counted, and the graph resolves the question. The answer always comes from the graph.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import dspy

from kg.context import ContextConfig, GraphContext, GraphContextRetriever, TurnEntities
from kg.entity_answer import EntityAnswer, plain
from kg.entity_graph import EntityGraph
from kg.entity_question import answer_entities
from kg.errors import DataError, QueryError
from kg.lexicon import known_entities
from kg.references import Resolution, asked_properties, resolve
from kg.referents import PastQuestion
from programs.resolution import LMResolver
from programs.turn import Usage

EntityFailure = Literal["not_answered", "error"]


@dataclass(frozen=True)
class EntityTurn:
    """A question about a graph with all that led to its answer.

    Attributes:
        question: The question as asked.
        resolution: What it referred to, and the question standing alone.
        found: The entities and values that answer it, with the triples they rest on; ``None`` if ``failure`` says why.
        labels: The names of the entities that answer it.
        words: The answer as a person would say it.
        context: The graph context that it was resolved with.
        failure: Why there is no answer.
        message: The failure in words.
        usage: Calls, tokens and time.
    """

    question: str
    resolution: Resolution
    found: EntityAnswer | None = None
    labels: tuple[str, ...] = ()
    words: str = ""
    context: GraphContext = field(default_factory=GraphContext)
    failure: EntityFailure | None = None
    message: str = ""
    usage: Usage = field(default_factory=Usage)


@dataclass(frozen=True)
class EntityState:
    """Where a conversation about a graph stands."""

    graph: EntityGraph
    retriever: GraphContextRetriever
    turns: tuple[EntityTurn, ...] = ()


class EntityQA(dspy.Module):
    """Answers the questions of a conversation about a graph of entities.

    Args:
        config: How much graph context a turn gets.
        resolve_with_lm: Whether a language model that is set resolves references.
    """

    def __init__(self, config: ContextConfig | None = None, *, resolve_with_lm: bool = True) -> None:
        super().__init__()
        self.config = config if config is not None else ContextConfig()
        self.resolve_with_lm = resolve_with_lm
        self.resolver = LMResolver()

    def forward(self, graph: EntityGraph, questions: Sequence[str]) -> dspy.Prediction:
        """Answers all questions, in order.

        Returns:
            A prediction with ``turns``, one :class:`EntityTurn` a question.
        """
        state = self.start(graph)
        for question in questions:
            state = self.ask(state, question)
        return dspy.Prediction(turns=list(state.turns))

    def start(self, graph: EntityGraph) -> EntityState:
        """The beginning of a conversation about a graph."""
        return EntityState(graph, GraphContextRetriever(graph.store, self.config))

    def ask(self, state: EntityState, question: str) -> EntityState:
        """The conversation after one more question, whose turn is the last of ``turns``."""
        started = time.perf_counter()
        past = past_questions(state.turns)
        context = self._context(state, question, past)
        resolution = self._resolve(state.graph, question, past, context)
        usage = Usage()
        if self.resolve_with_lm and past and dspy.settings.lm is not None:
            resolution, usage = self.resolver.resolve(question, past, context, state.graph, resolution)
        turn = self._answered(state.graph, EntityTurn(question, resolution, context=context))
        seconds = time.perf_counter() - started
        return replace(state, turns=(*state.turns, replace(turn, usage=replace(usage, seconds=seconds))))

    def _resolve(
        self, graph: EntityGraph, question: str, past: Sequence[PastQuestion], context: GraphContext
    ) -> Resolution:
        return resolve(graph, question, past, context)

    def _context(self, state: EntityState, question: str, past: Sequence[PastQuestion]) -> GraphContext:
        named = known_entities(state.graph.lexicon.tags(question))
        turns = [TurnEntities(turn.subjects, turn.results) for turn in past]
        if named:
            turns.append(TurnEntities(tuple(named)))
        return state.retriever.for_turns(turns, asked_properties(state.graph, question))

    def _answered(self, graph: EntityGraph, turn: EntityTurn) -> EntityTurn:
        try:
            found = answer_entities(graph, turn.resolution.canonical)
        except QueryError as error:
            return replace(turn, failure="not_answered", message=str(error))
        except DataError as error:
            return replace(turn, failure="error", message=str(error))
        labels = tuple(graph.lexicon.label(node) for node in found.entities)
        return replace(turn, found=found, labels=labels, words=written(graph, found))


def past_questions(turns: Sequence[EntityTurn]) -> list[PastQuestion]:
    """What references may refer to: the turns that have an answer."""
    past = []
    for place, turn in enumerate(turns):
        if turn.found is None:
            continue
        found, resolution = turn.found, turn.resolution
        # A set that was meant as one ("which of them") is not what the question is about: its answer is.
        subjects = found.subjects if len(found.subjects) <= 2 else ()
        results = found.entities or tuple(
            dict.fromkeys(one.entity for one in found.values if one.entity not in subjects)
        )
        past.append(PastQuestion(resolution.canonical, subjects, results, found.properties, place))
    return past


def written(graph: EntityGraph, found: EntityAnswer) -> str:
    """An answer as a person would say it: names, numbers with their unit, or yes and no."""
    if isinstance(found.answer, str):
        return found.answer
    if found.answer is not None:
        return _with_unit(graph, plain(found.answer), found)
    if found.values:
        shown = [plain(one.value) if not isinstance(one.value, str) else one.value for one in found.values]
        return "; ".join(
            f"{graph.lexicon.label(one.entity)}: {_with_unit(graph, text, found)}"
            for one, text in zip(found.values, shown, strict=True)
        )
    return ", ".join(graph.lexicon.label(node) for node in found.entities)


def _with_unit(graph: EntityGraph, text: str, found: EntityAnswer) -> str:
    prop = found.values[0].property if found.values else None
    words = graph.lexicon.properties.get(prop) if prop is not None else None
    quotient = any(fact.startswith("from ") for fact in found.facts)
    return f"{text} {words.unit}" if words is not None and words.unit and not quotient else text
