"""A graph with a trained scorer of relations as a world: the beam's candidates are paths from the question's topics.

    >>> world = PathWorld(QuestionGraph(index), scorer, topics=("USA",))
    >>> search = world.search(world.start(), "who is the spouse of the 44th president of the USA?")
    >>> print(search.turn(search.combine(None)).detail.predictions[0])
    # Reasoning Path:
    USA -> president -> Barack Obama -> spouse -> Michelle Obama
    # Answer:
    Michelle Obama

Without a language model every entity that the most probable relation path reaches is an answer. A language model
chooses among the numbered relation paths, with one call; a concrete path represents all that its relation path reaches,
such as ``1. Ann Lee -> ^starred_actors -> Dusk -> has_genre -> Drama (and 3 more)``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from kg.paths import EntityPath, EntityPathAnswer, LearnedRelationScorer, PathConfig, PathRanker, QuestionGraph, Topics
from kg.paths import answer_question as answer_by_beam
from kg.search import SearchStatistics
from programs.aggregate import Choice, EvidenceConfig, EvidencePlan, Execution, ScoredCandidates
from programs.turns import AnyTurn, Failure, Kept, PathDetail, State, Turn, trace_of
from programs.worlds.base import Search, World
from signatures.paths import UnderstandPaths
from signatures.understand import Understanding

PathTurn = Turn[tuple[str, ...], PathDetail]
"""A turn about a graph whose paths were searched: names."""


@dataclass(frozen=True)
class _PathAnswers:
    """Answers with their probabilities in order, a path for each, the selected ones, and the paths of the choice."""

    answers: Sequence[tuple[str, float]]
    paths: Sequence[EntityPath]
    chosen: Sequence[str]
    raw: Sequence[EntityPath]


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
        ranker: Ranks whole paths in place of the beam; ``None`` for none.
    """

    graph: QuestionGraph
    scorer: LearnedRelationScorer
    name: str = ""
    topics: tuple[str, ...] = ()
    config: PathConfig = field(default_factory=PathConfig)
    ranker: PathRanker | None = None
    kind: ClassVar[str] = "graph"

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
        self._result = EntityPathAnswer((), (), (), (), SearchStatistics(0, 0, 0, 0))
        self.topics: Topics = self.world.graph.topics(question, self.world.topics)
        if not self.topics.entities:
            self._failure, self._message = "no_topic", _no_topic(self.topics)
        else:
            self._result = self._searched()
            if not self._result.relation_paths:
                self._failure, self._message = "empty_beam", "no path from the topics leads to an answer"
        self.candidates = self._result.relation_paths

    def _searched(self) -> EntityPathAnswer:
        world, index, topics = self.world, self.world.graph.index, self.topics.entities
        if world.ranker is None:
            return answer_by_beam(index, self.question, topics, world.scorer, world.config)
        return world.ranker.answer(index, self.question, topics, world.scorer.rules, world.config)

    def asks(self, plan: EvidencePlan, lm: Any) -> bool:  # noqa: ARG002
        """Whether a language model chooses among the paths: wherever one is set and there is a path."""
        return lm is not None and self._failure is None

    def prompt(self, config: EvidenceConfig, predict: Any) -> dict[str, Any]:  # noqa: ARG002
        """See :meth:`programs.worlds.base.Search.prompt`."""
        shown = self.candidates[: self.world.config.output_top_k]
        self._examples = [self._result.concrete(path, 1)[0] for path in shown]
        more = [f" (and {path.reached - 1} more)" if path.reached > 1 else "" for path in shown]
        lines = [f"{place}. {self._examples[place - 1]}{more[place - 1]}" for place in range(1, len(shown) + 1)]
        number: Any = Literal[tuple(range(1, len(shown) + 1))]
        signature = predict.signature.with_updated_fields("chosen", type_=list[number])
        return {"question": self.question, "paths": "\n".join(lines), "signature": signature}

    def understanding(self, reply: Any, refused: Sequence[str]) -> Understanding:
        """See :meth:`programs.worlds.base.Search.understanding`."""
        written = ", ".join(map(str, reply.chosen)) or "none"
        return Understanding(description=self.question, calculation=written, refused=list(refused))

    def execute(self, reply: Any, refused: Sequence[str] = ()) -> Execution:
        """See :meth:`programs.worlds.base.Search.execute`; the candidate is the places of the chosen paths."""
        places = tuple(int(number) - 1 for number in dict.fromkeys(reply.chosen))
        return Execution(self.understanding(reply, refused), places)

    def combine(self, execution: Execution | None) -> Choice:
        """The entities that the best relation path reaches, or those of the paths that a model chose."""
        self._answers: _PathAnswers | None = None
        if execution is not None and not execution.candidate:
            message = f"the model took none of {len(self._examples)} paths"
            self._failure, self._message = "picked_none", message
        elif self._failure is None:
            self._answers = self._best() if execution is None else self._chosen(execution.candidate)
        understanding = execution.understanding if execution is not None else None
        best = (self._answers.answers[0][1],) if self._answers is not None and self._answers.answers else ()
        return Choice(self.candidates, ScoredCandidates(best, 1 - sum(best)), understanding=understanding)

    def _best(self) -> _PathAnswers:
        """The entities of the most probable relation path, then those of others."""
        result = self._result
        count = max(self.world.config.output_top_k, len(result.chosen))
        answers = [(name, math.exp(score)) for name, score in result.answers[:count]]
        return _PathAnswers(answers, result.paths[:count], result.chosen, result.paths[:count])

    def _chosen(self, places: Sequence[int]) -> _PathAnswers:
        """All that the chosen paths reach, then what the search found."""
        paths: dict[str, EntityPath] = {}
        for place in places:
            for path in self._result.concrete(self.candidates[place]):
                paths.setdefault(path.answer, path)
        chosen = list(paths)
        for path in self._result.paths:
            if len(paths) < self.world.config.output_top_k:
                paths.setdefault(path.answer, path)
        answers = [(name, math.exp(path.score)) for name, path in paths.items()]
        return _PathAnswers(answers, list(paths.values()), chosen, [self._examples[place] for place in places])

    def turn(self, choice: Choice, config: EvidenceConfig | None = None) -> PathTurn:  # noqa: ARG002
        """See :meth:`programs.worlds.base.Search.turn`."""
        about: dict[str, Any] = {"understanding": choice.understanding}
        trace = trace_of(self._result.statistics)
        if self._answers is None:
            detail = PathDetail(topics=self.topics, reasoning_trace=trace)
            return PathTurn(self.question, failure=self._failure, message=self._message, detail=detail, **about)
        chosen, found = tuple(self._answers.chosen), self._answers
        pairs = zip(found.paths, found.answers, strict=True)
        detail = PathDetail(
            predictions=tuple(f"# Reasoning Path:\n{path}\n# Answer:\n{answer}" for path, (answer, _) in pairs),
            answers=tuple(found.answers),
            reasoning_trace=trace,
            raw_paths=tuple((str(path), path.score) for path in found.raw),
            chosen=chosen,
            topics=self.topics,
        )
        confidence = found.answers[0][1] if found.answers else None
        words = ", ".join(chosen)
        return PathTurn(self.question, answer=chosen, confidence=confidence, words=words, detail=detail, **about)

    def grounds(self, turn: AnyTurn) -> dict[str, str]:
        """See :meth:`programs.worlds.base.Search.grounds`."""
        paths = (turn.detail or PathDetail()).raw_paths
        return {"calculation": "none", "facts": "\n".join(path for path, _ in paths)}


def _no_topic(topics: Topics) -> str:
    if topics.unknown:
        return f"the graph has no entity {', '.join(map(repr, topics.unknown))}"
    return "the question names no entity of the graph"
