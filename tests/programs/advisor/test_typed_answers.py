"""Questions that a growing graph's lexicon leaves open are asked of its types and edges as of any graph."""

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


def test_what_the_lexicon_cannot_read_is_asked_as_of_any_graph(graph: GrowingGraph) -> None:
    question = "Which sector has the most companies?"
    assert GraphAnswers(graph).answer(question).values == ()
    found = GraphAnswers(graph, TypedAnswers(reader)).answer(question)
    assert found.values == ("Ferries", "Freight")
    assert found.confidence is not None
    assert found.confidence > 0.9
    assert found.facts[0] == "Brenta Ferries AG -> in sector -> Ferries"


def test_the_lexicon_goes_first_and_names_are_answers_of_their_own(graph: GrowingGraph) -> None:
    found = GraphAnswers(graph, TypedAnswers(reader)).answer("Which companies are based in Malta?")
    assert (found.values, found.confidence) == (("Brenta Ferries AG", "Calder Line plc"), None)


def test_an_answer_below_the_confidence_is_none(graph: GrowingGraph) -> None:
    never = TypedAnswers(reader, answer_from=1.0)
    question = "Which sector has the most companies?"
    assert GraphAnswers(graph, never).answer(question) == GraphAnswers(graph).answer(question)


def test_what_a_graph_of_news_lacks_is_not_denied(graph: GrowingGraph) -> None:
    answers = GraphAnswers(graph, TypedAnswers(reader))
    assert answers.answer("Is Calder Line plc based in Norway?").values == ("no",)
    assert answers.answer("Is Calder Line plc based in Malta?").values == ("yes",)
    found = answers.answer("Is Calder Line plc in the sector Freight?")
    assert (found.values, found.why) == ((), "the graph does not state it, and that is no denial")
