"""References of a question to earlier turns: pronouns, "that museum", "the latter", and sets or names left out.

>>> [(one.label, one.nodes, one.cost) for one in references(analysis, vocabulary, past)]
[('she', (17,), 0.0), ('she', (4,), 0.25)]

What the last turn answered comes before what it was about, and that before what was met on the way or in earlier turns.
The type must fit: "she" is a person, "that line" a line, "they" several or an organization.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kg.algebra import Extreme, NamedNodes, Query, relations_of, sources
from kg.parsing.analysis import Analysis
from kg.parsing.derivation import STEP, UNSAID, UNUSUAL
from kg.parsing.mentions import NodeMention, named_words
from kg.parsing.names import mask
from kg.parsing.parser import Parse
from kg.parsing.vocabulary import Vocabulary
from kg.parsing.words import FUNCTION_WORDS

_PERSONAL = frozenset(("he", "him", "his", "she", "her", "hers"))
_NEUTRAL = frozenset(("it", "its", "that", "this", "there"))
_PLURAL = frozenset(("they", "them", "their", "theirs", "those", "these", "both"))
_DETERMINERS = frozenset(("that", "this", "those", "these", "the", "such"))
_AFTER_WHICH = frozenset(("one", "ones", "is", "are", "was", "were", "has", "have", "had", "does", "do", "of"))
_SIZES = {"two": 2, "three": 3, "four": 4, "five": 5}
_NAMED_CLASS = 0.55
"""The likeness of a noun with a class from which "that line" means a line."""

_PRONOUN = 1.5
"""The weight of a pronoun that may be resolved: a parse that leaves it out is improbable."""

_LATER = 2.5 * STEP
"""The cost of each turn between a referent and the question."""

MOST_TURNS = 6
_MOST_ON_THE_WAY = 50


@dataclass(frozen=True)
class DialogueTurn:
    """An earlier turn as later questions see it.

    Attributes:
        text: Its question, with references replaced by names.
        asks: What it asked for.
        parse: Its answer; ``None`` without one.
        guess: The most likely answer of a turn that has none: a pronoun after it means that, however uncertain.
        named: The nodes of each name in it, in order.
        confidence: The confidence in its answer, in [0, 1].
    """

    text: str
    asks: str
    parse: Parse | None
    named: tuple[tuple[int, ...], ...] = ()
    confidence: float = 1.0
    guess: Parse | None = None

    @property
    def likely(self) -> Parse | None:
        """Its answer, or else the most likely one."""
        return self.parse if self.parse is not None else self.guess

    @property
    def items(self) -> tuple[int, ...]:
        """The relations that its answer used."""
        return tuple(sorted(relations_of(self.parse.query))) if self.parse is not None else ()

    @property
    def subjects(self) -> tuple[int, ...]:
        """The nodes that it was about: a turn without an answer was about what it names."""
        if self.parse is None:
            return tuple(nodes[0] for nodes in self.named if len(nodes) == 1)
        begins = [part.nodes for part in sources(self.parse.query) if isinstance(part, NamedNodes)]
        named = [nodes[0] for nodes in begins if len(nodes) == 1] if len(begins) == 1 else []
        pairs = [part.source.nodes for part in sources(self.parse.query) if isinstance(part, Extreme)]
        named = next((list(nodes) for nodes in pairs if len(nodes) == 2), named)  # "which club is older?" is about both
        named = named or [node for nodes in self.named for node in nodes if len(nodes) <= 2]
        return tuple(dict.fromkeys(named))


@dataclass(frozen=True)
class InPlay:
    """Nodes that the conversation has spoken of, with their improbability as a referent."""

    nodes: tuple[int, ...]
    cost: float


def in_play(past: Sequence[DialogueTurn]) -> Iterator[InPlay]:
    """The nodes of the last turns: answers, subjects, and single nodes on the way from one to the other.

    After a turn without an answer, a reference probably means the answer that is missing.
    """
    for back, turn in enumerate(reversed(past[-MOST_TURNS:])):
        later, likely = _LATER * back, turn.likely
        if likely is not None and likely.nodes:
            yield InPlay(likely.nodes, later + STEP * bool(likely.operation))
        if turn.parse is None:
            yield from (InPlay(nodes, later + 2 * STEP) for nodes in turn.named)
            continue
        for query in sources(turn.parse.query):
            is_way = 0 < len(query.nodes) <= _MOST_ON_THE_WAY and query.nodes != turn.parse.nodes
            if isinstance(query, NamedNodes):
                yield InPlay(query.nodes, later + 2 * STEP)
            elif is_way and not _is_class(query):
                yield InPlay(query.nodes, later + 3 * STEP)


def _is_class(query: Query) -> bool:
    return not hasattr(query, "source") and not isinstance(query, NamedNodes)


def confidence_in(nodes: tuple[int, ...], past: Sequence[DialogueTurn]) -> float:
    """The confidence in nodes that a question refers to: that of the answer which had them, or 1 if they were named."""
    wanted = set(nodes)
    for turn in reversed(past):
        if any(wanted <= set(named) for named in turn.named):
            return 1.0
        answer = turn.likely
        if answer is not None and wanted & set(answer.nodes):
            return turn.confidence
    return 1.0


def references(analysis: Analysis, vocabulary: Vocabulary, past: Sequence[DialogueTurn]) -> list[NodeMention]:
    """The mentions of earlier turns in a question; the words of pronouns get a weight in the analysis.

    Args:
        analysis: The question.
        vocabulary: The names of the graph.
        past: The earlier turns, in order.
    """
    finder = _References(analysis, vocabulary, past)
    found = list(finder.explicit())
    finder.weigh()
    if not found:
        found = list(finder.implicit())
    best: dict[tuple[int, tuple[int, ...]], NodeMention] = {}
    for one in found:
        known = best.get((one.words, one.nodes))
        if known is None or one.cost < known.cost:
            best[one.words, one.nodes] = one
    return list(best.values())


class _References:
    def __init__(self, analysis: Analysis, vocabulary: Vocabulary, past: Sequence[DialogueTurn]) -> None:
        self.analysis, self.vocabulary, self.past = analysis, vocabulary, past
        self.graph = vocabulary.graph
        self.low = [word.low for word in analysis.words]
        self.named, self.referring = named_words(analysis.mentions), 0
        values = self.graph.values
        self.play = [one for one in in_play(past) if all(values[node].kind in ("entity", "text") for node in one.nodes)]

    def explicit(self) -> Iterator[NodeMention]:
        """Pronouns, determiners with the name of a class, and sets: "which one", "the two", "the second one"."""
        for place, word in enumerate(self.low):
            after = self.low[place + 1] if place + 1 < len(self.low) else ""
            before = self.low[place - 1] if place else ""
            if self.named >> place & 1:
                continue
            if word == "which" and not self.named and (not after or after in _AFTER_WHICH):
                yield from self._sets(mask(place, place + 1 + (after in ("one", "ones"))))
            elif word in _SIZES and before == "the" and (not after or after in FUNCTION_WORDS):
                yield from self._sets(mask(place - 1, place + 1), _SIZES[word])
            elif word in _DETERMINERS and (kinds := self._kinds_at(place + 1)):
                yield from self._of_class(place, word, kinds)
            elif (word == "there" and (before in ("is", "are", "was", "were") or place == 0)) or (
                word == "both" and after
            ):
                continue
            elif word in _PERSONAL | _NEUTRAL | _PLURAL:
                yield from self._pronoun(word)

    def weigh(self) -> None:
        """Gives the words that refer a weight, whether or not something is in play for them."""
        for place in range(len(self.low)):
            if self.referring >> place & 1:
                self.analysis.weights[place] = max(self.analysis.weights[place], _PRONOUN)
                self.analysis.items[place] = 0.0

    def _mention(self, words: int, nodes: tuple[int, ...], cost: float) -> NodeMention:
        label = " ".join(word.text for place, word in enumerate(self.analysis.words) if words >> place & 1)
        return NodeMention(words, nodes, cost, is_reference=True, label=label)

    def _pronoun(self, word: str) -> Iterator[NodeMention]:
        alike = _PERSONAL if word in _PERSONAL else frozenset((word,))
        words = sum(1 << other for other, low in enumerate(self.low) if low in alike)
        self.referring |= words
        for one in self.play:
            if len(one.nodes) == 1:
                yield self._mention(words, one.nodes, one.cost + self._disagreement(one.nodes[0], word))
            elif word in _PLURAL:
                yield self._mention(words, one.nodes, one.cost)

    def _disagreement(self, node: int, word: str) -> float:
        """The cost of one node as the referent of a pronoun: "she" is a person, "it" is none, "they" are several."""
        is_person = self.vocabulary.is_person(node)
        if word in _PERSONAL:
            return 0.0 if is_person else UNSAID if self.graph.types[node] and self.vocabulary.people else UNUSUAL
        if word in _PLURAL:
            return UNUSUAL
        is_place = self.vocabulary.is_of(node, self.vocabulary.places)
        return UNSAID if is_person else STEP if word == "there" and not is_place else 0.0

    def _sets(self, words: int, size: int = 0) -> Iterator[NodeMention]:
        """Reads "which one", "which is" and "the two": of the set that was spoken of."""
        self.referring |= words if self.past else 0
        for one in self.play:
            if len(one.nodes) > 1 and size in (0, len(one.nodes)):
                yield self._mention(words, one.nodes, one.cost)

    def _kinds_at(self, place: int) -> list[int]:
        """The classes that a word names."""
        if place >= len(self.low):
            return []
        row = self.analysis.items[place, len(self.graph.relations) :]
        return [int(kind) for kind in (row >= _NAMED_CLASS).nonzero()[0]]

    def _of_class(self, place: int, word: str, kinds: list[int]) -> Iterator[NodeMention]:
        if word != "the":
            self.referring |= 1 << place
        for kind in kinds:
            for one in self.play:
                is_set = len(one.nodes) > 1 and word in ("that", "this")
                if not is_set and all(kind in self.graph.types[node] for node in one.nodes):
                    # "The museum" may speak of any museum.
                    yield self._mention(mask(place, place + 2), one.nodes, one.cost + 2 * STEP * (word == "the"))

    def implicit(self) -> Iterator[NodeMention]:
        """The things that a question without a pronoun may leave out: the set or the node of an earlier turn."""
        for one in self.play:
            yield NodeMention(0, one.nodes, one.cost + UNUSUAL, is_reference=True, label="")
