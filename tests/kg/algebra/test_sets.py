"""Sets of queries: unions, common nodes and what is left; queries told in clauses; amounts and their rounding."""

from datetime import date
from decimal import Decimal

import pytest

from kg.algebra import (
    Compared,
    Either,
    Evaluator,
    Extreme,
    Follow,
    NamedNodes,
    Query,
    facts_of,
    relations_of,
    rounded,
    sources,
    tell,
    time_between,
    write,
)
from kg.graphs import FactGraph, read_table
from tests.kg.algebra.boats import GRAPH, members, named, relation


@pytest.fixture(scope="module")
def either() -> Either:
    evaluator = Evaluator(GRAPH)
    boats = members("boat")
    ida = named("Ida Holm")
    hers = evaluator.having(boats, relation("skippered by"), ida, inverse=False)
    long = evaluator.compared(boats, relation("length"), ">", Decimal(12))
    return evaluator.either(boats, hers, long)


def test_a_union_has_the_nodes_of_both_once(either: Either) -> None:
    assert [GRAPH.name(node) for node in either.nodes] == ["Wren", "Tern"]
    again = Evaluator(GRAPH).either(either.source, either.first, either.first)
    assert again.nodes == either.first.nodes


def test_a_union_is_written_and_told_with_its_set_once(either: Either) -> None:
    assert write(either, GRAPH) == "boat(*) ([skippered by = Ida Holm] or [length > 12])"
    told = "every boat; only if boat skippered by Ida Holm (sailor) or boat with length more than 12"
    assert tell(either, GRAPH) == told


def test_the_sources_of_a_union_have_its_set_once(either: Either) -> None:
    assert list(sources(either)).count(either.source) == 1
    assert either.first in sources(either)
    assert relations_of(either) == {relation("skippered by"), relation("length")}


def test_the_facts_of_a_union_are_those_of_each_side(either: Either) -> None:
    facts = facts_of(either, GRAPH, either.nodes)
    assert "Wren -> skippered by -> Ida Holm" in facts
    assert "Tern -> length -> 14" in facts
    assert "Wren -> length -> 9" not in facts


def test_a_union_is_rebuilt_on_both_sides(either: Either) -> None:
    olav = named("Olav Lie")

    def changed(part: Query) -> Query | None:
        return olav if isinstance(part, NamedNodes) else None

    found = Evaluator(GRAPH).rebuilt(either, changed)
    assert {GRAPH.name(node) for node in found.nodes} == {"Tern", "Skua"}


def test_what_both_queries_have(either: Either) -> None:
    evaluator = Evaluator(GRAPH)
    both = evaluator.both(
        either.second,
        evaluator.having(either.source, relation("skippered by"), named("Olav Lie"), inverse=False),
    )
    assert [GRAPH.name(node) for node in both.nodes] == ["Tern"]
    assert write(both, GRAPH) == "(boat(*) [length > 12] and boat(*) [skippered by = Olav Lie])"
    assert tell(both, GRAPH).endswith("only if boat skippered by Olav Lie (sailor); only boat of both")
    facts = facts_of(both, GRAPH, both.nodes)
    assert {"Tern -> length -> 14", "Tern -> skippered by -> Olav Lie"} <= set(facts)
    assert relations_of(both) == {relation("skippered by"), relation("length")}

    def changed(part: Query) -> Query | None:
        return named("Ida Holm") if isinstance(part, NamedNodes) else None

    assert not evaluator.rebuilt(both, changed).nodes


def test_the_facts_of_what_is_left_are_those_of_the_whole() -> None:
    evaluator = Evaluator(GRAPH)
    boats, sailors = members("boat"), members("sailor")
    left = evaluator.complement(boats, sailors)
    assert facts_of(left, GRAPH, left.nodes[:1]) == ["Wren -> is a -> boat"]


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
    own = evaluator.matched(boats, relation("skipper", graph), "=", relation("owner", graph))
    long = evaluator.matched(boats, relation("length", graph), ">", relation("berth", graph))
    assert [[graph.name(node) for node in one.nodes] for one in (own, long)] == [["Wren"], ["Tern"]]
    assert write(long, graph) == "boat(*) [length > berth]"
    assert tell(own, graph) == "every boat; only boat with skipper equal to its owner"
    assert relations_of(own) == {relation("skipper", graph), relation("owner", graph)}
    assert {"Wren -> skipper -> Ida", "Wren -> owner -> Ida"} <= set(facts_of(own, graph, own.nodes))
    assert not evaluator.rebuilt(own, lambda part: NamedNodes(()) if part == boats else None).nodes


@pytest.mark.parametrize(
    ("number", "short"),
    [("16.16666667", "16.1667"), ("2.50", "2.5"), ("40", "40"), ("1e30", "1" + 30 * "0"), ("0.00001", "0")],
)
def test_numbers_have_at_most_four_decimals(number: str, short: str) -> None:
    assert f"{rounded(Decimal(number)):f}" == short


@pytest.mark.parametrize(("unit", "length"), [("years", 1), ("months", 23), ("weeks", 104), ("days", 730)])
def test_a_time_counts_full_units(unit: str, length: int) -> None:
    assert time_between(date(2020, 3, 31), date(2022, 3, 30) if unit != "days" else date(2022, 3, 31), unit) == length


def test_steps_keep_the_order_of_the_graph() -> None:
    evaluator = Evaluator(GRAPH)
    skippers = evaluator.follow(named("Wren"), relation("skippered by"))
    port = evaluator.follow(skippers, relation("home port"))
    assert tell(port, GRAPH) == "Wren (boat) skippered by sailor; sailor home port town"
    back: Follow = evaluator.follow(named("Ida Holm"), relation("skippered by"), inverse=True)
    assert tell(back, GRAPH) == "boat skippered by Ida Holm (sailor)"


def test_conditions_name_their_measure_and_bound() -> None:
    boats, length = members("boat"), relation("length")
    assert tell(boats, GRAPH) == "every boat"
    short = Compared(boats, (), length, "<", Decimal(10))
    assert tell(short, GRAPH) == "every boat; only boat with length less than 10"
    assert tell(Extreme(boats, (), length, 1), GRAPH) == "every boat; boat with largest length"
    skipped = Extreme(boats, (), relation("skippered by"), -1, counted=True, rank=2)
    assert tell(skipped, GRAPH).endswith("boat with number 2 by smallest number of boat skippered by any")
