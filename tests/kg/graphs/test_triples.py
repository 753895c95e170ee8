"""Statements from text and from stores, and their names; the SPARQL endpoint is a real server on loopback."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pyoxigraph
import pytest

from kg.errors import DataError, QueryError
from kg.graphs import stores
from kg.graphs.naming import Triple, local_name
from kg.graphs.stores import EndpointStore
from kg.graphs.triples import read_rdf, read_store

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


def test_ntriples_have_texts_languages_and_types() -> None:
    problems: list[str] = []
    lines = [
        "# a comment",
        "",
        '<http://x/a> <http://x/p> "say \\"hi\\"\\n\\u00e9"@en-GB . # behind',
        "_:b1 <http://x/p> <http://x/b\\u0041>.",
        "<http://x/a> <http://x/p> missing .",
        '<http://x/a> <http://x/p> "5"^^<http://www.w3.org/2001/XMLSchema#integer> .',
    ]
    assert list(read_rdf("\n".join(lines), ".nt", what="a.nt", problem=problems.append)) == [
        Triple("http://x/a", "http://x/p", 'say "hi"\né', True, STRING, "en-gb"),
        Triple("_:b1", "http://x/p", "http://x/bA", False),
        Triple("http://x/a", "http://x/p", "5", True, "http://www.w3.org/2001/XMLSchema#integer"),
    ]
    [problem] = problems
    assert problem.startswith("line 5: is not valid N-Triples")
    with pytest.raises(DataError, match="more than 100 statements are not valid"):
        list(read_rdf("bad .\n" * 1000, ".nt", what="a.nt", problem=problems.append))


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
        yield EndpointStore(f"{server.url}/query")


def test_a_store_is_read_whole(endpoint: EndpointStore) -> None:
    found = {one._replace(datatype="") for one in read_store(endpoint, 100)}
    assert found == {one._replace(datatype="") for one in read_rdf(TURTLE, ".ttl", what="films")}


def test_local_names() -> None:
    assert local_name("http://x/y#directed_by") == "directed_by"
    assert local_name("http://x/y/Ludwig%20II/") == "Ludwig II"
    assert local_name("http://x/publicdomain/zero/1.0/") == "http://x/publicdomain/zero/1.0/"
    assert local_name("_:b0") == "_:b0"
    assert local_name("http://") == "http:"
    assert local_name("urn:isbn:0451450523") == "0451450523"
    assert local_name("http://x/Category:Films") == "Category:Films"


TRIPLES = """<http://x/%C3%A4> <http://x/says> "net \\"income\\" \\n"@en .
<http://x/%C3%A4> <http://x/value> "4.00" .
<http://x/%C3%A4> <http://x/next> <http://x/c> ."""
QUERY = "SELECT ?s ?o ?none WHERE { ?s <http://x/says>|<http://x/next> ?o OPTIONAL { ?s <urn:none> ?none } }"


@pytest.fixture
def store(sparql_server: Server) -> Iterator[EndpointStore]:
    with sparql_server() as server:
        server.store.load(TRIPLES.encode(), format=pyoxigraph.RdfFormat.N_TRIPLES)
        yield EndpointStore(f"{server.url}/query")


def test_rows_are_text_and_none_where_unbound(store: EndpointStore) -> None:
    assert set(store.texts(QUERY)) == {
        ("http://x/%C3%A4", 'net "income" \n', None),
        ("http://x/%C3%A4", "http://x/c", None),
    }


@pytest.mark.parametrize("query", ["SELECT nonsense", "SELECT ?x { ?x unknown:name ?y }"])
def test_a_query_that_cannot_be_parsed_is_refused(store: EndpointStore, query: str) -> None:
    with pytest.raises(QueryError, match="cannot be"):
        store.texts(query)


def test_an_endpoint_that_is_not_there_is_an_error(sparql_server: Server) -> None:
    with sparql_server() as server:
        url = server.url
    with pytest.raises(DataError, match="cannot be reached"):
        EndpointStore(f"{url}/query").texts(QUERY)


@pytest.mark.parametrize(
    ("reply", "message"),
    [
        ([b" "] * 200, "takes longer than 1 seconds"),
        ([b" " * 1_000_000] * 2, "is larger than 1,000,000 bytes"),
        ([b"[]"], "is no result of SPARQL"),
        ([b"null"], "is no result of SPARQL"),
        ([b"[" * 100_000], "is no result of SPARQL"),
        ([b'{"head": {"vars": ["s"]}, "results": {"bindings": [{"s": 5}]}}'], "is no result of SPARQL"),
        (
            [b'{"head": {"vars": ["s"]}, "results": {"bindings": [{"s": {"type": "uri", "value": "urn:a"}}]}}'],
            "has other columns",
        ),
    ],
)
def test_an_endpoint_that_misbehaves_is_an_error(
    reply: list[bytes], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))  # one that is not read resets the connection
            self.send_response(200)
            self.end_headers()
            with suppress(OSError):
                for part in reply:
                    self.wfile.write(part)
                    time.sleep(0.02 if len(reply) > 2 else 0)

        def log_message(self, *_: object) -> None:
            pass

    monkeypatch.setattr(stores, "MOST_SECONDS", 1.0)
    monkeypatch.setattr(stores, "MOST_BYTES", 1_000_000)
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        with pytest.raises((DataError, QueryError), match=message):
            list(read_store(EndpointStore(f"http://127.0.0.1:{server.server_address[1]}/"), 100))
        server.shutdown()


def test_entities_of_xml_are_bounded() -> None:
    head = '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:x="http://x/">'
    node = '<rdf:Description rdf:about="&b;a"><x:n>&b;</x:n></rdf:Description></rdf:RDF>'
    plain = f'<!DOCTYPE rdf:RDF [<!ENTITY b "http://x/">]>{head}{node}'
    assert [one.value for one in read_rdf(plain, ".owl", what="a.owl")] == ["http://x/"]
    nested = f'<!DOCTYPE rdf:RDF [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]>{head}{node}'
    with pytest.raises(DataError, match="has entities that hold entities"):
        list(read_rdf(nested, ".owl", what="a.owl"))
    parameter = f'<!DOCTYPE rdf:RDF [<!ENTITY  % b "x">]>{head}{node}'
    with pytest.raises(DataError, match="has entities that hold entities"):
        list(read_rdf(parameter, ".owl", what="a.owl"))
    many = f'<!DOCTYPE rdf:RDF [<!ENTITY b "{"a" * 100_000}">]>{head}<x:n>{"&b;" * 3000}</x:n></rdf:RDF>'
    with pytest.raises(DataError, match="has entities that make more than 200,000,000 characters"):
        list(read_rdf(many, ".owl", what="a.owl"))
