"""A graph with a trained scorer of relations as a world: the beam's candidates are paths from the question's topics.

    >>> world = PathWorld(QuestionGraph(index), scorer, topics=("USA",))
    >>> search = world.search(world.start(), "who is the spouse of the 44th president of the USA?")
    >>> print(search.turn(search.combine(None)).detail.predictions[0])
    # Reasoning Path:
    USA -> president -> Barack Obama -> spouse -> Michelle Obama
    # Answer:
    Michelle Obama

Without a language model every entity that the most probable relation path reaches is an answer. With ``aggregation``
``index``, one call chooses among the numbered relation paths; a concrete path represents all that its relation path
reaches, such as ``1. Ann Lee -> ^starred_actors -> Dusk -> has_genre -> Drama (and 3 more)``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal, get_args

import dspy
import numpy as np

from kg.errors import ConfigError, LMError
from kg.graphs import GraphIndex
from kg.paths import (
    EntityPath,
    EntityPathAnswer,
    EntitySpace,
    PathConfig,
    PathRanker,
    QuestionGraph,
    ReasoningPath,
    RelationScorer,
    Topics,
    answer_question,
    gcr_prediction,
    trace,
)
from kg.search import SearchStatistics
from programs.evidence import Choice, EvidenceConfig, EvidencePlan, ScoredCandidates
from programs.turns import AnyTurn, Failure, Kept, PathDetail, State, Turn, trace_of
from programs.worlds.base import Execution, Search, World
from signatures.paths import UnderstandPaths
from signatures.understand import Understanding

Aggregation = Literal["score", "index"]
AGGREGATIONS: tuple[Aggregation, ...] = get_args(Aggregation)
"""The ways to select the answers; ``index`` asks a language model."""

EARLIER: dict[str, Aggregation] = {"last-entity": "score", "per-path": "index", "constrained": "index"}
"""Ways of saved programs that are gone, with the nearest present one."""

PathTurn = Turn[tuple[str, ...], PathDetail]
"""A turn about a graph whose paths were searched: names."""


@dataclass(frozen=True)
class _PathAnswers:
    """Answers in order, a path for each, and the selected ones."""

    answers: Sequence[tuple[str, float]]
    paths: Sequence[ReasoningPath]
    chosen: Sequence[str]
    raw: Sequence[ReasoningPath]
    statistics: SearchStatistics


@dataclass(frozen=True, eq=False)
class PathWorld(World):
    """A graph with a scorer of its relations.

    Attributes:
        graph: The graph.
        scorer: The scorer of relations.
        name: The graph's name.
        topics: The entities that the questions are about; without any, those that a question names are found.
        config: The beam's settings; ``output_top_k`` is also how many paths are returned at least, and shown to a
            language model at the most.
        aggregation: The way to select the answers.
        ranker: Ranks whole paths in place of the beam, where no language model scores; ``None`` for none.
    """

    graph: QuestionGraph
    scorer: RelationScorer
    name: str = ""
    topics: tuple[str, ...] = ()
    config: PathConfig = field(default_factory=PathConfig)
    aggregation: Aggregation = "score"
    ranker: PathRanker | None = None
    kind: ClassVar[str] = "graph"

    def __post_init__(self) -> None:
        if self.aggregation not in AGGREGATIONS:
            raise ConfigError(f"aggregation must be one of {', '.join(AGGREGATIONS)}, got {self.aggregation!r}")

    def start(self, turns: Sequence[AnyTurn] = (), kept: Kept = ()) -> State[PathWorld]:  # noqa: ARG002
        """See :meth:`programs.worlds.base.World.start`; no question depends on those before it."""
        return State(self, tuple(turns))

    def search(self, state: State[PathWorld], question: str) -> PathSearch:
        """See :meth:`programs.worlds.base.World.search`."""
        return PathSearch(state, question)


class PathSearch(Search):
    """The search for the paths of one question.

    Args:
        state: The conversation before it.
        question: The question.
    """

    signature = UnderstandPaths

    def __init__(self, state: State[PathWorld], question: str) -> None:
        self.state, self.world, self.question = state, state.world, question
        self._failure: Failure | None = None
        self._message = ""
        self._found: EntityPathAnswer | None = None
        self.topics: Topics = self.world.graph.topics(question, self.world.topics)
        if not self.topics.entities:
            self._failure, self._message = "no_topic", _no_topic(self.topics)
        else:
            self._found = self._searched(self.world.graph.index)
            if not self._found.relation_paths:
                self._failure, self._message = "empty_beam", "no path from the topics leads to an answer"
        self.candidates = self._found.relation_paths if self._found is not None else ()

    def _searched(self, index: GraphIndex) -> EntityPathAnswer:
        world, topics = self.world, self.topics.entities
        if isinstance(world.scorer, dspy.Module) and dspy.settings.lm is None:
            raise LMError("the scorer asks a language model, and none is set")
        if world.ranker is None or isinstance(world.scorer, dspy.Module):
            return answer_question(index, self.question, topics, world.scorer, world.config)
        return world.ranker.answer(index, self.question, topics, world.scorer.rules, world.config)

    def asks(self, plan: EvidencePlan, lm: Any) -> bool:  # noqa: ARG002
        """Whether a language model chooses among the paths.

        Raises:
            LMError: It should, and none is set.
        """
        asks = self.world.aggregation == "index" and self._failure is None
        if asks and lm is None:
            raise LMError("the aggregation 'index' asks a language model, and none is set")
        return asks

    def prompt(self, config: EvidenceConfig, predict: Any) -> dict[str, Any]:  # noqa: ARG002
        """See :meth:`programs.worlds.base.Search.prompt`."""
        assert self._found is not None
        world = self.world
        self._walker = PathWalker(world.graph.index, self.topics.entities, world.scorer, world.config)
        self._samples = self._walker.samples(self._found, world.config.output_top_k)
        lines = "\n".join(f"{number}. {text}" for number, text in enumerate(self._samples.values(), start=1))
        signature = path_choice(len(self._samples), predict.signature)
        return {"question": self.question, "paths": lines, "signature": signature}

    def understanding(self, reply: Any, refused: Sequence[str]) -> Understanding:
        """See :meth:`programs.worlds.base.Search.understanding`."""
        written = ", ".join(map(str, reply.chosen)) or "none"
        return Understanding(description=self.question, calculation=written, refused=list(refused))

    def execute(self, reply: Any, refused: Sequence[str] = ()) -> Execution:
        """See :meth:`programs.worlds.base.Search.execute`."""
        picked = tuple(list(self._samples)[int(number) - 1] for number in dict.fromkeys(reply.chosen))
        return Execution(self.understanding(reply, refused), picked)

    def combine(self, execution: Execution | None) -> Choice:
        """The entities that the best relation path reaches, or those of the paths that a model chose."""
        self._answers: _PathAnswers | None = None
        top_k = self.world.config.output_top_k
        if execution is not None and not execution.candidate:
            message = f"the model took none of {len(self._samples)} paths"
            self._failure, self._message = "picked_none", message
        elif self._found is not None and self._failure is None:
            picked = execution.candidate if execution is not None else ()
            found = self._found
            self._answers = _settled(self._walker, picked, found, top_k) if picked else _scored(found, top_k)
        understanding = execution.understanding if execution is not None else None
        best = (self._answers.answers[0][1],) if self._answers is not None and self._answers.answers else ()
        return Choice(self.candidates, ScoredCandidates(best, 1 - sum(best)), understanding=understanding)

    def turn(self, choice: Choice, config: EvidenceConfig | None = None) -> PathTurn:  # noqa: ARG002
        """See :meth:`programs.worlds.base.Search.turn`."""
        about: dict[str, Any] = {"understanding": choice.understanding}
        if self._answers is None:
            none = SearchStatistics(0, 0, 0, 0)
            statistics = self._found.statistics if self._found is not None else none
            detail = PathDetail(topics=self.topics, reasoning_trace=trace_of(statistics))
            return PathTurn(self.question, failure=self._failure, message=self._message, detail=detail, **about)
        chosen = tuple(self._answers.chosen)
        return PathTurn(
            self.question,
            answer=chosen,
            confidence=self._answers.answers[0][1] if self._answers.answers else None,
            words=", ".join(chosen),
            detail=_detail(self.topics, self._answers),
            **about,
        )

    def grounds(self, turn: AnyTurn) -> dict[str, str]:
        """See :meth:`programs.worlds.base.Search.grounds`."""
        paths = (turn.detail or PathDetail()).raw_paths
        return {"calculation": "none", "facts": "\n".join(path for path, _ in paths)}


class PathWalker:
    """Follows relation paths of one question.

    Args:
        index: The graph.
        topics: Names of the entities that the question is about.
        scorer: Its rules decide whether a topic may occur again on a path, and be an answer.
        config: The beam's settings.
    """

    def __init__(self, index: GraphIndex, topics: Sequence[str], scorer: RelationScorer, config: PathConfig) -> None:
        self.index = index
        self._space = EntitySpace(index, "", index.ids(topics), scorer, config)

    def walk(self, path: EntityPath, most: int | None = None) -> tuple[EntityPath, ...]:
        """A concrete path to each entity that the relations of ``path`` reach from its first entity, by name.

        Args:
            path: The topic and the relations; its other entities do not count.
            most: Stop after so many.
        """
        place = int(np.searchsorted(self._space.topics, self.index.ids([path.entities[0]])[0]))
        choices = (place, *(self.index.relation(name) for name in path.relations))
        ends = self._space.answers(choices)
        ends = ends[:most] if most is not None else ends
        rows = trace(self._space, choices, ends) if len(ends) else ()
        walked = [replace(path, entities=tuple(self.index.name(entity) for entity in row)) for row in rows]
        return tuple(sorted(walked, key=lambda one: one.answer))

    def samples(self, found: EntityPathAnswer, most: int) -> dict[EntityPath, str]:
        """One concrete path along each of the best relation paths, with its text for a prompt."""
        samples: dict[EntityPath, str] = {}
        for relation_path in found.relation_paths[:most]:
            template = EntityPath((relation_path.topic,), relation_path.relations, relation_path.score)
            [path] = self.walk(template, 1)
            reached = relation_path.reached
            if str(path) not in map(str, samples):
                samples[path] = f"{path} (and {reached - 1} more)" if reached > 1 else str(path)
        return samples


def path_choice(count: int, signature: type[dspy.Signature] = UnderstandPaths) -> Any:
    """The signature that lets only the numbers from 1 to ``count`` be chosen."""
    number: Any = Literal[tuple(range(1, count + 1))]
    return signature.with_updated_fields("chosen", type_=list[number])


def _scored(found: EntityPathAnswer, top_k: int) -> _PathAnswers:
    count = max(top_k, len(found.chosen))
    paths = [ReasoningPath.of(path) for path in found.paths[:count]]
    answers = [(name, math.exp(score)) for name, score in found.answers[:count]]
    return _PathAnswers(answers, paths, found.chosen, paths, found.statistics)


def _settled(walker: PathWalker, picked: Sequence[EntityPath], found: EntityPathAnswer, top_k: int) -> _PathAnswers:
    """All that the picked paths reach, then what the search found."""
    paths: dict[str, EntityPath] = {}
    for path in picked:
        for one in walker.walk(path):
            paths.setdefault(one.answer, one)
    chosen = list(paths)
    for one in found.paths:
        if len(paths) < top_k:
            paths.setdefault(one.answer, one)
    answers = [(name, math.exp(path.score)) for name, path in paths.items()]
    written = [ReasoningPath.of(path) for path in paths.values()]
    return _PathAnswers(answers, written, chosen, [ReasoningPath.of(path) for path in picked], found.statistics)


def _detail(topics: Topics, found: _PathAnswers) -> PathDetail:
    pairs = zip(found.paths, found.answers, strict=True)
    return PathDetail(
        predictions=tuple(gcr_prediction(path.text, answer) for path, (answer, _) in pairs),
        answers=tuple(found.answers),
        reasoning_trace=trace_of(found.statistics),
        raw_paths=tuple((path.text, path.score) for path in found.raw),
        chosen=tuple(found.chosen),
        topics=topics,
    )


def _no_topic(topics: Topics) -> str:
    if topics.unknown:
        return f"the graph has no entity {', '.join(map(repr, topics.unknown))}"
    return "the question names no entity of the graph"
