"""The costs of a question's derivations: the words that they leave over and the steps that no word says.

A step costs 0.06 by default; with one word of weight 1 left over::

    >>> Costs(graph, analysis, DerivationCosts()).total(state)
    1.06
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

import numpy as np

from kg.analysis import Analysis, Joint, joints_of
from kg.arrays import BoolArray, FloatArray
from kg.facts import FactGraph
from kg.parsing.derivation import DerivationCosts, QueryDerivation
from kg.vocabulary import VERB, NodeMention, joined_masks

_SAME_SPAN = 0.02
_DIRECTING = frozenset(("by", "on", "at", "to", "from", "for", "in", "with"))
_DIRECTED = 0.5
_PHRASE = 3
_BEFORE_A_NOUN_TEXT = "'s s the a an his her its their whose which what many no any"
_BEFORE_A_NOUN = frozenset(_BEFORE_A_NOUN_TEXT.split())
_KNOWN = 0.6
"""The likeness with a relation or class from which a word is known to mean it."""

_SECOND, _JOINT = 0.6, 0.85
_SAID = 0.3
"""The support from which a relation counts as said."""


class Costs:
    """The costs of the derivations of one question.

    Args:
        graph: The graph.
        analysis: The question.
        weights: The costs of each kind.
    """

    def __init__(self, graph: FactGraph, analysis: Analysis, weights: DerivationCosts) -> None:
        self.graph = graph
        self.analysis = analysis
        self.weights = weights
        self._reflexive: dict[int, bool] = {}
        self._supports: dict[tuple[tuple[int, ...], int], tuple[FloatArray, FloatArray]] = {}

    def supports(self, state: QueryDerivation) -> tuple[FloatArray, FloatArray]:
        """The likeness of each item of a state with the words that are its own, and the share left of each word."""
        key = (state.items, state.words)
        if key not in self._supports:
            self._supports[key] = self._supports_of(state)
        return self._supports[key]

    def _supports_of(self, state: QueryDerivation) -> tuple[FloatArray, FloatArray]:
        analysis = self.analysis
        rows = analysis.items
        free = np.array([not state.words >> place & 1 for place in range(len(analysis.words))], dtype=bool)
        left = np.where(free, 1.0, 0.0).astype(np.float32)
        if not state.items:
            return np.zeros(0, dtype=np.float32), left
        distinct = list(dict.fromkeys(state.items))
        likeness = np.where(free[:, None], rows[:, distinct], 0.0)
        if not len(likeness):
            return np.zeros(len(state.items), dtype=np.float32), left
        owner = likeness.argmax(axis=1)
        own = np.where(np.arange(len(distinct))[None, :] == owner[:, None], likeness, 0.0)
        for column, item in enumerate(distinct):
            self._once(own[:, column], state.items.count(item))
        left = left * (1 - own.max(axis=1))
        best = own.max(axis=0)
        return best[[distinct.index(item) for item in state.items]].astype(np.float32), left.astype(np.float32)

    def _once(self, column: FloatArray, times: int) -> None:
        """Lets an item be said in as many places as it is used: "X's father's parents" says it twice."""
        if np.count_nonzero(column) <= times:
            return
        groups = self._groups(column, 0.0)
        groups.sort(key=lambda group: -max(column[place] for place in group))
        for group in groups[times:]:
            column[group] *= self.weights.again

    def _groups(self, column: FloatArray, above: float) -> list[list[int]]:
        """The places of the words that name an item, by phrase."""
        groups: list[list[int]] = []
        for place in np.flatnonzero(column > above):
            if groups and not self._apart(column, groups[-1][-1], int(place)):
                groups[-1].append(int(place))
            else:
                groups.append([int(place)])
        return groups

    def repeated(self, relation: int, used: Iterable[int]) -> float:
        """The cost of a relation that is used again, unless the question says it as often."""
        times = sum(one == relation for one in used)
        if not times:
            return 0.0
        return self.weights.unsaid if len(self.phrases(relation)) <= times else 0.0

    def phrases(self, relation: int) -> list[list[int]]:
        """The places of the words that name a relation, by phrase, in the order in which the relation is followed."""
        column = np.where(self.analysis.weights > 0, self.analysis.items[:, relation], 0.0).astype(np.float32)
        groups = self._groups(column, _SAID)
        is_reversed = any(word.low == "of" for word in self.analysis.words)
        return groups[::-1] if is_reversed else groups

    def _apart(self, column: FloatArray, one: int, other: int) -> bool:
        """Whether two words belong to different phrases: a possessive is between them."""
        between = [self.analysis.words[place].low for place in range(one + 1, other)]
        if {"'s", "s"} & set(between):
            return True
        return "of" in between and abs(float(column[one] - column[other])) > _SAME_SPAN

    def total(self, state: QueryDerivation) -> float:
        """The cost of a state with the words that it leaves over."""
        own, left = self.supports(state)
        relations = len(self.graph.relations)
        unsaid, absorbing, sensed, seen = 0.0, 0, 0.0, set[int]()
        for item, support, implied in zip(state.items, own, state.implied, strict=True):
            if item in seen:
                continue
            seen.add(item)
            is_relation = item < relations
            cost = self.weights.unsaid if is_relation else self.weights.unsaid_class
            absorbing += is_relation and support < _SAID
            if is_relation and implied > support:
                # The sense of the whole question speaks for one relation; a second one is less likely meant too.
                implied = implied if not sensed or implied >= _JOINT else max(float(support), _SECOND * implied)
                sensed = max(sensed, implied if implied < _JOINT else 0.0)
            unsaid += cost * (1 - max(float(support), implied))
        remaining = left * self.analysis.weights
        # A verb that no name is like may well mean the relation that no word says.
        is_verb = self.analysis.weights <= VERB
        verbs = np.sort(remaining[is_verb])[::-1][:absorbing]
        over = float(remaining.sum()) - self.weights.absorbed * float(verbs.sum())
        if self.analysis.senses.any():
            # The whole question is like the relation, so a word that nothing is like is probably one of its words.
            unknown = remaining[self.unknown & ~is_verb]
            over -= sensed * self.weights.unknown * (float(unknown.sum()) + 0.5 * float(verbs.sum()))
        return state.cost + state.pending + unsaid + self.weights.left * over + self._required(state)

    @cached_property
    def joints(self) -> tuple[Joint, ...]:
        """The places at which "or" joins two conditions."""
        return joints_of(self.analysis)

    def _required(self, state: QueryDerivation) -> float:
        """The cost of an "or" that a derivation does not read: it requires both conditions, or leaves one out."""
        joints = [one for one in self.joints if not one.words & state.words]
        if not joints:
            return 0.0
        used = [one.words for one in state.mentions if one.words]
        used += [one.words for one in self.analysis.bounds if one.words & state.words == one.words]
        for item in set(state.items):
            column = self.analysis.items[:, item]
            is_alone = item < len(self.graph.relations) and self.graph.relations[item].kind == "boolean"
            used += [1 << int(column.argmax())] if is_alone else []
        pairs = ((first, second) for first in used for second in used)
        is_unread = any(one.joins(*pair) for pair in pairs for one in joints)
        is_unread |= any(set(one) & set(state.items) for one in self._joined_relations)
        return self.weights.both if is_unread else 0.0

    @cached_property
    def _joined_relations(self) -> list[tuple[int, ...]]:
        """The relations of the two words that are next to an "or": "directed by or starring Lee"."""
        relations = self.analysis.items[:, : len(self.graph.relations)]
        weighty = [place for place, weight in enumerate(self.analysis.weights) if weight > 0]
        found = []
        for joint in self.joints:
            before = [place for place in weighty if place < joint.place][-1:]
            after = [place for place in weighty if place > joint.place][:1]
            said = [place for place in (*before, *after) if relations[place].max(initial=0.0) >= _KNOWN]
            best = {int(relations[place].argmax()) for place in said if not any(u >> place & 1 for u in joint.units)}
            found += [tuple(best)] if len(best) == 2 else []
        return found

    @cached_property
    def unknown(self) -> BoolArray:
        """The words that are in no name and like no relation or class."""
        analysis = self.analysis
        named = joined_masks(one.words for one in (*analysis.mentions, *analysis.references))
        named |= joined_masks(one.words for one in analysis.bounds) | analysis.negations | analysis.others
        free = np.array([not named >> place & 1 for place in range(len(self.analysis.words))], dtype=bool)
        found: BoolArray = free & (self.analysis.items.max(axis=1, initial=0.0) < _KNOWN)
        return found

    def likeness(self, item: int, words: int = -1) -> float:
        """The best likeness of any word with an item."""
        column = self.analysis.items[:, item]
        return max((float(column[place]) for place in range(len(column)) if words >> place & 1), default=0.0)

    def against(self, relation: int, mention: NodeMention | None, *, is_subject: bool) -> float:
        """The cost of a relation between nodes of one class that is followed against the order of the words.

        "Which packages depend on X" asks for subjects of ``depends on``, "what does X depend on" and "the child of X"
        for objects. Words that ask for the other direction turn this: "the child of X" for ``parent``.
        """
        name = self.graph.relations[relation].names[0].lower().split()
        if not self._is_reflexive(relation):
            return 0.0
        analysis = self.analysis
        own = 0 if mention is None else mention.words
        free = [not own >> place & 1 for place in range(len(analysis.words))]
        column = np.where(free, analysis.items[:, relation], 0.0)
        place = int(column.argmax()) if len(column) else 0
        if not len(column) or column[place] < _DIRECTED:
            return 0.0
        turned = analysis.turned[place, relation] >= column[place] - _SAME_SPAN
        if len(name) > 1 and name[-1] == "by" and self._is_noun(place):
            # "Her teacher" is whom she was taught by, and "her pupil" whom she taught.
            return self.weights.owned if turned == is_subject else 0.0
        if len(name) > 1 and name[-1] in _DIRECTING:
            if not own:
                return 0.0
            after = [word.low for word in analysis.words[place + 1 : place + 3]]
            names_object = (1 << place) < own
            if name[-1] == "by" and "by" not in after:
                names_object = not names_object
            return self.weights.against if names_object == is_subject else 0.0
        if not self._is_noun(place):
            return 0.0
        names_object = turned != (name[-1] == "of")
        return self.weights.owned if names_object == is_subject else 0.0

    def _is_noun(self, place: int) -> bool:
        """Whether a word is used as a noun: it has an owner, an article or a complement."""
        low = [word.low for word in self.analysis.words]
        start = place
        while start and place - start < _PHRASE and self.analysis.weights[start - 1] > 0:
            if low[start - 1] in _BEFORE_A_NOUN:
                break
            start -= 1
        begin = low[start - 1] if start else ""
        after = low[place + 1] if place + 1 < len(low) else ""
        return begin in _BEFORE_A_NOUN or after in ("of", "to")

    def _is_reflexive(self, relation: int) -> bool:
        """Whether a relation joins nodes of one class."""
        if relation not in self._reflexive:
            pairs = [
                bool(set(self.graph.types[node]) & set(self.graph.types[other]))
                for node in range(len(self.graph.values))
                for other in self.graph.follow(node, relation)[:1]
            ][:50]
            self._reflexive[relation] = sum(pairs) * 2 > len(pairs)
        return self._reflexive[relation]
