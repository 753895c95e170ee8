"""A language model's choice among the paths that a search found: the entity that answers, or the paths that do.

A search follows relation paths, each of which may reach many entities. One concrete path represents each::

    1. Ann Lee -> ^starred_actors -> Dusk -> has_genre -> Drama (and 3 more)
    2. Ann Lee -> ^written_by -> Rain -> has_genre -> Comedy

and the model's reply holds for all entities that the relation path reaches at the same place.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import dspy
import numpy as np
from dspy.utils.exceptions import AdapterParseError

from kg.errors import LMError
from kg.graphs import GraphIndex
from kg.paths import (
    SEPARATOR,
    EntityPath,
    EntityPathAnswer,
    EntitySpace,
    PathAccumulator,
    PathConfig,
    ReasoningPath,
    RelationScorer,
    trace,
)
from programs.graphs.path_grammar import path_grammar
from programs.lm import GBNF, ShortPromptAdapter, is_embedded
from signatures.paths import NO_ENTITY, ChoosePaths, NamePathAnswer, WritePath

_RELATIONS_SHOWN = 80
_LONGEST_REPLY = 1024


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
        self.topics = tuple(topics)
        self.topics_may_answer = scorer.rules.may_answer
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
        found = [replace(path, entities=tuple(self.index.name(entity) for entity in row)) for row in rows]
        return tuple(sorted(found, key=lambda one: one.answer))

    def samples(self, found: EntityPathAnswer, most: int) -> dict[str, Sample]:
        """One concrete path along each of the best relation paths, by how it is written."""
        samples: dict[str, Sample] = {}
        for relation_path in found.relation_paths[:most]:
            template = EntityPath((relation_path.topic,), relation_path.relations, relation_path.score)
            [path] = self.walk(template, 1)
            samples.setdefault(str(path), Sample(path, relation_path.reached))
        return samples


@dataclass(frozen=True)
class Sample:
    """A concrete path that represents its relation path.

    Attributes:
        path: The path.
        reached: The number of entities that its relation path reaches.
    """

    path: EntityPath
    reached: int

    def __str__(self) -> str:
        more = f" (and {self.reached - 1} more)" if self.reached > 1 else ""
        return f"{self.path}{more}"


@dataclass(frozen=True)
class PathChoice:
    """The choice of a language model.

    Attributes:
        paths: Paths that end in what answers, the best first.
        refused: Replies that were left out because they named nothing that they could.
        asked: The number of paths in its prompt.
    """

    paths: tuple[EntityPath, ...]
    refused: int
    asked: int


class ModelPaths(dspy.Module):
    """Asks the language model that is set in DSPy about paths."""

    def __init__(self) -> None:
        super().__init__()
        self.name = dspy.Predict(NamePathAnswer)
        self.choose = dspy.Predict(ChoosePaths)
        self.write = dspy.Predict(WritePath)

    def named(self, question: str, walker: PathWalker, samples: dict[str, Sample]) -> PathChoice:
        """Names, for each path in a call of its own, the entity on it that answers; topics are never offered."""
        accumulator = PathAccumulator(walker.topics, topics_may_answer=walker.topics_may_answer)
        accumulator.add_paths(sample.path for sample in samples.values())
        refused = 0

        def extract(paths: Sequence[ReasoningPath]) -> list[str | None]:
            nonlocal refused
            names: list[str | None] = []
            for path in paths:
                try:
                    names.append(self._name(question, path, accumulator.answerable(path)))
                except AdapterParseError:
                    refused += 1
                    names.append(None)
            return names

        found = accumulator.extracted(extract)
        refused += sum(one.refused is not None for one in found)
        paths = [_until(samples[one.path.text].path, one.answer) for one in found if one.answer is not None]
        return PathChoice(tuple(dict.fromkeys(paths)), refused, len(found))

    def _name(self, question: str, path: ReasoningPath, entities: Sequence[str]) -> str | None:
        if not entities:
            return None
        reply = self.name(
            signature=path_answer(entities, self.name.signature),
            question=question,
            path=path.text,
            entities="; ".join(entities),
        )
        return None if reply.entity == NO_ENTITY else str(reply.entity)

    def chosen(self, question: str, samples: dict[str, Sample]) -> PathChoice:
        """Chooses among numbered paths, all in one call."""
        listed = list(samples.values())
        lines = "\n".join(f"{number}. {sample}" for number, sample in enumerate(listed, start=1))
        signature = path_choice(len(listed), self.choose.signature)
        reply = self.choose(signature=signature, question=question, paths=lines)
        numbers = list(dict.fromkeys(int(number) for number in reply.chosen))
        return PathChoice(tuple(listed[number - 1].path for number in numbers), 0, len(listed))

    def written(self, question: str, walker: PathWalker, max_depth: int) -> PathChoice:
        """Writes a path itself, held to those of the graph.

        Raises:
            LMError: The model cannot be held to a grammar, or was cut off.
            NoPathError: No path leaves the topics.
            ConfigError: The graph around the topics is too large for a grammar.
        """
        lm = dspy.settings.lm
        if not is_embedded(lm):
            raise LMError(f"{lm.model} cannot be held to a grammar: constrained decoding needs an embedded model")
        grammar = path_grammar(walker.index, walker.topics, max_depth=max_depth, before="path: ")
        with dspy.context(adapter=_HeldToGrammar(grammar.text)):
            reply = self.write(
                relations=", ".join(grammar.relations[:_RELATIONS_SHOWN]),
                topics="; ".join(walker.topics),
                question=question,
                config={"max_tokens": _LONGEST_REPLY},
            )
        return PathChoice((_read(str(reply.path), walker.index),), 0, 1)


class _HeldToGrammar(ShortPromptAdapter):
    """Prompts as for other replies of a small model; the reply is held to a grammar of its own."""

    def __init__(self, grammar: str) -> None:
        super().__init__()
        self.grammar = grammar

    def held(self, lm: Any, lm_kwargs: dict[str, Any], signature: Any) -> dict[str, Any]:  # noqa: ARG002
        """The call's settings, with the grammar."""
        schema = {"name": GBNF, "schema": {"grammar": self.grammar}}
        return {**lm_kwargs, "response_format": {"type": "json_schema", "json_schema": schema}}


def path_answer(entities: Sequence[str], signature: type[dspy.Signature] = NamePathAnswer) -> Any:
    """The signature that lets only these entities, or none of them, be named."""
    allowed: Any = Literal[tuple(dict.fromkeys((*entities, NO_ENTITY)))]
    return signature.with_updated_fields("entity", type_=allowed)


def path_choice(count: int, signature: type[dspy.Signature] = ChoosePaths) -> Any:
    """The signature that lets only the numbers from 1 to ``count`` be chosen."""
    number: Any = Literal[tuple(range(1, count + 1))]
    return signature.with_updated_fields("chosen", type_=list[number])


def _until(path: EntityPath, entity: str) -> EntityPath:
    """The path up to an entity on it; where it comes twice, up to its last place."""
    place = len(path.entities) - 1 - path.entities[::-1].index(entity)
    return replace(path, entities=path.entities[: place + 1], relations=path.relations[:place])


def _read(text: str, index: GraphIndex) -> EntityPath:
    parts = text.split(SEPARATOR)
    path = EntityPath(tuple(parts[::2]), tuple(parts[1::2]), 0.0)
    whole = len(parts) % 2 == 1 and len(parts) > 1
    if not whole or not all(index.contains(*triple) for triple in path.triples):
        raise LMError(f"the model was cut off before its path was whole: {text[-80:]!r}")
    return path
