"""Selections by the facts that nodes have at all: something true, any fact of a relation, none, or a number of them.

>>> [write(one.query, graph) for one in presence.lacking(QueryDerivation(Members(podcasts, kind), words=0))]
['podcast(*) [no guest]']
"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

from kg.algebra import Bound, NamedNodes, Query, relations_of
from kg.parsing.derivation import QueryDerivation
from kg.parsing.selections import CLASS_LIKENESS, Selections

_MOST_COUNTED = 20
"""The largest bound that counts the values of a relation."""

_SOME = 50
"""Nodes of a set whose neighbours show what a relation leads to."""

_ANY = frozenset(("a", "an", "any", "some"))
_HAVING = frozenset(("have", "has", "had"))
_JOINT = frozenset(("both", "and", "also", "but", "well"))
"""Words that join what is said of one thing: "who sails and repairs boats?"."""


class Presence:
    """The selections of one question by the facts that there are.

    Args:
        selections: Its other selections.
    """

    def __init__(self, selections: Selections) -> None:
        self.selections = selections
        self.vocabulary = selections.vocabulary
        self.graph = selections.graph
        self.analysis = selections.analysis
        self.costs = selections.costs
        self.evaluator = selections.evaluator

    def of(self, state: QueryDerivation) -> Iterator[QueryDerivation]:
        """All selections of a derivation."""
        yield from self.true(state)
        yield from self.lacking(state)
        yield from self.having_any(state)
        yield from self.counted(state)

    def true(self, state: QueryDerivation) -> Iterator[QueryDerivation]:
        """Selections by a property that is true or false: "which lines are electrified?"."""
        steps = self.graph.steps_of(state.query.nodes)
        for relation, inverse in steps:
            if inverse or self.graph.relations[relation].kind != "boolean" or relation in relations_of(state.query):
                continue
            if self.costs.likeness(relation) < CLASS_LIKENESS:
                continue
            negated = self.selections.negation(state)
            values = dict.fromkeys(value for node in state.query.nodes for value in self.graph.follow(node, relation))
            wanted = tuple(value for value in values if self.graph.values[value].text == ("no" if negated else "yes"))
            query = self.evaluator.having(state.query, relation, NamedNodes(wanted), inverse=False)
            yield self.selections.extended(state, query, (relation,), final=state.final, words=negated)

    def lacking(self, state: QueryDerivation) -> Iterator[QueryDerivation]:
        """Selections of nodes without a fact: "which are still active?", "which flights had no crew?"."""
        steps = self.graph.steps_of(state.query.nodes)
        relations = {relation for relation, inverse in steps if not inverse}
        for words, relation in self.analysis.lacking:
            if relation in relations and not words & state.words:
                query = self.evaluator.lacking(state.query, relation)
                yield self.selections.extended(state, query, (), final=state.final, words=words)
                if denied := self.selections.negation(state):
                    # "No longer alive" is said of those who have a date of death.
                    query = self.evaluator.lacking(state.query, relation, present=True)
                    yield self.selections.extended(state, query, (), final=state.final, words=words | denied)
        negation = self.selections.negation(state)
        if not negation or isinstance(state.query, NamedNodes):
            return
        for relation, inverse in steps:
            item = self._saying(state.query, relation, inverse=inverse)
            if item is not None:
                query = self.evaluator.lacking(state.query, relation, inverse=inverse)
                yield self.selections.extended(state, query, (item,), final=state.final, words=negation)

    def _saying(self, query: Query, relation: int, *, inverse: bool) -> int | None:
        """The item by which words say a relation: itself forwards, or the class that it leads to ("a session")."""
        if not inverse and self.costs.likeness(relation) >= CLASS_LIKENESS:
            return relation
        end = self._said_end(query, relation, inverse=inverse)
        return end if end is not None else relation if self.costs.likeness(relation) >= CLASS_LIKENESS else None

    def _said_end(self, query: Query, relation: int, *, inverse: bool) -> int | None:
        """The class that a word says of what a relation leads to: "a boat" of "who owns a boat and sails one?"."""
        ends = {
            self.vocabulary.class_item(kind)
            for node in query.nodes[:_SOME]
            for other in self.graph.follow(node, relation, inverse=inverse)[:1]
            for kind in self.graph.types[other]
        }
        best = max(sorted(ends), key=self.costs.likeness, default=None)
        return best if best is not None and self.costs.likeness(best) >= CLASS_LIKENESS else None

    def having_any(self, state: QueryDerivation) -> Iterator[QueryDerivation]:
        """Selections of nodes with any fact of a relation: "which towns are on a river?", "who has children?"."""
        low = [word.low for word in self.analysis.words]
        is_joint = bool(_JOINT & set(low[1:]))
        if isinstance(state.query, NamedNodes) or len(state.query.nodes) < 2:
            return
        if self.analysis.negations & ~state.words and not is_joint:
            return
        steps = self.graph.steps_of(state.query.nodes)
        for relation, inverse in steps:
            # "Who both hosts and produces?" asks for the ends of the relations, as "who" is those who do it.
            column = self.analysis.turned if inverse and not is_joint else self.analysis.items
            likeness = column[:, relation]
            place = int(likeness.argmax())
            if relation in state.items or likeness[place] < CLASS_LIKENESS or state.words >> place & 1:
                continue
            is_any = bool(_ANY & set(low[max(place - 3, 0) : place]) or _HAVING & set(low[:place]))
            if not is_any and not is_joint:
                continue
            query = self.evaluator.lacking(state.query, relation, inverse=inverse, present=True)
            if len(query.nodes) < len(state.query.nodes) or is_joint:
                end = self._said_end(query, relation, inverse=inverse)
                items = (relation,) if end is None or end in state.items else (relation, end)
                yield self.selections.extended(state, query, items, final=state.final)

    def counted(self, state: QueryDerivation) -> Iterator[QueryDerivation]:
        """Selections by the number of a relation's values: "which talks have more than one speaker?"."""
        for bound in self.analysis.bounds:
            if not bound.words & state.words:
                yield from self._counted(state, bound)

    def _counted(self, state: QueryDerivation, bound: Bound) -> Iterator[QueryDerivation]:
        if (
            not isinstance(bound.value, Decimal)
            or bound.unit
            or bound.value > _MOST_COUNTED
            or len(state.query.nodes) < 2
        ):
            return
        steps = self.graph.steps_of(state.query.nodes)
        for relation, inverse in steps:
            if self.graph.relations[relation].kind not in ("entity", "text"):
                continue
            item = self._saying(state.query, relation, inverse=inverse)
            # "Actors in more than one film" are those whom a film stars, counted by their films.
            if relation in state.items and (not inverse or item in (None, relation)):
                continue
            query = self.evaluator.counted(state.query, relation, bound.comparison, bound.value, inverse=inverse)
            if len(query.nodes) < len(state.query.nodes):
                items = (relation if item is None else item,)
                yield self.selections.extended(state, query, items, final=state.final, words=bound.words)
