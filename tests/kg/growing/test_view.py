"""A growing graph as a graph of entities: its nodes, and the words of its schema."""

from __future__ import annotations

import pytest

from kg.growing import EdgeType, NodeType, Schema
from kg.growing.graph import GrowingGraph, Origin
from kg.growing.terms import EDGE, PROPERTY, TYPE
from kg.growing.updates import AddEdge, AddNode, NodeKey
from kg.growing.view import entity_view
from kg.investments.schema import investment_schema
from kg.questions.graph import EntityGraph

NEWS = {"source": "Harbour Wire", "published_at": "2026-11-03"}


@pytest.fixture
def graph() -> GrowingGraph:
    graph = GrowingGraph(None, investment_schema())
    company, news = NodeKey("Company", "Helixon Inc."), NodeKey("News", "Plant in Porto")
    updates = [
        AddNode("Company", company.name, {"country": "Germany"}),
        AddNode("News", news.name, NEWS),
        AddNode("MarketEvent", "Suit", {"type": "lawsuit", "summary": "A suit", "occurred_at": "2026-11-04"}),
        AddEdge("mentions", news, company),
    ]
    graph.apply(updates, Origin("wire"))
    return graph


@pytest.fixture
def view(graph: GrowingGraph) -> EntityGraph:
    return entity_view(graph)


def test_types_and_properties_go_by_their_labels(view: EntityGraph) -> None:
    tags = {tag.word: tag for tag in view.lexicon.tags("firms, events, based, published, covers, mentioned in")}
    assert tags["firms"].classes == (TYPE + "Company",)
    assert tags["events"].classes == (TYPE + "MarketEvent",)
    assert tags["based"].properties == (PROPERTY + "country",)
    assert set(tags["published"].properties) == {PROPERTY + "source", PROPERTY + "published_at"}
    assert tags["covers"].properties == (EDGE + "mentions",)
    assert tags["mentioned in"].inverses == (EDGE + "mentions",)


def test_a_legal_form_may_be_left_out(view: EntityGraph) -> None:
    assert [tag.text for tag in view.lexicon.tags("Where is Helixon based?") if tag.entities] == ["Helixon"]


def test_values_dates_and_kinds_are_known(view: EntityGraph) -> None:
    tags = view.lexicon.tags("lawsuits in Germany since 3 November 2026")
    assert [tag.values for tag in tags if tag.values] == [
        ((PROPERTY + "type", "lawsuit"),),
        ((PROPERTY + "country", "Germany"),),
    ]
    assert str(tags[-1].period) == "2026-11-03"
    words = view.lexicon.properties
    assert words[PROPERTY + "published_at"].temporal
    assert words[PROPERTY + "type"].classifies
    assert not words[PROPERTY + "country"].classifies
    assert words[EDGE + "mentions"].directed


def test_a_graph_of_another_domain_brings_its_own_words() -> None:
    rules = {"type": "object", "properties": {"height": {"type": "number", "title": "how tall", "x-labels": ["size"]}}}
    tree = NodeType("Tree", "A woody plant.", rules, labels=("plant",))
    shades = EdgeType(
        "shades", "Keeps light from another.", {"type": "object"}, labels=("darkens",), inverse_labels=("shaded by",)
    )
    graph = GrowingGraph(None, Schema().with_type(tree).with_type(shades))
    graph.apply([AddNode("Tree", "Oak", {"height": 20}), AddNode("Tree", "Yew")], Origin("walk"))
    graph.apply([AddEdge("shades", NodeKey("Tree", "Oak"), NodeKey("Tree", "Yew"))], Origin("walk"))
    lexicon = entity_view(graph).lexicon
    assert next(tag for tag in lexicon.tags("the size of Oak") if tag.properties).text == "size"
    assert next(tag for tag in lexicon.tags("Which plant darkens Yew?") if tag.classes).text == "plant"
    assert next(tag for tag in lexicon.tags("shaded by Oak") if tag.inverses).text == "shaded by"


def test_labels_are_kept_in_the_graph(tmp_path: object) -> None:
    with GrowingGraph(f"{tmp_path}/graph", investment_schema()) as graph:
        edge = graph.schema.edge_type("issued_by")
    with GrowingGraph(f"{tmp_path}/graph") as graph:
        assert graph.schema.edge_type("issued_by") == edge
        assert edge.inverse_labels == ("issued", "issues")
