"""The words of a graph: names, adjectives, numbers, and how a question is read with them."""

from __future__ import annotations

from decimal import Decimal

import pytest
from rdflib import Graph

from kg.graphs.stores import MemoryStore
from kg.questions.lexicon import GraphLexicon
from kg.questions.tagging import folded, known_entities, spaced, stemmed

NAME = "http://x/films"
TURTLE = """
@prefix : <http://x/f#> .
@prefix lex: <https://w3id.org/finpath/lexicon#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
:Film a rdfs:Class ; rdfs:label "film" ; skos:altLabel "movie" .
:directedBy rdfs:label "directed by" ; skos:altLabel "director" .
:runningTime rdfs:label "running time" ; lex:adjective "long" ; lex:antonym "short" .
:reviewedAt rdfs:label "reviewed at" ; lex:adjective "long", "recent" .
:alien a :Film ; rdfs:label "Alien" ; :directedBy :scott ; :runningTime 117 ; :boxOffice 106 .
:amelie a :Film ; rdfs:label "Amélie" ; :directedBy :jeunet ; :runningTime 122 .
:scott a :Person ; rdfs:label "Ridley Scott" ; skos:altLabel "Scott" .
:jeunet a :Person ; rdfs:label "Jean-Pierre Jeunet" .
"""


@pytest.fixture(scope="module")
def lexicon() -> GraphLexicon:
    graph = Graph()
    graph.parse(data=TURTLE, format="turtle")
    store = MemoryStore()
    store.put_graph(NAME, graph)
    return GraphLexicon.read(store, NAME)


def test_the_longest_name_is_taken(lexicon: GraphLexicon) -> None:
    tags = lexicon.tags("Which movies did Ridley Scott direct?")
    assert [tag.text for tag in tags if tag.known] == ["movies", "Ridley Scott"]
    assert known_entities(tags) == ["http://x/f#scott"]


def test_accents_and_case_do_not_matter_but_commas_part_names(lexicon: GraphLexicon) -> None:
    assert known_entities(lexicon.tags("amelie")) == ["http://x/f#amelie"]
    assert known_entities(lexicon.tags("Jean-Pierre Jeunet's film")) == ["http://x/f#jeunet"]
    assert known_entities(lexicon.tags("Ridley, Scott")) == ["http://x/f#scott"]


def test_what_has_no_label_is_named_by_its_local_name(lexicon: GraphLexicon) -> None:
    tag = next(tag for tag in lexicon.tags("the box office of Alien") if tag.properties)
    assert tag.text == "box office"
    assert lexicon.properties[tag.properties[0]].literal


def test_an_adjective_measures_no_property_without_a_value(lexicon: GraphLexicon) -> None:
    assert "http://x/f#reviewedAt" not in lexicon.properties
    (recent,) = lexicon.tags("recent")
    assert recent.degree is None


def test_adjectives_measure_what_the_graph_says(lexicon: GraphLexicon) -> None:
    degrees = {tag.word: tag.degree for tag in lexicon.tags("long longer longest short shorter least long highest")}
    time = ("http://x/f#runningTime",)
    found = {word: (one.level, one.sign, one.properties) for word, one in degrees.items() if one is not None}
    assert found == {
        "long": (0, 1, time),
        "longer": (1, 1, time),
        "longest": (2, 1, time),
        "short": (0, -1, time),
        "shorter": (1, -1, time),
        "least long": (2, -1, time),
        "highest": (2, 1, ()),
    }


def test_numbers_with_their_scale(lexicon: GraphLexicon) -> None:
    numbers = [tag.number for tag in lexicon.tags("more than 10 million, 1,250 or 2.5") if tag.number is not None]
    assert numbers == [Decimal(10_000_000), Decimal(1250), Decimal("2.5")]


def test_words() -> None:
    assert folded("Chișinău's") == "chisinau 's"
    assert folded("złoty") == "zloty"
    assert stemmed("bordering Countries") == "border countri" == stemmed("bordered country")
    assert stemmed("movies") == stemmed("movie")
    assert spaced("headOfState") == spaced("head_of_state") == "head of state"
