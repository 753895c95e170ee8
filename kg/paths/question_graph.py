"""The graph of a question, with linking of its topic entities.

>>> graph = QuestionGraph(GraphIndex.from_triples([("Alien", "directed_by", "Ridley Scott")]))
>>> graph.topics("who directed Alien?")
Topics(entities=('Alien',), linked=Linked(label='Alien', entities=('Alien',)), unknown=())
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from kg.graphs import GraphIndex
from kg.paths.linking import EntityLinker, Topics


@dataclass(frozen=True)
class QuestionGraph:
    """The graph that one question, or all, are asked of.

    Attributes:
        index: The graph.
        other_names: What entities are also called: labels, each with the names of the entities.
        truncated: Whether a limit cut it off when it was fetched.
    """

    index: GraphIndex
    other_names: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    truncated: bool = False

    @cached_property
    def linker(self) -> EntityLinker:
        """Finds entities by their labels."""
        names = (self.index.name(number) for number in range(len(self.index.entities)))
        return EntityLinker(names, self.other_names)

    def topics(self, question: str, given: Iterable[str] = ()) -> Topics:
        """The entities that a question is about: those that are given, by name or label, or else those it names."""
        names = list(given)
        if not names:
            linked = self.linker.link(question)
            return Topics(linked.entities if linked is not None else (), linked)
        found: dict[str, None] = {}
        unknown = []
        for name in names:
            entities = self._named(name)
            found |= dict.fromkeys(entities)
            if not entities:
                unknown.append(name)
        return Topics(tuple(found), None, tuple(unknown))

    def _named(self, name: str) -> tuple[str, ...]:
        if self.index.find(name) is not None:
            return (name,)
        return tuple(self.other_names.get(name, ())) or self.linker.named(name)
