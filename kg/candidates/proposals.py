"""A calculation that a language model names, looked up in the graph: it joins what the search finds by itself.

    >>> proposal = Proposal("subtract", ("net income @ 2009", "answer 1"))
    >>> states = proposed_states(space, proposal)       # every way in which the names can be read
    >>> joined(space, found, states)                    # the pool with those that it does not hold yet

A name is read generously (by the words it shares with a row's label), because what is wrong is ranked low by the same
ranker as everything else; a name that fits nothing makes no state. The states get the search's own log-probabilities,
so that a proposal that the search thinks little of counts for little.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kg.arrays import FloatArray, IntArray
from kg.candidates.ranking import ABSENT, Pool, pool
from kg.candidates.space import CONSTANT, DerivationSpace
from kg.derivations import Constant
from kg.figures import ReportIndex
from kg.scoring import ParsedForm
from kg.search import Frontier, SearchResult, SearchStatistics
from kg.text import content_tokens

READINGS = 3
"""Figures that one name may stand for."""

HISTORIES = 3
"""Histories under which a proposal is looked up, the most probable ones."""

_LEAST_SHARED = 0.5
_ANSWER = re.compile(r"answer (\d+)")


@dataclass(frozen=True)
class Proposal:
    """A calculation in names.

    Attributes:
        operation: One of :data:`kg.derivations.history.OPERATIONS`.
        operands: In order, each ``line item @ period``, ``line item``, ``answer 1`` or a number.
    """

    operation: str
    operands: tuple[str, ...]


def proposed_states(space: DerivationSpace, proposal: Proposal) -> IntArray:
    """Every state of the space that a proposal may mean, shape ``(states, 4)``; empty where it fits no form."""
    states: list[tuple[int, int, int, int]] = []
    order = np.argsort(-space.priors, kind="stable")[:HISTORIES]
    for history in order.tolist():
        turns = len(space.histories[history].turns)
        read = [_readings(space.index, name, turns) for name in proposal.operands]
        for number, form in enumerate(space.scorer.parsed):
            if form.operation == proposal.operation and form.operands == len(read):
                choices = [_of_kind(form, position, found, space.index) for position, found in enumerate(read)]
                for chosen in itertools.product(*choices):
                    filled = (*chosen, *[ABSENT] * (2 - len(chosen)))
                    states.append((history, number, filled[0], filled[1]))
    return np.array(states, dtype=np.int64).reshape(-1, 4)


@dataclass(frozen=True)
class _Readings:
    """The readings of a name: items of the report, an earlier answer, a number."""

    items: tuple[int, ...] = ()
    turn: int | None = None
    number: str | None = None


def _readings(index: ReportIndex, name: str, turns: int) -> _Readings:
    text = " ".join(name.lower().split())
    if match := _ANSWER.fullmatch(text):
        place = int(match[1]) - 1
        return _Readings(turn=place if place < turns else None)
    if re.fullmatch(r"-?\d+(\.\d+)?", text):
        return _Readings(number=text)
    label, _, period = (part.strip() for part in text.partition("@"))
    return _Readings(items=_items(index, label, period))


def _items(index: ReportIndex, label: str, period: str) -> tuple[int, ...]:
    """The report's items that a line item and a period name, the best first."""
    words = set(content_tokens(label))
    found: list[tuple[float, int]] = []
    for item, base in enumerate(index.base.tolist()):
        observation = index.observations[base]
        if observation.in_header or index.variant[item] != 0:
            continue
        known = observation.period or ""
        if period and period not in (known.lower(), observation.column_label.lower()) and period not in known.lower():
            continue
        own = set(content_tokens(observation.label))
        shared = 2.0 if observation.label.lower() == label else len(words & own) / max(len(words | own), 1)
        if shared >= _LEAST_SHARED:
            found.append((-shared, item))
    exact = [item for shared, item in found if shared == -2.0]
    return tuple(exact if exact else [item for _, item in sorted(found)])[:READINGS]


def _of_kind(form: ParsedForm, position: int, found: _Readings, index: ReportIndex) -> Sequence[int]:
    """The numbers of what a name stands for, where the form wants something of that kind."""
    kind = form.kinds[position]
    if kind == "C":
        constant = str(Constant(form.constants[position]).value)
        return [CONSTANT] if found.number == constant else []
    if kind == "R":
        return [len(index) + found.turn] if found.turn is not None else []
    return found.items


def scores_of(space: DerivationSpace, states: IntArray) -> FloatArray:
    """The log-probabilities that the search gives to states, whether it reached them or not."""
    scores = np.zeros(len(states), dtype=np.float32)
    for place, state in enumerate(states):
        form = space.scorer.parsed[state[1]]
        total = float(space.priors[state[0]] + space.form_log_probabilities[state[0], state[1]])
        for position in range(form.operands):
            before = Frontier(state[None, : 2 + position], np.zeros(1, dtype=np.float32))
            step = space.expand(before)
            total += float(step.log_probability[step.choice == state[2 + position]][0])
        scores[place] = total
    return scores


def joined(space: DerivationSpace, found: Pool, states: IntArray) -> Pool:
    """A pool with further states, each once."""
    known = {tuple(state) for state in found.states.tolist()}
    new = np.array([state for state in states.tolist() if tuple(state) not in known], dtype=np.int64).reshape(-1, 4)
    if not len(new):
        return found
    frontier = Frontier(new, scores_of(space, new))
    more = pool(space, SearchResult((frontier,), SearchStatistics(len(new), len(new), 0, 0)), len(new))
    return Pool(
        np.concatenate([found.states, more.states]),
        np.concatenate([found.scores, more.scores]),
        np.concatenate([found.values, more.values]),
    )
