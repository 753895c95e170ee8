"""The program for questions about any graph: find the topics, search paths, settle on the answers.

    >>> program = KGQA(scorer)
    >>> found = program(question="who is the spouse of the 44th president of the USA ?", graph=graph, topics=["USA"])
    >>> found.answers
    (('Michelle Obama', 0.93), ...)
    >>> print(found.predictions[0])
    # Reasoning Path:
    USA -> president -> Barack Obama -> spouse -> Michelle Obama
    # Answer:
    Michelle Obama

How it settles (``aggregation``):

- ``score``: every entity that the most probable relation path reaches; no language model.
- ``last-entity``: the last entity of each of the best paths, and nothing else; the naive way, for comparison.
- ``per-path``: a language model names, for the best path along each relation path, the entity on it that answers.
- ``index``: a language model chooses among the numbered relation paths, in one call.
- ``constrained``: a language model writes the path itself, held to the graph's paths by a grammar; no beam.

With a language model, what it names stands for all entities at that place of the relation path: a question with many
answers takes no more calls. An error of the search or the model becomes a result without an answer that says why.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, get_args

import dspy
from dspy.utils.exceptions import AdapterParseError
from dspy.utils.exceptions import LMError as DSPyLMError

from kg.errors import ConfigError, FinpathError, LMError
from kg.graphs import GraphIndex
from kg.paths import (
    EntityPath,
    EntityPathAnswer,
    PathAccumulator,
    PathConfig,
    QuestionGraph,
    ReasoningPath,
    RelationScorer,
    Topics,
    answer_question,
    gcr_prediction,
)
from kg.search import SearchStatistics
from programs.graphs.path_answers import ModelPaths, PathWalker, Picked
from programs.lm import Metered, metered
from programs.turns import Usage

Aggregation = Literal["score", "last-entity", "per-path", "index", "constrained"]
AGGREGATIONS: tuple[Aggregation, ...] = get_args(Aggregation)
"""The ways to settle on answers."""

NEEDS_LM = frozenset({"per-path", "index", "constrained"})
"""Those that ask a language model."""

KGQAFailure = Literal["no_topic", "empty_beam", "no_valid_choice", "picked_none", "lm_error", "error"]
"""Why a question has no answer; every kind is counted apart."""

_NOTHING = SearchStatistics(0, 0, 0, 0)


@dataclass(frozen=True)
class KGQAResult:
    """What came of a question.

    Attributes:
        question: As asked.
        predictions: The paths with their answers as GCR's evaluation reads them, best first.
        answers: Answers with their confidences in [0, 1], best first.
        reasoning_trace: ``total_paths_explored``, ``completed_paths``, ``max_depth_reached``, ``backtrack_count``.
        raw_paths: The paths as they were found, with their scores (log-probabilities), best first.
        chosen: The answers that the program settles on: the set to compare with all gold answers.
        topics: The entities that the question is about, and how they were found.
        failure: Why there is no answer.
        message: The failure in words.
        refused: Replies of a language model that were left out because they named nothing on their path.
        usage: Calls, tokens and time.
    """

    question: str
    predictions: tuple[str, ...] = ()
    answers: tuple[tuple[str, float], ...] = ()
    reasoning_trace: dict[str, int] = field(default_factory=lambda: trace_of(_NOTHING))
    raw_paths: tuple[tuple[str, float], ...] = ()
    chosen: tuple[str, ...] = ()
    topics: Topics = field(default_factory=lambda: Topics(()))
    failure: KGQAFailure | None = None
    message: str = ""
    refused: int = 0
    usage: Usage = field(default_factory=Usage)

    @property
    def is_ambiguous(self) -> bool:
        """Whether the topic was linked by a label that several entities bear; all of them are then topics."""
        return self.topics.linked is not None and self.topics.linked.is_ambiguous

    @property
    def lm_calls(self) -> int:
        """Calls to a language model."""
        return self.usage.lm_calls

    @property
    def seconds(self) -> float:
        """Wall time."""
        return self.usage.seconds


def trace_of(statistics: SearchStatistics) -> dict[str, int]:
    """A search's statistics under the names of the output file."""
    return {
        "total_paths_explored": statistics.total_paths_explored,
        "completed_paths": statistics.completed_paths,
        "max_depth_reached": statistics.max_depth_reached,
        "backtrack_count": statistics.backtrack_count,
    }


@dataclass(frozen=True)
class _Found:
    """What was found before it is written down: answers in order, a path for each, and those that are settled on."""

    answers: Sequence[tuple[str, float]]
    paths: Sequence[ReasoningPath]
    chosen: Sequence[str]
    raw: Sequence[ReasoningPath]
    statistics: SearchStatistics
    refused: int = 0


class _NoAnswerError(Exception):
    """There is no answer, for a reason that is no error."""

    def __init__(self, failure: KGQAFailure, message: str, statistics: SearchStatistics = _NOTHING) -> None:
        super().__init__(message)
        self.failure: KGQAFailure = failure
        self.statistics = statistics


class KGQA(dspy.Module):
    """Answers questions about the entities of any graph.

    Args:
        scorer: What scores the relations.
        config: The beam's settings; ``output_top_k`` is also how many paths are returned at least, and shown to a
            language model at the most.
        aggregation: How it settles on answers.

    Raises:
        ConfigError: There is no such way to settle.
    """

    def __init__(
        self, scorer: RelationScorer, config: PathConfig | None = None, aggregation: Aggregation = "score"
    ) -> None:
        super().__init__()
        if aggregation not in AGGREGATIONS:
            raise ConfigError(f"aggregation must be one of {', '.join(AGGREGATIONS)}, got {aggregation!r}")
        self.scorer = scorer
        self.config = config if config is not None else PathConfig()
        self.aggregation: Aggregation = aggregation
        self.model_paths = ModelPaths()

    @property
    def needs_lm(self) -> bool:
        """Whether it asks a language model: to settle on answers, or to score relations."""
        return self.aggregation in NEEDS_LM or isinstance(self.scorer, dspy.Module)

    def forward(self, question: str, graph: QuestionGraph | GraphIndex, topics: Sequence[str] = ()) -> dspy.Prediction:
        """Answers a question.

        Args:
            question: The question.
            graph: The graph that it is asked of.
            topics: The entities that it is about, by name or label; without any, those that it names are found.

        Returns:
            A prediction with ``result`` (a :class:`KGQAResult`) and that result's ``question``, ``predictions``,
            ``answers``, ``reasoning_trace`` and ``raw_paths``.
        """
        with metered() as measured:
            result = self._guarded(question, graph, topics, measured)
        result = replace(result, usage=measured.usage)
        return dspy.Prediction(
            result=result,
            question=result.question,
            predictions=result.predictions,
            answers=result.answers,
            reasoning_trace=result.reasoning_trace,
            raw_paths=result.raw_paths,
        )

    def _guarded(
        self, question: str, graph: QuestionGraph | GraphIndex, given: Sequence[str], measured: Metered
    ) -> KGQAResult:
        topics = Topics(())
        try:
            asked = graph if isinstance(graph, QuestionGraph) else QuestionGraph(graph)
            topics = asked.topics(question, given)
            if not topics.entities:
                raise _NoAnswerError("no_topic", _no_topic(topics))
            return _result(question, topics, self._answer(question, asked.index, topics.entities))
        except _NoAnswerError as reason:
            return KGQAResult(
                question,
                reasoning_trace=trace_of(reason.statistics),
                topics=topics,
                failure=reason.failure,
                message=str(reason),
            )
        except AdapterParseError as error:
            return _failed(question, topics, "no_valid_choice", error)
        except (DSPyLMError, LMError) as error:
            return _failed(question, topics, "lm_error", error)
        except FinpathError as error:
            return _failed(question, topics, "error", error)
        except Exception as error:
            if error is not measured.meter.failure:
                raise
            return _failed(question, topics, "lm_error", error)

    def _answer(self, question: str, index: GraphIndex, topics: Sequence[str]) -> _Found:
        if self.needs_lm and dspy.settings.lm is None:
            asking = "scorer" if self.aggregation not in NEEDS_LM else f"aggregation {self.aggregation!r}"
            raise LMError(f"the {asking} asks a language model, and none is set")
        if self.aggregation == "constrained":
            walker = PathWalker(index, topics, self.scorer, self.config)
            return _settled(walker, self.model_paths.written(question, walker, self.config.max_depth), 1, None, 0)
        found = answer_question(index, question, topics, self.scorer, self.config)
        if not found.relation_paths:
            raise _NoAnswerError("empty_beam", "no path from the topics leads to an answer", found.statistics)
        if self.aggregation == "score":
            return _scored(found, self.config.output_top_k)
        if self.aggregation == "last-entity":
            return _naive(found, self.config.output_top_k)
        return self._asked(question, PathWalker(index, topics, self.scorer, self.config), found)

    def _asked(self, question: str, walker: PathWalker, found: EntityPathAnswer) -> _Found:
        samples = walker.samples(found, self.config.output_top_k)
        if self.aggregation == "per-path":
            picked = self.model_paths.named(question, walker, samples)
        else:
            picked = self.model_paths.chosen(question, samples)
        if not picked.paths:
            all_refused = picked.refused == picked.asked
            message = f"the model took none of {picked.asked} paths"
            raise _NoAnswerError("no_valid_choice" if all_refused else "picked_none", message, found.statistics)
        settled = 1 if self.aggregation == "per-path" else len(picked.paths)
        return _settled(walker, picked, settled, found, self.config.output_top_k)


def _scored(found: EntityPathAnswer, top_k: int) -> _Found:
    count = max(top_k, len(found.chosen))
    paths = [ReasoningPath.of(path) for path in found.paths[:count]]
    answers = [(name, math.exp(score)) for name, score in found.answers[:count]]
    return _Found(answers, paths, found.chosen, paths, found.statistics)


def _naive(found: EntityPathAnswer, top_k: int) -> _Found:
    """The last entity of each of the best paths, whatever it is."""
    accumulator = PathAccumulator()
    accumulator.add_paths(found.paths)
    raw = accumulator.paths[:top_k]
    merged = accumulator.answers(top_k=top_k)
    answers = [(one.answer, math.exp(one.score)) for one in merged]
    return _Found(answers, [one.paths[0] for one in merged], [name for name, _ in answers], raw, found.statistics)


def _settled(walker: PathWalker, picked: Picked, settled: int, found: EntityPathAnswer | None, top_k: int) -> _Found:
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
    return _Found(answers, written, chosen, raw, statistics, picked.refused)


def _result(question: str, topics: Topics, found: _Found) -> KGQAResult:
    pairs = zip(found.paths, found.answers, strict=True)
    return KGQAResult(
        question=question,
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


def _failed(question: str, topics: Topics, failure: KGQAFailure, error: Exception) -> KGQAResult:
    return KGQAResult(question, topics=topics, failure=failure, message=f"{type(error).__name__}: {error}")
