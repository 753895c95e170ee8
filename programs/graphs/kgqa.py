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
- ``last-entity``: the last entity of each of the best paths, and nothing else; the naive way, for comparison.
- ``per-path``: a language model names, for the best path along each relation path, the entity on it that answers.
- ``index``: a language model chooses among the numbered relation paths, in one call.
- ``constrained``: a language model writes the path itself, held to the graph's paths by a grammar; no beam.

An entity that a language model names represents all entities at that place of the relation path. So a question with
many answers takes no more calls. An error of the search or the model becomes a failed turn.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

import dspy

from kg.errors import ConfigError, LMError
from kg.graphs import GraphIndex
from kg.paths import (
    EntityPath,
    EntityPathAnswer,
    PathAccumulator,
    PathConfig,
    PathRanker,
    QuestionGraph,
    ReasoningPath,
    RelationScorer,
    Topics,
    answer_question,
    gcr_prediction,
)
from kg.search import SearchStatistics
from programs.graphs.path_answers import ModelPaths, PathChoice, PathWalker
from programs.graphs.world import GraphWorld
from programs.lm import failure_of, metered
from programs.turns import Failure, Kept, NoAnswerError, PathDetail, State, Turn, trace_of

Aggregation = Literal["score", "last-entity", "per-path", "index", "constrained"]
AGGREGATIONS: tuple[Aggregation, ...] = get_args(Aggregation)
"""The ways to select the answers."""

NEEDS_LM = frozenset({"per-path", "index", "constrained"})
"""Those that ask a language model."""

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
    refused: int = 0


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
        if aggregation not in AGGREGATIONS:
            raise ConfigError(f"aggregation must be one of {', '.join(AGGREGATIONS)}, got {aggregation!r}")
        self.scorer = scorer
        self.config = config if config is not None else PathConfig()
        self.aggregation: Aggregation = aggregation
        self.ranker = ranker
        self.model_paths = ModelPaths()

    @property
    def needs_lm(self) -> bool:
        """Whether it asks a language model to select answers or to score relations."""
        return self.aggregation in NEEDS_LM or isinstance(self.scorer, dspy.Module)

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
            asking = "scorer" if self.aggregation not in NEEDS_LM else f"aggregation {self.aggregation!r}"
            raise LMError(f"the {asking} asks a language model, and none is set")
        if self.aggregation == "constrained":
            walker = PathWalker(index, topics, self.scorer, self.config)
            return _settled(walker, self.model_paths.written(question, walker, self.config.max_depth), 1, None, 0)
        found = self._searched(question, index, topics)
        if not found.relation_paths:
            raise _NoPathsError("empty_beam", "no path from the topics leads to an answer", found.statistics)
        if self.aggregation == "score":
            return _scored(found, self.config.output_top_k)
        if self.aggregation == "last-entity":
            return _naive(found, self.config.output_top_k)
        return self._asked(question, PathWalker(index, topics, self.scorer, self.config), found)

    def _searched(self, question: str, index: GraphIndex, topics: Sequence[str]) -> EntityPathAnswer:
        if self.ranker is None or isinstance(self.scorer, dspy.Module):
            return answer_question(index, question, topics, self.scorer, self.config)
        return self.ranker.answer(index, question, topics, self.scorer.rules, self.config)

    def _asked(self, question: str, walker: PathWalker, found: EntityPathAnswer) -> _PathAnswers:
        samples = walker.samples(found, self.config.output_top_k)
        if self.aggregation == "per-path":
            picked = self.model_paths.named(question, walker, samples)
        else:
            picked = self.model_paths.chosen(question, samples)
        if not picked.paths:
            all_refused = picked.refused == picked.asked
            message = f"the model took none of {picked.asked} paths"
            raise _NoPathsError("no_valid_choice" if all_refused else "picked_none", message, found.statistics)
        settled = 1 if self.aggregation == "per-path" else len(picked.paths)
        return _settled(walker, picked, settled, found, self.config.output_top_k)


def _scored(found: EntityPathAnswer, top_k: int) -> _PathAnswers:
    count = max(top_k, len(found.chosen))
    paths = [ReasoningPath.of(path) for path in found.paths[:count]]
    answers = [(name, math.exp(score)) for name, score in found.answers[:count]]
    return _PathAnswers(answers, paths, found.chosen, paths, found.statistics)


def _naive(found: EntityPathAnswer, top_k: int) -> _PathAnswers:
    """The last entity of each of the best paths."""
    accumulator = PathAccumulator()
    accumulator.add_paths(found.paths)
    raw = accumulator.paths[:top_k]
    merged = accumulator.answers(top_k=top_k)
    answers = [(one.answer, math.exp(one.score)) for one in merged]
    return _PathAnswers(answers, [one.paths[0] for one in merged], [name for name, _ in answers], raw, found.statistics)


def _settled(
    walker: PathWalker, picked: PathChoice, settled: int, found: EntityPathAnswer | None, top_k: int
) -> _PathAnswers:
    """All that the first ``settled`` of the picked paths reach, then what the others do, then what the search found."""
    paths: dict[str, EntityPath] = {}
    chosen: list[str] = []
    for number, path in enumerate(picked.paths):
        for one in walker.walk(path):
            paths.setdefault(one.answer, one)
        if number < settled:
            chosen = list(paths)
    if found is not None:
        for one in found.paths:
            if len(paths) < top_k:
                paths.setdefault(one.answer, one)
    written = [ReasoningPath.of(path) for path in paths.values()]
    answers = [(name, math.exp(path.score)) for name, path in paths.items()]
    raw = [ReasoningPath.of(path) for path in picked.paths]
    statistics = found.statistics if found is not None else _NOTHING
    return _PathAnswers(answers, written, chosen, raw, statistics, picked.refused)


def _detail(topics: Topics, found: _PathAnswers) -> PathDetail:
    pairs = zip(found.paths, found.answers, strict=True)
    return PathDetail(
        predictions=tuple(gcr_prediction(path.text, answer) for path, (answer, _) in pairs),
        answers=tuple(found.answers),
        reasoning_trace=trace_of(found.statistics),
        raw_paths=tuple((path.text, path.score) for path in found.raw),
        chosen=tuple(found.chosen),
        topics=topics,
        refused=found.refused,
    )


def _no_topic(topics: Topics) -> str:
    if topics.unknown:
        return f"the graph has no entity {', '.join(map(repr, topics.unknown))}"
    return "the question names no entity of the graph"
