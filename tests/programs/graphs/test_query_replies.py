"""Replies of a language model as queries: each operation, results of earlier steps, and queries written as replies."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from decimal import Decimal
from typing import Any

import pytest

from kg.algebra import Evaluator, NamedNodes, Query
from kg.errors import QueryError
from kg.facts import FactGraph, read_table
from kg.parsing import Parse
from programs.graphs.query_replies import Replies, Shown, parse_answer
from programs.graphs.query_writing import written
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
LIKE = ("skipper", "length", "built")


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


def _queries() -> dict[str, Query]:
    one = Evaluator(GRAPH)
    boats, ferries = one.members(CLASSES["boat"]), one.members(CLASSES["ferry"])
    both = one.members(CLASSES["boat"], CLASSES["ferry"])
    olav, town = NamedNodes((NAMES["Olav Lie"],)), NamedNodes((NAMES["Sund"],))
    skipper, length, built = (RELATIONS[name] for name in LIKE)
    his = one.follow(olav, skipper, inverse=True)
    neighbours = one.follow(town, RELATIONS["home"], inverse=True)
    long = one.compared(boats, length, ">", Decimal(10))
    hers = one.having(boats, skipper, NamedNodes((NAMES["Ida Holm"],)), inverse=False)
    return {
        "follow": one.follow(boats, skipper),
        "back": his,
        "two classes": both,
        "second": one.extreme(both, length, 1, rank=2),
        "fewest": one.extreme(one.members(CLASSES["sailor"]), skipper, -1, counted=True, inverse=True),
        "class": one.of_class(his, CLASSES["ferry"]),
        "chain": one.having(boats, skipper, neighbours, inverse=False),
        "negated": one.having(boats, skipper, olav, inverse=False, negated=True),
        "either": one.either(boats, hers, long),
        "both": one.both(his, ferries),
        "others": one.complement(boats, hers),
        "present": one.lacking(ferries, skipper, present=True),
        "lacking": one.lacking(ferries, skipper),
        "standard": one.compared(boats, length, ">", Decimal(9), NAMES["Wren"]),
        "earlier": one.follow(NamedNodes((NAMES["Tern"], NAMES["Skua"])), length),
        "names": one.follow(NamedNodes((NAMES["Wren"], NAMES["Rail"])), length),
        "counted": one.counted(one.members(CLASSES["sailor"]), skipper, ">=", Decimal(2), inverse=True),
        "matched": one.matched(boats, length, ">", RELATIONS["berth"]),
        "year": one.compared(
            both, built, "<", GRAPH.values[one.follow(NamedNodes((NAMES["Skua"],)), built).nodes[0]].period
        ),  # type: ignore[arg-type]
    }


@pytest.mark.parametrize("name", _queries())
def test_a_query_that_is_written_reads_as_the_same(name: str) -> None:
    query = _queries()[name]
    reply = written(GRAPH, SHOWN, Parse(query, 0.0, query.nodes))
    assert reply is not None
    assert query.nodes
    assert set(Replies(GRAPH, SHOWN, TODAY).parse(reply).nodes) == set(query.nodes)


def test_what_no_steps_say_is_written_as_its_reading_or_not_at_all() -> None:
    query = Evaluator(GRAPH).follow(NamedNodes((NAMES["Wren"],)), RELATIONS["built"])
    age = Parse(query, 0.0, query.nodes, number=Decimal(45), operation=f"age on {TODAY}")
    assert written(GRAPH, SHOWN, age) is None
    reply = written(GRAPH, replace(SHOWN, readings=(age,)), age)
    assert reply is not None
    assert (reply.reading, reply.steps) == (1, [])
    hidden = replace(SHOWN, relations={})
    assert written(GRAPH, hidden, Parse(query, 0.0, query.nodes)) is None
