"""Questions over paths of entities, with a language model as the controller of their search.

    1. USA -> president -> Barack Obama -> spouse -> Michelle Obama
    2. USA -> president -> Joe Biden -> spouse -> Jill Biden
    3. all 2 entities of USA -> president -> spouse

The model sees paths with the facts of their entities, such as ``Joe Biden: ordinal 46; spouse Jill Biden``, once a
depth. It answers by some of them, follows others on along relations of the graph, or leaves them for those that the
beam has next.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from kg.paths import SEPARATOR, EntityPath, EntityPathAnswer, Topics
from kg.search import Answer, SearchStatistics
from programs.aggregate import Choice, EvidenceConfig, EvidencePlan, Execution, ScoredCandidates
from programs.lm import stated
from programs.turns import AnyTurn, Failure, GraphDetail, NoAnswerError, Resolution, State, Turn, trace_of
from programs.worlds.base import Search
from signatures.queries import PathStep, UnderstandPaths
from signatures.understand import Understanding

GraphTurn = Turn[Answer | tuple[str, ...], GraphDetail]
"""A turn about any graph: a number, yes or no, or names and values."""

_MOST_ENDS, _MOST_TOLD, _MOST_LINES, _MOST_FACTS, _MOST_GROUNDS = 1000, 12, 60, 6, 30
"""Entities of a path that a model may choose together, those that it sees one by one, lines of a prompt, facts of
an entity, and facts of an explanation."""

_NO_PATHS = EntityPathAnswer((), (), (), (), SearchStatistics(0, 0, 0, 0))
_Lines = list[tuple[str, list[EntityPath]]]


class GraphSearch(Search):
    """The paths of entities that answer a question about any graph, and its turn.

    Args:
        state: The conversation before it.
        question: The question.
        canonical: The question without references to earlier turns.
        topics: The entities at which paths begin.

    Attributes:
        result: The paths.
        names: The answers.
        shown: The relation paths that a model has seen.
        backtracks: The paths that it has left.
    """

    def __init__(self, state: State[Any], question: str, canonical: str, topics: Topics) -> None:
        self.state, self.world, self.question, self.topics = state, state.world, question, topics
        self.result, self.shown, self.backtracks = _NO_PATHS, 0, 0
        if self.world.paths is not None and topics.entities:
            self.result = self.world.paths.search(self.world.index, canonical, topics.entities, self.world.config)
        self.candidates: tuple[Any, ...] = self.result.relation_paths
        self.names = self.result.chosen
        self._answers: list[tuple[str, str, float, float]] = []

    @property
    def path_confidence(self) -> float:
        """The probability of the beam's answer, in [0, 1]; without training, a parser of typed facts knows more: 0."""
        paths = self.world.paths
        if paths is None or not self.result.answers:
            return 0.0
        if paths.scorer.trained_on or paths.ranker:
            return math.exp(self.result.answers[0][1])
        return self.result.untrained_confidence if self.world.reader is None else 0.0

    def choice(
        self, sure: float, lead: Mapping[str, tuple[str, float]], execution: Execution | None, *, is_none: bool
    ) -> Choice:
        """The choice of a confidence; ``lead`` has names with their paths and scores, which go before the beam's."""
        pairs = zip(self.result.paths, self.result.answers, strict=True)
        beam = {path.answer: (str(path), path.score, math.exp(score)) for path, (_, score) in pairs}
        self._answers = [(name, *beam.get(name, way)[:2], sure) for name, way in lead.items()]
        rest = 1 - sure if lead else 1.0
        self._answers += [
            (name, path, score, rest * share) for name, (path, score, share) in beam.items() if name not in lead
        ]
        scores = ScoredCandidates(() if is_none else (sure,), 1 - sure)
        return Choice(self.candidates, scores, understanding=execution.understanding if execution else None)

    def turn(self, choice: Choice, config: EvidenceConfig) -> GraphTurn:
        """See :meth:`programs.worlds.base.Search.turn`."""
        sure, world = choice.scores.candidates, self.world.config
        trace = trace_of(self.result.statistics)
        trace["backtrack_count"] += self.backtracks
        detail = GraphDetail(reasoning_trace=trace, topics=self.topics)
        turn = GraphTurn(self.question, confidence=sum(sure), understanding=choice.understanding, detail=detail)
        if not sure or (sure[0] < world.answer_from and config.answer != "always"):
            failure, message = self.nearest()
            return replace(turn, failure=failure, message=message)
        left_out = self.result.left_out if self.names == self.result.chosen else 0
        most = max(world.output_top_k, len(self.names))
        detail = replace(
            detail,
            nodes=self.names,
            answers=tuple((name, share) for name, _, _, share in self._answers[:most]),
            raw_paths=tuple((path, score) for _, path, score, _ in self._answers[:most]),
            left_out=left_out,
        )
        words = ", ".join(self.names) + (f" and {left_out} more" if left_out else "")
        return replace(turn, answer=self.names, words=words, detail=detail)

    def grounds(self, turn: AnyTurn) -> dict[str, str]:
        """See :meth:`programs.worlds.base.Search.grounds`."""
        detail = turn.detail or GraphDetail()
        facts = detail.facts or tuple(path for path, _ in detail.raw_paths)
        return {"calculation": detail.path or "none", "facts": "\n".join(facts[:_MOST_GROUNDS])}

    def nearest(self, path: str = "", sure: float = 0.0) -> tuple[Failure, str]:
        """Why there is no answer: what is not there, or the likeliest path, which one may ask for in words.

        Args:
            path: A path that goes before the beam's, in words.
            sure: Its confidence.
        """
        if self.shown and not self.names:
            return "picked_none", f"the model took none of {self.shown} paths"
        if path := path or str(next(iter(self.result.paths), "")):
            sure = max(sure, self.path_confidence)
            path = f'the likeliest path, "{path}", has a confidence of {sure:.0%}'
            return "picked_none", f"it is not certain what is asked: {path}"
        if self.topics.entities:
            return "empty_beam", "no path from the topics leads to an answer"
        if self.topics.unknown:
            return "no_topic", f"the graph has no entity {', '.join(map(repr, self.topics.unknown))}"
        return "no_topic" if self.world.reader is None else "picked_none", "the question names no entity of the graph"


class PathSearch(GraphSearch):
    """The search for one question over an index; a state of its controller is a numbered path of entities.

    Attributes:
        picked: The paths that the model answers by, by their last entities.
    """

    signature = UnderstandPaths

    def __init__(self, state: State[Any], question: str) -> None:
        self._earlier: tuple[int, ...] = ()
        super().__init__(state, question, question, self._linked(state, question))
        self.picked: dict[str, EntityPath] = {}
        self._lines = self._told([EntityPath((topic,), (), 0.0) for topic in self.topics.entities])

    def _linked(self, state: State[Any], question: str) -> Topics:
        """The entities that the question names, or else the last answer."""
        topics: Topics = state.world.index.topics(question, state.world.topics)
        if topics.entities or topics.unknown:
            return topics
        self._earlier = tuple(number for number, turn in enumerate(state.turns) if turn.answer is not None)[-1:]
        names = tuple(name for number in self._earlier for name in (state.turns[number].answer or ()))
        return Topics(names[: state.world.config.beam_width])

    def asks(self, plan: EvidencePlan, lm: Any) -> bool:  # noqa: ARG002
        """Whether a language model is there, and paths to show."""
        return lm is not None and bool(self.result.relation_paths)

    def understanding(self, reply: Any, refused: Sequence[str]) -> Understanding:
        """See :meth:`programs.worlds.base.Search.understanding`."""
        written = "; ".join(map(str, self.picked.values())) or "none"
        understanding = Understanding(description=self.question, calculation=written, refused=list(refused))
        says = {"confidence": stated(reply.confidence), "says_none": not self.picked}
        return understanding.model_copy(update=says)

    def execute(self, reply: Any, refused: Sequence[str] = ()) -> Execution:
        """See :meth:`programs.worlds.base.Search.execute`."""
        return Execution(self.understanding(reply, refused))

    def combine(self, execution: Execution | None) -> Choice:
        """The beam's entities, or those of the paths that a model picks."""
        sure, lead = self.path_confidence, dict[str, tuple[str, float]]()
        if execution is not None:
            sure = execution.understanding.confidence
            lead = {name: (str(path), path.score) for name, path in self.picked.items()}
            self.names = tuple(lead)
        return self.choice(sure, lead, execution, is_none=not self.names)

    def turn(self, choice: Choice, config: EvidenceConfig) -> GraphTurn:
        """See :meth:`programs.worlds.base.Search.turn`."""
        refers = Resolution(self.question, self.question, self.topics.entities, self._earlier)
        return replace(super().turn(choice, config), resolution=refers if self._earlier else None)

    def prompt(self, config: EvidenceConfig, predict: Any) -> dict[str, Any]:  # noqa: ARG002
        """The inputs of the first call: the topics, and the beam's paths with their entities."""
        self._lines += self._next()
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

    def _followed(self, steps: Sequence[PathStep]) -> _Lines:
        """Keeps the answers; the lines of the paths that are followed on, or else of what was not shown before."""
        assert self.result.space is not None
        lines: _Lines = []
        for step in steps:
            if not 1 <= step.path <= len(self._lines):
                raise NoAnswerError("no_valid_choice", f"path must be from 1 to {len(self._lines)}, got {step.path}")
            paths = self._lines[step.path - 1][1]
            for path in paths if step.action == "ANSWER" else ():
                if path.relations:
                    self.picked.setdefault(path.answer, path)
            for relation in step.relations if step.action == "CONTINUE" else ():
                for path in paths[: self.world.config.beam_width]:
                    lines += self._told(*self.result.space.followed(path, relation, _MOST_TOLD))
        self.backtracks += len(self._lines) - sum(step.action != "BACKTRACK" for step in steps)
        return lines if lines or self.picked else self._next()

    def _inputs(self) -> dict[str, Any]:
        assert self.result.space is not None
        left_out = f"\n{len(self._lines) - _MOST_LINES} more are left out" if len(self._lines) > _MOST_LINES else ""
        self._lines = self._lines[:_MOST_LINES]
        lines = "\n".join(f"{number}. {line}" for number, (line, _) in enumerate(self._lines, 1))
        entities = dict.fromkeys(name for _, paths in self._lines if len(paths) == 1 for name in paths[0].entities)
        facts = "\n".join(f"{name}: {'; '.join(self.result.space.facts(name, _MOST_FACTS))}" for name in entities)
        return {"question": self.question, "paths": lines + left_out, "facts": facts}

    def _next(self) -> _Lines:
        """The lines of the best relation paths that were not shown: fewer entities of each later one."""
        start, self.shown = self.shown, self.shown + self.world.config.output_top_k
        lines: _Lines = []
        for place, path in enumerate(self.result.relation_paths[start : self.shown], 1):
            lines += self._told(self.result.concrete(path, _MOST_ENDS), path.reached, max(_MOST_TOLD // place, 2))
        return lines

    def _told(self, paths: Sequence[EntityPath], reached: int = 1, most: int = _MOST_TOLD) -> _Lines:
        """A line for each of the first paths, and one for all of them together; none goes through an entity twice."""
        paths = [path for path in paths if len(set(path.entities)) == len(path.entities)]
        lines = [(str(path), [path]) for path in paths[:most]]
        if len(paths) > 1:
            way = SEPARATOR.join((paths[0].entities[0], *paths[0].relations))
            left_out = f", {reached - len(lines)} of them left out above" if reached > len(lines) else ""
            lines.append((f"all {reached} entities of {way}{left_out}", list(paths)))
        return lines
