"""Questions about graphs of entities: the graph that ships, and one about something else altogether."""

from __future__ import annotations

from decimal import Decimal

import pytest
from rdflib import Graph

from experiments.tasks import load_geography
from kg.errors import QueryError
from kg.graphs.stores import MemoryStore
from kg.questions.graph import EntityGraph
from kg.questions.reader import answer_entities

FILMS = """
@prefix : <http://x/f#> .
@prefix lex: <https://w3id.org/finpath/lexicon#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
:Film a rdfs:Class ; rdfs:label "film" ; skos:altLabel "movie" .
:Person a rdfs:Class ; rdfs:label "person" .
:directedBy rdfs:label "directed by" ; skos:altLabel "director", "directed" .
:runningTime rdfs:label "running time" ; lex:adjective "long" ; lex:antonym "short" .
:alien a :Film ; rdfs:label "Alien" ; :directedBy :scott ; :runningTime 117 .
:gladiator a :Film ; rdfs:label "Gladiator" ; :directedBy :scott ; :runningTime 155 .
:amelie a :Film ; rdfs:label "Amélie" ; :directedBy :jeunet ; :runningTime 122 ; :review "charming" .
:scott a :Person ; rdfs:label "Ridley Scott" .
:jeunet a :Person ; rdfs:label "Jean-Pierre Jeunet" .
"""


@pytest.fixture(scope="module")
def geography() -> EntityGraph:
    return load_geography()


@pytest.fixture(scope="module")
def films() -> EntityGraph:
    graph = Graph()
    graph.parse(data=FILMS, format="turtle")
    store = MemoryStore()
    store.put_graph("http://x/films", graph)
    return EntityGraph(store, "http://x/films")


def _said(graph: EntityGraph, question: str) -> object:
    found = answer_entities(graph, question)
    if found.answer is not None:
        return found.answer if isinstance(found.answer, str) else found.answer.quantize(Decimal("0.01")).normalize()
    if found.values:
        return [one.value for one in found.values]
    return [graph.lexicon.label(node) for node in found.entities]


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Which countries border Portugal?", ["Spain"]),
        ("What is the capital of Norway?", ["Oslo"]),
        ("What is Norway's capital?", ["Oslo"]),
        ("How many people live in Madrid?", Decimal(3305000)),
        ("How large is France?", Decimal(551500)),
        ("What is the population of France's capital?", Decimal(2133000)),
        ("What is the currency of the largest neighbour of Moldova?", ["hryvnia"]),
        ("What is the currency of Moldova's largest neighbour?", ["hryvnia"]),
        ("Which countries border both France and Germany?", ["Belgium", "Luxembourg", "Switzerland"]),
        ("Which countries use the Swiss franc?", ["Liechtenstein", "Switzerland"]),
        ("Which cities are in Finland?", ["Helsinki", "Tampere", "Turku"]),
        ("Which cities other than Vilnius are in Lithuania?", ["Kaunas"]),
        ("How many countries border Ukraine?", Decimal(7)),
        ("How many countries are in the European Union?", Decimal(27)),
        ("Which country has the largest area?", ["Russia"]),
        ("What is the second largest country by population?", ["Turkey"]),
        ("Which country has the most neighbours?", ["Russia"]),
        ("What is the largest city in Germany?", ["Berlin"]),
        ("What is the second largest city in Germany?", ["Hamburg"]),
        ("Which of Andorra, Belgium and Germany has the smallest population?", ["Andorra"]),
        ("Which of Germany, Italy and Slovenia border Austria and are larger than Austria?", ["Germany", "Italy"]),
        ("Which of Austria, Russia and Ukraine are in the European Union?", ["Austria"]),
        ("Which of Latvia, Poland and Russia have fewer than 10 million inhabitants?", ["Latvia"]),
        ("Which of the countries that border France has the largest population?", ["Germany"]),
        ("What is the population density of Monaco?", Decimal(18000)),
        ("What is the combined population of Belgium, France and Germany?", Decimal(159738000)),
        ("What is the average area of Belgium and Germany?", Decimal(193775)),
        ("What is the difference between the populations of Spain and Portugal?", Decimal(37272000)),
        ("How much larger is France than Spain?", Decimal(46130)),
        ("How many times larger is Ukraine than Moldova?", Decimal("17.83")),
        ("Is Sweden larger than Norway?", "yes"),
        ("Is France's population larger than 70 million?", "no"),
        ("Is Berlin the capital of Germany?", "yes"),
        ("Does Switzerland belong to the European Union?", "no"),
        ("Is Kraków in Germany?", "no"),
        ("Is Oslo a city?", "yes"),
        ("In which year did Greece join the European Union?", Decimal(1981)),
        (
            "Which countries have a population of more than 50 million?",
            ["France", "Germany", "Italy", "Russia", "Turkey", "United Kingdom"],
        ),
        ("What are Germany's three largest cities?", ["Berlin", "Hamburg", "Munich"]),
        ("Do any of Austria, Portugal and Italy border Germany?", "yes"),
        ("Do any of Spain, Portugal and Italy border Germany?", "no"),
        ("Which countries except Spain border Portugal or Andorra?", ["France"]),
        ("What share of Germany's population lives in Berlin?", Decimal("0.04")),
        ("Do Austria and France border Germany?", "yes"),
        ("Do Austria and Italy border Germany?", "no"),
        ("How much smaller is Spain than France?", Decimal(46130)),
        ("What is Germany's second largest city?", ["Hamburg"]),
        ("What is the total area of the countries that border Portugal?", Decimal(505370)),
        ("Which countries that border France have more than 50 million inhabitants?", ["Germany", "Italy"]),
        ("What's Vatican City's area?", Decimal("0.44")),
    ],
)
def test_questions_about_geography(geography: EntityGraph, question: str, answer: object) -> None:
    said = _said(geography, question)
    assert said == answer


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Who directed Alien?", ["Ridley Scott"]),
        ("Which movies did Ridley Scott direct?", ["Alien", "Gladiator"]),
        ("Which film is the longest?", ["Gladiator"]),
        ("Which is the shortest film?", ["Alien"]),
        ("What is the running time of Amélie?", Decimal(122)),
        ("Which of Alien and Amélie is longer?", ["Amélie"]),
        ("How many films did Ridley Scott direct?", Decimal(2)),
        ("What is the review of Amélie?", ["charming"]),
        ("Is Alien shorter than Gladiator?", "yes"),
        ("What is the average running time of Alien and Gladiator?", Decimal(136)),
    ],
)
def test_the_same_program_reads_any_graph_s_labels(films: EntityGraph, question: str, answer: object) -> None:
    assert _said(films, question) == answer


@pytest.mark.parametrize(
    ("question", "message"),
    [
        ("What is the capital of Japan?", "the graph has no 'Japan'; the nearest are"),
        ("What is the weather like?", "names nothing that the graph has"),
        ("What is the population of Sofia?", "the graph has no population of Sofia"),
        ("Which countries border Iceland?", "has nothing that fits"),
        ("Which is larger?", "names nothing that the graph has"),
        ("Is France larger?", "does not say what is to be checked"),
        ("What is the difference between the populations of France?", "a comparison needs two values"),
        ("What is the highest of Spain?", "does not say what is to be compared"),
        ("Which of France and Spain are not in the European Union?", "'not' is no word of the graph"),
        ("Which countries with a coastline border Germany?", "'coastline' is no word of the graph"),
        ("Where is France?", "does not say what of France is asked: area, borders, capital"),
        ("largest large most than about million many than", "names nothing"),
    ],
)
def test_what_cannot_be_answered_is_said(geography: EntityGraph, question: str, message: str) -> None:
    with pytest.raises(QueryError, match=message):
        answer_entities(geography, question)


def test_an_answer_shows_the_triples_that_it_rests_on(geography: EntityGraph) -> None:
    found = answer_entities(geography, "What is the population density of Malta?")
    assert found.facts == (
        "Malta -> population -> 535000",
        "Malta -> area -> 316",
        "Malta -> population density -> 1693.03797",
    )
    found = answer_entities(geography, "What is the currency of Latvia?")
    assert found.facts == ("Latvia -> currency -> euro",)


def test_a_tie_gives_all_that_share_it(films: EntityGraph) -> None:
    graph = Graph()
    graph.parse(data=FILMS + ":brazil a :Film ; rdfs:label 'Brazil' ; :runningTime 155 .", format="turtle")
    store = MemoryStore()
    store.put_graph("http://x/films", graph)
    assert _said(EntityGraph(store, "http://x/films"), "Which film is the longest?") == ["Brazil", "Gladiator"]
