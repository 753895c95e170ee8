"""A derivation of a question (the query so far and the words that it explains) and its cost.

>>> costs = Costs(graph, analysis)
>>> costs.total(QueryDerivation(NamedNodes((line,)), words=0b100, cost=STEP))
1.06

The cost orders the beam alone: what the words left over and the relations that no word says mean is up to the fitted
ranking (:mod:`kg.parsing.ranking`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from kg.algebra import Query
from kg.arrays import BoolArray, FloatArray
from kg.graphs import FactGraph
from kg.parsing.analysis import Analysis
from kg.parsing.names import NodeMention, joined_masks
from kg.parsing.words import VERB

STEP, UNSAID, UNUSUAL = 0.06, 0.9, 0.35
"""The costs of an operation, of a relation or class that no word says, and of anything else that is seldom meant."""

IMPLIED = 0.6
"""The support of a step over things that only join others, and the most of a condition, in [0, 1]."""

_KNOWN = 0.6
"""The likeness with a relation or class from which a word is known to mean it."""

_ABSORBED = 0.5
"""The share of a verb's weight that a relation which no word says takes away."""


@dataclass(frozen=True)
class QueryDerivation:
    """A derivation.

    Attributes:
        query: What it denotes.
        words: The words that it explains fully, as a bit mask.
        items: The relations and classes that it uses.
        final: The items that say what its nodes are.
        cost: The costs of its steps, those of words and items left out.
        mentions: The names and references that it uses.
        implied: The support of each item by what else could be asked, in [0, 1].
        replaced: Whether it is an earlier question with something replaced.
        operation: What that question did with its nodes, where this one does the same: ``check`` or ``difference``.
    """

    query: Query
    words: int = 0
    items: tuple[int, ...] = ()
    final: tuple[int, ...] = ()
    cost: float = 0.0
    mentions: tuple[NodeMention, ...] = ()
    implied: tuple[float, ...] = ()
    replaced: bool = False
    operation: str = ""

    def extended(
        self,
        query: Query,
        items: tuple[int, ...] = (),
        *,
        final: tuple[int, ...] | None = None,
        words: int = 0,
        cost: float = 0.0,
        mention: NodeMention | None = None,
        implied: float = 0.0,
    ) -> QueryDerivation:
        """A derivation with one more operation; ``implied`` is the support of its items by what else could be meant."""
        return replace(
            self,
            query=query,
            words=self.words | words,
            items=(*self.items, *items),
            final=self.final if final is None else final,
            cost=self.cost + STEP + cost,
            mentions=self.mentions if mention is None else (*self.mentions, mention),
            implied=(*self.implied, *(implied for _ in items)),
        )


class Costs:
    """The costs of the derivations of one question.

    Args:
        graph: The graph.
        analysis: The question.
    """

    def __init__(self, graph: FactGraph, analysis: Analysis) -> None:
        self.graph = graph
        self.analysis = analysis
        self._supports: dict[tuple[tuple[int, ...], int], tuple[FloatArray, FloatArray]] = {}

    def supports(self, state: QueryDerivation) -> tuple[FloatArray, FloatArray]:
        """The likeness of each item of a state with the words that are its own, and the share left of each word."""
        key = (state.items, state.words)
        if key not in self._supports:
            self._supports[key] = self._supports_of(state)
        return self._supports[key]

    def _supports_of(self, state: QueryDerivation) -> tuple[FloatArray, FloatArray]:
        words = range(len(self.analysis.words))
        free = np.array([not state.words >> place & 1 for place in words], dtype=bool)
        left = free.astype(np.float32)
        if not state.items or not len(words):
            return np.zeros(len(state.items), dtype=np.float32), left
        distinct = list(dict.fromkeys(state.items))
        likeness = np.where(free[:, None], self.analysis.items[:, distinct], 0.0)
        is_owner = np.arange(len(distinct))[None, :] == likeness.argmax(axis=1)[:, None]
        own = np.where(is_owner, likeness, 0.0)
        best = own.max(axis=0)
        supports = best[[distinct.index(item) for item in state.items]]
        return supports.astype(np.float32), (left * (1 - own.max(axis=1))).astype(np.float32)

    def total(self, state: QueryDerivation) -> float:
        """The cost of a state with the words that it leaves over."""
        own, left = self.supports(state)
        unsaid, absorbing, seen = 0.0, 0, set[int]()
        for item, support, implied in zip(state.items, own, state.implied, strict=True):
            if item not in seen:
                seen.add(item)
                absorbing += item < len(self.graph.relations) and support < IMPLIED
                unsaid += UNSAID * (1 - max(float(support), implied))
        remaining = left * self.analysis.weights
        # A verb that no name is like may well mean the relation that no word says.
        verbs = np.sort(remaining[self.analysis.weights <= VERB])[::-1][:absorbing]
        return state.cost + unsaid + float(remaining.sum()) - _ABSORBED * float(verbs.sum())

    @cached_property
    def unknown(self) -> BoolArray:
        """The words that are in no name and like no relation or class."""
        analysis = self.analysis
        named = joined_masks(one.words for one in (*analysis.mentions, *analysis.references))
        named |= joined_masks(one.words for one in analysis.bounds) | analysis.negations | analysis.others
        free = np.array([not named >> place & 1 for place in range(len(analysis.words))], dtype=bool)
        unknown: BoolArray = free & (analysis.items.max(axis=1, initial=0.0) < _KNOWN)
        return unknown

    def likeness(self, item: int, words: int = -1) -> float:
        """The best likeness of any word with an item."""
        column = self.analysis.items[:, item]
        return max((float(column[place]) for place in range(len(column)) if words >> place & 1), default=0.0)

    def repeated(self, relation: int, used: tuple[int, ...]) -> float:
        """The cost of a relation that is used again, unless as many words say it."""
        times = used.count(relation)
        said = int((self.analysis.items[:, relation] >= _KNOWN).sum())
        return UNSAID if times and said <= times else 0.0
