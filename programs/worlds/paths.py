"""A language model as the controller of a search over paths of entities, with numbered paths and facts in its prompt.

    1. USA -> president -> Barack Obama -> spouse -> Michelle Obama
    2. USA -> president -> Joe Biden -> spouse -> Jill Biden
    3. all 2 entities of USA -> president -> spouse

The model sees paths with the facts of their entities, such as ``Joe Biden: ordinal 46; spouse Jill Biden``, once a
depth. It answers by some of them, follows others on along relations of the graph, or leaves them for those that the
beam has next.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kg.paths import SEPARATOR, EntityPath, EntityPathAnswer, PathConfig
from programs.turns import NoAnswerError
from signatures.queries import PathStep

_MOST_ENDS, _MOST_TOLD, _MOST_LINES, _MOST_FACTS = 1000, 12, 60, 6
"""Entities of a path that a model may choose together, those that it sees one by one, lines of a prompt, and facts of
an entity."""

_Lines = list[tuple[str, list[EntityPath]]]


class PathControl:
    """The numbered paths of one question.

    Args:
        question: The question.
        topics: The entities that it is about.
        result: The beam's paths, at least one.
        config: The beam's settings; ``output_top_k`` is the number of relation paths that are shown at once.

    Attributes:
        picked: The paths that the model answers by, by their last entities.
        shown: The relation paths that it has seen.
        backtracks: The paths that it has left.
    """

    def __init__(self, question: str, topics: Sequence[str], result: EntityPathAnswer, config: PathConfig) -> None:
        self.question, self.result, self.config = question, result, config
        self.picked: dict[str, EntityPath] = {}
        self.shown = self.backtracks = 0
        self._lines = self._told([EntityPath((topic,), (), 0.0) for topic in topics])

    def prompt(self) -> dict[str, Any]:
        """The inputs of the first call: the topics, and the beam's paths with their entities."""
        self._lines += self._next()
        return self._inputs()

    def reply(self, predict: Any, **inputs: Any) -> Any:
        """Asks once a depth, until paths answer and none is followed on; what a reply leaves out is not gone on with.

        Raises:
            NoAnswerError: A reply names a path that is not shown.
        """
        for _ in range(self.config.max_depth + 1):
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
            if step.action == "ANSWER":
                self.picked |= {
                    path.answer: path for path in paths if path.relations and path.answer not in self.picked
                }
            for relation in step.relations if step.action == "CONTINUE" else ():
                for path in paths[: self.config.beam_width]:
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
        start, self.shown = self.shown, self.shown + self.config.output_top_k
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
