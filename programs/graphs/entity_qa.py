"""The program for a graph of entities: resolve the references of a question, parse it, answer it from triples.

    >>> program = EntityQA()
    >>> turns = program(graph=graph, questions=["Which countries border Germany?", "What is its capital?"]).turns
    >>> turns[1].canonical, turns[1].answer
    ("What is Germany's capital?", ('Berlin',))

Without a language model the graph resolves the references (:mod:`kg.coreference.entities`). With one, and
``resolve_with_lm``, the model rewrites the question with names from the graph context. Any other reply is refused and
counted, and the graph resolves the question. The answer always comes from the graph.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

import dspy
from dspy.utils.exceptions import AdapterParseError
from dspy.utils.exceptions import LMError as DSPyLMError

from kg.coreference import PastQuestion, Resolution, asked_properties, resolve
from kg.derivations import Answer
from kg.errors import DataError, LMError, QueryError
from kg.graphs import ContextConfig, GraphContext, GraphContextRetriever, TurnEntities
from kg.questions import (
    EntityAnswer,
    EntityGraph,
    PropertyValue,
    Question,
    answer_entities,
    folded,
    known_entities,
    plain,
)
from programs.graphs.world import GraphWorld
from programs.lm import metered
from programs.turns import EntityDetail, Kept, State, Turn, Usage
from signatures.coreference import ResolvedQuestion, ResolveReferences

_MIDNIGHT = "T00:00:00Z"
"""The end of a day that is stored as a moment."""

EntityTurn = Turn[Answer | tuple[str, ...], EntityDetail]
"""A turn about a graph of entities: a number, yes or no, or names."""


@dataclass(frozen=True, kw_only=True)
class EntityState(State[GraphWorld[EntityGraph]]):
    """A conversation about a graph after some turns, with the lookup of its graph context."""

    retriever: GraphContextRetriever


class EntityQA(dspy.Module):
    """Answers the questions of a conversation about a graph of entities.

    Args:
        config: The limits of a turn's graph context.
        resolve_with_lm: Whether a language model that is set resolves references.
    """

    needs_lm = False

    def __init__(self, config: ContextConfig | None = None, *, resolve_with_lm: bool = True) -> None:
        super().__init__()
        self.config = config if config is not None else ContextConfig()
        self.resolve_with_lm = resolve_with_lm
        self.resolver = LMResolver()

    def forward(self, graph: EntityGraph, questions: Sequence[str]) -> dspy.Prediction:
        """Answers all questions, in order.

        Returns:
            A prediction with ``turns``, one :data:`EntityTurn` a question.
        """
        state = self.start(GraphWorld(graph, graph.name))
        for question in questions:
            state = self.ask(state, question)
        return dspy.Prediction(turns=list(state.turns))

    def start(
        self,
        world: GraphWorld[EntityGraph],
        turns: Sequence[EntityTurn] = (),
        kept: Kept = (),  # noqa: ARG002
    ) -> EntityState:
        """See :class:`programs.turns.program.TurnProgram`; the turns are all that the next question needs."""
        return EntityState(world, tuple(turns), retriever=GraphContextRetriever(world.graph.store, self.config))

    def ask(self, state: EntityState, question: str) -> EntityState:
        """See :class:`programs.turns.program.TurnProgram`."""
        started = time.perf_counter()
        graph = state.world.graph
        past = past_questions(state.turns)
        asked = graph.lexicon.question(question)
        context = self._context(state, asked, past)
        resolution = self._resolve(graph, asked, past, context)
        usage = Usage()
        if self.resolve_with_lm and past and dspy.settings.lm is not None:
            resolution, usage = self.resolver.resolve(question, past, context, graph, resolution)
        detail = EntityDetail(named=asked.entities)
        turn = EntityTurn(question, resolution=resolution, context=context, detail=detail)
        turn = self._answered(graph, turn, asked)
        seconds = time.perf_counter() - started
        return state.after(replace(turn, usage=replace(usage, seconds=seconds)))

    def _resolve(
        self, graph: EntityGraph, question: Question, past: Sequence[PastQuestion], context: GraphContext
    ) -> Resolution:
        return resolve(graph, question, past, context)

    def _context(self, state: EntityState, question: Question, past: Sequence[PastQuestion]) -> GraphContext:
        turns = [TurnEntities(turn.subjects, turn.results) for turn in past]
        if question.entities:
            turns.append(TurnEntities(question.entities))
        return state.retriever.for_turns(turns, asked_properties(question))

    def _answered(self, graph: EntityGraph, turn: EntityTurn, asked: Question) -> EntityTurn:
        try:
            found = answer_entities(graph, asked if turn.canonical == asked.text else turn.canonical)
        except QueryError as error:
            return replace(turn, failure="not_answered", message=str(error))
        except DataError as error:
            return replace(turn, failure="error", message=str(error))
        labels = tuple(graph.lexicon.label(node) for node in found.entities)
        answer = found.answer if found.answer is not None else labels or tuple(str(one.value) for one in found.values)
        detail = replace(turn.detail or EntityDetail(), found=found, labels=labels)
        return replace(turn, answer=answer, detail=detail, words=written(graph, found))


def past_questions(turns: Sequence[EntityTurn]) -> list[PastQuestion]:
    """The possible referents of a question: turns that have an answer, and the entities that others named."""
    past = []
    for place, turn in enumerate(turns):
        detail = turn.detail or EntityDetail()
        found, named = detail.found, detail.named
        if found is None:
            if named:
                past.append(PastQuestion("", named, turn=place))
            continue
        # A set that was meant as one ("which of them") is not what the question is about: its answer is.
        subjects = found.subjects if len(found.subjects) <= 2 else ()
        results = found.entities or tuple(
            dict.fromkeys(one.entity for one in found.values if one.entity not in subjects)
        )
        past.append(PastQuestion(turn.canonical, subjects, results, found.properties, place))
    return past


def written(graph: EntityGraph, found: EntityAnswer) -> str:
    """Returns an answer in words: names, numbers with their unit and date, or yes and no."""
    if isinstance(found.answer, str):
        return found.answer
    if found.answer is not None and not found.values:
        return _grouped(found.answer)
    if found.answer is not None:
        return _number(graph, found.answer, found.values)
    if found.values:
        return "; ".join(f"{graph.lexicon.label(one.entity)}: {_value(graph, one)}" for one in found.values)
    return ", ".join(graph.lexicon.label(node) for node in found.entities)


def _value(graph: EntityGraph, one: PropertyValue) -> str:
    if isinstance(one.value, str):
        is_time = graph.lexicon.properties[one.property].temporal
        return one.value.removesuffix(_MIDNIGHT) if is_time else one.value
    return _number(graph, one.value, [one])


def _number(graph: EntityGraph, number: Decimal, values: Sequence[PropertyValue]) -> str:
    """A number with the unit of its property; with the date too, if it is a value as the graph has it."""
    words = graph.lexicon.properties[values[0].property]
    if len(values) > 1 or values[0].value != number:
        same_kind = number == sum(one.value for one in values if not isinstance(one.value, str))
        return f"{_grouped(number)} {words.unit}" if same_kind and words.unit else _grouped(number)
    dates = graph.texts(values[0].entity, words.dated) if words.dated else []
    text = _grouped(number, is_year=not words.unit and not words.dated)
    return text + (f" {words.unit}" if words.unit else "") + (f" ({dates[0]})" if dates else "")


def _grouped(number: Decimal, *, is_year: bool = False) -> str:
    """A number with commas between its thousands, unless it may be a year."""
    text = plain(number)
    whole, point, rest = text.partition(".")
    return text if is_year and len(whole) <= 4 else f"{int(whole):,}{point}{rest}"


class LMResolver(dspy.Module):
    """Asks a language model what a question refers to.

    Attributes:
        refused: The number of replies with a name outside of the context and the conversation, or without a readable
            form.
    """

    def __init__(self) -> None:
        super().__init__()
        self.predict = dspy.Predict(ResolveReferences)
        self.refused = 0

    def resolve(
        self,
        question: str,
        past: Sequence[PastQuestion],
        context: GraphContext,
        graph: EntityGraph,
        by_graph: Resolution,
    ) -> tuple[Resolution, Usage]:
        """The model's resolution, or the graph's with the reason why the model's was refused.

        Args:
            question: The question as asked.
            past: The turns before it.
            context: The entities of the conversation's graph context.
            graph: The graph.
            by_graph: The graph's resolution of the question.
        """
        problem = ""
        with metered() as measured:
            try:
                reply = self.predict(context=context.to_text(), history=_written(past, graph), question=question)
            except (AdapterParseError, DSPyLMError, LMError) as error:
                problem = f"{type(error).__name__}: {error}"
        usage = measured.usage
        if problem:
            self.refused += 1
            return replace(by_graph, problem=problem), usage
        resolved: ResolvedQuestion = reply.resolved
        stranger = _stranger(resolved, question, past, context, graph)
        if stranger is not None:
            self.refused += 1
            return replace(by_graph, problem=f"the model named {stranger!r}, which is not in play"), usage
        nodes = [node for name in resolved.referents for node in known_entities(graph.lexicon.tags(name))[:1]]
        turns = [turn.turn for turn in past if set(nodes) & {*turn.subjects, *turn.results}]
        found = Resolution(
            question, resolved.canonical, resolved.kind, tuple(nodes), tuple(turns[-1:]), by="language model"
        )
        return found, usage


def _stranger(
    resolved: ResolvedQuestion,
    question: str,
    past: Sequence[PastQuestion],
    context: GraphContext,
    graph: EntityGraph,
) -> str | None:
    """A name in the reply that is neither in the context nor in the conversation."""
    nodes = {node for turn in past for node in (*turn.subjects, *turn.results)}
    nodes |= {entity.node for entity in context.entities}
    nodes |= {other.node for entity in context.entities for other in entity.neighbours}
    nodes |= set(known_entities(graph.lexicon.tags(question)))
    allowed = {folded(graph.lexicon.label(node)) for node in nodes}
    for name in resolved.referents:
        if folded(name) not in allowed:
            return name
    for node in known_entities(graph.lexicon.tags(resolved.canonical)):
        if node not in nodes:
            return graph.lexicon.label(node)
    return None


def _written(past: Sequence[PastQuestion], graph: EntityGraph) -> str:
    lines = [
        f"Q{turn.turn + 1}: {turn.canonical} -> {', '.join(map(graph.lexicon.label, turn.results)) or 'a value'}"
        for turn in past
    ]
    return "\n".join(lines) or "none"
