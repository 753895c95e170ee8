"""The graph that ships: what it must hold, and the conversations about it."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from rdflib import Graph, Namespace
from rdflib.namespace import RDF, RDFS

from experiments.tasks import is_right, load_geography
from kg.parsing import QuestionReader
from programs.conversation import ConversationQA
from programs.turns import Conversation
from programs.worlds.graph import GraphWorld
from tests.demonstrations import geography_turns

ROOT = Path(__file__).resolve().parents[3]
GEO = Namespace("https://w3id.org/finpath/geography#")
FOLLOW_UPS = json.loads((ROOT / "benchmarks" / "geography_followups.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def triples() -> Graph:
    graph = Graph()
    graph.parse(ROOT / "experiments" / "sample" / "geography.ttl")
    return graph


@pytest.fixture(scope="module")
def graph() -> QuestionReader:
    return load_geography()


def test_at_least_forty_countries_have_every_fact(triples: Graph) -> None:
    wanted = (GEO.population, GEO.populationYear, GEO.area, GEO.capital, GEO.currency, RDFS.label)
    countries = list(triples.subjects(RDF.type, GEO.Country))
    complete = [one for one in countries if all((one, prop, None) in triples for prop in wanted)]
    assert len(countries) == 49
    assert len(complete) >= 40
    assert sum((one, GEO.borders, None) in triples for one in complete) >= 40


def test_borders_go_both_ways_and_join_two_countries(triples: Graph) -> None:
    pairs = set(triples.subject_objects(GEO.borders))
    assert len(pairs) > 150
    assert {(b, a) for a, b in pairs} == pairs
    assert all(a != b for a, b in pairs)
    assert all((one, RDF.type, GEO.Country) in triples for pair in pairs for one in pair)


def test_a_capital_is_a_city_of_its_country(triples: Graph) -> None:
    for country, city in triples.subject_objects(GEO.capital):
        assert (city, RDF.type, GEO.City) in triples
        assert triples.value(city, GEO.country) == country


def test_figures_are_of_the_right_size(triples: Graph) -> None:
    """A few that everybody knows, and bounds for the rest."""
    assert int(triples.value(GEO.Germany, GEO.population)) == 83_295_000
    assert int(triples.value(GEO.Spain, GEO.area)) == 505_370
    world = sum(int(number) for number in triples.objects(None, GEO.population))
    assert world > 0
    for country in triples.subjects(RDF.type, GEO.Country):
        population = int(triples.value(country, GEO.population))
        area = float(triples.value(country, GEO.area))
        assert 1 < population / area < 25_000, country
        assert int(triples.value(country, GEO.populationYear)) == 2023
    for city in triples.subjects(RDF.type, GEO.City):
        population, owner = triples.value(city, GEO.population), triples.value(city, GEO.country)
        if population is not None:
            assert (city, GEO.populationYear, None) in triples
            assert int(population) < int(triples.value(owner, GEO.population))


def test_the_union_has_its_members(triples: Graph) -> None:
    members = set(triples.subjects(GEO.memberOf, GEO.European_Union))
    assert len(members) == 27
    assert members == set(triples.subjects(GEO.accession))
    euro = set(triples.subjects(GEO.currency, GEO.euro))
    assert len(euro & members) == 20


def test_an_answer_that_is_not_the_expected_one_is_wrong(graph: QuestionReader) -> None:
    turn = Conversation(ConversationQA.for_graphs(), GraphWorld(graph)).ask("What is the capital of Norway?")
    assert is_right(turn, {"entities": ["Oslo"]})
    assert not is_right(turn, {"entities": ["Oslo", "Bergen"]})
    assert not is_right(turn, {"value": "700000"})
    assert not is_right(Conversation(ConversationQA.for_graphs(), GraphWorld(graph)).ask("hm?"), {"entities": []})


def test_there_are_sixty_further_follow_ups_of_four_kinds() -> None:
    assert Counter(one["kind"] for one in FOLLOW_UPS) == dict.fromkeys(
        ("possessive", "ellipsis", "implicit", "comparative"), 15
    )
    assert len({(*one["before"], one["question"]) for one in FOLLOW_UPS}) == 60


def test_most_follow_ups_are_resolved(graph: QuestionReader) -> None:
    right = 0
    for one in FOLLOW_UPS:
        conversation = Conversation(ConversationQA.for_graphs(), GraphWorld(graph))
        for question in one["before"]:
            conversation.ask(question)
        right += is_right(conversation.ask(one["question"]), one)
    assert right >= 40


def test_the_scripted_conversations_are_answered() -> None:
    assert sum(right for _, _, right in geography_turns()) >= 7
