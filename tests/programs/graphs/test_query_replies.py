"""Replies of a language model as queries: each operation, and results of earlier steps."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from typing import Any

import pytest

from kg.errors import QueryError
from kg.graphs import FactGraph, read_table
from programs.graphs.query_replies import Replies, Shown, parse_answer
from signatures.queries import GraphQuery, QueryStep

TODAY = date(2026, 1, 1)
TABLE = """subject,predicate,object
Wren,type,boat
Tern,type,boat
Skua,type,ferry
Rail,type,ferry
Wren,skipper,Ida Holm
Tern,skipper,Olav Lie
Skua,skipper,Olav Lie
Wren,length (m),9
Tern,length (m),14
Skua,length (m),14
Rail,length (m),30
Rail,for sale,no
Wren,owner,Ida Holm
Wren,next survey,2027-05-01
Tern,next survey,2029-05-02
Tern,owner,Ida Holm
Wren,berth (m),10
Tern,berth (m),12
Skua,for sale,yes
Wren,built,1980-03-01
Tern,built,1990-06-01
Skua,built,2001
Ida Holm,type,sailor
Olav Lie,type,sailor
Ida Holm,home,Aberholm
Olav Lie,home,Sund
Pier 4,type,pier
Pier 4,length (m),12
Aberholm,type,town
Sund,type,town
"""
GRAPH = FactGraph.build(read_table(TABLE, what="boats"))
RELATIONS = {one.names[0]: place for place, one in enumerate(GRAPH.relations)}
CLASSES = {one.names[0]: place for place, one in enumerate(GRAPH.classes)}
NAMES = {GRAPH.name(node): node for node in range(len(GRAPH.values)) if GRAPH.is_entity(node)}
SHOWN = Shown(NAMES, CLASSES, RELATIONS, {"answer 1": (NAMES["Tern"], NAMES["Skua"])})


def _reply(start: str, *steps: str, answer: Any = "entities or values") -> GraphQuery:
    """A reply of steps such as "only | skipper | Ida Holm"."""
    parts = [(*map(str.strip, one.split("|")), "", "") for one in steps]
    made = [QueryStep(operation=one, relation=relation, value=value) for one, relation, value, *_ in parts]  # type: ignore[arg-type]
    return GraphQuery(start=start, steps=made, answer=answer)


def _answer(reply: GraphQuery) -> Any:
    parse = Replies(GRAPH, SHOWN, TODAY).parse(reply)
    found = parse_answer(GRAPH, parse)
    return sorted(found) if isinstance(found, tuple) else found


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        (_reply("Wren", "start||Tern", "or||#0"), ["Tern", "Wren"]),
        (_reply("Wren", "start||Tern", "or||#0", "largest|length"), ["Tern"]),
        (_reply("answer 1", "only|is a|boat"), ["Tern"]),
        (_reply("answer 1", "not|is a|boat"), ["Skua"]),
        (_reply("answer 1", "smallest|built"), ["Tern"]),
        (_reply("boat", "start||ferry", "or||#0", "largest|length|2"), ["Skua", "Tern"]),
        (_reply("boat", "at least|length|14"), ["Tern"]),
        (_reply("boat", "at most|length|9 m"), ["Wren"]),
        (_reply("boat", "more than|length|Pier 4"), ["Tern"]),
        (_reply("boat", "less than|built|Tern"), ["Wren"]),
        (_reply("Wren", "follow|length", "start||ferry", "more than|length|#1"), ["Rail", "Skua"]),
        (_reply("sailor", "more than|skipper|1"), ["Olav Lie"]),
        (_reply("sailor", "largest|skipper"), ["Olav Lie"]),
        (_reply("sailor", "only|skipper|Wren"), ["Ida Holm"]),
        (_reply("ferry", "lacking|skipper"), ["Rail"]),
        (_reply("ferry", "only|skipper"), ["Skua"]),
        (_reply("town", "lacking|home", "follow back|home"), []),
        (_reply("Aberholm", "follow back|home", "start||boat", "only|skipper|#1"), ["Wren"]),
        (_reply("Olav Lie", "follow back|skipper", "start||boat", "and||#1"), ["Tern"]),
        (_reply("Olav Lie", "follow back|skipper", "start||boat", "without||#1"), ["Wren"]),
        (_reply("boat", "without||Wren"), ["Tern"]),
        (_reply("boat", "follow|length", answer="sum"), Decimal(23)),
        (_reply("answer 1", "follow|length", answer="sum"), Decimal(28)),
        (_reply("boat", "follow|length", answer="average"), Decimal("11.5")),
        (_reply("boat", "follow|length", answer="product"), Decimal(126)),
        (_reply("boat", "follow|length", answer="difference"), Decimal(5)),
        (_reply("boat", "follow|built", answer="difference"), Decimal(10)),
        (_reply("boat", "follow|built", answer="months"), Decimal(123)),
        (_reply("Wren", "follow|built", answer="years"), Decimal(45)),
        (_reply("boat", "follow|next survey", answer="years"), Decimal(2)),
        (_reply("Wren", "follow|next survey", answer="years"), Decimal(1)),
        (_reply("Wren", "more than|length|Tern", answer="yes or no"), "no"),
        (_reply("boat", "equal to|skipper|owner"), ["Wren"]),
        (_reply("boat", "more than|length|berth"), ["Tern"]),
        (_reply("Rail", "follow|for sale", answer="yes or no"), "no"),
        (_reply("Skua", "follow|for sale", answer="yes or no"), "yes"),
        (_reply("boat", "only|skipper|Ida Holm", answer="count"), Decimal(1)),
        (_reply("boat", answer="not in the graph"), []),
    ],
)
def test_each_operation_of_a_reply(reply: GraphQuery, answer: object) -> None:
    assert _answer(reply) == answer


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (_reply("Titanic"), "Titanic"),
        (_reply(""), "start"),
        (_reply("boat", "follow|tonnage"), "tonnage"),
        (_reply("boat", "and||#3"), "#3"),
        (_reply("boat", "more than|length|#0"), "#0"),
        (_reply("boat", "more than|length|long"), "long"),
        (_reply("boat", "only|is a|whale"), "whale"),
        (_reply("sailor", answer="sum"), "sum"),
        (_reply("boat", "follow|skipper", answer="difference"), "difference"),
        (_reply("boat", "follow|length", answer="years"), "years"),
        (GraphQuery(reading=1), "reading"),
    ],
)
def test_what_a_reply_may_not_say_is_named(reply: GraphQuery, said: str) -> None:
    with pytest.raises(QueryError, match=said):
        _answer(reply)
