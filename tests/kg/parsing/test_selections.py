"""Candidates for questions that select: several relations of one thing, two posts of one person, years and days."""

from __future__ import annotations

from datetime import date

import pytest

from experiments.readers import shipped_encoder
from kg.graphs import FactGraph, read_rdf, read_table
from kg.parsing import DialogueTurn, Parse, QuestionReader

CLUB = """
@prefix x: <http://sailing.example/> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
x:Petrel a x:Yacht ; x:ownedBy x:Ada_Holm ; x:repairedBy x:Ben_Roe ; x:rig "sloop" ; x:moored x:North_Quay ;
    x:launched "1999-05-03"^^xsd:date ; x:lengthMetres 9 ; x:insured true .
x:Gannet a x:Yacht ; x:ownedBy x:Ben_Roe ; x:repairedBy x:Ada_Holm ; x:rig "ketch" ; x:moored x:North_Quay ;
    x:launched "2003-05-20"^^xsd:date ; x:lengthMetres 14 ; x:insured false .
x:Fulmar a x:Yacht ; x:ownedBy x:Cy_Dent ; x:repairedBy x:Ben_Roe ; x:rig "ketch" ; x:moored x:Mill_Pool ;
    x:launched "2004-11-30"^^xsd:date ; x:lengthMetres 11 ; x:insured true .
x:North_Quay a x:Mooring . x:Mill_Pool a x:Mooring .
x:Ada_Holm a x:Member ; x:memberSince "1985"^^xsd:gYear ; x:gender "female" ; x:taughtBy x:Ben_Roe .
x:Ben_Roe a x:Member ; x:memberSince "1971"^^xsd:gYear ; x:gender "male" .
x:Cy_Dent a x:Member ; x:memberSince "2002"^^xsd:gYear ; x:gender "male" ; x:taughtBy x:Ada_Holm .
x:Treasurer a x:Office . x:Warden a x:Office .
x:Post_1 a x:Post ; x:holder x:Ada_Holm ; x:office x:Treasurer .
x:Post_2 a x:Post ; x:holder x:Ada_Holm ; x:office x:Warden .
x:Post_3 a x:Post ; x:holder x:Cy_Dent ; x:office x:Warden .
"""
TODAY = date(2026, 1, 1)


@pytest.fixture(scope="module")
def reader() -> QuestionReader:
    graph = FactGraph.build(read_rdf(CLUB, ".ttl", what="club"))
    return QuestionReader(graph, shipped_encoder().vectors)


def _cheapest(reader: QuestionReader, question: str, past: list[DialogueTurn]) -> tuple[Parse, DialogueTurn]:
    """The parse of the least cost, which does not depend on the fitted ranking."""
    analysis, every = reader.derivations(question, past, today=TODAY)
    best = min(every, key=lambda one: one.cost)
    return best, DialogueTurn(reader.canonical(analysis, best.references), analysis.asks, best, analysis.named)


def _first(reader: QuestionReader, question: str, *before: str) -> set[str]:
    past: list[DialogueTurn] = []
    for one in before:
        past.append(_cheapest(reader, one, past)[1])
    best, _ = _cheapest(reader, question, past)
    if best.holds is not None or best.number is not None:
        return {str(best.answer)}
    return {reader.graph.name(node) for node in best.nodes}


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("which yachts are neither a sloop nor moored at Mill Pool?", {"Gannet"}),
        ("what is the average length of the whole fleet of yachts?", {"11.3333"}),
        ("which ones are insured?", {"Petrel", "Fulmar"}),
        ("who is the teacher of Ada Holm?", {"Ben Roe"}),
        ("is Ada Holm the warden?", {"True"}),
    ],
)
def test_selections(reader: QuestionReader, question: str, answer: set[str]) -> None:
    assert _first(reader, question) == answer


@pytest.mark.parametrize(
    ("before", "question", "answer"),
    [
        ("who owns the longest yacht?", "by whom was it repaired?", {"Ada Holm"}),
        ("which yachts are moored at North Quay?", "which of those aren't insured?", {"Gannet"}),
    ],
)
def test_follow_ups(reader: QuestionReader, before: str, question: str, answer: set[str]) -> None:
    _, every = reader.derivations(question, [_cheapest(reader, before, [])[1]], today=TODAY)
    assert answer in [{reader.graph.name(node) for node in one.nodes} for one in every]


def test_a_correction_may_name_something_of_another_class(reader: QuestionReader) -> None:
    past = [_cheapest(reader, "who is taught by Ada Holm?", [])[1]]
    _, every = reader.derivations("no sorry, I meant Ben Roe", past, today=TODAY)
    assert any(reader.path(one).endswith("Ben Roe -> ^taught by") for one in every)


def test_a_bound_far_from_the_values_of_a_relation_is_not_a_second_bound_of_it(reader: QuestionReader) -> None:
    assert _first(reader, "yachts over 10 metres from before 2004") == {"Gannet"}


def test_the_name_of_a_class_is_rather_the_class_than_a_part_of_a_name() -> None:
    table = ["subject,predicate,object", "Old Mill Club,is a,club", "Row and Sail,is a,club"]
    table += [
        "Old Mill Club,founded,1960",
        "Row and Sail,founded,1950",
    ]
    graph = FactGraph.build(read_table("\n".join(table), what="clubs"))
    reader = QuestionReader(graph, shipped_encoder().vectors)
    assert _first(reader, "which club is older?") == {"Row and Sail"}
