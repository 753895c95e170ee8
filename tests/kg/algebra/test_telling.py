"""Queries told in clauses."""

from decimal import Decimal

from kg.algebra import Compared, Evaluator, Extreme, Follow, tell
from tests.kg.algebra.boats import GRAPH, members, named, relation


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
