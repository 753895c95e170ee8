"""Earlier questions with something replaced: "and the cheapest one?", "what about intensive care?", "no, I meant X".

>>> [write(state.query, graph) for state in replaced(space, past)]
['Intensive Care -> bed count']
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import date
from decimal import Decimal

from kg.algebra import (
    Compared,
    DegreeMention,
    Either,
    Extreme,
    Follow,
    Having,
    Members,
    NamedNodes,
    OfClass,
    Query,
    sources,
)
from kg.analysis import Analysis
from kg.discourse import LEAD
from kg.parsing.derivation import QueryDerivation
from kg.parsing.parser import Parse
from kg.parsing.references import DialogueTurn, asked_alike
from kg.parsing.space import QuerySpace
from kg.text import Period
from kg.vocabulary import NodeMention, joined_masks, rank_of

_COST, _EARLIER = 0.2, 0.3
_SHORT = 3
"""Words with a weight that a question without a lead may have to be an ellipsis."""

_OTHER_TYPE = 0.3
"""Of "I meant Bella" for a name of another class than the one that it replaces."""

_TURNS = 3
_SHIFTS = {**dict.fromkeys(("after", "later", "next", "following"), 1),
           **dict.fromkeys(("before", "earlier", "previous", "preceding"), -1)}  # fmt: skip
_MOST_DERIVED, _MOST_NODES = 30, 20
"""Derivations of a fragment that may take the place of a name, and the nodes of each."""
_WHICH_TEXT = "and so which who what ones one are they those these is it exactly please"
_ASKING = frozenset(("who", "which", "what"))
_DOING_TEXT = "then does do did is are was were has have one ones of them so and but"
_DOING = frozenset(_DOING_TEXT.split())
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
    if last is not None:
        yield from _compared(space, last, past)
    if not is_fragment(space):
        return
    if last is not None and last.operation in ("count", "check") and asks_for_all(space.analysis):
        yield QueryDerivation(last.query, (1 << len(space.analysis.words)) - 1, (), last.final, replaced=True)
    yield from _who_else(space, last)
    for back, turn in enumerate(reversed(past[-_TURNS:])):
        before = turn.likely
        if before is None:
            continue
        repeated = _repeated(space, turn)
        cost = _COST + _EARLIER * back
        if not back:
            yield from _derived(space, before, repeated, cost)
        for query, explained, extra, *referring in (
            *_names(space, before.query),
            *_bounds(space, before.query),
            *_years(space, before.query),
            *_degrees(space, before.query),
            *_ranks(space, before.query),
            *(_rest(space, before.query) if not back else ()),
        ):
            yield QueryDerivation(
                query, explained | repeated, (), before.final, cost + extra, tuple(referring), replaced=True
            )


def _compared(space: QuerySpace, last: Parse, past: Sequence[DialogueTurn]) -> Iterator[QueryDerivation]:
    """Reads "what is the difference?" and "how much more is that than Elm Road?": values of what was asked before.

    The values are those of the turns that asked the same, or of what the last turn was about and something else.
    """
    analysis = space.analysis
    relation, nodes = _valued(space, last.query)
    if relation is None or not analysis.differing | analysis.totals | analysis.means:
        return
    sets = [(asked_alike(past), 0)]
    if len(nodes) == 2:
        sets.append((nodes, 0))
    if len(nodes) == 1:
        named = ((one.nodes[0], one.words) for one in analysis.mentions if len(one.nodes) == 1)
        sets += [((*nodes, node), words) for node, words in named if node not in nodes]
    for some, words in dict.fromkeys(sets):
        found = space.evaluator.follow(NamedNodes(some), relation)
        if len(found.nodes) > 1:
            words |= joined_masks(one.words for one in analysis.references)
            yield QueryDerivation(found, words, (), (relation,), _COST, replaced=True)


def _valued(space: QuerySpace, query: Query) -> tuple[int | None, tuple[int, ...]]:
    """The relation whose numbers or dates a query asks for or compares, and the one or two nodes that it is about."""
    nodes: tuple[int, ...] = ()
    if isinstance(query, Follow) and not query.inverse:
        nodes = query.source.nodes if len(query.source.nodes) == 1 else ()
    elif isinstance(query, Extreme) and not query.counted and not query.inverse:
        nodes = query.source.nodes if len(query.source.nodes) == 2 else query.nodes
    elif isinstance(query, Compared) and query.standard is not None:
        nodes = (*query.source.nodes, query.standard)
    else:
        return None, ()
    is_valued = space.graph.relations[query.relation].kind in ("number", "date")
    return (query.relation, nodes) if is_valued else (None, ())


def _who_else(space: QuerySpace, last: Parse | None) -> Iterator[QueryDerivation]:
    """Reads "who does?" after "does she speak German?": all for whom the statement holds."""
    words = {word.low for word in space.analysis.words}
    if last is None or last.operation != "check" or not words & _ASKING or not words <= _ASKING | _DOING:
        return
    query = last.query
    if isinstance(query, Having) and not query.negated:
        found = space.evaluator.follow(query.target, query.relation, inverse=not query.inverse)
        yield QueryDerivation(found, (1 << len(space.analysis.words)) - 1, (), last.final, _COST, replaced=True)


def _repeated(space: QuerySpace, turn: DialogueTurn) -> int:
    """The words that the earlier question had too."""
    before = set(re.findall(r"\w+", turn.text.lower()))
    return sum(1 << place for place, word in enumerate(space.analysis.words) if word.low in before)


def _names(
    space: QuerySpace, query: Query
) -> Iterator[tuple[Query, int, float] | tuple[Query, int, float, NodeMention]]:
    """Another name in place of one, or what "the other one" refers to."""
    graph = space.graph
    lead = LEAD.match(space.analysis.text)
    is_led = bool(lead and lead.end())
    leaves = {part for part in sources(query) if isinstance(part, NamedNodes)}
    references = [one for one in space.analysis.references if one.words.bit_count() > 1]
    for mention in (*space.analysis.mentions, *references):
        for leaf in sorted(leaves, key=lambda one: one.nodes):
            is_alike = _alike(space, mention.nodes, leaf.nodes)
            if (not is_alike and not is_led) or set(mention.nodes) == set(leaf.nodes):
                continue
            new = NamedNodes(mention.nodes)
            found = space.evaluator.rebuilt(query, lambda part, leaf=leaf, new=new: new if part == leaf else None)  # type: ignore[misc]
            if found.nodes:
                differs = not {kind for node in mention.nodes for kind in graph.types[node]}
                extra = mention.cost + 0.1 * differs + (0.0 if is_alike else _OTHER_TYPE)
                yield (found, mention.words, extra, mention) if mention.is_reference else (found, mention.words, extra)


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
            found = space.evaluator.rebuilt(
                before.query,
                lambda part, leaf=leaf, new=state.query: new if part == leaf else None,  # type: ignore[misc]
            )
            if found.nodes:
                yield QueryDerivation(
                    found, state.words | repeated, state.items, before.final, state.cost + cost, state.mentions,
                    state.implied, replaced=True,
                )  # fmt: skip


def _alike(space: QuerySpace, nodes: Sequence[int], others: Sequence[int]) -> bool:
    """Whether nodes share a class, or are values of one relation."""
    graph = space.graph
    first, second = ({kind for node in some for kind in graph.types[node]} for some in (nodes, others))
    if first or second:
        return bool(first & second)
    one, other = ({step for node in some[:5] for step in graph.steps(node)} for some in (nodes, others))
    return bool(one & other)


def _bounds(space: QuerySpace, query: Query) -> Iterator[tuple[Query, int, float]]:
    for bound in space.analysis.bounds:

        def changed(part: Query, bound=bound) -> Query | None:  # type: ignore[no-untyped-def]
            if not isinstance(part, Compared) or part.counted or type(part.bound) is not type(bound.value):
                return None
            return space.evaluator.compared(part.source, part.relation, bound.comparison, bound.value)

        found = space.evaluator.rebuilt(query, changed)
        if found != query and found.nodes:
            yield found, bound.words, 0.0


def _years(space: QuerySpace, query: Query) -> Iterator[tuple[Query, int, float]]:
    """Reads "and the year after?" and "three years before": the year of an earlier question, moved."""
    low = [word.low for word in space.analysis.words]
    shifts = [place for place, word in enumerate(low) if word in _SHIFTS]
    spoken = [place for place, word in enumerate(low) if word in ("year", "years")]
    if not shifts or not spoken:
        return
    number = next((one.value for one in space.analysis.bounds if isinstance(one.value, Decimal)), Decimal(1))
    moved = int(number) * _SHIFTS[low[shifts[0]]]

    def changed(part: Query) -> Query | None:
        if not isinstance(part, Compared) or not isinstance(part.bound, Period) or part.comparison != "=":
            return None
        first, last = part.bound.first, part.bound.last
        if (first.month, first.day, last.month, last.day) != (1, 1, 12, 31) or first.year + moved < 1:
            return None
        bound = Period(date(first.year + moved, 1, 1), date(last.year + moved, 12, 31))
        return space.evaluator.compared(part.source, part.relation, part.comparison, bound)

    found = space.evaluator.rebuilt(query, changed)
    if found != query and found.nodes:
        words = sum(1 << place for place in {*shifts, *spoken})
        yield found, words | joined_masks(one.words for one in space.analysis.bounds), 0.0


def _degrees(space: QuerySpace, query: Query) -> Iterator[tuple[Query, int, float]]:
    for one in space.analysis.degrees:
        for part in sources(query):
            if not isinstance(part, Extreme):
                continue
            for relation in dict.fromkeys((part.relation, *space.selections.ordered(part.source.nodes))):
                column = space.analysis.measured[:, relation]
                own = max(float(column[place]) for place in range(len(column)) if one.words >> place & 1)
                if relation == part.relation and (not one.degree.measures or _is_scale_of(space, one, relation)):
                    own = max(own, 0.6)
                if own < 0.4:
                    continue
                same = relation == part.relation
                new = space.evaluator.extreme(
                    part.source,
                    relation,
                    space.selections.sign(one, relation),
                    counted=part.counted and same,
                    inverse=part.inverse and same,
                    rank=one.rank,
                )
                found = space.evaluator.rebuilt(query, lambda old, part=part, new=new: new if old == part else None)  # type: ignore[misc]
                if found.nodes:
                    yield found, one.words, 0.5 * (1 - own)


def _ranks(space: QuerySpace, query: Query) -> Iterator[tuple[Query, int, float]]:
    """Reads "and the second?" and "who comes next?" after a question for the largest or smallest."""
    taken = joined_masks(one.words for one in space.analysis.degrees)
    for place, word in enumerate(space.analysis.words):
        rank = rank_of(word.low)
        if taken >> place & 1 or (rank < 2 and word.low != "next"):
            continue
        for part in sources(query):
            if isinstance(part, Extreme):
                new = space.evaluator.extreme(
                    part.source,
                    part.relation,
                    part.sign,
                    counted=part.counted,
                    inverse=part.inverse,
                    rank=rank if rank > 1 else part.rank + 1,
                )
                found = space.evaluator.rebuilt(query, lambda old, part=part, new=new: new if old == part else None)  # type: ignore[misc]
                if found.nodes:
                    yield found, 1 << place, 0.0


def _is_scale_of(space: QuerySpace, one: DegreeMention, relation: int) -> bool:
    """Whether an adjective may follow the one of the question before: "highest" and "lowest" of any number."""
    return one.degree.of_dates == (space.graph.relations[relation].kind == "date")


def _rest(space: QuerySpace, query: Query) -> Iterator[tuple[Query, int, float]]:
    """Reads "which isn't?": the members of the earlier set that the last question did not select."""
    negations = space.analysis.negations
    if not negations:
        return
    for part in sources(query):
        if isinstance(part, Either | Having | Compared | OfClass):
            whole = part.source
            found = space.evaluator.complement(whole, part)
            if found.nodes:
                yield found, negations | joined_masks(one.words for one in space.analysis.references), 0.0
            return
