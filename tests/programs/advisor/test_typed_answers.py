"""Questions about a growing graph are asked of its types and edges as of any graph."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from experiments.saved import shipped_encoder, shipped_thesaurus
from kg.facts import FactGraph
from kg.growing import AddEdge, AddNode, GrowingGraph, NodeKey, Origin
from kg.investments import investment_schema
from kg.parsing import QuestionReader
from programs.advisor import GraphAnswers, TypedAnswers

COMPANIES = {
    "Brenta Ferries AG": ("Malta", "Ferries"),
    "Calder Line plc": ("Malta", "Ferries"),
    "Oriel Shipping Ltd": ("Norway", "Freight"),
    "Ostrava Freight AS": ("Norway", "Freight"),
    "Varna Tugs AD": ("Bulgaria", "Tugs"),
}


@pytest.fixture(scope="module")
def graph() -> Iterator[GrowingGraph]:
    with GrowingGraph(None, investment_schema()) as found:
        found.apply(
            [
                *(AddNode("Company", name, {"country": country}) for name, (country, _) in COMPANIES.items()),
                *(AddNode("Sector", sector) for sector in dict.fromkeys(sector for _, sector in COMPANIES.values())),
                *(
                    AddEdge("in_sector", NodeKey("Company", name), NodeKey("Sector", sector))
                    for name, (_, sector) in COMPANIES.items()
                ),
            ],
            Origin("companies.txt", "all lines"),
        )
        yield found


def reader(graph: FactGraph) -> QuestionReader:
    return QuestionReader(graph, shipped_encoder().vectors, shipped_thesaurus())


def test_questions_are_asked_of_types_and_edges(graph: GrowingGraph) -> None:
    question = "Which sector has the most companies?"
    assert GraphAnswers(graph).answer(question).values == ()
    supported = GraphAnswers(graph, TypedAnswers(reader)).answer(question)
    assert supported.values == ("Ferries", "Freight")
    assert supported.confidence is not None
    assert supported.confidence > 0.9
    assert supported.facts[0] == "Brenta Ferries AG -> in sector -> Ferries"


def test_an_answer_below_the_confidence_is_none_and_what_a_graph_lacks_is_not_denied(graph: GrowingGraph) -> None:
    never = TypedAnswers(reader, answer_from=1.0)
    assert GraphAnswers(graph, never).answer("Which sector has the most companies?").values == ()
    answers = GraphAnswers(graph, TypedAnswers(reader))
    assert answers.answer("Is Calder Line plc in the sector Ferries?").values in (("yes",), ())
    assert answers.answer("Is Calder Line plc in the sector Freight?").values == ()
