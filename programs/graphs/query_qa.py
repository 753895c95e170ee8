"""The program for any graph: a question is parsed to a query over the graph's own names, without annotation.

    >>> program = QueryQA(today=date(2026, 11, 22))
    >>> conversation = Conversation(program, GraphWorld(QuestionReader(graph, encoder.vectors), "films.ttl"))
    >>> conversation.ask("who made Alien?").words
    'Ridley Scott'

The program abstains if its confidence is below ``answer_from``. The message then names the words that it does not know.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal

import dspy

from kg.algebra import facts_of, write
from kg.coreference import Resolution
from kg.derivations import Answer
from kg.errors import ConfigError
from kg.facts import FactGraph
from kg.graphs import EntityContext, GraphContext, Neighbour
from kg.parsing import DialogueTurn, Parse, QuestionReader, Reading
from programs.graphs.query_parsing import LMQueryParser
from programs.graphs.reply_confidence import ReplyConfidence, shipped_confidence
from programs.graphs.world import GraphWorld
from programs.turns import Kept, QueryDetail, State, Turn, Usage

QueryTurn = Turn[Answer | tuple[str, ...], QueryDetail]
"""A turn about any graph: a number, yes or no, or names and values."""

_MOST_IN_PLAY, _MOST_NEIGHBOURS = 3, 30


@dataclass(frozen=True, kw_only=True)
class QueryState(State[GraphWorld[QuestionReader]]):
    """A conversation about any graph, with its turns as the reader sees them."""

    past: tuple[DialogueTurn, ...] = ()


class QueryQA(dspy.Module):
    """Answers the questions of a conversation about any graph.

    Args:
        answer_from: The confidence in [0, 1] from which a question is answered.
        today: The day from which ages are counted; ``None`` for that of the question.
        trust: The confidence in [0, 1] from which the beam decides alone. Below it the language model that is set in
            DSPy parses the question too, if there is one.
        reply_confidence: The confidence in the parses of that model; ``None`` for the one that ships for it.

    Raises:
        ConfigError: ``answer_from`` or ``trust`` is not in [0, 1].
    """

    kind = "queries"
    needs_lm = False

    def __init__(
        self,
        answer_from: float = 0.72,
        *,
        today: date | None = None,
        trust: float = 0.9,
        reply_confidence: ReplyConfidence | None = None,
    ) -> None:
        super().__init__()
        for name, value in (("answer_from", answer_from), ("trust", trust)):
            if not 0 <= value <= 1:
                raise ConfigError(f"{name} must be in [0, 1], got {value}")
        self.answer_from = answer_from
        self.today = today
        self.trust = trust
        self.reply_confidence = reply_confidence
        self.parser = LMQueryParser()

    def confidence_in_replies(self) -> ReplyConfidence:
        """The confidence in the parses of the model that is set in DSPy."""
        if self.reply_confidence is not None:
            return self.reply_confidence
        return shipped_confidence(str(dspy.settings.lm.model) if dspy.settings.lm is not None else "")

    def forward(self, graph: QuestionReader, questions: Sequence[str]) -> dspy.Prediction:
        """Answers all questions, in order.

        Returns:
            A prediction with ``turns``, one :data:`QueryTurn` a question.
        """
        state = self.start(GraphWorld(graph))
        for question in questions:
            state = self.ask(state, question)
        return dspy.Prediction(turns=list(state.turns))

    def start(
        self,
        world: GraphWorld[QuestionReader],
        turns: Sequence[QueryTurn] = (),
        kept: Kept = (),  # noqa: ARG002
    ) -> QueryState:
        """See :class:`programs.turns.program.TurnProgram`; earlier questions are read again, for what they refer to."""
        state = QueryState(world)
        for turn in turns:
            state = replace(self.ask(state, turn.question), turns=(*state.turns, turn))
        return state

    def ask(self, state: QueryState, question: str) -> QueryState:
        """See :class:`programs.turns.program.TurnProgram`."""
        started = time.perf_counter()
        reader = state.world.graph
        today = self.today if self.today is not None else date.today()
        reading = reader.read(question, state.past, today=today)
        usage = Usage()
        if dspy.settings.lm is not None and reading.confidence < self.trust:
            parse, usage = self.parser.parse(question, reader, reading, state.past, today)
            reading = self.confidence_in_replies().joined(reading, parse)
        best = reading.parses[0] if reading.parses and reading.confidence >= self.answer_from else None
        turn = QueryTurn(
            question,
            confidence=reading.confidence,
            resolution=_resolution(reader.graph, reading),
            context=_context(reader.graph, reading, best),
        )
        if best is None:
            turn = replace(turn, failure="picked_none", message=_why_not(reader, reading), detail=QueryDetail())
        else:
            turn = _answered(reader.graph, turn, best)
        guess = reading.parses[0] if reading.parses and best is None else None
        past = DialogueTurn(reading.canonical, reading.asks, best, reading.named, reading.confidence, guess)
        seconds = time.perf_counter() - started
        after = state.after(replace(turn, usage=replace(usage, seconds=seconds)))
        return replace(after, past=(*state.past, past))


def _resolution(graph: FactGraph, reading: Reading) -> Resolution:
    referents = tuple(graph.values[node].text for node in reading.referents)
    kind = "none" if reading.canonical == reading.question and not referents else "possessive"
    return Resolution(reading.question, reading.canonical, kind, referents)  # type: ignore[arg-type]


def _why_not(reader: QuestionReader, reading: Reading) -> str:
    """Why a question has no answer: words that nothing fits, or the likeliest query, which one may ask for in words."""
    if reading.unknown:
        return f"the graph does not say: nothing in it fits {', '.join(map(repr, reading.unknown))}"
    if not reading.parses:
        return "the graph has nothing that the question names"
    path = reader.path(reading.parses[0])
    return (
        f'it is not certain what is asked: the likeliest query, "{path}", has a confidence of {reading.confidence:.0%}'
    )


def parse_answer(graph: FactGraph, parse: Parse) -> Answer | tuple[str, ...]:
    """The answer of a parse: yes or no, a number, or names."""
    if parse.holds is not None:
        return "yes" if parse.holds else "no"
    if parse.number is not None:
        return parse.number
    if len(parse.nodes) == 1 and (number := graph.values[parse.nodes[0]].number) is not None:
        return number
    return tuple(dict.fromkeys(graph.name(node) for node in parse.nodes))


def _answered(graph: FactGraph, turn: QueryTurn, parse: Parse) -> QueryTurn:
    names = tuple(dict.fromkeys(graph.name(node) for node in parse.nodes))
    answer = parse_answer(graph, parse)
    path = write(parse.query, graph) + (f" ({parse.operation})" if parse.operation else "")
    facts = tuple(facts_of(parse.query, graph, parse.nodes))
    detail = QueryDetail(path, facts, names)
    return replace(turn, answer=answer, words=_words(graph, parse), detail=detail)


def _words(graph: FactGraph, parse: Parse) -> str:
    """An answer in words: names, numbers with the unit of their relation, or yes and no."""
    if parse.holds is not None:
        return "yes" if parse.holds else "no"
    if parse.operation and parse.number is not None:
        return f"{parse.number:,}"
    units = [graph.relations[item].unit for item in parse.final if item < len(graph.relations)]
    unit = units[-1] if units else ""
    return ", ".join(dict.fromkeys(_value(graph, node, unit) for node in parse.nodes))


def _value(graph: FactGraph, node: int, unit: str) -> str:
    value = graph.values[node]
    if value.number is None:
        return graph.name(node)
    shown = value.unit or unit
    return f"{_grouped(value.number)} {shown}".strip()


def _grouped(number: Decimal) -> str:
    return f"{number:,f}"


def _context(graph: FactGraph, reading: Reading, best: Parse | None) -> GraphContext:
    """The entities in play: what the question names or refers to, and its answer."""
    nodes = [node for some in reading.named if len(some) == 1 for node in some]
    nodes += reading.referents[:_MOST_IN_PLAY]
    nodes += best.nodes[:_MOST_IN_PLAY] if best is not None else ()
    entities = [node for node in dict.fromkeys(nodes) if graph.is_entity(node)]
    return GraphContext(tuple(_entity(graph, node) for node in entities[: 2 * _MOST_IN_PLAY]))


def _entity(graph: FactGraph, node: int) -> EntityContext:
    properties: list[tuple[str, str]] = []
    neighbours: list[Neighbour] = []
    for relation, inverse in graph.steps(node):
        name = graph.relations[relation].names[0]
        for other in graph.follow(node, relation, inverse=inverse)[:_MOST_NEIGHBOURS]:
            if graph.is_entity(other):
                neighbours.append(Neighbour(name, graph.values[other].text, graph.name(other), not inverse))
            else:
                properties.append((name, graph.name(other)))
    kinds = tuple(graph.classes[kind].iri for kind in graph.types[node])
    return EntityContext(graph.values[node].text, graph.name(node), kinds, tuple(properties), tuple(neighbours))
