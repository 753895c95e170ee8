from __future__ import annotations

import pytest

from kg.graphs import GraphIndex
from kg.paths.linking import QuestionGraph, Topics

NAMES = ["Tom Hanks", "Hanks", "director", "Roadkill", "The Who", "what", "1984", "$", "Quo Vadis, Baby?", "ludwig_ii"]


def _graph(names: list[str], other_names: dict[str, tuple[str, ...]] | None = None) -> QuestionGraph:
    return QuestionGraph(GraphIndex.from_triples([(name, "is", name) for name in names]), other_names or {})


@pytest.fixture
def linker() -> QuestionGraph:
    return _graph(NAMES, {"Thomas Hanks": ("Tom Hanks",), "Big Film": ("Big (1988)", "Big (2000)")})


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
