"""The program for questions about any graph: find the topics, search paths, select the answers.

    >>> program = KGQA(scorer)
    >>> found = program(question="who is the spouse of the 44th president of the USA ?", graph=graph, topics=["USA"])
    >>> found.answers
    (('Michelle Obama', 0.93), ...)
    >>> print(found.predictions[0])
    # Reasoning Path:
    USA -> president -> Barack Obama -> spouse -> Michelle Obama
    # Answer:
    Michelle Obama

``aggregation`` selects the answers:

- ``score``: every entity that the most probable relation path reaches; no language model.
- ``index``: a language model chooses among the numbered relation paths, in one call.

One concrete path represents all that its relation path reaches, such as ``1. Ann Lee -> ^starred_actors -> Dusk ->
has_genre -> Drama (and 3 more)``. An error of the search or the model becomes a failed turn.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

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
from programs.graphs.world import GraphWorld
from programs.lm import failure_of, metered
from programs.turns import Failure, Kept, NoAnswerError, PathDetail, State, Turn, trace_of
from signatures.paths import ChoosePaths

Aggregation = Literal["score", "index"]
AGGREGATIONS: tuple[Aggregation, ...] = get_args(Aggregation)
"""The ways to select the answers; ``index`` asks a language model."""

EARLIER: dict[str, Aggregation] = {"last-entity": "score", "per-path": "index", "constrained": "index"}
"""Ways of saved programs that are gone, with the nearest present one."""

_NOTHING = SearchStatistics(0, 0, 0, 0)

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


class _NoPathsError(NoAnswerError):
    """A search without an answer."""

    def __init__(self, failure: Failure, message: str, statistics: SearchStatistics) -> None:
        super().__init__(failure, message)
        self.statistics = statistics


class KGQA(dspy.Module):
    """Answers questions about the entities of any graph.

    Args:
        scorer: The scorer of relations.
        config: The beam's settings; ``output_top_k`` is also how many paths are returned at least, and shown to a
            language model at the most.
        aggregation: The way to select the answers.
        ranker: Ranks whole paths in place of the beam, where no language model selects or scores; ``None`` for none.

    Raises:
        ConfigError: There is no such aggregation.
    """

    def __init__(
        self,
        scorer: RelationScorer,
        config: PathConfig | None = None,
        aggregation: Aggregation = "score",
        ranker: PathRanker | None = None,
    ) -> None:
        super().__init__()
        aggregation = EARLIER.get(aggregation, aggregation)
        if aggregation not in AGGREGATIONS:
            raise ConfigError(f"aggregation must be one of {', '.join(AGGREGATIONS)}, got {aggregation!r}")
        self.scorer = scorer
        self.config = config if config is not None else PathConfig()
        self.aggregation: Aggregation = aggregation
        self.ranker = ranker
        self.choose = dspy.Predict(ChoosePaths)

    @property
    def needs_lm(self) -> bool:
        """Whether it asks a language model to select answers or to score relations."""
        return self.aggregation == "index" or isinstance(self.scorer, dspy.Module)

    def forward(self, question: str, graph: QuestionGraph | GraphIndex, topics: Sequence[str] = ()) -> dspy.Prediction:
        """Answers a question.

        Args:
            question: The question.
            graph: The graph that it is asked of.
            topics: The entities that it is about, by name or label; without any, those that it names are found.

        Returns:
            A prediction with ``turn`` (a :data:`PathTurn`), its ``question``, and ``predictions``, ``answers``,
            ``reasoning_trace`` and ``raw_paths`` of its detail.
        """
        asked = graph if isinstance(graph, QuestionGraph) else QuestionGraph(graph)
        turn: PathTurn = self.ask(self.start(GraphWorld(asked, topics=tuple(topics))), question).turns[-1]
        detail = turn.detail or PathDetail()
        return dspy.Prediction(
            turn=turn,
            question=turn.question,
            predictions=detail.predictions,
            answers=detail.answers,
            reasoning_trace=detail.reasoning_trace,
            raw_paths=detail.raw_paths,
        )

    def load_state(self, state: dict[str, Any], **options: Any) -> None:
        """Reads a saved state; in earlier versions a part of the program had the predictors."""
        super().load_state({name.removeprefix("model_paths."): value for name, value in state.items()}, **options)

    def start(
        self,
        world: GraphWorld[QuestionGraph],
        turns: Sequence[PathTurn] = (),
        kept: Kept = (),  # noqa: ARG002
    ) -> State[GraphWorld[QuestionGraph]]:
        """See :class:`programs.turns.program.TurnProgram`."""
        return State(world, tuple(turns))

    def ask(self, state: State[GraphWorld[QuestionGraph]], question: str) -> State[GraphWorld[QuestionGraph]]:
        """See :class:`programs.turns.program.TurnProgram`; no question depends on those before it."""
        world, topics = state.world, Topics(())
        with metered() as measured:
            try:
                topics = world.graph.topics(question, world.topics)
                turn = self._turn(question, world.graph.index, topics)
            except Exception as error:  # noqa: BLE001 - failure_of raises all but the model's and the data's again
                failure, message = failure_of(error, measured.meter)
                statistics = error.statistics if isinstance(error, _NoPathsError) else _NOTHING
                detail = PathDetail(topics=topics, reasoning_trace=trace_of(statistics))
                turn = PathTurn(question, failure=failure, message=message, detail=detail)
        return state.after(replace(turn, usage=measured.usage))

    def _turn(self, question: str, index: GraphIndex, topics: Topics) -> PathTurn:
        if not topics.entities:
            raise NoAnswerError("no_topic", _no_topic(topics))
        found = self._answer(question, index, topics.entities)
        chosen = tuple(found.chosen)
        return PathTurn(
            question,
            answer=chosen,
            confidence=found.answers[0][1] if found.answers else None,
            words=", ".join(chosen),
            detail=_detail(topics, found),
        )

    def _answer(self, question: str, index: GraphIndex, topics: Sequence[str]) -> _PathAnswers:
        if self.needs_lm and dspy.settings.lm is None:
            asking = "scorer" if self.aggregation == "score" else f"aggregation {self.aggregation!r}"
            raise LMError(f"the {asking} asks a language model, and none is set")
        found = self._searched(question, index, topics)
        if not found.relation_paths:
            raise _NoPathsError("empty_beam", "no path from the topics leads to an answer", found.statistics)
        if self.aggregation == "score":
            return _scored(found, self.config.output_top_k)
        return self._chosen(question, PathWalker(index, topics, self.scorer, self.config), found)

    def _searched(self, question: str, index: GraphIndex, topics: Sequence[str]) -> EntityPathAnswer:
        if self.ranker is None or isinstance(self.scorer, dspy.Module):
            return answer_question(index, question, topics, self.scorer, self.config)
        return self.ranker.answer(index, question, topics, self.scorer.rules, self.config)

    def _chosen(self, question: str, walker: PathWalker, found: EntityPathAnswer) -> _PathAnswers:
        """Returns all that the paths reach which a language model chooses, the others of the search after them."""
        samples = walker.samples(found, self.config.output_top_k)
        lines = "\n".join(f"{number}. {text}" for number, text in enumerate(samples.values(), start=1))
        signature = path_choice(len(samples), self.choose.signature)
        reply = self.choose(signature=signature, question=question, paths=lines)
        picked = [list(samples)[int(number) - 1] for number in dict.fromkeys(reply.chosen)]
        if not picked:
            message = f"the model took none of {len(samples)} paths"
            raise _NoPathsError("picked_none", message, found.statistics)
        return _settled(walker, picked, found, self.config.output_top_k)


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


def path_choice(count: int, signature: type[dspy.Signature] = ChoosePaths) -> Any:
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
