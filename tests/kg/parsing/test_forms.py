"""Forms of questions: amounts with units, sets in common, kinds, existence, contractions, and what a pronoun means."""

from __future__ import annotations

from datetime import date
from decimal import Decimal

import pytest

from experiments.saved import shipped_encoder, shipped_thesaurus
from kg.facts import FactGraph, converted, read_table
from kg.parsing import PastTurn, QuestionReader
from kg.parsing.measures import bounds_of
from kg.vocabulary import words

TABLE = """subject,predicate,object
Marlow,is a,boat
Marlow,type,sloop
Marlow,crossing time (min),50
Marlow,length (m),9
Marlow,owner,Ada Finch
Marlow,prize,Blue Cup
Marlow,prize,Star Cup
Kestrel,is a,boat
Kestrel,type,sloop
Kestrel,crossing time (min),75
Kestrel,length (m),14
Kestrel,owner,Ben Roe
Kestrel,prize,Blue Cup
Osprey,is a,boat
Osprey,type,ketch
Osprey,crossing time (min),130
Osprey,length (m),22
Ada Finch,is a,person
Ada Finch,spouse,Ben Roe
Ben Roe,is a,person
Cal Dune,is a,person
"""


@pytest.fixture(scope="module")
def reader() -> QuestionReader:
    graph = FactGraph.build(read_table(TABLE, what="boats"))
    return QuestionReader(graph, shipped_encoder().vectors, shipped_thesaurus())


def _found(reader: QuestionReader, question: str) -> object:
    best = reader.read(question, today=date(2026, 1, 1)).parses[0]
    if best.holds is not None or best.number is not None:
        return best.holds if best.holds is not None else best.number
    return {reader.graph.name(node) for node in best.nodes}


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("which boats take less than an hour?", {"Marlow"}),
        ("which boats take more than 2 hours?", {"Osprey"}),
        ("which boat won both the Blue Cup and the Star Cup?", {"Marlow"}),
        ("how many sloops are there?", Decimal(2)),
        ("is Ada Finch married?", True),
        ("is Cal Dune married?", False),
        ("which boats don't have an owner?", {"Osprey"}),
        ("which boats have an owner?", {"Marlow", "Kestrel"}),
    ],
)
def test_forms(reader: QuestionReader, question: str, answer: object) -> None:
    assert _found(reader, question) == answer


@pytest.mark.parametrize(
    ("text", "value", "unit"),
    [
        ("over 3.5 million euros", "3500000", "EUR"),
        ("under 80kg", "80", "kg"),
        ("more than 2 square kilometres", "2", "km²"),
        ("at least 100 km per hour", "100", "km/h"),
        ("less than an hour", "1", "h"),
    ],
)
def test_amounts_with_units(text: str, value: str, unit: str) -> None:
    found = bounds_of(text, words(text))
    assert [(one.value, one.unit) for one in found] == [(Decimal(value), unit)]


def test_units_that_measure_other_things_are_not_converted() -> None:
    assert converted(Decimal(2), "h", "min") == 120
    assert converted(Decimal(2), "h", "kg") is None
    assert converted(Decimal(2), "", "kg") == 2


def test_a_pronoun_after_no_answer_means_the_most_likely_one(reader: QuestionReader) -> None:
    first = reader.read("who is the owner of the Marlow?", today=date(2026, 1, 1))
    past = [PastTurn(first.canonical, "who", None, first.named, 0.4, first.parses[0])]
    found = reader.read("who is she married to?", past, today=date(2026, 1, 1))
    assert reader.graph.name(found.parses[0].nodes[0]) == "Ben Roe"
    assert found.confidence < 0.41
