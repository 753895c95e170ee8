"""Any graph as a world: queries that a parser finds, and paths of entities that a beam finds, are the candidates.

    >>> world = GraphWorld(QuestionReader(graph, encoder.vectors), "films.ttl", paths=GraphReader(scorer))
    >>> program.ask(world.start(), "who made Alien?").turns[-1].words
    'Ridley Scott'
    >>> world = GraphWorld(QuestionGraph(index), topics=("USA",), paths=GraphReader(scorer))
    >>> turn = program.ask(world.start(), "who is the spouse of the 44th president of the USA?").turns[-1]
    >>> print(turn.detail.predictions[0])
    # Reasoning Path:
    USA -> president -> Barack Obama -> spouse -> Michelle Obama
    # Answer:
    Michelle Obama

A graph of typed facts has both kinds of candidates, an index of named triples has paths alone. Paths begin at the
entities that a question names, or that are given with it. The more probable kind answers; over typed facts, paths
answer only where their scorer is trained. The program abstains below ``answer_from`` and names what it does not know.

A language model is asked where neither is probable enough: over typed facts it chooses a reading or writes a query of
typed steps, over an index it controls the search (:mod:`programs.worlds.paths`).
"""

from __future__ import annotations

import math
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
from kg.graphs import INVERSE, EntityContext, FactGraph, GraphContext
from kg.parsing import DialogueTurn, Parse, QuestionReader, Reading
from kg.paths import EntityPathAnswer, LearnedRelationScorer, PathConfig, PathRanker, QuestionGraph, Topics, widened
from kg.paths import answer_question as answer_by_beam
from kg.search import Answer, SearchStatistics
from programs.aggregate import Choice, EvidenceConfig, EvidencePlan, Execution, ScoredCandidates
from programs.graphs import Replies, ReplyConfidence, parse_answer, query_signature, shown_of
from programs.lm import stated
from programs.turns import AnyTurn, Failure, GraphDetail, Kept, Resolution, State, Turn, trace_of
from programs.worlds.base import Search, World
from programs.worlds.paths import PathControl
from signatures.queries import UnderstandGraph, UnderstandPaths
from signatures.understand import Understanding

GraphTurn = Turn[Answer | tuple[str, ...], GraphDetail]
"""A turn about any graph: a number, yes or no, or names and values."""

_MOST_IN_PLAY, _MOST_NEIGHBOURS = 3, 30
_LEAST = 1e-9
_NO_PATHS = EntityPathAnswer((), (), (), (), SearchStatistics(0, 0, 0, 0))


@dataclass(frozen=True)
class GraphConfig(PathConfig):
    """Settings of questions about any graph, and of the beam over paths.

    Attributes:
        answer_from: The confidence in [0, 1] from which a question is answered.
        trust: The confidence in [0, 1] from which the parser decides alone.
        today: The day from which ages are counted; ``None`` for that of the question.
    """

    answer_from: float = 0.72
    trust: float = 0.9
    today: date | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("answer_from", "trust"):
            if not 0 <= getattr(self, name) <= 1:
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

    def start(self, turns: Sequence[AnyTurn] = (), kept: Kept = ()) -> GraphState:  # noqa: ARG002
        """See :meth:`programs.worlds.base.World.start`; earlier questions are read again, for what they refer to."""
        state = GraphState(self)
        for turn in turns:
            past: tuple[DialogueTurn, ...] = ()
            if self.reader is not None:
                reading = self.search(state, turn.question).reading
                graph = self.reader.graph
                same = (parse for parse in reading.parses if parse_answer(graph, parse) == turn.answer)
                past = (_past(reading, next(same, None) if turn.answer is not None else None),)
            state = replace(state, turns=(*state.turns, turn), past=(*state.past, *past))
        return state

    def search(self, state: GraphState, question: str) -> GraphSearch:
        """See :meth:`programs.worlds.base.World.search`."""
        return GraphSearch(state, question)

    def answered(self, question: str) -> GraphTurn:
        """The turn of one question without a language model."""
        search = self.search(self.start(), question)
        return search.turn(search.combine(None), EvidenceConfig())


@dataclass(frozen=True, kw_only=True)
class GraphState(State[GraphWorld]):
    """A conversation about any graph, with its turns as the reader sees them."""

    past: tuple[DialogueTurn, ...] = ()


class GraphSearch(Search):
    """The search for one question about any graph.

    Args:
        state: The conversation before it.
        question: The question.

    Attributes:
        reading: The question as the parser reads it; without parses over an index.
        topics: The entities from which paths are searched.
        result: The paths.
    """

    signature = UnderstandGraph
    tolerated: tuple[type[Exception], ...] = (AdapterParseError, DSPyLMError, LMError)

    state: GraphState

    def __init__(self, state: GraphState, question: str) -> None:
        world = state.world
        self.state, self.world, self.question = state, world, question
        if world.reader is None:  # a model controls the search; its errors are not passed over
            self.signature, self.tolerated = UnderstandPaths, ()
        self.today = world.config.today if world.config.today is not None else date.today()
        self.reading = Reading(question, question, (), 0.0)
        if world.reader is not None:
            self.reading = world.reader.read(question, state.past, today=self.today)
        self.topics, self.result, self._earlier = Topics(), _NO_PATHS, tuple[int, ...]()
        if world.paths is not None and self.reading.asks not in ("count", "yes or no"):
            self._search_paths(world.paths)
        self.reading = replace(self.reading, confidence=self._supported())
        self.candidates = (*self.reading.parses, *self.result.relation_paths)
        self._control = PathControl(question, self.topics.entities, self.result, world.config)
        self._parse: Parse | None = None
        self._names: tuple[str, ...] = self.result.chosen
        self._answers: list[tuple[str, str, float, float]] = []

    def _search_paths(self, paths: GraphReader) -> None:
        world, turns = self.world, self.state.turns
        self.topics = world.index.topics(self.reading.canonical, world.topics)
        if world.reader is None and not self.topics.entities and not self.topics.unknown:
            # A question that names no entity is about the last answer.
            answered = [number for number, turn in enumerate(turns) if turn.answer is not None][-1:]
            self._earlier = tuple(answered)
            names = tuple(name for number in answered for name in (turns[number].answer or ()))
            self.topics = Topics(names[: world.config.beam_width])
        if self.topics.entities:
            self.result = paths.search(world.index, self.reading.canonical, self.topics.entities, world.config)

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
        graph = self.world.graph.graph  # type: ignore[union-attr]
        return tuple(dict.fromkeys(graph.name(node) for node in parse.nodes))

    @property
    def _path_confidence(self) -> float:
        """The probability of the beam's answer; 0 over typed facts without training, where the parser knows more."""
        paths = self.world.paths
        is_fitted = paths is not None and bool(paths.scorer.trained_on or paths.ranker)
        if not self.result.answers or (self.world.reader is not None and not is_fitted):
            return 0.0
        return math.exp(self.result.answers[0][1]) if is_fitted else self.result.untrained_confidence

    @cached_property
    def _shown(self) -> Any:
        return shown_of(self.question, self.world.graph, self.reading, self.state.past)  # type: ignore[arg-type]

    def asks(self, plan: EvidencePlan, lm: Any) -> bool:  # noqa: ARG002
        """Whether the candidates leave the question to a language model, and there is something to show."""
        if self.world.reader is None:
            return lm is not None and bool(self.result.relation_paths)
        confidence = max(self.reading.confidence, self._path_confidence)
        return lm is not None and confidence < self.world.config.trust and self.has_names

    @property
    def has_names(self) -> bool:
        """Whether the graph has names and relations that a query could use."""
        return bool(self._shown.starts) and bool(self._shown.relations)

    def prompt(self, config: EvidenceConfig, predict: Any) -> dict[str, Any]:  # noqa: ARG002
        """See :meth:`programs.worlds.base.Search.prompt`."""
        if self.world.reader is None:
            return self._control.prompt()
        shown = self._shown
        narrow = query_signature(shown.starts, list(shown.relations), len(shown.readings), predict.signature)
        return {**shown.inputs, "signature": narrow}

    def reply(self, predict: Any, **inputs: Any) -> Any:
        """See :meth:`programs.worlds.base.Search.reply`; a controller is asked once a depth."""
        return predict(**inputs) if self.world.reader is not None else self._control.reply(predict, **inputs)

    def understanding(self, reply: Any, refused: Sequence[str]) -> Understanding:
        """See :meth:`programs.worlds.base.Search.understanding`."""
        description, says = self.reading.canonical, {}
        if self.world.reader is not None:
            written = reply.query.model_dump_json(exclude_defaults=True) if reply is not None else "none"
        else:
            written = "; ".join(map(str, self._control.picked.values())) or "none"
            says = {"confidence": stated(reply.confidence), "says_none": not self._control.picked}
        understanding = Understanding(description=description, calculation=written, refused=list(refused))
        return understanding.model_copy(update=says)

    def execute(self, reply: Any, refused: Sequence[str] = ()) -> Execution:
        """See :meth:`programs.worlds.base.Search.execute`; a query without nodes means that the graph has no answer."""
        understanding = self.understanding(reply, refused)
        if self.world.reader is None:
            return Execution(understanding)
        parse = Replies(self.world.reader.graph, self._shown, self.today).parse(reply.query)
        return Execution(understanding.model_copy(update={"says_none": parse.is_empty}), parse)

    def combine(self, execution: Execution | None) -> Choice:
        """The parser's first query, the beam's entities, or what a model names: the most probable of these."""
        understanding = execution.understanding if execution is not None else None
        model = str(dspy.settings.lm.model) if dspy.settings.lm is not None else ""
        sure, lead = self._path_confidence, dict[str, tuple[str, float]]()
        if execution is not None and execution.candidate is not None:
            self.reading, sure = ReplyConfidence.of(model).joined(self.reading, execution.candidate), 0.0
        elif understanding is not None and self.world.reader is None:
            sure = understanding.confidence
            lead = {name: (str(path), path.score) for name, path in self._control.picked.items()}
            self._names = tuple(lead)
        if self.reading.parses and self.reading.confidence >= sure:
            self._parse, sure = self.reading.parses[0], self.reading.confidence
            self._names = self._nodes(self._parse)
            path = _path(self.world.graph.graph, self._parse)  # type: ignore[union-attr]
            lead = dict.fromkeys(self._names, (path, math.log(max(sure, _LEAST))))
        pairs = zip(self.result.paths, self.result.answers, strict=True)
        beam = {path.answer: (str(path), path.score, math.exp(score)) for path, (_, score) in pairs}
        self._answers = [(name, *beam.get(name, way)[:2], sure) for name, way in lead.items()]
        rest = 1 - sure if lead else 1.0
        self._answers += [
            (name, path, score, rest * share) for name, (path, score, share) in beam.items() if name not in lead
        ]
        is_none = not self._names and self._parse is None
        return Choice(
            self.candidates, ScoredCandidates(() if is_none else (sure,), 1 - sure), understanding=understanding
        )

    def turn(self, choice: Choice, config: EvidenceConfig) -> GraphTurn:
        """See :meth:`programs.worlds.base.Search.turn`."""
        confidence = choice.scores.candidates[0] if choice.scores.candidates else 0.0
        answers = confidence >= self.world.config.answer_from or config.answer == "always"
        self._parse = self._parse if answers else None
        graph = self.world.reader.graph if self.world.reader is not None else None
        trace = trace_of(self.result.statistics)
        trace["backtrack_count"] += self._control.backtracks
        detail = GraphDetail(reasoning_trace=trace, topics=self.topics)
        turn = GraphTurn(self.question, confidence=confidence, understanding=choice.understanding, detail=detail)
        if graph is not None:
            context = _context(graph, self.reading, self._parse)
            turn = replace(turn, resolution=_resolution(graph, self.reading), context=context)
        elif self._earlier:
            resolution = Resolution(self.question, self.question, self.topics.entities, self._earlier)
            turn = replace(turn, resolution=resolution)
        if not choice.scores.candidates or not answers:
            failure, message = self.nearest()
            return replace(turn, failure=failure, message=message)
        most = max(self.world.config.output_top_k, len(self._names))
        detail = replace(
            detail,
            nodes=self._names,
            answers=tuple((name, share) for name, _, _, share in self._answers[:most]),
            raw_paths=tuple((path, score) for _, path, score, _ in self._answers[:most]),
        )
        if graph is None or self._parse is None:
            left_out = self.result.left_out if self._names == self.result.chosen else 0
            words = ", ".join(self._names) + (f" and {left_out} more" if left_out else "")
            return replace(turn, answer=self._names, words=words, detail=replace(detail, left_out=left_out))
        facts = tuple(facts_of(self._parse.query, graph, self._parse.nodes))
        detail = replace(detail, path=_path(graph, self._parse), facts=facts)
        answer = parse_answer(graph, self._parse)
        return replace(turn, answer=answer, words=_words(graph, self._parse), detail=detail)

    def grounds(self, turn: AnyTurn) -> dict[str, str]:
        """See :meth:`programs.worlds.base.Search.grounds`."""
        detail = turn.detail or GraphDetail()
        facts = detail.facts or tuple(path for path, _ in detail.raw_paths)
        return {"calculation": detail.path or "none", "facts": "\n".join(facts[:_MOST_NEIGHBOURS])}

    def nearest(self) -> tuple[Failure, str]:
        """Why there is no answer: words that nothing fits, or the likeliest path, which one may ask for in words."""
        reading, result = self.reading, self.result
        if reading.unknown:
            words = ", ".join(map(repr, reading.unknown))
            return "picked_none", f"the graph does not say: nothing in it fits {words}"
        if self._control.shown and not self._names:
            return "picked_none", f"the model took none of {self._control.shown} paths"
        if reading.parses or result.paths:
            parse = next(iter(reading.parses), None)
            path = _path(self.world.graph.graph, parse) if parse is not None else str(result.paths[0])  # type: ignore[union-attr]
            share = f"{max(reading.confidence, self._path_confidence):.0%}"
            message = f'it is not certain what is asked: the likeliest path, "{path}", has a confidence of {share}'
            return "picked_none", message
        if self.topics.entities:
            return "empty_beam", "no path from the topics leads to an answer"
        if self.topics.unknown:
            return "no_topic", f"the graph has no entity {', '.join(map(repr, self.topics.unknown))}"
        return "no_topic" if self.world.reader is None else "picked_none", "the question names no entity of the graph"

    def after(self, turn: AnyTurn, choice: Choice) -> GraphState:  # noqa: ARG002
        """See :meth:`programs.worlds.base.Search.after`."""
        past = (_past(self.reading, self._parse),) if self.world.reader is not None else ()
        return replace(self.state, turns=(*self.state.turns, turn), past=(*self.state.past, *past))


def _path(graph: FactGraph, parse: Parse) -> str:
    return write(parse.query, graph) + (f" ({parse.operation})" if parse.operation else "")


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
    if value.number is None or value.text[-1:].isalpha():  # "3rd"
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
    facts = tuple(
        (f"{INVERSE * inverse}{graph.relations[relation].names[0]}", graph.name(other))
        for relation, inverse in graph.steps(node)
        for other in graph.follow(node, relation, inverse=inverse)[:_MOST_NEIGHBOURS]
    )
    kinds = tuple(graph.classes[kind].iri for kind in graph.types[node])
    return EntityContext(graph.values[node].text, graph.name(node), kinds, facts)
