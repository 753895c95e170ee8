"""Selection of referents among the entities in play: of one for a pronoun, of a set for "them" or "the two".

>>> Referents(graph, past, context, named=()).single([CAPITAL])    # after "Which countries border Germany?"
'https://w3id.org/finpath/geography#Germany'
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from kg.discourse import Discourse, Spoken, Traits, disagreement
from kg.graphs import GraphContext
from kg.questions import EntityGraph

_PEOPLE = frozenset(("person", "human", "man", "woman"))


@dataclass(frozen=True)
class PastQuestion:
    """An earlier turn as references see it.

    Attributes:
        canonical: Its question, standing alone.
        subjects: The entities that it was about: named in it, or referred to one by one.
        results: The entities that answered it, or that it counted.
        properties: The properties that it asked for, in the order of their use.
        turn: Its place in the conversation, from 0.
    """

    canonical: str
    subjects: tuple[str, ...] = ()
    results: tuple[str, ...] = ()
    properties: tuple[str, ...] = ()
    turn: int = 0


@dataclass
class Referents:
    """The possible referents of a question, and those that were selected.

    Attributes:
        graph: The graph and its words.
        past: The turns before the question.
        context: The entities in play, the most salient first.
        named: The entities that the question names itself: never what it refers to without naming.
        found: The entities that it was found to refer to.
        turns: The turns that these come from.
    """

    graph: EntityGraph
    past: Sequence[PastQuestion]
    context: GraphContext
    named: Sequence[str] = ()
    found: list[str] = field(default_factory=list)
    turns: list[int] = field(default_factory=list)

    def single(
        self,
        properties: Sequence[str],
        kinds: Sequence[str] = (),
        exclude: Sequence[str] = (),
        word: str = "",
        inverse: bool = False,
    ) -> str | None:
        """The most salient entity in play that has what is asked for; ``None`` where none has."""
        named = {*self.named, *exclude}
        options = [node for node in self.in_play() if node not in named]
        if kinds:
            options = [node for node in options if any(self.graph.is_a(node, kind) for kind in kinds)]
        if word:  # Of those that agree alike, the most salient comes first.
            options.sort(key=lambda node: disagreement(word, self.traits(node)))
        if word == "there" and len(self.past[-1].results) == 1 and self.past[-1].results[0] in options:
            options = [self.past[-1].results[0], *options]
        if not properties:
            chosen = options[:1]
        else:
            if inverse:  # "the capital of?": what another has as its capital
                options = [node for node in options if any(self.graph.is_value(node, prop) for prop in properties)]
                properties = []
            chosen = [node for node in options if all(self.graph.has(node, prop) for prop in properties)]
            chosen = chosen or [node for node in options if any(self.graph.has(node, prop) for prop in properties)]
        if not chosen:
            return None
        self.refer(chosen[:1], None)
        return chosen[0]

    def traits(self, node: str) -> Traits:
        """The traits that pronouns agree with, as far as the names of an entity's classes say it."""
        names = {self.graph.lexicon.label(kind).lower() for kind in self.graph.lexicon.types.get(node, ())}
        return Traits(is_person=True if names & _PEOPLE else None, is_place=True)

    def having(self, nodes: list[str], prop: str) -> list[str]:
        """The entities that have a property."""
        return [node for node in nodes if self.graph.has(node, prop)]

    def latest_set(self, kinds: Sequence[str] = ()) -> list[str] | None:
        """The entities of the latest turn that has several, or those that the last turns asked the same about."""
        found = self._discourse.latest_set(lambda node: not kinds or any(self.graph.is_a(node, kind) for kind in kinds))
        if found is None:
            return None
        place, nodes = found
        if place is not None:
            self.turns.append(self.past[place].turn)
        return nodes

    def pair(self) -> list[str] | None:
        """The last two entities that were asked about, in their order; the latest results if they are two."""
        return self._discourse.pair()

    def other(self) -> str | None:
        """The one of the latest two that was not spoken of since."""
        return self._discourse.other()

    @property
    def _discourse(self) -> Discourse[str]:
        spoken = [Spoken(turn.subjects, turn.results, turn.properties) for turn in self.past]
        return Discourse(spoken, self.alike)

    def refer(self, nodes: Sequence[str], turn: int | None) -> None:
        """Remembers what was referred to, and the latest turn that spoke of it unless ``turn`` says which."""
        self.found += nodes
        if turn is not None:
            self.turns.append(turn)
            return
        for one in reversed(self.past):
            if set(nodes) & {*one.subjects, *one.results}:
                self.turns.append(one.turn)
                return

    def listed(self, nodes: Sequence[str]) -> str:
        """Entities in words: "France, Italy and Spain"."""
        labels = [self.graph.lexicon.label(node) for node in nodes]
        return labels[0] if len(labels) == 1 else f"{', '.join(labels[:-1])} and {labels[-1]}"

    def alike(self, node: str, other: str) -> bool:
        """Whether two entities share a class."""
        types = self.graph.lexicon.types
        return bool(set(types.get(node, ())) & set(types.get(other, ())))

    def in_play(self) -> list[str]:
        """The entities of the context, the most salient first."""
        return [entity.node for entity in self.context.entities]


def is_plural(text: str) -> bool:
    """Whether a noun is written in the plural."""
    return text.endswith("s") and not text.endswith("ss")
