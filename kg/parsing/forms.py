"""The forms of a derivation's answer: its nodes, their number, an age, each with the cost of a type that does not fit.

>>> [(one.operation, one.number) for one in Forms(space, today).of(state)]
[('count', Decimal('3'))]
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from kg.algebra import (
    Compared,
    Extreme,
    Follow,
    Having,
    Lacking,
    Members,
    NamedNodes,
    Without,
    relations_of,
    sources,
    years_between,
)
from kg.analysis import Analysis
from kg.facts import FactGraph
from kg.parsing.derivation import QueryDerivation
from kg.parsing.space import QuerySpace

_MISMATCH, _ALMOST = 1.5, 0.5
_TEXT_OF_TIME, _SAID = 0.3, 0.6
_NO_PERSON = 0.35
"""Of an answer to "who" that is no person: it may be an organization."""

_UNKNOWN_PERSON, _THING = 0.1, 0.9
"""Of an answer to "who" of which no class is known, and of one of a class that is neither people nor a group."""

_BY_VERB = 0.8
_NO_PLACE, _PERSON_OR_EVENT = 0.35, 0.8
"""Of an answer to "where" that is no place, and of one that is a person or an event."""

_EVENTS_OF_ONE = 20
"""Things that name a person, one of which may say when."""

_SEVERAL = 0.05
"""Of "who" for each doubling of the answers."""
_NO_BIRTH = 0.3
"""The cost of an age from a date that is not called a birth or a beginning, where none is more alike."""

_BIRTH = ("birth date", "born", "founded", "built", "opened", "created", "completed", "established", "released")


@dataclass(frozen=True)
class Form:
    """The form of a derivation's answer.

    Attributes:
        nodes: The nodes of the answer, or those that it counts.
        number: A count or an age.
        mismatch: The cost of an answer of another type than the question asks for.
        listed: The cost of a set that no question would ask for in this way, such as a whole class.
        head: The cost of an answer that is not what the question calls it.
        words: The words that the form explains, as a bit mask.
        operation: As of :class:`kg.parsing.parser.Parse`.
        holds: Whether a statement holds; ``None`` for other questions.
    """

    nodes: tuple[int, ...]
    number: Decimal | None = None
    mismatch: float = 0.0
    head: float = 0.0
    words: int = 0
    operation: str = ""
    holds: bool | None = None
    listed: float = 0.0


class Forms:
    """The forms of the answers to one question.

    Args:
        space: The space of its derivations.
        today: The day from which ages are counted.
    """

    def __init__(self, space: QuerySpace, today: date) -> None:
        self.space = space
        self.vocabulary = space.vocabulary
        self.graph: FactGraph = space.graph
        self.today = today

    @property
    def analysis(self) -> Analysis:
        """The question."""
        return self.space.analysis

    def of(self, state: QueryDerivation) -> Iterator[Form]:
        """The forms that a derivation may give an answer."""
        asks, nodes = self.analysis.asks, state.query.nodes
        if asks == "age":
            yield from self._ages(state)
            return
        kinds: set[str] = {self.graph.values[node].kind for node in nodes}
        listed = 0.0
        if isinstance(state.query, Members):
            listed = _ALMOST if any(map(self._is_plural, state.query.kinds)) else _MISMATCH
        elif isinstance(state.query, Without) and not relations_of(state.query):
            listed = _MISMATCH
        listed += self._unrestricted_cost(state) + self._beside_cost(state)
        if any(self.graph.is_nameless(node) for node in nodes):
            listed += _MISMATCH
        head = self._head_cost(state)
        if asks == "count":
            if kinds == {"number"}:
                single = self.graph.values[nodes[0]].number if len(nodes) == 1 else None
                yield Form(nodes, single, words=self.analysis.counting)
            elif kinds <= {"entity", "text"}:
                yield Form(nodes, Decimal(len(nodes)), 0.0, head, self.analysis.counting, "count")
            return
        cost = 0.0
        if asks == "amount":
            cost += 0.0 if kinds == {"number"} else _MISMATCH
        elif asks == "when":
            cost += 0.0 if kinds == {"date"} else self._time_cost(state, kinds)
        elif asks == "who":
            # "Who operates it?" may be answered by a company, as the verb itself says what it is.
            said = self._unsaid(state) if state.items and state.items[-1] in state.final else 0.0
            listed += _SEVERAL * math.log2(len(nodes))
            cost += self._who_cost(nodes, kinds, said)
        elif asks == "where":
            cost += self._where_cost(nodes, kinds)
        yield Form(nodes, None, cost, head, self.analysis.counting, listed=listed)

    def _beside_cost(self, state: QueryDerivation) -> float:
        """The cost of something that is not of the set for a question that asks which one of it."""
        asked = [one for one in state.mentions if len(one.nodes) > 1 and one.words & self.analysis.among]
        return _MISMATCH if any(not set(state.query.nodes) <= set(one.nodes) for one in asked) else 0.0

    def _unrestricted_cost(self, state: QueryDerivation) -> float:
        """The cost of all values of a relation for a question that speaks of one: "who's the author?"."""
        parts = list(sources(state.query))
        if state.mentions or len(state.query.nodes) < 2 or not isinstance(state.query, Follow):
            return 0.0
        if any(isinstance(part, Members | Compared | Extreme | Having | Lacking) for part in parts):
            return 0.0
        if any(isinstance(part, NamedNodes) and len(part.nodes) == 1 for part in parts):
            return 0.0
        column = self.analysis.items[:, state.query.relation]
        return 0.0 if self.analysis.words[int(column.argmax())].low.endswith("s") else _MISMATCH

    def _is_plural(self, kind: int) -> bool:
        """Whether the word that names a class is a plural: "the artist" is one of them, not all."""
        column = self.analysis.items[:, self.vocabulary.class_item(kind)]
        word = self.analysis.words[int(column.argmax())].low
        return word.endswith("s") or word in ("people", "children", "men", "women")

    def _time_cost(self, state: QueryDerivation, kinds: set[str]) -> float:
        """The cost of an answer to "when" that is no date: "Mondays" where the question names the hours."""
        own, _ = self.space.costs.supports(state)
        is_said = len(own) > 0 and float(own[-1]) >= _SAID
        return _TEXT_OF_TIME if kinds == {"text"} and is_said else _MISMATCH

    def _who_cost(self, nodes: Sequence[int], kinds: set[str], said: float) -> float:
        """The cost of an answer to "who" that is no person: less for an organization than for a thing."""
        if not kinds <= {"entity", "text"}:
            return _MISMATCH
        vocabulary = self.vocabulary
        if all(vocabulary.is_person(node) for node in nodes):
            return 0.0
        typed = [node for node in nodes if self.graph.types[node]]
        if not typed or not vocabulary.people:
            return _UNKNOWN_PERSON
        if all(vocabulary.is_of(node, vocabulary.groups) for node in typed):
            return _NO_PERSON * (1 - _BY_VERB * said)
        return _THING * (1 - 0.5 * _BY_VERB * said)

    def _where_cost(self, nodes: Sequence[int], kinds: set[str]) -> float:
        if not kinds <= {"entity", "text"}:
            return _MISMATCH
        typed = [node for node in nodes if self.graph.types[node]]
        if any(self.vocabulary.is_of(node, self.vocabulary.people | self.vocabulary.events) for node in typed):
            return _PERSON_OR_EVENT
        if typed and self.vocabulary.places:
            return 0.0 if all(self.vocabulary.is_of(node, self.vocabulary.places) for node in typed) else _NO_PLACE
        return 0.1

    def _head_cost(self, state: QueryDerivation) -> float:
        """The cost of "which *country*" where the country is not what the derivation ends at."""
        words = [
            place
            for place in range(len(self.analysis.words))
            if self.analysis.head >> place & 1 and not state.words >> place & 1 and self.analysis.weights[place] > 0
        ]
        if not words:
            return 0.0
        rows = self.analysis.items[words]
        best = rows.max(axis=1)
        place = int(best.argmax())
        if best[place] < 0.3:
            return 0.0
        ends = list(dict.fromkeys(state.final))
        own = max((self._ended(state, words[place], end, float(rows[place][end])) for end in ends), default=0.0)
        return 0.7 * max(0.0, 1 - own / float(best[place]))

    def _ended(self, state: QueryDerivation, place: int, item: int, likeness: float) -> float:
        """The likeness of a noun with an item as what the nodes are: those that have an "actor" are no actors."""
        is_relation = item < len(self.graph.relations)
        last = next((part for part in sources(state.query) if isinstance(part, Follow)), None)
        if not is_relation or last is None or last.relation != item or not last.inverse:
            return likeness
        if self.graph.relations[item].names[0].endswith(" of"):
            return likeness
        return float(self.analysis.turned[place, item])

    def _ages(self, state: QueryDerivation) -> Iterator[Form]:
        """Ages: today, or at another date of the same entity, counted from birth or the like."""
        nodes, counting = state.query.nodes, self.analysis.counting
        values = [self.graph.values[node] for node in nodes]
        if len(nodes) != 1 or not isinstance(state.query, Follow) or state.query.inverse:
            return
        named = self.vocabulary.likeness(["age"])[0]
        relation = state.query.relation
        if values[0].kind == "number":
            if named[relation] >= 0.5:
                yield Form(nodes, values[0].number, words=counting)
            return
        if values[0].period is None or len(state.query.source.nodes) != 1:
            return
        likeness = self.vocabulary.likeness(_BIRTH).max(axis=0)
        dates = [one for one, turned in self.graph.steps(state.query.source.nodes[0]) if not turned]
        dates = [one for one in dates if self.graph.relations[one].kind == "date"]
        if likeness[relation] < max(likeness[dates]):
            return
        begin = values[0].period.first
        # The adjective itself says that the birth is asked for.
        said = -self.space.weights.unsaid * (1 - self._unsaid(state))
        said += _NO_BIRTH if likeness[relation] < 0.5 else 0.0
        yield Form(nodes, years_between(begin, self.today), said, 0.0, counting, f"age on {self.today}")
        yield from self._ages_then(state, begin, said)
        yield from self._ages_at_events(state, begin, said)
        for other, one in enumerate(self.graph.relations):
            if one.kind != "date" or other == relation:
                continue
            for node in self.graph.follow(state.query.source.nodes[0], other)[:1]:
                period = self.graph.values[node].period
                words = self._words_like(other)
                if period is not None and words and period.first >= begin:
                    age = years_between(begin, period.first)
                    yield Form(nodes, age, said, 0.0, counting | words, f"age at {one.names[0]}")

    def _ages_then(self, state: QueryDerivation, begin: date, said: float) -> Iterator[Form]:
        """Ages at a day that the question names or refers to, or at a date of something else in it."""
        counting, nodes = self.analysis.counting, state.query.nodes
        for mention in (*self.analysis.mentions, *self.analysis.references):
            if mention.words & state.words or len(mention.nodes) != 1 or not mention.words:
                continue
            if self.vocabulary.is_person(mention.nodes[0]) or mention in state.mentions:
                continue  # "how old is she" asks for her, not for a day of hers
            own = self.graph.values[mention.nodes[0]].period
            if own is not None and own.first >= begin:
                age = years_between(begin, own.first)
                yield Form(nodes, age, said + mention.cost, 0.0, counting | mention.words, f"age on {own.first}")
                continue
            for relation, inverse in self.graph.steps(mention.nodes[0]):
                days = () if inverse else self.graph.follow(mention.nodes[0], relation)
                period = self.graph.values[days[0]].period if len(days) == 1 else None
                if period is None or period.first < begin:
                    continue
                words = self._words_like(relation)
                cost = said + mention.cost + (0.0 if words else _ALMOST)
                age, words = years_between(begin, period.first), counting | words | mention.words
                yield Form(nodes, age, cost, 0.0, words, f"age at {self.graph.relations[relation].names[0]}")

    def _ages_at_events(self, state: QueryDerivation, begin: date, said: float) -> Iterator[Form]:
        """Ages at a date of something that names the person: "how old was she when she won the cup?"."""
        assert isinstance(state.query, Follow)
        person = state.query.source.nodes[0]
        for link, inverse in self.graph.steps(person):
            ends = self.graph.follow(person, link, inverse=inverse)
            if not inverse or len(ends) > _EVENTS_OF_ONE:
                continue
            for event in ends:
                named = [
                    one.words for one in self.analysis.mentions if event in one.nodes and not one.words & state.words
                ]
                if len(ends) > 1 and not named:
                    continue
                for relation, back in self.graph.steps(event):
                    days = () if back else self.graph.follow(event, relation)
                    period = self.graph.values[days[0]].period if len(days) == 1 else None
                    if period is None or period.first < begin:
                        continue
                    words = self._words_like(relation) | self._words_like(link) | (named[0] if named else 0)
                    cost = said + (0.0 if words else _ALMOST)
                    name = self.graph.relations[relation].names[0]
                    age, words = years_between(begin, period.first), self.analysis.counting | words
                    yield Form(state.query.nodes, age, cost, 0.0, words, f"age at {name}")

    def _unsaid(self, state: QueryDerivation) -> float:
        own, _ = self.space.costs.supports(state)
        return float(own[-1]) if len(own) else 1.0

    def _words_like(self, relation: int) -> int:
        """The words that name a relation, after the words "how old"."""
        column = self.analysis.items[:, relation]
        return sum(
            1 << place
            for place in range(len(column))
            if column[place] >= 0.45 and not self.analysis.counting >> place & 1
        )
