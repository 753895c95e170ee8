"""Unions of two conditions on one set, unions and common nodes of two queries, and what is left of a set."""

from decimal import Decimal

import pytest

from kg.algebra import Either, Evaluator, NamedNodes, Query, facts_of, relations_of, sources, tell, write
from kg.graphs import FactGraph, read_table

ROWS = """subject,predicate,object
Wren,type,Boat
Tern,type,Boat
Skua,type,Boat
Wren,skippered by,Ida Holm
Tern,skippered by,Olav Lie
Skua,skippered by,Olav Lie
Ida Holm,type,Sailor
Olav Lie,type,Sailor
Wren,length,9
Tern,length,14
Skua,length,11
"""


@pytest.fixture(scope="module")
def graph() -> FactGraph:
    return FactGraph.build(read_table(ROWS, what="boats"))


def _relation(graph: FactGraph, name: str) -> int:
    return next(place for place, one in enumerate(graph.relations) if one.names[0] == name)


def _node(graph: FactGraph, name: str) -> int:
    return next(place for place, names in enumerate(graph.names) if names[0] == name)


@pytest.fixture(scope="module")
def either(graph: FactGraph) -> Either:
    evaluator = Evaluator(graph)
    boats = evaluator.members(next(place for place, one in enumerate(graph.classes) if one.names[0] == "boat"))
    ida = NamedNodes((_node(graph, "Ida Holm"),))
    hers = evaluator.having(boats, _relation(graph, "skippered by"), ida, inverse=False)
    long = evaluator.compared(boats, _relation(graph, "length"), ">", Decimal(12))
    return evaluator.either(boats, hers, long)


def test_a_union_has_the_nodes_of_both_once(graph: FactGraph, either: Either) -> None:
    assert [graph.name(node) for node in either.nodes] == ["Wren", "Tern"]
    again = Evaluator(graph).either(either.source, either.first, either.first)
    assert again.nodes == either.first.nodes


def test_a_union_is_written_and_told_with_its_set_once(graph: FactGraph, either: Either) -> None:
    assert write(either, graph) == "boat(*) ([skippered by = Ida Holm] or [length > 12])"
    told = "every boat; only if boat skippered by Ida Holm (sailor) or boat with length more than 12"
    assert tell(either, graph) == told


def test_a_union_of_relations_is_told_without_a_condition(graph: FactGraph) -> None:
    evaluator = Evaluator(graph)
    wren = NamedNodes((_node(graph, "Wren"),))
    sides = [evaluator.follow(wren, _relation(graph, name)) for name in ("skippered by", "length")]
    both = evaluator.either(wren, *sides)
    assert write(both, graph) == "Wren (-> skippered by or -> length)"
    assert tell(both, graph) == "Wren (boat) skippered by sailor or Wren (boat) length number"


def test_the_sources_of_a_union_have_its_set_once(graph: FactGraph, either: Either) -> None:
    assert list(sources(either)).count(either.source) == 1
    assert either.first in sources(either)
    assert relations_of(either) == {_relation(graph, "skippered by"), _relation(graph, "length")}


def test_the_facts_of_a_union_are_those_of_each_side(graph: FactGraph, either: Either) -> None:
    facts = facts_of(either, graph, either.nodes)
    assert "Wren -> skippered by -> Ida Holm" in facts
    assert "Tern -> length -> 14" in facts
    assert "Wren -> length -> 9" not in facts


def test_a_union_is_rebuilt_on_both_sides(graph: FactGraph, either: Either) -> None:
    olav = NamedNodes((_node(graph, "Olav Lie"),))

    def changed(part: Query) -> Query | None:
        return olav if isinstance(part, NamedNodes) else None

    found = Evaluator(graph).rebuilt(either, changed)
    assert {graph.name(node) for node in found.nodes} == {"Tern", "Skua"}


def test_what_both_queries_have(graph: FactGraph, either: Either) -> None:
    evaluator = Evaluator(graph)
    both = evaluator.both(
        either.second,
        evaluator.having(
            either.source, _relation(graph, "skippered by"), NamedNodes((_node(graph, "Olav Lie"),)), inverse=False
        ),
    )
    assert [graph.name(node) for node in both.nodes] == ["Tern"]
    assert write(both, graph) == "(boat(*) [length > 12] and boat(*) [skippered by = Olav Lie])"
    assert tell(both, graph).endswith("only if boat skippered by Olav Lie (sailor); only boat of both")
    facts = facts_of(both, graph, both.nodes)
    assert {"Tern -> length -> 14", "Tern -> skippered by -> Olav Lie"} <= set(facts)
    assert relations_of(both) == {_relation(graph, "skippered by"), _relation(graph, "length")}

    def changed(part: Query) -> Query | None:
        return NamedNodes((_node(graph, "Ida Holm"),)) if isinstance(part, NamedNodes) else None

    assert not evaluator.rebuilt(both, changed).nodes


def test_the_facts_of_what_is_left_are_those_of_the_whole(graph: FactGraph) -> None:
    evaluator = Evaluator(graph)
    names = [one.names[0] for one in graph.classes]
    boats, sailors = (evaluator.members(names.index(name)) for name in ("boat", "sailor"))
    left = evaluator.complement(boats, sailors)
    assert facts_of(left, graph, left.nodes[:1]) == ["Wren -> is a -> boat"]


def test_independent_queries_are_united_without_a_set(graph: FactGraph) -> None:
    wren, tern = (NamedNodes((_node(graph, name),)) for name in ("Wren", "Tern"))
    united = Evaluator(graph).either(NamedNodes(()), wren, tern)
    assert united.nodes == (*wren.nodes, *tern.nodes)
    assert write(united, graph) == "(Wren or Tern)"


def test_values_of_two_relations_are_compared() -> None:
    rows = (
        "subject,predicate,object\nWren,type,Boat\nTern,type,Boat\nWren,skipper,Ida\nWren,owner,Ida\nTern,skipper,Ida\n"
    )
    rows += (
        "Tern,owner,Olav\nIda,home,Sund\nOlav,home,Sund\nWren,length,9\nWren,berth,12\nTern,length,14\nTern,berth,12\n"
    )
    graph = FactGraph.build(read_table(rows, what="boats"))
    evaluator = Evaluator(graph)
    boats = evaluator.members(0)
    own = evaluator.matched(boats, _relation(graph, "skipper"), "=", _relation(graph, "owner"))
    long = evaluator.matched(boats, _relation(graph, "length"), ">", _relation(graph, "berth"))
    assert [[graph.name(node) for node in one.nodes] for one in (own, long)] == [["Wren"], ["Tern"]]
    assert write(long, graph) == "boat(*) [length > berth]"
    assert tell(own, graph) == "every boat; only boat with skipper equal to its owner"
    assert relations_of(own) == {_relation(graph, "skipper"), _relation(graph, "owner")}
    assert {"Wren -> skipper -> Ida", "Wren -> owner -> Ida"} <= set(facts_of(own, graph, own.nodes))
    assert not evaluator.rebuilt(own, lambda part: NamedNodes(()) if part == boats else None).nodes
