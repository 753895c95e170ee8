"""Any graph as a world: queries that a parser finds, and paths of entities that a beam finds, are the candidates.

    >>> world = GraphWorld(QuestionReader(graph, encoder.vectors), "films.ttl", paths=GraphReader(scorer))
    >>> program.ask(world.start(), "who made Alien?").turns[-1].words
    'Ridley Scott'
    >>> world = GraphWorld(QuestionGraph.over(index), topics=("USA",), paths=GraphReader(scorer))
    >>> turn = program.ask(world.start(), "who is the spouse of the 44th president of the USA?").turns[-1]
    >>> print(turn.detail.predictions[0])
    # Reasoning Path:
    USA -> president -> Barack Obama -> spouse -> Michelle Obama
    # Answer:
    Michelle Obama

Typed facts have both kinds of candidates (:class:`QuerySearch`), an index of named triples has paths alone
(:class:`programs.worlds.paths.PathSearch`). Paths begin at the entities that a question names, or that are given. The
more probable kind answers; over typed facts, paths answer only where their scorer is trained. The program abstains
below ``answer_from`` and names what it does not know. A language model is asked where neither is probable enough.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from functools import cached_property
from typing import Any, ClassVar

import dspy
from dspy.utils.exceptions import AdapterParseError
from dspy.utils.exceptions import LMError as DSPyLMError

from kg.algebra import facts_of, write
from kg.errors import ConfigError, LMError
from kg.graphs import INVERSE, EntityContext, FactGraph, GraphContext
from kg.parsing import DialogueTurn, Parse, QuestionReader, Reading
from kg.paths import EntityPathAnswer, LearnedRelationScorer, PathConfig, PathRanker, QuestionGraph, Topics, widened
from kg.paths import answer_question as answer_by_beam
from programs.aggregate import Choice, EvidenceConfig, EvidencePlan, Execution
from programs.graphs import Replies, ReplyConfidence, Shown, parse_answer, query_signature, shown_of
from programs.turns import AnyTurn, Failure, GraphDetail, Kept, Resolution, State
from programs.worlds.base import World
from programs.worlds.paths import GraphSearch, GraphTurn, PathSearch
from signatures.queries import UnderstandGraph
from signatures.understand import Understanding

_MOST_IN_PLAY, _MOST_NEIGHBOURS = 3, 30


@dataclass(frozen=True)
class GraphConfig(PathConfig):
    """Settings of questions about any graph, and of the beam over paths.

    Attributes:
        answer_from: The confidence in [0, 1] from which a question is answered.
        trust: The confidence in [0, 1] from which the parser decides alone; ``None`` for that of the language model.
        today: The day from which ages are counted; ``None`` for that of the question.
    """

    answer_from: float = 0.72
    trust: float | None = None
    today: date | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("answer_from", "trust"):
            if not 0 <= (getattr(self, name) or 0.0) <= 1:
                raise ConfigError(f"{name} must be in [0, 1], got {getattr(self, name)}")


@dataclass(frozen=True)
class GraphReader:
    """The fitted part of a program about graphs; a copy of the program shares it.

    Attributes:
        scorer: The scorer of relations.
        ranker: Ranks the beam's whole paths; ``None`` for none.
    """

    scorer: LearnedRelationScorer = field(default_factory=LearnedRelationScorer.untrained)
    ranker: PathRanker | None = None

    def __deepcopy__(self, memo: dict[int, Any]) -> GraphReader:
        return self

    def search(
        self, graph: QuestionGraph, question: str, topics: Sequence[str], config: PathConfig
    ) -> EntityPathAnswer:
        """The paths from some entities of a graph that answer a question."""
        ranking, config = (self.ranker.ranked, widened(config)) if self.ranker is not None else (None, config)
        return answer_by_beam(graph.index, question, topics, self.scorer, config, ranking)


@dataclass(frozen=True, eq=False)
class GraphWorld(World):
    """Any graph.

    Attributes:
        graph: A reader of questions about typed facts, or an index of named triples.
        name: Its name.
        config: The settings.
        paths: The scorer of paths; without it only the parser reads questions.
        topics: The entities that the questions are about; without any, those that a question names are found.
    """

    graph: QuestionReader | QuestionGraph
    name: str = ""
    config: GraphConfig = field(default_factory=GraphConfig)
    paths: GraphReader | None = None
    topics: tuple[str, ...] = ()
    kind: ClassVar[str] = "graph"

    @property
    def reader(self) -> QuestionReader | None:
        """The reader of questions; ``None`` over an index."""
        return self.graph if isinstance(self.graph, QuestionReader) else None

    @cached_property
    def index(self) -> QuestionGraph:
        """The named triples."""
        return self.graph if isinstance(self.graph, QuestionGraph) else QuestionGraph.of(self.graph.graph)

    @property
    def title(self) -> str:
        """The number of entities, with some classes."""
        if self.reader is None:
            return f"{len(self.index.index.entities)} entities, asked for paths alone"
        graph = self.reader.graph
        entities = sum(map(graph.is_entity, range(len(graph.values))))
        kinds = ", ".join(sorted(kind.names[0] for kind in graph.classes)[:5])
        return f"{entities} entities" + (f": {kinds}" if kinds else "")

    def start(self, turns: Sequence[AnyTurn] = (), kept: Kept = ()) -> GraphState:  # noqa: ARG002
        """See :meth:`programs.worlds.base.World.start`; earlier questions are read again, for what they refer to."""
        state = GraphState(self)
        for turn in turns:
            past = QuerySearch(state, turn.question).past(turn) if self.reader is not None else ()
            state = replace(state, turns=(*state.turns, turn), past=(*state.past, *past))
        return state

    def search(self, state: GraphState, question: str) -> PathSearch | QuerySearch:
        """See :meth:`programs.worlds.base.World.search`."""
        return PathSearch(state, question) if self.reader is None else QuerySearch(state, question)

    def answered(self, question: str) -> GraphTurn:
        """The turn of one question without a language model."""
        search = self.search(self.start(), question)
        return search.turn(search.combine(None), EvidenceConfig())


@dataclass(frozen=True, kw_only=True)
class GraphState(State[GraphWorld]):
    """A conversation about any graph, with its turns as the reader sees them."""

    past: tuple[DialogueTurn, ...] = ()


class QuerySearch(GraphSearch):
    """The search for one question over typed facts: a parser's queries, and the paths that support or replace them.

    A language model chooses a reading or writes a query of typed steps.
    """

    signature = UnderstandGraph
    tolerated = (AdapterParseError, DSPyLMError, LMError)

    state: GraphState

    def __init__(self, state: GraphState, question: str) -> None:
        world, reader = state.world, state.world.reader
        assert reader is not None
        self.reader, self.graph = reader, reader.graph
        self.today = world.config.today if world.config.today is not None else date.today()
        self.reading = reader.read(question, state.past, today=self.today)
        self._parse: Parse | None = None
        text, is_open = self.reading.canonical, self.reading.asks not in ("count", "yes or no")
        topics = world.index.topics(text, world.topics) if world.paths is not None and is_open else Topics()
        super().__init__(state, question, text, topics)
        self.reading = replace(self.reading, confidence=self._supported())
        self.candidates = (*self.reading.parses, *self.candidates)

    def _supported(self) -> float:
        """The parser's confidence, higher where facts single out its answer among the entities of a path.

        On training turns of outside writers, a path that singles nothing out adds hardly anything.
        """
        reading, result = self.reading, self.result
        names = self._nodes(reading.parses[0]) if reading.parses else ()
        if not names or {*names} != {*result.chosen} or len(names) == result.relation_paths[0].reached:
            return reading.confidence
        return 1 - (1 - reading.confidence) * (1 - math.exp(result.answers[0][1]))

    def _nodes(self, parse: Parse) -> tuple[str, ...]:
        return tuple(dict.fromkeys(self.graph.name(node) for node in parse.nodes))

    @cached_property
    def _shown(self) -> Shown:
        return shown_of(self.question, self.reader, self.reading, self.state.past)

    def asks(self, plan: EvidencePlan, lm: Any) -> bool:  # noqa: ARG002
        """Whether the candidates leave the question to a language model, and there is something to show."""
        if lm is None:
            return False
        sure, trust = max(self.reading.confidence, self.path_confidence), self.world.config.trust
        trust = trust if trust is not None else ReplyConfidence.of(str(lm.model)).trust
        return sure < trust and bool(self._shown.starts and self._shown.relations)

    def prompt(self, config: EvidenceConfig, predict: Any) -> dict[str, Any]:  # noqa: ARG002
        """See :meth:`programs.worlds.base.Search.prompt`."""
        return {**self._shown.inputs, "signature": query_signature(self._shown, predict.signature)}

    def understanding(self, reply: Any, refused: Sequence[str]) -> Understanding:
        """See :meth:`programs.worlds.base.Search.understanding`."""
        written = reply.query.model_dump_json(exclude_defaults=True) if reply is not None else "none"
        return Understanding(description=self.reading.canonical, calculation=written, refused=list(refused))

    def execute(self, reply: Any, refused: Sequence[str] = ()) -> Execution:
        """See :meth:`programs.worlds.base.Search.execute`; a query without nodes means that the graph has no answer."""
        parse = Replies(self.graph, self._shown, self.today).parse(reply.query)
        understanding = self.understanding(reply, refused).model_copy(update={"says_none": parse.is_empty})
        return Execution(understanding, parse)

    def combine(self, execution: Execution | None) -> Choice:
        """The parser's first query, that of a model, or the beam's entities: the most probable of these."""
        sure, lead = self.path_confidence, dict[str, tuple[str, float]]()
        if execution is not None and execution.candidate is not None:
            confidences = ReplyConfidence.of(str(dspy.settings.lm.model))
            self.reading, sure = confidences.joined(self.reading, execution.candidate), 0.0
        if self.reading.parses and self.reading.confidence >= sure:
            self._parse, sure = self.reading.parses[0], self.reading.confidence
            self.names = self._nodes(self._parse)
            lead = dict.fromkeys(self.names, (_path(self.graph, self._parse), math.log(max(sure, 1e-9))))
        return self.choice(sure, lead, execution, is_none=not self.names and self._parse is None)

    def turn(self, choice: Choice, config: EvidenceConfig) -> GraphTurn:
        """See :meth:`programs.worlds.base.Search.turn`."""
        turn, reading = super().turn(choice, config), self.reading
        self._parse = parse = self._parse if turn.failure is None else None
        turn = replace(turn, context=_context(self.graph, reading, parse))
        if reading.referents or reading.canonical != reading.question:
            referents = tuple(map(self.graph.name, reading.referents))
            turn = replace(turn, resolution=Resolution(reading.question, reading.canonical, referents))
        if parse is None:
            return turn
        facts = tuple(facts_of(parse.query, self.graph, parse.nodes))
        detail = replace(turn.detail or GraphDetail(), path=_path(self.graph, parse), facts=facts, left_out=0)
        return replace(turn, answer=parse_answer(self.graph, parse), words=_words(self.graph, parse), detail=detail)

    def nearest(self, path: str = "", sure: float = 0.0) -> tuple[Failure, str]:  # noqa: ARG002
        """See :meth:`GraphSearch.nearest`; first come the words that nothing in the graph fits, then a query."""
        if self.reading.unknown:
            words = ", ".join(map(repr, self.reading.unknown))
            return "picked_none", f"the graph does not say: nothing in it fits {words}"
        query = next((_path(self.graph, parse) for parse in self.reading.parses), "")
        return super().nearest(query, self.reading.confidence)

    def past(self, turn: GraphTurn) -> tuple[DialogueTurn]:
        """A turn of an earlier conversation as the reader sees it: with the query of its answer, if that is read."""
        same = (parse for parse in self.reading.parses if parse_answer(self.graph, parse) == turn.answer)
        return (_past(self.reading, next(same, None) if turn.answer is not None else None),)

    def after(self, turn: AnyTurn, choice: Choice) -> GraphState:  # noqa: ARG002
        """See :meth:`programs.worlds.base.Search.after`."""
        return replace(self.state.after(turn), past=(*self.state.past, _past(self.reading, self._parse)))


def _path(graph: FactGraph, parse: Parse) -> str:
    return write(parse.query, graph) + (f" ({parse.operation})" if parse.operation else "")


def _past(reading: Reading, best: Parse | None) -> DialogueTurn:
    guess = reading.parses[0] if reading.parses and best is None else None
    return DialogueTurn(reading.canonical, reading.asks, best, reading.named, reading.confidence, guess)


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
    if value.number is None or value.text[-1:].isalpha():  # "3rd"
        return graph.name(node)
    return f"{value.number:,f} {value.unit or unit}".strip()


def _context(graph: FactGraph, reading: Reading, best: Parse | None) -> GraphContext:
    """The entities in play: what the question names or refers to, and its answer."""
    nodes = [node for some in reading.named if len(some) == 1 for node in some]
    nodes += reading.referents[:_MOST_IN_PLAY]
    nodes += best.nodes[:_MOST_IN_PLAY] if best is not None else ()
    entities = [node for node in dict.fromkeys(nodes) if graph.is_entity(node)]
    return GraphContext(tuple(_entity(graph, node) for node in entities[: 2 * _MOST_IN_PLAY]))


def _entity(graph: FactGraph, node: int) -> EntityContext:
    facts = tuple(
        (f"{INVERSE * inverse}{graph.relations[relation].names[0]}", graph.name(other))
        for relation, inverse in graph.steps(node)
        for other in graph.follow(node, relation, inverse=inverse)[:_MOST_NEIGHBOURS]
    )
    kinds = tuple(graph.classes[kind].iri for kind in graph.types[node])
    return EntityContext(graph.values[node].text, graph.name(node), kinds, facts)
