"""Statements from text and from stores; the SPARQL endpoint is a real server on loopback."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import pytest

from kg.errors import DataError
from kg.graphs.naming import Triple
from kg.graphs.stores import EndpointStore
from kg.graphs.surroundings import labelled, neighbourhood
from kg.graphs.triples import read_ntriples, read_rdf, read_store

STRING = "http://www.w3.org/2001/XMLSchema#string"
Server = Callable[[], AbstractContextManager[Any]]
TURTLE = """
@prefix : <http://x/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:alien :directed_by :scott ; rdfs:label "Alien"@en ; :year 1979 .
:blade :directed_by :scott ; rdfs:label "Blade Runner" .
:scott :born_in :england . :england :part_of :uk . :uk :part_of :europe . rdfs:label rdfs:label "label" .
"""


def test_an_iri_that_the_standard_forbids_is_a_name_as_others() -> None:
    text = '<http://a.example/Report 2023> <http://a.example/author> "Mara Quist" .'
    [triple] = read_rdf(text, ".nt", what="files.nt")
    assert (triple.subject, triple.value) == ("http://a.example/Report 2023", "Mara Quist")


def test_ntriples_are_read_line_by_line() -> None:
    problems: list[str] = []
    lines = [
        "# a comment",
        "",
        '<http://x/a> <http://x/p> "say \\"hi\\"\\n\\u00e9"@en-GB . # behind',
        "_:b1 <http://x/p> <http://x/b\\u0041>.",
        "<http://x/a> <http://x/p> missing .",
        '<http://x/a> <http://x/p> "5"^^<http://www.w3.org/2001/XMLSchema#integer> .',
    ]
    assert list(read_ntriples(lines, problems.append)) == [
        Triple("http://x/a", "http://x/p", 'say "hi"\né', True, STRING, "en-gb"),
        Triple("_:b1", "http://x/p", "http://x/bA", False),
        Triple("http://x/a", "http://x/p", "5", True, "http://www.w3.org/2001/XMLSchema#integer"),
    ]
    assert problems == ["line 5: is no N-Triples statement: '<http://x/a> <http://x/p> missing .'"]


def test_turtle_says_what_is_a_literal() -> None:
    found = set(read_rdf(TURTLE, ".ttl", what="films"))
    assert Triple("http://x/alien", "http://www.w3.org/2000/01/rdf-schema#label", "Alien", True, STRING, "en") in found
    assert Triple("http://x/alien", "http://x/directed_by", "http://x/scott", False) in found
    with pytest.raises(DataError, match="films"):
        list(read_rdf("no turtle", ".ttl", what="films"))


@pytest.fixture
def endpoint(sparql_server: Server) -> Any:
    pyoxigraph = pytest.importorskip("pyoxigraph")
    with sparql_server() as server:
        server.store.load(TURTLE.encode(), format=pyoxigraph.RdfFormat.TURTLE)
        with EndpointStore(f"{server.url}/query") as store:
            yield store


def test_a_store_is_read_whole(endpoint: EndpointStore) -> None:
    found = {one._replace(datatype="") for one in read_store(endpoint, 100)}
    assert found == {one._replace(datatype="") for one in read_rdf(TURTLE, ".ttl", what="films")}


def test_a_neighbourhood_has_what_lies_within_the_steps_and_its_labels(endpoint: EndpointStore) -> None:
    one = neighbourhood(endpoint, ["http://x/alien"], 1)
    assert {found.value for found in one.triples} == {"Alien", "1979", "http://x/scott"}
    two = neighbourhood(endpoint, ["http://x/alien"], 2)
    values = {found.value for found in two.triples}
    assert {"Blade Runner", "http://x/england"} <= values
    assert "http://x/uk" not in values
    assert not two.truncated


def test_a_neighbourhood_that_is_cut_off_says_so(endpoint: EndpointStore) -> None:
    assert neighbourhood(endpoint, ["http://x/scott"], 2, limit=1).truncated
    with pytest.raises(DataError, match="must be an IRI"):
        neighbourhood(endpoint, ["no iri> ?x"], 1)


def test_entities_are_found_by_label(endpoint: EndpointStore) -> None:
    assert labelled(endpoint, ["Alien", "Blade Runner", "nothing", 'a "quote"']) == {
        "Alien": ("http://x/alien",),
        "Blade Runner": ("http://x/blade",),
    }
