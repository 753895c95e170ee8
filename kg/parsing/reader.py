"""Reading of a question together with the readings of it: how well the clauses of each parse say what is asked.

>>> telling(parse, graph)
'company: Valley Line (line) operated by company = Stellan Rail'
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from kg.algebra import kind_of, tell
from kg.facts import FactGraph
from kg.parsing.parser import Parse

READ, OF_ONE_ANSWER = 12, 2
"""Derivations of a question that are read, and the most of one answer."""

_SHOWN = 2


def telling(parse: Parse, graph: FactGraph) -> str:
    """A parse in words: what is done with its nodes, what they are, its clauses, and its answer."""
    said = tell(parse.query, graph)
    if parse.holds is not None:
        return f"yes or no: {said}"
    kind = kind_of(parse.nodes, graph) or "thing"
    asked = f"{parse.operation} of {kind}" if parse.operation else kind
    if parse.number is not None and parse.operation:
        return f"{asked}: {said}"
    names = ", ".join(graph.name(node)[:40] for node in parse.nodes[:_SHOWN])
    more = f" and {len(parse.nodes) - _SHOWN} more" if len(parse.nodes) > _SHOWN else ""
    return f"{asked}: {said} = {names}{more}"


def chosen(order: Sequence[int], answers: Sequence[Hashable], texts: Sequence[Hashable]) -> list[int]:
    """The places of the derivations that are read: the first of each text, few of each answer.

    Args:
        order: The places, best first.
        answers: The answer of each derivation.
        texts: What is read of each.
    """
    found: list[int] = []
    seen: set[Hashable] = set()
    times: dict[Hashable, int] = {}
    for place in order:
        answer = answers[place]
        if texts[place] in seen or times.get(answer, 0) >= OF_ONE_ANSWER:
            continue
        seen.add(texts[place])
        times[answer] = times.get(answer, 0) + 1
        found.append(place)
        if len(found) == READ:
            break
    return found
