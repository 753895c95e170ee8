"""References of a question to earlier turns: pronouns, "that museum", "the latter", and sets or names left out.

>>> [(one.label, one.nodes, one.cost) for one in references(analysis, vocabulary, past)]
[('she', (17,), 0.0), ('she', (4,), 0.25)]

What the last turn answered comes before what it was about, and that before what was met on the way or in earlier turns.
The type must fit: "she" is a person, "that line" a line, "they" several or an organization.

A fragment ("and the cheapest one?", "no, I meant X") is an earlier question with something replaced.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile

from kg.algebra import Compared, Extreme, Members, NamedNodes, Query, relations_of, sources
from kg.parsing.analysis import Analysis
from kg.parsing.derivation import UNSAID, UNUSUAL, QueryDerivation
from kg.parsing.evidence import LEAD
from kg.parsing.names import NodeMention, joined_masks, mask, named_words
from kg.parsing.parser import Parse
from kg.parsing.selections import LIKE
from kg.parsing.space import QuerySpace
from kg.parsing.vocabulary import Vocabulary
from kg.parsing.words import FUNCTION_WORDS, ORDINALS

_PERSONAL = frozenset(("he", "him", "his", "she", "her", "hers"))
_NEUTRAL = frozenset(("it", "its", "that", "this", "there"))
_PLURAL = frozenset(("they", "them", "their", "theirs", "those", "these", "both"))
_DETERMINERS = frozenset(("that", "this", "those", "these", "the", "such"))
_AFTER_WHICH = frozenset(("one", "ones", "is", "are", "was", "were", "has", "have", "had", "does", "do"))
_SIZES = {"two": 2, "three": 3, "four": 4, "five": 5}
_NAMED_CLASS = 0.55
"""The likeness of a noun with a class from which "that line" means a line."""

_PRONOUN = 1.5
"""The weight of a pronoun that may be resolved: a parse that leaves it out is improbable."""

_EARLIER = 0.1
_LATER = 2.5 * _EARLIER
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
        """The node that its answer begins at; empty for an answer that begins at several or at none."""
        begins = [part.nodes for part in sources(self.parse.query)] if self.parse is not None else []
        return begins[-1] if len(begins) > 1 and len(begins[-1]) == 1 else ()


@dataclass(frozen=True)
class InPlay:
    """Nodes that the conversation has spoken of, with their improbability as a referent."""

    nodes: tuple[int, ...]
    cost: float


def in_play(past: Sequence[DialogueTurn]) -> Iterator[InPlay]:
    """The nodes of the last turns: answers, subjects, and single nodes on the way from one to the other.

    After a turn without an answer, a reference probably means the answer that is missing.
    """
    if len(alike := asked_alike(past)) > 1:
        yield InPlay(alike, 4 * _EARLIER)
    for back, turn in enumerate(reversed(past[-MOST_TURNS:])):
        later, likely = _LATER * back, turn.likely
        if likely is not None and likely.nodes:
            yield InPlay(likely.nodes, later + _EARLIER * bool(likely.operation))
        if turn.parse is None:
            yield from (InPlay(nodes, later + 2 * _EARLIER) for nodes in turn.named)
            continue
        for query in sources(turn.parse.query):
            is_way = 0 < len(query.nodes) <= _MOST_ON_THE_WAY and query.nodes != turn.parse.nodes
            if isinstance(query, NamedNodes):
                yield InPlay(query.nodes, later + 2 * _EARLIER)
            elif is_way and not isinstance(query, Members):
                yield InPlay(query.nodes, later + 3 * _EARLIER)


def asked_alike(past: Sequence[DialogueTurn]) -> tuple[int, ...]:
    """The subjects of the last turns that asked the same of one node each, in order."""
    last = list(takewhile(lambda turn: turn.subjects and turn.items == past[-1].items, reversed(past)))
    return tuple(dict.fromkeys(turn.subjects[0] for turn in reversed(last)))


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
            elif (
                (word == "there" and (before in ("is", "are", "was", "were") or place == 0))
                or (word == "that" and place and self.analysis.weights[place - 1] >= 1)  # "games that take an hour"
                or (word == "both" and after)
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
        is_person = self.vocabulary.is_of(node, "person")
        if word in _PERSONAL:
            return (
                0.0 if is_person else UNSAID if self.graph.types[node] and self.vocabulary.kinds["person"] else UNUSUAL
            )
        if word in _PLURAL:
            return UNUSUAL
        is_place = self.vocabulary.is_of(node, "place")
        return UNSAID if is_person else _EARLIER if word == "there" and not is_place else 0.0

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
                    yield self._mention(mask(place, place + 2), one.nodes, one.cost + 2 * _EARLIER * (word == "the"))

    def implicit(self) -> Iterator[NodeMention]:
        """The things that a question without a pronoun may leave out: the set or the node of an earlier turn."""
        for one in self.play:
            yield NodeMention(0, one.nodes, one.cost + UNUSUAL, is_reference=True, label="")


_SHORT = 3
"""Words with a weight that a question without a lead may have to be an ellipsis."""

_TURNS = 3

Replaced = tuple[Query, int, float, tuple[NodeMention, ...]]
"""An earlier query with something replaced, the words that say it, its cost, and the references that it uses."""

_WHICH_TEXT = "and so which who what ones one are they those these is it exactly please"
_LISTING_TEXT = "list name show give tell me us you can could i all both by full their them names"
_WHICH = frozenset((*_WHICH_TEXT.split(), *_LISTING_TEXT.split()))
"""The words of "which ones?" and "list them", which ask for what was counted or checked."""


def is_fragment(space: QuerySpace) -> bool:
    """Whether a question may be an earlier one with something replaced."""
    analysis = space.analysis
    weighted = int((analysis.weights > 0.5).sum())
    lead = LEAD.match(analysis.text)
    return bool(lead and lead.end()) or weighted <= _SHORT


def asks_for_all(analysis: Analysis) -> bool:
    """Whether a question asks for no more than what was counted or checked: "which ones?", "list them"."""
    return {word.low for word in analysis.words} <= _WHICH


def replaced(space: QuerySpace, past: Sequence[DialogueTurn]) -> Iterator[QueryDerivation]:
    """Earlier questions with a name, a bound, a degree or a selection of this question in its place.

    Args:
        space: The space of the question.
        past: The earlier turns, in order.
    """
    if not past:
        return
    last = past[-1].likely
    if not is_fragment(space):
        return
    if last is not None and last.operation in ("count", "check") and asks_for_all(space.analysis):
        yield QueryDerivation(last.query, (1 << len(space.analysis.words)) - 1, (), last.final, replaced=True)
    for back, turn in enumerate(reversed(past[-_TURNS:])):
        before = turn.likely
        if before is None:
            continue
        repeated, cost = _repeated(space, turn), 2 * _EARLIER + 3 * _EARLIER * back
        for query, explained, extra, referring in (
            *_names(space, before),
            *_bounds(space, before.query),
            *_degrees(space, before.query),
        ):
            yield QueryDerivation(
                query, explained | repeated, (), before.final, cost + extra, referring,
                replaced=True, operation=_operation(before),
            )  # fmt: skip


def _repeated(space: QuerySpace, turn: DialogueTurn) -> int:
    """The words that the earlier question had too."""
    before = set(re.findall(r"\w+", turn.text.lower()))
    return sum(1 << place for place, word in enumerate(space.analysis.words) if word.low in before)


def _operation(before: Parse) -> str:
    """The operation of an earlier question that is asked of others too: a difference, or a check without negation."""
    is_said = before.holds is None or before.holds == bool(before.query.nodes)
    return before.operation if before.operation in ("check", "difference") and is_said else ""


def _names(space: QuerySpace, before: Parse) -> Iterator[Replaced]:
    """Another name in place of one, or what "the other one" refers to."""
    lead = LEAD.match(space.analysis.text)
    is_led = bool(lead and lead.end())
    query, is_check = before.query, _operation(before) == "check"
    leaves = {part for part in sources(query) if isinstance(part, NamedNodes)}
    references = [one for one in space.analysis.references if one.words.bit_count() > 1]
    for mention in (*space.analysis.mentions, *references):
        for leaf in sorted(leaves, key=lambda one: one.nodes):
            is_alike = _alike(space, mention.nodes, leaf.nodes)
            if (is_alike or is_led) and set(mention.nodes) != set(leaf.nodes):
                changed = _with(space, query, leaf, NamedNodes(mention.nodes))
                if changed.nodes or is_check:
                    extra = mention.cost + 3 * _EARLIER * (not is_alike)
                    yield changed, mention.words, extra, (mention,) if mention.is_reference else ()


def _with(space: QuerySpace, query: Query, old: Query, new: Query) -> Query:
    """A query with one of its parts replaced."""
    return space.evaluator.rebuilt(query, lambda part: new if part == old else None)


def _alike(space: QuerySpace, nodes: Sequence[int], others: Sequence[int]) -> bool:
    """Whether nodes share a class, or are values of one relation."""
    graph = space.graph
    first, second = ({kind for node in some for kind in graph.types[node]} for some in (nodes, others))
    if first or second:
        return bool(first & second)
    one, other = ({step for node in some[:5] for step in graph.steps(node)} for some in (nodes, others))
    return bool(one & other)


def _bounds(space: QuerySpace, query: Query) -> Iterator[Replaced]:
    """Another number or date in place of one: "and after 1990?"."""
    for bound in space.analysis.bounds:
        for part in sources(query):
            if isinstance(part, Compared) and not part.counted and type(part.bound) is type(bound.value):
                new = space.evaluator.compared(part.source, part.relation, bound.comparison, bound.value)
                changed = _with(space, query, part, new)
                if changed != query and changed.nodes:
                    yield changed, bound.words, 0.0, ()


def _degrees(space: QuerySpace, query: Query) -> Iterator[Replaced]:
    """Another adjective or rank in place of one: "and the cheapest?", "and the second?", "who comes next?"."""
    taken = joined_masks(one.words for one in space.analysis.degrees)
    for part in (part for part in sources(query) if isinstance(part, Extreme)):
        for one in space.analysis.degrees:
            for relation in dict.fromkeys((part.relation, *space.selections.ordered(part.source.nodes))):
                own, is_same = space.selections.measured(one, relation), relation == part.relation
                if is_same and one.degree.of_dates == (space.graph.relations[relation].kind == "date"):
                    own = max(own, LIKE)
                sign = space.selections.sign(one, relation)
                if own >= LIKE:
                    counted, inverse = part.counted and is_same, part.inverse and is_same
                    yield from _selected(space, query, part, relation, sign, counted, inverse, one.rank, one.words, own)
        for place, word in enumerate(space.analysis.words):
            rank = ORDINALS.get(word.low, 0)
            if not taken >> place & 1 and (rank > 1 or word.low == "next"):
                further = rank if rank > 1 else part.rank + 1
                yield from _selected(
                    space, query, part, part.relation, part.sign, part.counted, part.inverse, further, 1 << place, 1.0
                )


def _selected(
    space: QuerySpace,
    query: Query,
    part: Extreme,
    relation: int,
    sign: int,
    counted: bool,
    inverse: bool,
    rank: int,
    words: int,
    own: float,
) -> Iterator[Replaced]:
    """A query with another selection by a degree in place of one."""
    new = space.evaluator.extreme(part.source, relation, sign, counted=counted, inverse=inverse, rank=rank)
    changed = _with(space, query, part, new)
    if changed.nodes:
        yield changed, words, UNUSUAL * (1 - own), ()
