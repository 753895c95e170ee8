"""A graph with a trained scorer of relations as a world: the beam's candidates are paths from the question's topics.

    >>> world = PathWorld(QuestionGraph(index), scorer, topics=("USA",))
    >>> search = world.search(world.start(), "who is the spouse of the 44th president of the USA?")
    >>> print(search.turn(search.combine(None)).detail.predictions[0])
    # Reasoning Path:
    USA -> president -> Barack Obama -> spouse -> Michelle Obama
    # Answer:
    Michelle Obama

Without a language model the entities of the most probable relation path that fit the question's further words best are
the answers. A language model sees numbered paths of entities and their facts, such as ``Joe Biden: ordinal 46; spouse
Jill Biden``, once a depth: it answers by some of them, follows others on along relations of the graph, or leaves them
for those that the beam has next.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from kg.paths import (
    SEPARATOR,
    EntityPath,
    EntityPathAnswer,
    EntitySpace,
    LearnedRelationScorer,
    PathConfig,
    PathRanker,
    QuestionGraph,
    Topics,
)
from kg.paths import answer_question as answer_by_beam
from kg.search import SearchStatistics
from programs.aggregate import Choice, EvidenceConfig, EvidencePlan, Execution, ScoredCandidates
from programs.lm import stated
from programs.turns import AnyTurn, Failure, Kept, NoAnswerError, PathDetail, Resolution, State, Turn, trace_of
from programs.worlds.base import Search, World
from signatures.paths import PathStep, UnderstandPaths
from signatures.understand import Understanding

_MOST_ENDS, _MOST_TOLD, _MOST_LINES, _MOST_FACTS = 1000, 12, 60, 6
"""Entities of a path that a model may choose together, those that it sees one by one, lines of a prompt, and facts of
an entity."""

_LEAST = 0.5
"""The least probability of a path from an earlier answer; below it a question is not about that."""

PathTurn = Turn[tuple[str, ...], PathDetail]
"""A turn about a graph whose paths were searched: names."""


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
        """See :meth:`programs.worlds.base.World.start`."""
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
        self._resolution: Resolution | None = None
        if not self.topics.entities and not self.topics.unknown:
            self._refer()
        if not self.topics.entities:
            self._failure, self._message = "no_topic", _no_topic(self.topics)
        else:
            self._result = self._searched()
            paths = self._result.relation_paths
            if not paths:
                self._failure, self._message = "empty_beam", "no path from the topics leads to an answer"
            elif self._resolution is not None and math.exp(paths[0].score) * len(self.topics.entities) < _LEAST:
                self._failure, self._message = "no_topic", _no_topic(Topics())
        self.candidates = self._result.relation_paths
        self._lines: list[tuple[str, list[EntityPath]]] = []
        self._picked: dict[str, EntityPath] = {}
        self._shown = self._backtracks = 0

    def _refer(self) -> None:
        """A question that names no entity is about the last answer."""
        turns = self.state.turns
        answered = (number for number in range(len(turns) - 1, -1, -1) if turns[number].answer is not None)
        if (number := next(answered, None)) is not None:
            self.topics = Topics(tuple(turns[number].answer[: self.world.config.beam_width]))
            self._resolution = Resolution(self.question, self.question, self.topics.entities, (number,))

    def _searched(self) -> EntityPathAnswer:
        world, index, topics = self.world, self.world.graph.index, self.topics.entities
        if world.ranker is None:
            return answer_by_beam(index, self.question, topics, world.scorer, world.config)
        return world.ranker.answer(index, self.question, topics, world.scorer.rules, world.config)

    def asks(self, plan: EvidencePlan, lm: Any) -> bool:  # noqa: ARG002
        """Whether a language model decides about the paths: wherever one is set and there is a path."""
        return lm is not None and self._failure is None

    def prompt(self, config: EvidenceConfig, predict: Any) -> dict[str, Any]:  # noqa: ARG002
        """See :meth:`programs.worlds.base.Search.prompt`; the topics, and the beam's paths with their entities."""
        topics = [EntityPath((topic,), (), 0.0) for topic in self.topics.entities]
        self._lines = [*self._told(topics), *self._next()]
        return self._inputs()

    def reply(self, predict: Any, **inputs: Any) -> Any:
        """Asks once a depth, until paths answer and none is followed on; what a reply leaves out is not gone on with.

        Raises:
            NoAnswerError: A reply names a path that is not shown.
        """
        for _ in range(self.world.config.max_depth + 1):
            reply = predict(**inputs)
            self._lines = self._followed(reply.steps)
            if not self._lines:
                break
            inputs = self._inputs()
        return reply

    def _followed(self, steps: Sequence[PathStep]) -> list[tuple[str, list[EntityPath]]]:
        """Keeps the answers; the lines of the paths that are followed on, or else of what was not shown before."""
        lines: list[tuple[str, list[EntityPath]]] = []
        for step in steps:
            if not 1 <= step.path <= len(self._lines):
                raise NoAnswerError("no_valid_choice", f"path must be from 1 to {len(self._lines)}, got {step.path}")
            paths = self._lines[step.path - 1][1]
            if step.action == "ANSWER":
                self._picked |= {one.answer: one for one in paths if one.relations and one.answer not in self._picked}
            for relation in step.relations if step.action == "CONTINUE" else ():
                for path in paths[: self.world.config.beam_width]:
                    lines += self._told(*self._space.followed(path, relation, _MOST_TOLD))
        self._backtracks += len(self._lines) - sum(step.action != "BACKTRACK" for step in steps)
        return lines if lines or self._picked else self._next()

    @property
    def _space(self) -> EntitySpace:
        assert self._result.space is not None
        return self._result.space

    def _inputs(self) -> dict[str, Any]:
        left_out = f"\n{len(self._lines) - _MOST_LINES} more are left out" if len(self._lines) > _MOST_LINES else ""
        self._lines = self._lines[:_MOST_LINES]
        lines = "\n".join(f"{number}. {line}" for number, (line, _) in enumerate(self._lines, 1))
        entities = dict.fromkeys(one for _, paths in self._lines if len(paths) == 1 for one in paths[0].entities)
        facts = "\n".join(f"{one}: {'; '.join(self._space.facts(one, _MOST_FACTS))}" for one in entities)
        return {"question": self.question, "paths": lines + left_out, "facts": facts}

    def _next(self) -> list[tuple[str, list[EntityPath]]]:
        """The lines of the best relation paths that were not shown: fewer entities of each later one."""
        start, self._shown = self._shown, self._shown + self.world.config.output_top_k
        lines = []
        for place, path in enumerate(self.candidates[start : self._shown], 1):
            lines += self._told(self._result.concrete(path, _MOST_ENDS), path.reached, max(_MOST_TOLD // place, 2))
        return lines

    def _told(
        self, paths: Sequence[EntityPath], reached: int = 1, most: int = _MOST_TOLD
    ) -> list[tuple[str, list[EntityPath]]]:
        """A line for each of the first paths, and one for all of them together; none goes through an entity twice."""
        paths = [path for path in paths if len(set(path.entities)) == len(path.entities)]
        lines = [(str(path), [path]) for path in paths[:most]]
        if len(paths) > 1:
            way = SEPARATOR.join((paths[0].entities[0], *paths[0].relations))
            left_out = f", {reached - len(lines)} of them left out above" if reached > len(lines) else ""
            lines.append((f"all {reached} entities of {way}{left_out}", paths))
        return lines

    def understanding(self, reply: Any, refused: Sequence[str]) -> Understanding:
        """See :meth:`programs.worlds.base.Search.understanding`."""
        written = "; ".join(map(str, self._picked.values())) or "none"
        confidence = stated(reply.confidence) if reply is not None else 0.0
        understanding = Understanding(description=self.question, calculation=written, refused=list(refused))
        return understanding.model_copy(update={"confidence": confidence, "says_none": not self._picked})

    def execute(self, reply: Any, refused: Sequence[str] = ()) -> Execution:
        """See :meth:`programs.worlds.base.Search.execute`; the candidate is the paths that answer."""
        return Execution(self.understanding(reply, refused), tuple(self._picked.values()))

    def combine(self, execution: Execution | None) -> Choice:
        """The entities of the best relation path that fit best, or those of the paths by which a model answers."""
        understanding = execution.understanding if execution is not None else None
        if execution is not None and not execution.candidate:
            self._failure, self._message = "picked_none", f"the model took none of {self._shown} paths"
        sure = understanding.confidence if understanding is not None else 0.0
        pairs = zip(self._result.paths, self._result.answers, strict=True)
        beam = [(path, (1 - sure) * math.exp(score)) for path, (_, score) in pairs if path.answer not in self._picked]
        picked = [(path, sure) for path in self._picked.values()]
        self._chosen = tuple(self._picked) or self._result.chosen
        count = max(self.world.config.output_top_k, len(self._chosen))
        self._answers = [] if self._failure is not None else [*picked, *beam][:count]
        best = tuple(share for _, share in self._answers[:1])
        return Choice(self.candidates, ScoredCandidates(best, 1 - sum(best)), understanding=understanding)

    def turn(self, choice: Choice, config: EvidenceConfig | None = None) -> PathTurn:  # noqa: ARG002
        """See :meth:`programs.worlds.base.Search.turn`."""
        trace = trace_of(self._result.statistics)
        trace["backtrack_count"] += self._backtracks
        detail = PathDetail(topics=self.topics, reasoning_trace=trace)
        turn = PathTurn(self.question, understanding=choice.understanding, resolution=self._resolution, detail=detail)
        if not self._answers:
            return replace(turn, failure=self._failure, message=self._message)
        detail = replace(
            detail,
            predictions=tuple(f"# Reasoning Path:\n{path}\n# Answer:\n{path.answer}" for path, _ in self._answers),
            answers=tuple((path.answer, share) for path, share in self._answers),
            raw_paths=tuple((str(path), path.score) for path, _ in self._answers),
            chosen=self._chosen,
            left_out=0 if self._picked else self._result.left_out,
        )
        words = ", ".join(self._chosen) + (f" and {detail.left_out} more" if detail.left_out else "")
        return replace(turn, answer=self._chosen, confidence=self._answers[0][1], words=words, detail=detail)

    def grounds(self, turn: AnyTurn) -> dict[str, str]:
        """See :meth:`programs.worlds.base.Search.grounds`."""
        paths = (turn.detail or PathDetail()).raw_paths
        return {"calculation": "none", "facts": "\n".join(path for path, _ in paths)}


def _no_topic(topics: Topics) -> str:
    if topics.unknown:
        return f"the graph has no entity {', '.join(map(repr, topics.unknown))}"
    return "the question names no entity of the graph"
