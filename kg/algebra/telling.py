"""Queries told in plain clauses, for a model that reads them: subject, relation and object in the order of the graph.

>>> tell(Follow(Follow(NamedNodes((line,)), (operator,), operated_by), (chief,), chief_executive), graph)
'Valley Line (line) operated by company; company chief executive person'

A set is told by the class of its nodes, and a value by its kind.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from kg.algebra.queries import (
    Both,
    Compared,
    Complement,
    Either,
    Extreme,
    Follow,
    Having,
    Lacking,
    Matched,
    Members,
    NamedNodes,
    OfClass,
    Query,
    written_bound,
)
from kg.graphs import FactGraph

_SHOWN = 3
_LOOKED_AT = 30
_WORDS = {"<": "before", "<=": "at most", "=": "equal to", ">=": "at least", ">": "after"}
_OF_NUMBERS = {**_WORDS, "<": "less than", ">": "more than"}


def tell(query: Query, graph: FactGraph) -> str:
    """A query in clauses, the first step first."""
    return "; ".join(dict.fromkeys(_clauses(query, graph))) or noun_of(query, graph)


def noun_of(query: Query, graph: FactGraph) -> str:
    """The noun for the nodes of a query: the names of few named ones, else their class or kind of value."""
    if isinstance(query, NamedNodes) and len(query.nodes) <= _SHOWN:
        names = " or ".join(graph.name(node) for node in query.nodes)
        kind = kind_of(query.nodes, graph)
        return f"{names} ({kind})" if kind else names
    if isinstance(query, OfClass) and isinstance(query.source, NamedNodes):
        return noun_of(query.source, graph)
    if isinstance(query, Members):
        return " or ".join(graph.classes[kind].names[0].lower() for kind in query.kinds[:_SHOWN])
    if isinstance(query, OfClass):
        return graph.classes[query.kind].names[0].lower()
    return kind_of(query.nodes, graph) or "thing"


def kind_of(nodes: Sequence[int], graph: FactGraph) -> str:
    """The class that most of some nodes have, or the kind of most values; empty where nothing is known."""
    some = nodes[:_LOOKED_AT]
    classes = Counter(kind for node in some for kind in graph.types[node])
    if classes:
        # The smallest of the classes that the most nodes have says the most.
        kind = max(classes, key=lambda one: (classes[one], -len(graph.classes[one].members)))
        return graph.classes[kind].names[0].lower()
    kind_of_value = kind_of_values(some, graph)
    return "" if kind_of_value == "entity" else kind_of_value


def kind_of_values(nodes: Sequence[int], graph: FactGraph) -> str:
    """The kind of most of some nodes' values: an entity, a text, a number, a date or a boolean."""
    kinds = Counter(graph.values[node].kind for node in nodes[:_LOOKED_AT])
    return kinds.most_common(1)[0][0] if kinds else "entity"


def _clauses(query: Query, graph: FactGraph) -> Iterator[str]:
    if isinstance(query, NamedNodes):
        return
    if isinstance(query, Members):
        yield f"every {noun_of(query, graph)}"
        return
    yield from _clauses(query.source, graph)
    subject = noun_of(query.source, graph)
    if isinstance(query, Complement):
        yield f"the others of {noun_of(query.whole, graph)}"
    elif isinstance(query, Either):
        yield _alternatives(query, graph)
    elif isinstance(query, Both):
        yield from _clauses(query.other, graph)
        yield f"only {subject} of both"
    elif isinstance(query, OfClass):
        yield f"only {noun_of(query, graph)}"
    elif isinstance(query, Follow):
        yield _fact(query, graph, subject, noun_of(query, graph))
    elif isinstance(query, Having):
        yield from _clauses(query.target, graph)
        fact = _fact(query, graph, subject, noun_of(query.target, graph))
        yield f"not {fact}" if query.negated else f"only if {fact}"
    elif isinstance(query, Lacking):
        yield f"only with {'some' if query.present else 'no'} {_fact(query, graph, subject, 'any')}"
    elif isinstance(query, Matched):
        one, other = (graph.relations[place] for place in (query.relation, query.other))
        words = _WORDS if one.kind == "date" else _OF_NUMBERS
        yield f"only {subject} with {one.names[0]} {words[query.comparison]} its {other.names[0]}"
    elif isinstance(query, Compared | Extreme):
        yield _measure(query, graph, subject)
    else:
        yield "other than " + ", ".join(graph.name(node) for node in query.others[:_SHOWN])


def _alternatives(query: Either, graph: FactGraph) -> str:
    """The clauses that each of two queries adds to those of their source, joined by "or"."""
    known = set(_clauses(query.source, graph))
    sides = [[one for one in _clauses(side, graph) if one not in known] for side in (query.first, query.second)]
    is_selection = not any(isinstance(side, Follow) for side in (query.first, query.second))
    said = (" and ".join(one.removeprefix("only ").removeprefix("if ") for one in side) for side in sides if side)
    return ("only if " if is_selection else "") + " or ".join(dict.fromkeys(said))


def _measure(query: Compared | Extreme, graph: FactGraph, subject: str) -> str:
    relation = graph.relations[query.relation]
    name = f"number of {_fact(query, graph, subject, 'any')}" if query.counted else relation.names[0]
    is_date = relation.kind == "date" and not query.counted
    if isinstance(query, Compared):
        bound = graph.name(query.standard) if query.standard is not None else written_bound(query.bound)
        return f"only {subject} with {name} {(_WORDS if is_date else _OF_NUMBERS)[query.comparison]} {bound}"
    largest, smallest = ("latest", "earliest") if is_date else ("largest", "smallest")
    rank = f"number {query.rank} by " if query.rank > 1 else ""
    return f"{subject} with {rank}{largest if query.sign > 0 else smallest} {name}"


def _fact(query: Follow | Having | Lacking | Compared | Extreme, graph: FactGraph, subject: str, other: str) -> str:
    """A triple in the order of the graph: subject, relation, object."""
    first, second = (other, subject) if query.inverse else (subject, other)
    return f"{first} {graph.relations[query.relation].names[0]} {second}"
