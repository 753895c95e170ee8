from __future__ import annotations

import numpy as np
import pytest

from kg.graphs import FactGraph, GraphIndex, Triple, named_index
from kg.paths.linking import QuestionGraph, Topics

NAMES = ["Tom Hanks", "Hanks", "director", "Roadkill", "The Who", "what", "1984", "$", "Quo Vadis, Baby?", "ludwig_ii"]


def _graph(names: list[str], others: dict[str, str] | None = None) -> QuestionGraph:
    index = GraphIndex.from_triples([(name, "is", name) for name in names])
    return QuestionGraph.over(index, ((label, int(index.ids([name])[0])) for name, label in (others or {}).items()))


@pytest.fixture
def linker() -> QuestionGraph:
    others = {"Tom Hanks": "Thomas Hanks", "Big (1988)": "Big Film", "Big (2000)": "Big Film"}
    return _graph([*NAMES, "Big (1988)", "Big (2000)"], others)


@pytest.mark.parametrize(
    ("question", "label", "entities"),
    [
        ("what films did tom hanks star in", "tom hanks", ("Tom Hanks",)),
        ("who was the director of Roadkill", "Roadkill", ("Roadkill",)),
        ("who are the children of ludwig_ii 's father ?", "ludwig_ii", ("ludwig_ii",)),
        ("who wrote Quo Vadis, Baby? and why", "Quo Vadis, Baby", ("Quo Vadis, Baby?",)),
        ("which band is the who", "the who", ("The Who",)),
        ("when did thomas hanks die", "thomas hanks", ("Tom Hanks",)),
    ],
)
def test_the_entity_that_is_meant_is_found(
    linker: QuestionGraph, question: str, label: str, entities: tuple[str, ...]
) -> None:
    found = linker.link(question)
    assert found == Topics(entities, label)
    assert not found.is_ambiguous


def test_a_label_of_several_entities_is_ambiguous(linker: QuestionGraph) -> None:
    found = linker.link("who starred in big film")
    assert found.is_ambiguous
    assert found.entities == ("Big (1988)", "Big (2000)")


def test_capitals_tell_entities_apart() -> None:
    linker = _graph(["Alien", "ALIEN"])
    assert linker.link("who directed Alien") == Topics(("Alien",), "Alien")
    assert linker.link("who directed alien") == Topics(("ALIEN", "Alien"), "alien")
    assert linker.topics("", ["aLIEN!"]).entities == ("ALIEN", "Alien")


def test_a_question_without_an_entity_links_nothing(linker: QuestionGraph) -> None:
    assert not linker.link("who sang").entities
    assert not linker.link("").entities
    assert not _graph([]).link("who directed Alien").entities
    assert linker.topics("", ["nobody"]).unknown == ("nobody",)


X = "http://x/"
LABEL = "http://www.w3.org/2000/01/rdf-schema#label"
OTHER_LABEL = "http://www.w3.org/2004/02/skos/core#altLabel"


def label(node: str, text: str, language: str = "", predicate: str = LABEL) -> Triple:
    return Triple(X + node, predicate, text, is_literal=True, language=language)


def edge(subject: str, relation: str, value: str) -> Triple:
    return Triple(X + subject, X + relation, X + value, is_literal=False)


def triples_of(*statements: Triple) -> tuple[QuestionGraph, list[tuple[str, str, str]]]:
    """The named triples of statements, as typed facts and as the index of a large graph have them."""
    graphs = QuestionGraph.of(FactGraph.build(statements)), QuestionGraph.over(*named_index(statements))
    both = []
    for graph in graphs:
        edges, name = graph.index.edges(np.arange(len(graph.index.entities))), graph.index.name
        rows = zip(edges.place.tolist(), edges.relation.tolist(), edges.target.tolist(), strict=True)
        names = ((name(start), graph.index.relations[relation], name(end)) for start, relation, end in rows)
        both.append([triple for triple in names if not triple[1].startswith("^")])
    assert sorted(both[0]) == sorted(both[1])
    return graphs[1], both[0]


def test_labels_name_nodes_and_relations_and_are_no_edges() -> None:
    _, triples = triples_of(edge("a", "p", "b"), label("a", "Anna"), label("p", "knows"), label("b", "Bea", "de"))
    assert triples == [("Anna", "knows", "Bea")]


def test_english_goes_first_and_other_labels_are_kept() -> None:
    also = label("a", "Be\u010d", "", OTHER_LABEL)
    graph, triples = triples_of(edge("a", "p", "b"), label("a", "Wien", "de"), label("a", "Vienna", "en"), also)
    assert triples == [("Vienna", "p", "b")]
    assert [graph.topics("", [name]).entities for name in ("Wien", "Be\u010d")] == [("Vienna",), ("Vienna",)]


def test_equal_names_are_told_apart_and_names_fit_into_a_path() -> None:
    ohio, oregon = edge("ohio/Springfield", "p", "b"), edge("oregon/Springfield", "in_state", "b")
    _, triples = triples_of(ohio, oregon, label("b", "x -> y\n z"))
    assert sorted(triples) == [
        ("Springfield", "p", "x \u2192 y z"),
        (f"Springfield <{X}oregon/Springfield>", "in_state", "x \u2192 y z"),
    ]


def test_a_value_with_the_name_of_an_entity_and_a_class_are_nodes() -> None:
    says = Triple(X + "a", X + "says", "b", is_literal=True)
    kind = Triple(X + "a", "http://www.w3.org/1999/02/22-rdf-syntax-ns#type", X + "Town", is_literal=False)
    _, triples = triples_of(edge("a", "p", "b"), says, kind)
    assert {relation: end for _, relation, end in triples} == {"p": "b", "says": "b <b>", "is a": "town"}
