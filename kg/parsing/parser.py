"""Parsing of questions to queries over any graph: the beam's derivations, finished as answers and ranked by cost.

    >>> parses = parse(vocabulary, analyse("who runs the Valley Line?", vocabulary), today=date.today())
    >>> write(parses[0].query, graph)
    'Valley Line -> operated by -> chief executive'

A parse explains the words of the question by names, relations, classes and operations. What is left over, or said by no
word, is its cost.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from typing import Literal

from kg.facts import FactGraph
from kg.parsing.algebra import (
    Compared,
    Extreme,
    Follow,
    Having,
    Lacking,
    Members,
    Named,
    Query,
    Without,
    relations_of,
    sources,
)
from kg.parsing.checks import Check, checks
from kg.parsing.derivation import State, Weights
from kg.parsing.question import Analysis
from kg.parsing.space import DerivationSpace
from kg.search import BeamConfig, beam_search
from kg.vocabulary import Mention, Vocabulary

BEAM = BeamConfig(beam_width=12, max_depth=5, output_top_k=200, pool=400)
_MISMATCH, _ALMOST = 1.5, 0.5
_TEXT_OF_TIME, _SAID = 0.3, 0.6
_NO_PERSON = 0.35
"""Of an answer to "who" that is no person: it may be an organization."""

_BY_VERB = 0.8
_NO_PLACE = 0.35
"""Of an answer to "where" that is no place."""

_SEVERAL = 0.05
"""Of "who" for each doubling of the answers."""
_BIRTH = ("birth date", "born", "founded", "built", "opened", "created", "completed", "established", "released")

AnswerForm = Literal["nodes", "number", "yes or no"]


@dataclass(frozen=True)
class Parse:
    """A question read as a query.

    Attributes:
        query: The query.
        cost: Its improbability, at least 0.
        nodes: The nodes that answer the question, or that it counts.
        number: A count, an age or a difference.
        holds: Whether a question for yes or no is answered with yes.
        items: The relations and classes that it uses.
        final: The items that say what the nodes are.
        support: The least likeness of a relation with the words of the question, in [0, 1].
        left: The weight of the words that it leaves over, without likely verbs.
        over: The weight of all words that it leaves over.
        operation: What is done with the nodes: ``count``, ``check`` or an age; empty where they are the answer.
        mentions: The names and references that it uses.
        words: The words that it explains fully, as a bit mask.
    """

    query: Query
    cost: float
    nodes: tuple[int, ...]
    number: Decimal | None = None
    holds: bool | None = None
    items: tuple[int, ...] = ()
    final: tuple[int, ...] = ()
    support: float = 1.0
    left: float = 0.0
    over: float = 0.0
    operation: str = ""
    mentions: tuple[Mention, ...] = ()
    words: int = 0

    @property
    def mentioned(self) -> tuple[int, ...]:
        """The nodes of single names and references that it uses."""
        return tuple(one.nodes[0] for one in self.mentions if len(one.nodes) == 1)

    @property
    def answer(self) -> object:
        """The value that distinguishes its answer from others."""
        if self.holds is not None:
            return self.holds
        return self.number if self.number is not None else frozenset(self.nodes)


class Parser:
    """The parses of one question.

    Args:
        vocabulary: The names of the graph.
        analysis: The question.
        today: The day from which ages are counted.
        spoken: Nodes that "other" leaves out.
        weights: The costs of derivations.
        beam: The settings of the search.
    """

    def __init__(
        self,
        vocabulary: Vocabulary,
        analysis: Analysis,
        today: date,
        spoken: tuple[int, ...] = (),
        weights: Weights | None = None,
        beam: BeamConfig = BEAM,
    ) -> None:
        self.vocabulary = vocabulary
        self.graph: FactGraph = vocabulary.graph
        self.analysis = analysis
        self.today = today
        self.beam = beam
        self.space = DerivationSpace(vocabulary, analysis, spoken, weights)

    def parses(self) -> list[Parse]:
        """All parses, best first, one for each answer."""
        result = beam_search(self.space, self.beam)
        places = {int(path[-1]) for frontier in result.completed for path in frontier.choices}
        return self.finished([self.space.states[place] for place in sorted(places)])

    def finished(self, states: Sequence[State]) -> list[Parse]:
        """The parses that some derivations give, best first, one for each answer."""
        found: dict[object, Parse] = {}
        for state in states:
            for one in self._finished(state):
                known = found.get(one.answer)
                if known is None or one.cost < known.cost:
                    found[one.answer] = one
        return sorted(found.values(), key=lambda one: (one.cost, str(one.query)[:200]))

    def _others_of(self, state: State) -> State:
        """A derivation without the one that it speaks of: "who starred with him?" does not ask for him."""
        query = state.query
        own = {node for one in state.mentions if len(one.nodes) == 1 for node in one.nodes} & set(query.nodes)
        steps = sum(isinstance(part, Follow | Having) for part in sources(query))
        if not own or own >= set(query.nodes) or steps < 2:
            return state
        return replace(state, query=self.space.evaluator.without(query, tuple(own)))

    def _finished(self, state: State) -> Iterator[Parse]:
        if self.analysis.asks == "yes or no":
            for check in checks(self.vocabulary, self.analysis, state):
                yield self._checked(state, check)
            return
        if isinstance(state.query, Named):
            return
        state = self._others_of(state)
        for nodes, number, extra, words, operation in self._forms(state):
            one = self._parse(replace(state, words=state.words | words, cost=state.cost + extra))
            yield replace(one, nodes=nodes, number=number, operation=operation)

    def _parse(self, state: State) -> Parse:
        own, left = self.space.costs.supports(state)
        relations = len(self.graph.relations)
        said = [float(one) for one, item in zip(own, state.items, strict=True) if item < relations]
        nouns = self.analysis.weights >= 1
        remaining = float((left * self.analysis.weights)[nouns].sum())
        cost = self.space.costs.total(state)
        return Parse(
            state.query, cost, state.query.nodes, None, None, state.items, state.final,
            min(said, default=1.0), remaining, float((left * self.analysis.weights).sum()),
            "", state.mentions, state.words,
        )  # fmt: skip

    def left_over(self, parse: Parse) -> list[int]:
        """The places of the words that a parse does not explain."""
        state = State(parse.query, parse.words, parse.items, implied=(0.0,) * len(parse.items))
        _, left = self.space.costs.supports(state)
        return [place for place, share in enumerate(left * self.analysis.weights) if share >= 0.5]

    def _checked(self, state: State, check: Check) -> Parse:
        new = replace(
            state,
            query=check.query,
            words=state.words | check.words,
            items=(*state.items, *check.items),
            implied=(*state.implied, *(0.0 for _ in check.items)),
            cost=state.cost + check.cost,
        )
        return replace(self._parse(new), holds=check.holds, nodes=state.query.nodes, operation="check")

    # Forms of an answer

    def _forms(self, state: State) -> Iterator[tuple[tuple[int, ...], Decimal | None, float, int, str]]:
        """The answers that a derivation may give: nodes, a number, the cost, the words explained, the operation."""
        asks, nodes = self.analysis.asks, state.query.nodes
        if asks == "age":
            yield from self._ages(state)
            return
        kinds: set[str] = {self.graph.values[node].kind for node in nodes}
        listed = 0.0
        if isinstance(state.query, Members):
            listed = _ALMOST if self._is_plural(state.query.kind) else _MISMATCH
        elif isinstance(state.query, Without) and not relations_of(state.query):
            listed = _MISMATCH
        listed += self._unrestricted_cost(state) + self._beside_cost(state)
        if any(self.graph.is_nameless(node) for node in nodes):
            listed += _MISMATCH
        head = self._head_cost(state)
        if asks == "count":
            if kinds == {"number"}:
                single = self.graph.values[nodes[0]].number if len(nodes) == 1 else None
                yield nodes, single, 0.0, self.analysis.counting, ""
            elif kinds <= {"entity", "text"}:
                yield nodes, Decimal(len(nodes)), head, self.analysis.counting, "count"
            return
        cost = head + listed
        if asks == "amount":
            cost += 0.0 if kinds == {"number"} else _MISMATCH
        elif asks == "when":
            cost += 0.0 if kinds == {"date"} else self._time_cost(state, kinds)
        elif asks == "who":
            # "Who operates it?" may be answered by a company, as the verb itself says what it is.
            said = self._unsaid(state) if state.items and state.items[-1] in state.final else 0.0
            cost += self._who_cost(nodes, kinds) * (1 - _BY_VERB * said) + _SEVERAL * math.log2(len(nodes))
        elif asks == "where":
            cost += self._where_cost(nodes, kinds)
        yield nodes, None, cost, self.analysis.counting, ""

    def _beside_cost(self, state: State) -> float:
        """The cost of something that is not of the set for a question that asks which one of it."""
        asked = [one for one in state.mentions if one.words and one.words & self.analysis.among]
        return _MISMATCH if any(not set(state.query.nodes) <= set(one.nodes) for one in asked) else 0.0

    def _unrestricted_cost(self, state: State) -> float:
        """The cost of all values of a relation for a question that speaks of one: "who's the author?"."""
        parts = list(sources(state.query))
        if state.mentions or len(state.query.nodes) < 2 or not isinstance(state.query, Follow):
            return 0.0
        if any(isinstance(part, Members | Compared | Extreme | Having | Lacking) for part in parts):
            return 0.0
        if any(isinstance(part, Named) and len(part.nodes) == 1 for part in parts):
            return 0.0
        column = self.analysis.items[:, state.query.relation]
        return 0.0 if self.analysis.words[int(column.argmax())].low.endswith("s") else _MISMATCH

    def _is_plural(self, kind: int) -> bool:
        """Whether the word that names a class is a plural: "the artist" is one of them, not all."""
        column = self.analysis.items[:, self.vocabulary.class_item(kind)]
        word = self.analysis.words[int(column.argmax())].low
        return word.endswith("s") or word in ("people", "children", "men", "women")

    def _time_cost(self, state: State, kinds: set[str]) -> float:
        """The cost of an answer to "when" that is no date: "Mondays" where the question names the hours."""
        own, _ = self.space.costs.supports(state)
        is_said = len(own) > 0 and float(own[-1]) >= _SAID
        return _TEXT_OF_TIME if kinds == {"text"} and is_said else _MISMATCH

    def _who_cost(self, nodes: Sequence[int], kinds: set[str]) -> float:
        if not kinds <= {"entity", "text"}:
            return _MISMATCH
        typed = [node for node in nodes if self.graph.types[node]]
        if not typed or not self.vocabulary.people:
            return 0.1
        return 0.0 if all(self.vocabulary.is_of(node, self.vocabulary.people) for node in typed) else _NO_PERSON

    def _where_cost(self, nodes: Sequence[int], kinds: set[str]) -> float:
        if not kinds <= {"entity", "text"}:
            return _MISMATCH
        typed = [node for node in nodes if self.graph.types[node]]
        if any(self.vocabulary.is_of(node, self.vocabulary.people) for node in typed):
            return 0.8
        if typed and self.vocabulary.places:
            return 0.0 if all(self.vocabulary.is_of(node, self.vocabulary.places) for node in typed) else _NO_PLACE
        return 0.1

    def _head_cost(self, state: State) -> float:
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

    def _ended(self, state: State, place: int, item: int, likeness: float) -> float:
        """The likeness of a noun with an item as what the nodes are: those that have an "actor" are no actors."""
        is_relation = item < len(self.graph.relations)
        last = next((part for part in sources(state.query) if isinstance(part, Follow)), None)
        if not is_relation or last is None or last.relation != item or not last.inverse:
            return likeness
        if self.graph.relations[item].names[0].endswith(" of"):
            return likeness
        return float(self.analysis.turned[place, item])

    def _ages(self, state: State) -> Iterator[tuple[tuple[int, ...], Decimal | None, float, int, str]]:
        """Ages: today, or at another date of the same entity, counted from birth or the like."""
        nodes, counting = state.query.nodes, self.analysis.counting
        values = [self.graph.values[node] for node in nodes]
        if len(nodes) != 1 or not isinstance(state.query, Follow) or state.query.inverse:
            return
        named = self.vocabulary.likeness(["age"])[0]
        relation = state.query.relation
        if values[0].kind == "number":
            if named[relation] >= 0.5:
                yield nodes, values[0].number, 0.0, counting, ""
            return
        if values[0].period is None or len(state.query.source.nodes) != 1:
            return
        likeness = self.vocabulary.likeness(_BIRTH).max(axis=0)
        dates = [one for one, turned in self.graph.steps(state.query.source.nodes[0]) if not turned]
        dates = [one for one in dates if self.graph.relations[one].kind == "date"]
        if likeness[relation] < 0.5 or likeness[relation] < max(likeness[dates]):
            return
        begin = values[0].period.first
        # The adjective itself says that the birth is asked for.
        said = -self.space.weights.unsaid * (1 - self._unsaid(state))
        yield nodes, _years(begin, self.today), said, counting, f"age on {self.today}"
        for other, one in enumerate(self.graph.relations):
            if one.kind != "date" or other == relation:
                continue
            for node in self.graph.follow(state.query.source.nodes[0], other)[:1]:
                period = self.graph.values[node].period
                words = self._words_like(other)
                if period is not None and words and period.first >= begin:
                    yield nodes, _years(begin, period.first), said, counting | words, f"age at {one.names[0]}"

    def _unsaid(self, state: State) -> float:
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


def _years(begin: date, end: date) -> Decimal:
    return Decimal(end.year - begin.year - ((end.month, end.day) < (begin.month, begin.day)))
