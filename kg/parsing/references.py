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
from kg.analysis import Analysis
from kg.discourse import NEUTRAL, PERSONAL, PLURAL, Discourse, Spoken, disagreement
from kg.parsing.parser import Parse
from kg.vocabulary import FUNCTION_WORDS, LIGHT_WORDS, NodeMention, Vocabulary, mask, named_words

_POSSESSIVE = frozenset(("their", "its", "his", "her"))
_DEMONSTRATIVES = frozenset(("that", "this", "those", "these"))
_DETERMINERS = frozenset(("that", "this", "those", "these", "the", "such"))
_AFTER_A_PRONOUN_TEXT = (
    "is are was were does did do has have had in on at to from by with than and or of for 's one ones now"
)
_AFTER_A_PRONOUN = frozenset(_AFTER_A_PRONOUN_TEXT.split())
_SET_AFTER_WHICH_TEXT = "one ones is are was were has have had isn't aren't does do isnt arent"
_SET_AFTER_WHICH = frozenset(_SET_AFTER_WHICH_TEXT.split())
_AFTER_A_NOUN_TEXT = "do does did is are was were has have had can could will would"
_AFTER_A_NOUN = frozenset(_AFTER_A_NOUN_TEXT.split())
_DAYS = frozenset(("day", "date", "year", "time", "moment", "month"))
_SIZES = {"two": 2, "three": 3, "four": 4, "five": 5}
_PLACES_OF_LIST = {"first": 0, "second": 1, "third": 2, "last": -1}
_CLASS_LIKENESS = 0.55
_DEFINITE = 0.25
"""The cost of "the museum" as a reference, which may speak of any museum."""

_UNSAID_SET, _UNSAID = 0.3, 0.4
_EPITHET = 0.4
"""The cost of "that ground" for something that is not known to be a ground."""

_SUBJECT, _ON_THE_WAY, _EARLIER = 0.2, 0.3, 0.25
_UNANSWERED, _COUNTED, _ALIKE = 0.3, 0.15, 0.1
_PRONOUN = 1.5
"""The weight of a pronoun that may be resolved: a parse that leaves it out is improbable."""

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
    def spoken(self) -> Spoken[int]:
        """The turn as :mod:`kg.discourse` sees it: a turn without an answer was about what it names."""
        if self.parse is None:
            return Spoken(tuple(nodes[0] for nodes in self.named if len(nodes) == 1))
        subjects = [part.nodes for part in sources(self.parse.query) if isinstance(part, NamedNodes)]
        named = [nodes[0] for nodes in subjects if len(nodes) == 1] if len(subjects) == 1 else []
        pairs = [part.source.nodes for part in sources(self.parse.query) if isinstance(part, Extreme)]
        named = next((list(nodes) for nodes in pairs if len(nodes) == 2), named)  # "which club is older?" is about both
        named = named or [node for nodes in self.named for node in nodes if len(nodes) <= 2]
        return Spoken(tuple(dict.fromkeys(named)), self.parse.nodes, self.items)


@dataclass(frozen=True)
class InPlay:
    """Nodes that the conversation has spoken of, with their improbability as a referent."""

    nodes: tuple[int, ...]
    cost: float


def in_play(past: Sequence[DialogueTurn]) -> Iterator[InPlay]:
    """The nodes of the last turns: answers, subjects, and single nodes on the way from one to the other.

    After a turn without an answer, a reference probably means the answer that is missing.
    """
    unanswered = bool(past) and past[-1].parse is None
    if alike := asked_alike(past):
        yield InPlay(alike, _ALIKE)
    for back, turn in enumerate(reversed(past[-MOST_TURNS:])):
        later = _EARLIER * back + (_UNANSWERED if unanswered else 0.0)
        if turn.parse is None:
            if turn.guess is not None and turn.guess.nodes:
                yield InPlay(turn.guess.nodes, later)
            for nodes in turn.named:
                yield InPlay(nodes, later + _SUBJECT)
            continue
        if turn.parse.nodes:
            yield InPlay(turn.parse.nodes, later + (_COUNTED if turn.parse.operation else 0.0))
        for query in sources(turn.parse.query):
            if isinstance(query, NamedNodes):
                yield InPlay(query.nodes, later + _SUBJECT)
            elif 0 < len(query.nodes) <= _MOST_ON_THE_WAY and query.nodes != turn.parse.nodes and not _is_class(query):
                yield InPlay(query.nodes, later + _ON_THE_WAY)


def asked_alike(past: Sequence[DialogueTurn]) -> tuple[int, ...]:
    """The subjects of the last turns that asked the same of one node each; empty for fewer than two."""
    distinct = tuple(Discourse([one.spoken for one in past]).asked_alike())
    return distinct if len(distinct) > 1 else ()


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
        self.analysis, self.vocabulary = analysis, vocabulary
        self.graph = vocabulary.graph
        self.past = past
        self.low = [word.low for word in analysis.words]
        self.named, self.referring = named_words(analysis.mentions), 0
        values = self.graph.values
        self.play = [one for one in in_play(past) if all(values[node].kind in ("entity", "text") for node in one.nodes)]

    def explicit(self) -> Iterator[NodeMention]:
        """Pronouns, and determiners with the name of a class."""
        for place, word in enumerate(self.low):
            if self.named >> place & 1:
                continue
            after = self.low[place + 1] if place + 1 < len(self.low) else ""
            before = self.low[place - 1] if place else ""
            if (
                word == "which"
                and not self.named
                and (not after or after in _SET_AFTER_WHICH or self._is_verb(place + 1))
            ):
                yield from self._set(mask(place, place + 1 + (after in ("one", "ones"))))
            elif (
                word in _SIZES and before == "the" and (not after or after in _AFTER_A_NOUN or self._is_verb(place + 1))
            ):
                self.referring |= mask(place - 1, place + 1)
                for one in self.play:
                    if len(one.nodes) == _SIZES[word]:
                        yield self._mention(mask(place - 1, place + 1), one.nodes, one.cost)
            elif word in _PLACES_OF_LIST and before == "the" and after == "one":
                yield from self._of_list(place, _PLACES_OF_LIST[word])
            elif word == "other" and before == "the" and after not in ("ones", "two", "three"):
                yield from self._other(mask(place - 1, place + 1 + (after == "one")))
            elif word in ("latter", "former"):
                yield from self._of_two(place, word)
            elif (end := self._end_of_day(place)) > place:
                self.referring |= mask(place, end) if self.past else 0
                yield from self._day(mask(place, end))
            elif word in _DETERMINERS and (kinds := self._kinds_after(place)):
                yield from self._of_class(place, word, kinds)
            elif word in _DEMONSTRATIVES and after and not self._ends_phrase(place + 1):
                yield from self._of_unknown(place)
            elif (
                (word == "there" and (before in ("is", "are", "was", "were") or place == 0))
                or (word == "both" and after)
                or (word in _POSSESSIVE and self._is_bound(place))
            ):
                continue
            elif word in PERSONAL | NEUTRAL | PLURAL:
                yield from self._pronoun(word)

    def _end_of_day(self, place: int) -> int:
        """The place after words that mean a day of an earlier turn, such as "that day" or "then"; else the place."""
        word, after = self.low[place], self.low[place + 1] if place + 1 < len(self.low) else ""
        if word in ("that", "same", "this") and after in _DAYS:
            return place + 2
        if word == "the" and after == "same" and place + 2 < len(self.low) and self.low[place + 2] in _DAYS:
            return place + 3
        return place + 1 if word == "then" and place > 1 else place

    def _day(self, words: int) -> Iterator[NodeMention]:
        """Reads "then" and "that day": a date that an earlier turn answered, or the one of its answer."""
        for back, turn in enumerate(reversed(self.past[-MOST_TURNS:])):
            answer = turn.likely
            if answer is None or len(answer.nodes) != 1:
                continue
            node, cost = answer.nodes[0], _EARLIER * back
            if self.graph.values[node].kind == "date":
                yield self._mention(words, (node,), cost)
                continue
            for relation, inverse in self.graph.steps(node):
                found = () if inverse else self.graph.follow(node, relation)
                if len(found) == 1 and self.graph.values[found[0]].kind == "date":
                    yield self._mention(words, found, cost + _SUBJECT)

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
        alike = PERSONAL if word in PERSONAL else frozenset((word,))
        words = sum(1 << other for other, low in enumerate(self.low) if low in alike)
        self.referring |= words
        for one in self.play:
            if len(one.nodes) == 1:
                cost = self._single_cost(one.nodes[0], word)
                if cost is not None:
                    yield self._mention(words, one.nodes, one.cost + cost)
            elif word in PLURAL:
                yield self._mention(words, one.nodes, one.cost)

    def _is_bound(self, place: int) -> bool:
        """Whether a possessive belongs to a class or name before it: "which packages had their first release"."""
        classes = self.analysis.items[:place, len(self.graph.relations) :]
        return bool(self.named & mask(0, place)) or bool(classes.max(initial=0.0) >= 0.7)

    def _is_verb(self, place: int) -> bool:
        """Whether the word after "which" is no noun of the graph and another word follows it."""
        likeness = self.analysis.items[place, len(self.graph.relations) :]
        after = self.low[place + 1] if place + 1 < len(self.low) else ""
        is_noun = len(self.low[place]) < 4 or after in _AFTER_A_NOUN
        return self.low[place].endswith(("s", "ed")) and after != "" and not is_noun and likeness.max(initial=0.0) < 0.3

    def _set(self, words: int) -> Iterator[NodeMention]:
        """Reads "which one" and "which is": of the set that was spoken of."""
        self.referring |= words if self.past else 0
        for one in self.play:
            if len(one.nodes) > 1:
                yield self._mention(words, one.nodes, one.cost)

    def _single_cost(self, node: int, word: str) -> float | None:
        """The cost of one node as the referent of a pronoun; ``None`` if it cannot be."""
        value = self.graph.values[node]
        if word in PERSONAL and value.kind not in ("entity", "text"):
            return None
        is_name = value.text[:1].isupper() and not any(sign.isdigit() for sign in value.text)
        if word in PERSONAL and value.kind == "text" and not is_name:
            return None
        return disagreement(word, self.vocabulary.traits(node))

    def _kinds_after(self, place: int) -> list[tuple[int, int]]:
        """The classes that the next word names, each with the place after it."""
        end = place + 2
        if end > len(self.low):
            return []
        row = self.analysis.items[end - 1]
        classes = range(len(self.graph.classes))
        return [(kind, end) for kind in classes if row[self.vocabulary.class_item(kind)] >= _CLASS_LIKENESS]

    def _of_class(self, place: int, word: str, kinds: list[tuple[int, int]]) -> Iterator[NodeMention]:
        if word != "the":
            self.referring |= 1 << place
        for kind, end in kinds:
            for one in self.play:
                if not all(kind in self.graph.types[node] for node in one.nodes):
                    continue
                if len(one.nodes) > 1 and word in ("that", "this"):
                    continue
                cost = one.cost + (_DEFINITE if word == "the" else 0.0)
                yield self._mention(mask(place, end), one.nodes, cost)

    def _of_unknown(self, place: int) -> Iterator[NodeMention]:
        """Reads "that ground" where no class is called so: something that was spoken of."""
        after = self.low[place + 1]
        is_noun = after not in FUNCTION_WORDS | LIGHT_WORDS and not self.named >> (place + 1) & 1
        if not is_noun or not self._is_determiner(place):
            return
        self.referring |= 1 << place
        for one in self.play:
            people = all(self.vocabulary.is_of(node, self.vocabulary.people) for node in one.nodes)
            if (len(one.nodes) > 1) == (self.low[place] in ("those", "these")) and not people:
                yield self._mention(mask(place, place + 2), one.nodes, one.cost + _EPITHET)

    def _ends_phrase(self, place: int) -> bool:
        """Whether a word after "that" or "those" is no noun: a verb, a preposition or a negation ("those didn't")."""
        return self.low[place] in _AFTER_A_PRONOUN or bool(self.analysis.negations >> place & 1)

    def _is_determiner(self, place: int) -> bool:
        """Whether "that" begins a phrase: at the start, or after a verb or preposition, but not after a noun."""
        before = self.low[place - 1] if place else ""
        return not before or before in FUNCTION_WORDS or before in LIGHT_WORDS

    def _of_two(self, place: int, word: str) -> Iterator[NodeMention]:
        """Reads "the latter": the second of the two names of an earlier question."""
        self.referring |= 1 << place
        spoken = [turn.spoken for turn in self.past[-MOST_TURNS:]]
        for back in range(len(spoken)):
            last = self.past[len(self.past) - 1 - back]
            nodes = dict.fromkeys(node for nodes in last.named for node in nodes if len(nodes) <= 2)
            named = [list(nodes)] if len(nodes) == 2 else []
            found = [*named, *Discourse(spoken[: len(spoken) - back]).pairs()]
            start = place - 1 if place and self.low[place - 1] == "the" else place
            for later, two in enumerate(found):
                chosen = two[-1] if word == "latter" else two[0]
                yield self._mention(mask(start, place + 1), (chosen,), _EARLIER * back + _ALIKE * later)
            if found:
                return

    def _other(self, words: int) -> Iterator[NodeMention]:
        """Reads "the other one": of two that were spoken of, the one that the last turns were not about."""
        discourse = Discourse([turn.spoken for turn in self.past[-MOST_TURNS:]])
        other = discourse.other()
        if other is not None:
            self.referring |= words
            yield self._mention(words, (other,), 0.0)

    def _of_list(self, place: int, number: int) -> Iterator[NodeMention]:
        """Reads "the second one" after an answer of several."""
        last = self.past[-1].parse if self.past else None
        if last is not None and len(last.nodes) > max(number, 1):
            self.referring |= mask(place - 1, place + 2)
            yield self._mention(mask(place - 1, place + 2), (last.nodes[number],), 0.0)

    def implicit(self) -> Iterator[NodeMention]:
        """The things that a question without a pronoun may leave out: the set or the node of an earlier turn."""
        for one in self.play:
            cost = _UNSAID_SET if len(one.nodes) > 1 else _UNSAID
            yield NodeMention(0, one.nodes, one.cost + cost, is_reference=True, label="")
