"""Unions that questions ask for, and the "or" of other meanings."""

from __future__ import annotations

from datetime import date

import pytest

from experiments.saved import shipped_encoder, shipped_thesaurus
from kg.facts import FactGraph, read_table
from kg.parsing import Parse, QuestionReader

FILMS = """
Glass Harbour|film|directed by:Mira Kasten|stars:Tom Adeyemi|released in:1984|in colour:false|country:Norway
Long Ferry|film|directed by:Mira Kasten|stars:Ines Rohl|released in:1991|in colour:true|country:Denmark
Paper Moths|film|directed by:Owen Lark|stars:Tom Adeyemi|released in:1999|in colour:true|country:Norway
Cold Orchard|film|directed by:Tom Adeyemi|stars:Mira Kasten|released in:2011|in colour:true|country:Sweden
Salt Road|film|directed by:Jun Haas|stars:Petra Voss|released in:1979|in colour:false|country:Denmark
Mira Kasten|person
Tom Adeyemi|person
Jun Haas|person
"""
STAFF = """
Ada Lind|employee|lives in:Oslo|works for:Holt|age:64|retired:false
Bo Rye|employee|lives in:Bergen|works for:Tarn|age:35|retired:false
Cy Dent|employee|lives in:Oslo|works for:Tarn|age:58|retired:true
Eva Ruud|employee|lives in:Molde|works for:Holt|age:47|retired:false
Holt|company
Tarn|company
"""
GARDEN = """
Marrow|plant|grown by:Sal Ode|native to:Mexico|height in cm:60|poisonous:false|planted in:2019
Borage|plant|grown by:Kit Moor|native to:Italy|height in cm:70|poisonous:false|planted in:2021
Yew|plant|grown by:Sal Ode|native to:England|height in cm:400|poisonous:true|planted in:1998
Lovage|plant|grown by:Kit Moor|native to:Italy|height in cm:180|poisonous:false|planted in:2022
Sal Ode|gardener
Kit Moor|gardener
"""
TODAY = date(2026, 1, 1)


def _reader(text: str) -> QuestionReader:
    rows = ["subject,predicate,object"]
    for line in text.strip().splitlines():
        name, kind, *facts = line.split("|")
        rows += [f"{name},is a,{kind}", *(f"{name},{','.join(one.split(':'))}" for one in facts)]
    return QuestionReader(
        FactGraph.build(read_table("\n".join(rows), what="test")), shipped_encoder().vectors, shipped_thesaurus()
    )


@pytest.fixture(scope="module")
def films() -> QuestionReader:
    return _reader(FILMS)


@pytest.fixture(scope="module")
def staff() -> QuestionReader:
    return _reader(STAFF)


@pytest.fixture(scope="module")
def garden() -> QuestionReader:
    return _reader(GARDEN)


def _cheapest(reader: QuestionReader, question: str) -> Parse:
    """The parse of the least cost, which does not depend on the fitted ranking."""
    return min(reader.derivations(question, today=TODAY)[1], key=lambda one: one.cost)


def _answer(reader: QuestionReader, question: str) -> set[str]:
    best = _cheapest(reader, question)
    if best.holds is not None or best.number is not None:
        return {str(best.answer)}
    return {reader.graph.name(node) for node in best.nodes}


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("films directed by Mira Kasten or starring Tom Adeyemi", {"Glass Harbour", "Long Ferry", "Paper Moths"}),
        ("films starring Mira Kasten or directed by Tom Adeyemi", {"Cold Orchard"}),
        ("how many films are in colour or directed by Jun Haas?", {"4"}),
        ("films released before 1980 or after 2005", {"Salt Road", "Cold Orchard"}),
        ("which films were directed by or star Tom Adeyemi?", {"Cold Orchard", "Glass Harbour", "Paper Moths"}),
        ("which films in colour star Tom Adeyemi or were made in Denmark?", {"Paper Moths", "Long Ferry"}),
    ],
)
def test_films(films: QuestionReader, question: str, answer: set[str]) -> None:
    assert _answer(films, question) == answer


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("people who either live in Oslo or work for Tarn", {"Ada Lind", "Bo Rye", "Cy Dent"}),
        ("which employees are older than 60 or retired?", {"Ada Lind", "Cy Dent"}),
        ("which employees live in Bergen or are not retired?", {"Ada Lind", "Bo Rye", "Eva Ruud"}),
        ("which employees are not retired or live in Oslo?", {"Ada Lind", "Bo Rye", "Cy Dent", "Eva Ruud"}),
    ],
)
def test_people(staff: QuestionReader, question: str, answer: set[str]) -> None:
    assert _answer(staff, question) == answer


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("which plants are poisonous or taller than 1 metre?", {"Yew", "Lovage"}),
        ("which plants were planted before 1990 or grown by Kit Moor?", {"Borage", "Lovage"}),
        ("are there any plants taller than 5 metres or shorter than 10 cm?", {"False"}),
        ("are there any plants taller than 5 metres or native to Italy?", {"True"}),
    ],
)
def test_plants(garden: QuestionReader, question: str, answer: set[str]) -> None:
    assert _answer(garden, question) == answer


def test_both_conditions_are_no_reading_of_or(films: QuestionReader) -> None:
    _, every = films.derivations("films directed by Mira Kasten or starring Tom Adeyemi", today=TODAY)
    names = {frozenset(films.graph.name(node) for node in one.nodes) for one in every if one.cost < 3}
    assert frozenset(("Glass Harbour",)) not in names
    assert frozenset(("Glass Harbour", "Long Ferry", "Paper Moths")) in names


@pytest.mark.parametrize(
    "question",
    [
        "films starring Tom Adeyemi or Ines Rohl",
        "which is older, Salt Road or Long Ferry?",
        "films with 3 or more stars",
    ],
)
def test_an_or_of_names_or_of_a_choice_or_a_bound_joins_no_conditions(films: QuestionReader, question: str) -> None:
    _, every = films.derivations(question, today=TODAY)
    assert not [one for one in every if " or " in films.path(one)]


def test_a_choice_of_adjectives_is_no_union(garden: QuestionReader) -> None:
    _, every = garden.derivations("is the Yew taller or shorter than the Lovage?", today=TODAY)
    assert {one.holds for one in every if " or " in garden.path(one)} == set()
    assert _answer(garden, "which is taller, the Yew or the Lovage?") == {"Yew"}
