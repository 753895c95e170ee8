"""Earlier questions with something replaced: "and the cheapest one?", "what about intensive care?", "no, I meant X".

>>> [write(state.query, graph) for state in replaced(space, past)]
['Intensive Care -> bed count']
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from kg.algebra import Compared, Extreme, Members, NamedNodes, Query, sources
from kg.parsing.analysis import Analysis
from kg.parsing.derivation import STEP, UNUSUAL, QueryDerivation
from kg.parsing.evidence import LEAD
from kg.parsing.mentions import NodeMention
from kg.parsing.names import joined_masks
from kg.parsing.parser import Parse
from kg.parsing.references import DialogueTurn
from kg.parsing.selections import LIKE
from kg.parsing.space import QuerySpace
from kg.parsing.words import rank_of

_SHORT = 3
"""Words with a weight that a question without a lead may have to be an ellipsis."""

_TURNS = 3
_MOST_DERIVED, _MOST_NODES = 30, 20
"""Derivations of a fragment that may take the place of a name, and the nodes of each."""

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
        repeated, cost = _repeated(space, turn), 2 * STEP + 3 * STEP * back
        if not back:
            yield from _derived(space, before, repeated, cost)
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
                    extra = mention.cost + 3 * STEP * (not is_alike)
                    yield changed, mention.words, extra, (mention,) if mention.is_reference else ()


def _with(space: QuerySpace, query: Query, old: Query, new: Query) -> Query:
    """A query with one of its parts replaced."""
    return space.evaluator.rebuilt(query, lambda part: new if part == old else None)


def _derived(space: QuerySpace, before: Parse, repeated: int, cost: float) -> Iterator[QueryDerivation]:
    """Reads "and his son?" after "how old is Ola Brandt?": what the fragment denotes, in the place of a name."""
    leaves = sorted({part for part in sources(before.query) if isinstance(part, NamedNodes)}, key=lambda one: one.nodes)
    order = sorted(range(len(space.states)), key=lambda place: space.totals[place])
    for state in [space.states[place] for place in order[:_MOST_DERIVED]]:
        if isinstance(state.query, NamedNodes | Members) or len(state.query.nodes) > _MOST_NODES:
            continue
        for leaf in leaves:
            if not _alike(space, state.query.nodes, leaf.nodes) or set(state.query.nodes) == set(leaf.nodes):
                continue
            changed = _with(space, before.query, leaf, state.query)
            if changed.nodes:
                yield QueryDerivation(
                    changed, state.words | repeated, state.items, before.final, state.cost + cost, state.mentions,
                    state.implied, replaced=True, operation=_operation(before),
                )  # fmt: skip


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
            rank = rank_of(word.low)
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
