"""Unions: two steps from one set, or two classes, that "or" joins: "built before 1950 or owned by Lee".

>>> [write(one.query, graph) for one in alternatives.of(state, steps)]
['boat(*) ([built in < 1950] or [owned by = Carl Lee])']

Each step is said on its side of the word, and may share a name: "directed by or starring Lee".
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from kg.algebra import Compared, Follow, Having, Lacking
from kg.analysis import Joint
from kg.parsing.derivation import QueryDerivation
from kg.parsing.selections import CLASS_LIKENESS, CLASS_NAMED, Selections
from kg.vocabulary import mask

_MOST = 20
"""Steps of a set that are united with each other."""


@dataclass(frozen=True)
class _Step:
    """A step from a set: the state after it, the words and items that it adds, and whether it follows a relation."""

    after: QueryDerivation
    words: int
    items: tuple[int, ...]
    follows: bool


class Alternatives:
    """The unions of one question.

    Args:
        selections: Its selections.
    """

    def __init__(self, selections: Selections) -> None:
        self.analysis = selections.analysis
        self.costs = selections.costs
        self.weights = selections.weights
        self.evaluator = selections.evaluator
        self.joints = selections.costs.joints
        self.vocabulary = selections.vocabulary
        self.graph = selections.graph

    def of(
        self, before: QueryDerivation, steps: Callable[[QueryDerivation], Iterable[QueryDerivation]]
    ) -> Iterator[QueryDerivation]:
        """The unions of two steps from a set, one of which may be empty.

        Args:
            before: The derivation of the set.
            steps: Gives the derivations with one step more.
        """
        for joint in self.joints:
            if joint.words & before.words:
                continue
            firsts = self._likely(before, steps(before))
            # "Not" on the left of the word denies nothing on its right.
            denied = self.analysis.negations & mask(0, joint.place) & ~before.words
            seconds = firsts
            if denied:
                told = steps(replace(before, words=before.words | denied))
                seconds = self._likely(before, [replace(one, words=one.words & ~denied) for one in told])
            for first, second in product(firsts, seconds):
                if first.follows == second.follows and self._are_joined(joint, first, second):
                    yield self._united(before, joint, first, second)

    def classes(self) -> Iterator[QueryDerivation]:
        """The members of two classes that "or" or "and" joins: "which bridges or tunnels"."""
        joins = [place for place, word in enumerate(self.analysis.words[1:-1], start=1) if word.low in ("or", "and")]
        for place in joins if self.graph.classes else ():
            sides = self.vocabulary.class_columns(self.analysis.items)[[place - 1, place + 1]]
            first, second = (int(kind) for kind in sides.argmax(axis=1))
            if first != second and sides.max(axis=1).min() >= CLASS_NAMED:
                items = (self.vocabulary.class_item(first), self.vocabulary.class_item(second))
                yield QueryDerivation(self.evaluator.members(first, second), 0, items, items, implied=(0.0, 0.0))

    def _likely(self, before: QueryDerivation, after: Iterable[QueryDerivation]) -> list[_Step]:
        """The least costly of the steps that words on one side say."""
        found = [
            _Step(one, one.words & ~before.words, one.items[len(before.items) :], isinstance(one.query, Follow))
            for one in after
            if isinstance(one.query, Compared) or (one.query.nodes and isinstance(one.query, Follow | Having | Lacking))
        ]
        return heapq.nsmallest(_MOST, (one for one in found if self._is_said(one)), key=self._cost)

    def _is_said(self, step: _Step) -> bool:
        return step.words > 0 or self._saying(step, -1) > 0

    def _cost(self, step: _Step) -> float:
        return self.costs.total(step.after)

    def _are_joined(self, joint: Joint, first: _Step, second: _Step) -> bool:
        shared = first.words & second.words
        if shared and not (joint.is_before(shared) or joint.is_after(shared)):
            return False
        if shared and (first.words ^ second.words) & self.analysis.negations:
            return False
        own = [first.words & ~shared, second.words & ~shared]
        sides = (mask(0, joint.place), ~mask(0, joint.place + 1))
        for number, (step, side) in enumerate(zip((first, second), sides, strict=True)):
            if not own[number]:
                own[number] = self._saying(step, side & ~shared)
                if (shared or step.follows) and not self._is_next(joint, own[number]):
                    return False
        return joint.joins(own[0], own[1])

    def _is_next(self, joint: Joint, word: int) -> bool:
        """Whether no word that must be understood is between a word and the "or"."""
        place = word.bit_length() - 1
        between = range(min(place, joint.place) + 1, max(place, joint.place))
        return not any(self.analysis.weights[one] > 0 for one in between)

    def _saying(self, step: _Step, side: int) -> int:
        """The word of a side that says a step's relation or class, as a bit mask; 0 where none does."""
        is_inside = np.array([side >> place & 1 for place in range(len(self.analysis.words))], dtype=bool)
        for item in step.items:
            likeness = np.where(is_inside, self.analysis.items[:, item], 0.0)
            if likeness.max(initial=0.0) >= CLASS_LIKENESS:
                return 1 << int(likeness.argmax())
        return 0

    def _united(self, before: QueryDerivation, joint: Joint, first: _Step, second: _Step) -> QueryDerivation:
        one, other = first.after, second.after
        left, right = mask(0, joint.place), ~mask(0, joint.place + 1)
        astray = self._astray(first, second, left, right) + self._astray(second, first, right, left)
        return QueryDerivation(
            self.evaluator.either(before.query, one.query, other.query),
            one.words | other.words | joint.words,
            (*one.items, *second.items),
            tuple(dict.fromkeys((*one.final, *other.final))),
            one.cost + other.cost - before.cost + astray,
            tuple(dict.fromkeys((*one.mentions, *other.mentions))),
            (*one.implied, *other.implied[len(before.items) :]),
            max(one.pending, other.pending),
        )

    def _astray(self, step: _Step, other: _Step, own: int, across: int) -> float:
        """The cost of a relation that words of the other condition say, unless that has it too."""
        is_astray = any(
            item not in other.items
            and self.costs.likeness(item, own & ~step.words) < CLASS_LIKENESS
            and self.costs.likeness(item, across & ~step.words) >= CLASS_LIKENESS
            for item in step.items
        )
        return self.weights.unsaid if is_astray else 0.0
