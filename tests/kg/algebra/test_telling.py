"""Queries told in clauses."""

from decimal import Decimal

import pytest

from kg.algebra import Compared, Evaluator, Extreme, Follow, NamedNodes, Query, tell
from kg.graphs import FactGraph, read_table

ROWS = """subject,predicate,object
Wren,type,Boat
Tern,type,Boat
Wren,skippered by,Ida Holm
Tern,skippered by,Olav Lie
Ida Holm,type,Sailor
Olav Lie,type,Sailor
Wren,length,9
Tern,length,14
Ida Holm,home port,Vardal
Olav Lie,home port,Vardal
Vardal,type,Town
"""


@pytest.fixture(scope="module")
def graph() -> FactGraph:
    return FactGraph.build(read_table(ROWS, what="boats"))


def _relation(graph: FactGraph, name: str) -> int:
    return next(place for place, one in enumerate(graph.relations) if one.names[0] == name)


def _named(graph: FactGraph, name: str) -> NamedNodes:
    return NamedNodes((next(place for place, names in enumerate(graph.names) if names[0] == name),))


def _boats(graph: FactGraph) -> Query:
    return Evaluator(graph).members(next(place for place, one in enumerate(graph.classes) if one.names[0] == "boat"))


def test_steps_keep_the_order_of_the_graph(graph: FactGraph) -> None:
    evaluator = Evaluator(graph)
    skippers = evaluator.follow(_named(graph, "Wren"), _relation(graph, "skippered by"))
    port = evaluator.follow(skippers, _relation(graph, "home port"))
    assert tell(port, graph) == "Wren (boat) skippered by sailor; sailor home port town"
    back: Follow = evaluator.follow(_named(graph, "Ida Holm"), _relation(graph, "skippered by"), inverse=True)
    assert tell(back, graph) == "boat skippered by Ida Holm (sailor)"


def test_conditions_name_their_measure_and_bound(graph: FactGraph) -> None:
    boats, length = _boats(graph), _relation(graph, "length")
    assert tell(boats, graph) == "every boat"
    short = Compared(boats, (), length, "<", Decimal(10))
    assert tell(short, graph) == "every boat; only boat with length less than 10"
    assert tell(Extreme(boats, (), length, 1), graph) == "every boat; boat with largest length"
    skipped = Extreme(boats, (), _relation(graph, "skippered by"), -1, counted=True, rank=2)
    assert tell(skipped, graph).endswith("boat with number 2 by smallest number of boat skippered by any")


def test_a_condition_tells_what_it_leads_to(graph: FactGraph) -> None:
    evaluator, boats = Evaluator(graph), _boats(graph)
    ida = _named(graph, "Ida Holm")
    own = evaluator.having(boats, _relation(graph, "skippered by"), ida, inverse=False)
    assert tell(own, graph) == "every boat; only if boat skippered by Ida Holm (sailor)"
