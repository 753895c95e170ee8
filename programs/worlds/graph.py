"""Any graph as a world: a question is parsed to a query over the graph's own names, without annotation.

    >>> world = GraphWorld(QuestionReader(graph, encoder.vectors), "films.ttl")
    >>> program.ask(world.start(), "who made Alien?").turns[-1].words
    'Ridley Scott'

The candidates are the parser's readings. A language model is asked where the parser has little confidence; it chooses a
reading or writes a query of typed steps. The program abstains if its confidence is below ``answer_from``, and the
message names the words that it does not know.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from decimal import Decimal
from functools import cached_property
from typing import Any, ClassVar

import dspy
from dspy.utils.exceptions import AdapterParseError
from dspy.utils.exceptions import LMError as DSPyLMError

from kg.algebra import facts_of, write
from kg.errors import ConfigError, LMError
from kg.graphs import EntityContext, FactGraph, GraphContext, Neighbour
from kg.parsing import DialogueTurn, Parse, QuestionReader, Reading
from kg.search import Answer
from programs.aggregate import Choice, EvidenceConfig, EvidencePlan, Execution, ScoredCandidates
from programs.graphs import Replies, ReplyConfidence, parse_answer, query_signature, shown_of
from programs.turns import AnyTurn, Kept, QueryDetail, Resolution, State, Turn
from programs.worlds.base import Search, World
from signatures.queries import UnderstandGraph
from signatures.understand import Understanding

QueryTurn = Turn[Answer | tuple[str, ...], QueryDetail]
"""A turn about any graph: a number, yes or no, or names and values."""

_MOST_IN_PLAY, _MOST_NEIGHBOURS = 3, 30


@dataclass(frozen=True)
class GraphConfig:
    """Settings of questions about any graph.

    Attributes:
        answer_from: The confidence in [0, 1] from which a question is answered.
        trust: The confidence in [0, 1] from which the parser decides alone.
        today: The day from which ages are counted; ``None`` for that of the question.
    """

    answer_from: float = 0.72
    trust: float = 0.9
    today: date | None = None

    def __post_init__(self) -> None:
        for name in ("answer_from", "trust"):
            if not 0 <= getattr(self, name) <= 1:
                raise ConfigError(f"{name} must be in [0, 1], got {getattr(self, name)}")


@dataclass(frozen=True, eq=False)
class GraphWorld(World):
    """Any graph.

    Attributes:
        graph: The reader of questions about it.
        name: Its name.
        config: The limits of confidence.
    """

    graph: QuestionReader
    name: str = ""
    config: GraphConfig = field(default_factory=GraphConfig)
    kind: ClassVar[str] = "graph"

    def start(self, turns: Sequence[AnyTurn] = (), kept: Kept = ()) -> GraphState:  # noqa: ARG002
        """See :meth:`programs.worlds.base.World.start`; earlier questions are read again, for what they refer to."""
        state = GraphState(self)
        for turn in turns:
            search = self.search(state, turn.question)
            same = (one for one in search.reading.parses if parse_answer(self.graph.graph, one) == turn.answer)
            past = _past(search.reading, next(same, None) if turn.answer is not None else None)
            state = replace(state, turns=(*state.turns, turn), past=(*state.past, past))
        return state

    def search(self, state: GraphState, question: str) -> GraphSearch:
        """See :meth:`programs.worlds.base.World.search`."""
        today = self.config.today if self.config.today is not None else date.today()
        return GraphSearch(state, self.graph.read(question, state.past, today=today), today)

    def answered(self, question: str) -> QueryTurn:
        """The turn of one question without a language model."""
        search = self.search(self.start(), question)
        return search.turn(search.combine(None))


@dataclass(frozen=True, kw_only=True)
class GraphState(State[GraphWorld]):
    """A conversation about any graph, with its turns as the reader sees them."""

    past: tuple[DialogueTurn, ...] = ()


class GraphSearch(Search):
    """The search for one question about any graph.

    Args:
        state: The conversation before it.
        reading: The question as the parser reads it.
        today: The day to which a time lasts.
    """

    signature = UnderstandGraph
    tolerated = (AdapterParseError, DSPyLMError, LMError)

    state: GraphState

    def __init__(self, state: GraphState, reading: Reading, today: date) -> None:
        self.state, self.world, self.reading, self.today = state, state.world, reading, today
        self.question = reading.question
        self.candidates: tuple[Parse, ...] = reading.parses
        self._reader = state.world.graph

    @cached_property
    def _shown(self) -> Any:
        return shown_of(self.question, self._reader, self.reading, self.state.past)

    def asks(self, plan: EvidencePlan, lm: Any) -> bool:  # noqa: ARG002
        """Whether the parser leaves the question to a language model, and the graph has names to show."""
        return lm is not None and self.reading.confidence < self.world.config.trust and self.has_names

    @property
    def has_names(self) -> bool:
        """Whether the graph has names and relations that a query could use."""
        return bool(self._shown.starts) and bool(self._shown.relations)

    def prompt(self, config: EvidenceConfig, predict: Any) -> dict[str, Any]:  # noqa: ARG002
        """See :meth:`programs.worlds.base.Search.prompt`."""
        shown = self._shown
        narrow = query_signature(shown.starts, list(shown.relations), len(shown.readings), predict.signature)
        return {**shown.inputs, "signature": narrow}

    def understanding(self, reply: Any, refused: Sequence[str]) -> Understanding:
        """See :meth:`programs.worlds.base.Search.understanding`."""
        query = reply.query.model_dump_json(exclude_defaults=True) if reply is not None else "none"
        return Understanding(description=self.reading.canonical, calculation=query, refused=list(refused))

    def execute(self, reply: Any, refused: Sequence[str] = ()) -> Execution:
        """See :meth:`programs.worlds.base.Search.execute`; a query without nodes means that the graph has no answer."""
        parse = Replies(self._reader.graph, self._shown, self.today).parse(reply.query)
        understanding = self.understanding(reply, refused)
        return Execution(understanding.model_copy(update={"says_none": parse.is_empty}), parse)

    def combine(self, execution: Execution | None) -> Choice:
        """Joins the parser's confidence with the model's query."""
        parse = execution.candidate if execution is not None else None
        model = str(dspy.settings.lm.model) if dspy.settings.lm is not None else ""
        self.reading = ReplyConfidence.of(model).joined(self.reading, parse)
        confidence = self.reading.confidence
        scores = ScoredCandidates((confidence,) if self.reading.parses else (), 1 - confidence)
        return Choice(self.reading.parses, scores, understanding=execution.understanding if execution else None)

    @property
    def best(self) -> Parse | None:
        """The parse that answers; ``None`` where the confidence is too low."""
        answers = bool(self.reading.parses) and self.reading.confidence >= self.world.config.answer_from
        return self.reading.parses[0] if answers else None

    def turn(self, choice: Choice, config: EvidenceConfig | None = None) -> QueryTurn:  # noqa: ARG002
        """See :meth:`programs.worlds.base.Search.turn`."""
        graph, best = self._reader.graph, self.best
        turn = QueryTurn(
            self.question,
            confidence=self.reading.confidence,
            understanding=choice.understanding,
            resolution=_resolution(graph, self.reading),
            context=_context(graph, self.reading, best),
        )
        if best is None:
            return replace(turn, failure="picked_none", message=self.nearest(), detail=QueryDetail())
        names = tuple(dict.fromkeys(graph.name(node) for node in best.nodes))
        path = write(best.query, graph) + (f" ({best.operation})" if best.operation else "")
        detail = QueryDetail(path, tuple(facts_of(best.query, graph, best.nodes)), names)
        return replace(turn, answer=parse_answer(graph, best), words=_words(graph, best), detail=detail)

    def grounds(self, turn: AnyTurn) -> dict[str, str]:
        """See :meth:`programs.worlds.base.Search.grounds`."""
        detail = turn.detail or QueryDetail()
        return {"calculation": detail.path, "facts": "\n".join(detail.facts[:_MOST_NEIGHBOURS])}

    def nearest(self) -> str:
        """Why there is no answer: words that nothing fits, or the likeliest query, which one may ask for in words."""
        reading = self.reading
        if reading.unknown:
            return f"the graph does not say: nothing in it fits {', '.join(map(repr, reading.unknown))}"
        if not reading.parses:
            return "the graph has nothing that the question names"
        path = self._reader.path(reading.parses[0])
        share = f"{reading.confidence:.0%}"
        return f'it is not certain what is asked: the likeliest query, "{path}", has a confidence of {share}'

    def after(self, turn: AnyTurn, choice: Choice) -> GraphState:  # noqa: ARG002
        """See :meth:`programs.worlds.base.Search.after`."""
        past = (*self.state.past, _past(self.reading, self.best))
        return replace(self.state, turns=(*self.state.turns, turn), past=past)


def _past(reading: Reading, best: Parse | None) -> DialogueTurn:
    guess = reading.parses[0] if reading.parses and best is None else None
    return DialogueTurn(reading.canonical, reading.asks, best, reading.named, reading.confidence, guess)


def _resolution(graph: FactGraph, reading: Reading) -> Resolution | None:
    """The nodes that a question refers to; ``None`` for one that refers to none."""
    referents = tuple(graph.name(node) for node in reading.referents)
    is_alone = reading.canonical == reading.question and not referents
    return None if is_alone else Resolution(reading.question, reading.canonical, referents)


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
    return f"{_grouped(value.number)} {value.unit or unit}".strip()


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
