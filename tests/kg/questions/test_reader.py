"""Questions that are read whole, over a small graph whose relations join things of one class."""

from __future__ import annotations

import pytest
from rdflib import Graph

from kg.errors import QueryError
from kg.graphs.stores import MemoryStore
from kg.questions.graph import EntityGraph
from kg.questions.problems import UnreadError
from kg.questions.reader import answer_entities

TURTLE = """
@prefix : <http://x/w#> .
@prefix lex: <https://w3id.org/finpath/lexicon#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
:Person a owl:Class ; rdfs:label "person" ; skos:altLabel "writer" .
:Book a owl:Class ; rdfs:label "book" .
:teacher rdfs:label "taught by" ; skos:altLabel "teacher" ; lex:inverseLabel "taught", "teaches" .
:rival a owl:SymmetricProperty ; rdfs:label "rival" .
:author rdfs:label "written by" ; skos:altLabel "author" ; lex:inverseLabel "wrote", "written", "write" .
:city rdfs:label "city" ; skos:altLabel "lives in", "live" .
:genre a lex:Classifying ; rdfs:label "genre" .
:out rdfs:label "out" ; skos:altLabel "appeared" ; rdfs:range xsd:date ; lex:adjective "new" ; lex:antonym "old" .
:ann a :Person ; rdfs:label "Ann" ; :city "New York" ; :teacher :ben ; :rival :cid .
:ben a :Person ; rdfs:label "Ben" ; :city "Rome" .
:cid a :Person ; rdfs:label "Cid" ; :city "Rome" ; :teacher :ann .
:red a :Book ; rdfs:label "Red" ; :author :ann ; :genre "novel" ; :out "2020-05-01"^^xsd:date .
:blue a :Book ; rdfs:label "Blue" ; :author :ann ; :genre "poem" ; :out "2022-07-09"^^xsd:date .
:grey a :Book ; rdfs:label "Grey" ; :author :ben ; :genre "novel" ; :out "2021-01-31"^^xsd:date .
"""


@pytest.fixture(scope="module")
def graph() -> EntityGraph:
    graph = Graph()
    graph.parse(data=TURTLE, format="turtle")
    store = MemoryStore()
    store.put_graph("http://x/works", graph)
    return EntityGraph(store, "http://x/works")


def _said(graph: EntityGraph, question: str) -> object:
    found = answer_entities(graph, question)
    if found.answer is not None:
        return found.answer
    if found.values:
        return [one.value for one in found.values]
    return [graph.lexicon.label(node) for node in found.entities]


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Who taught Ann?", ["Ben"]),
        ("Who was taught by Ann?", ["Cid"]),
        ("Whom did Ann teach?", ["Cid"]),
        ("Which person was Ann taught by?", ["Ben"]),
        ("Which writer teaches Cid?", ["Ann"]),
        ("Who is the teacher of Cid?", ["Ann"]),
        ("Who is the teacher of the teacher of Cid?", ["Ben"]),
        ("Who is Cid's teacher's teacher?", ["Ben"]),
        ("Who is a rival of Cid?", ["Ann"]),
        ("Which books were written by the person that taught Cid?", ["Blue", "Red"]),
        ("Which books did the teacher of Ann write?", ["Grey"]),
        ("Which novels were written by Ann?", ["Red"]),
        ("Which writers live in Rome?", ["Ben", "Cid"]),
        ("Which books are by writers that live in New York?", ["Blue", "Red"]),
        ("Which other writers live in the same city as Ben?", ["Cid"]),
        ("How many novels are there?", 2),
        ("Which books appeared since 2021?", ["Blue", "Grey"]),
        ("Which books appeared after 31 January 2021?", ["Blue"]),
        ("Which books appeared between May 2020 and January 2021?", ["Grey", "Red"]),
        ("What is the newest book?", ["Blue"]),
        ("Who is the author of the oldest novel?", ["Ann"]),
        ("When did Grey appear?", ["2021-01-31"]),
        ("Is Red a novel?", "yes"),
        ("Is Red a poem?", "no"),
        ("Which books are novels or poems?", ["Blue", "Grey", "Red"]),
        ("Which books except Red were written by Ann?", ["Blue"]),
    ],
)
def test_what_is_read(graph: EntityGraph, question: str, answer: object) -> None:
    assert _said(graph, question) == answer


@pytest.mark.parametrize(
    "question",
    [
        "Which books about cats were written by Ann?",
        "Which books were written quickly by Ann?",
        "Which books did Dora write?",
        "Which writers live in Paris?",
        "Which book teaches Ann?",
        "What is Ann?",
        "Who?",
        "",
    ],
)
def test_what_is_not_read_whole_is_refused(graph: EntityGraph, question: str) -> None:
    with pytest.raises(UnreadError):
        answer_entities(graph, question)


def test_one_way_where_both_or_either_may_be_meant(graph: EntityGraph) -> None:
    assert _said(graph, "Which books were written by Ann or Ben?") == ["Blue", "Grey", "Red"]
    with pytest.raises(QueryError, match="nothing that fits"):
        answer_entities(graph, "Which books written by Ben appeared before 2020?")
