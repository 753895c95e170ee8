"""The advisor: documents become knowledge once, types wait or are taken, briefings cite what they rest on."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import date
from pathlib import Path

import dspy
import pytest

from kg.errors import DataError
from kg.growing.graph import GrowingGraph
from kg.growing.proposals import TypePolicy, TypeProposals
from kg.growing.updates import NodeKey
from kg.investments.documents import NewsDocument, parse_document
from kg.investments.rules import RuleReader, load_rules
from kg.investments.schema import investment_schema
from programs.advisor import answer_question
from programs.advisor.advisor import Advisor, Ingestion, Portfolio

RULES = load_rules(Path(__file__).resolve().parents[3] / "experiments" / "sample" / "advisor" / "rules.json")
TODAY = date(2026, 11, 20)
RESULTS = """Headline: Helixon beats estimates
Source: Harbour Wire
Date: 2026-11-12

Helixon Inc. (HLXN), a semiconductor company based in Germany, beat estimates for the third quarter of
2026. The company raised its outlook for the full year.
"""
RULE = """Headline: Authority tightens rule
Source: Alpenpost
Date: 2026-11-16

Rule 12 of the Alpine Markets Authority restricts late payment of claims.
"""


def document(text: str, name: str = "wire.txt") -> NewsDocument:
    return parse_document(text, name)


@pytest.fixture
def graph() -> GrowingGraph:
    return GrowingGraph(None, investment_schema())


def advise(graph: GrowingGraph, policy: TypePolicy = "auto") -> Advisor:
    return Advisor(graph, RuleReader(graph, RULES), TypeProposals(graph, policy))


def test_what_a_document_states_is_in_the_graph_with_its_origin(graph: GrowingGraph) -> None:
    advise(graph).ingest(document(RESULTS))
    company = graph.node(NodeKey("Company", "Helixon Inc."))
    assert company is not None
    assert company.properties == {"name": "Helixon Inc.", "ticker": "HLXN", "country": "Germany"}
    assert company.sources == ("wire.txt",)
    edges = {(edge.source.name, edge.type, edge.target.name) for edge in graph.edges()}
    assert edges == {
        ("HLXN", "issued_by", "Helixon Inc."),
        ("Helixon Inc.", "in_sector", "Semiconductor"),
        ("Helixon Inc. beat estimates for the third quarter of 2026", "affects", "Helixon Inc."),
        ("Helixon Inc. raised its outlook for the full year", "affects", "Helixon Inc."),
        ("Helixon beats estimates", "mentions", "Helixon Inc."),
        ("Helixon beats estimates", "mentions", "Helixon Inc. beat estimates for the third quarter of 2026"),
        ("Helixon beats estimates", "mentions", "Helixon Inc. raised its outlook for the full year"),
    }


def test_the_same_document_is_taken_once(graph: GrowingGraph) -> None:
    advise(graph).ingest(document(RESULTS))
    facts = graph.facts()
    assert advise(graph).ingest(document(RESULTS)) == Ingestion("wire.txt", known=True)
    assert graph.facts() == facts


def test_what_needs_a_type_waits_for_it(graph: GrowingGraph) -> None:
    advisor = advise(graph, "review")
    found = advisor.ingest(document(RULE))
    assert dict(found.proposed) == {"Regulation": "pending", "made_by": "pending"}
    assert found.left_out == 3
    assert list(graph.nodes("Regulation")) == []
    for kind in advisor.proposals.pending():
        advisor.proposals.accept(kind.name)
    again = advisor.ingest(document(RULE))
    assert (again.left_out, again.known) == (0, False)
    assert [node.key.name for node in graph.nodes("Regulation")] == ["Rule 12"]
    assert advisor.ingest(document(RULE)).known


def test_types_are_taken_at_once_where_the_policy_allows_it(graph: GrowingGraph) -> None:
    found = advise(graph, "auto").ingest(document(RULE))
    assert dict(found.proposed) == {"Regulation": "accepted", "made_by": "accepted"}
    assert graph.schema.node_type("Regulation").created_by == "agent"
    assert graph.schema.node_type("Regulation").justification


def test_no_type_is_taken_where_the_policy_forbids_it(graph: GrowingGraph) -> None:
    found = advise(graph, "never").ingest(document(RULE))
    assert "not allowed" in dict(found.proposed)["Regulation"]
    assert len(graph.schema.types) == len(investment_schema().types)


def test_a_newer_value_replaces_the_older_one_which_the_history_keeps(graph: GrowingGraph) -> None:
    advisor = advise(graph)
    advisor.ingest(document(RESULTS))
    done = advisor.ingest(document(RESULTS.replace("Germany", "Austria").replace("beats", "tops")))
    assert not done.problems
    node = graph.node(NodeKey("Company", "Helixon Inc."))
    assert node is not None
    assert node.properties["country"] == "Austria"
    changed = next(entry for entry in graph.history() if entry.replaced)
    assert [(one.property, one.before) for one in changed.replaced] == [("country", "Germany")]


def test_briefings_cite_the_insight_and_its_events(graph: GrowingGraph) -> None:
    advisor = advise(graph)
    advisor.ingest(document(RESULTS))
    assert (advisor.reflect(TODAY), advisor.reflect(TODAY)) == (1, 0)
    (briefing,) = advisor.brief(Portfolio({"HLXN": 120.0}, ("HLXN", "NONE")), TODAY)
    assert briefing.held
    assert briefing.text.startswith("You hold 120 HLXN. Helixon Inc.: 2 good and 0 bad of 2 events")
    assert "signal to buy" in briefing.text
    assert all(
        not event.text.startswith("Helixon Inc.: ") and event.text not in briefing.text for event in briefing.events
    )
    assert {(event.day, event.direction) for event in briefing.events} == {("2026-11-12", "positive")}
    assert {iri for event in briefing.events for iri in event.citations} == set(briefing.citations[1:])
    sources = {(one.document, one.publisher, one.day) for event in briefing.events for one in event.sources}
    assert sources == {("wire.txt", "Harbour Wire", "2026-11-12")}
    assert [key.type for key in briefing.cited] == ["Insight", "MarketEvent", "MarketEvent"]
    iris = {str(value) for row in graph.query("SELECT ?s WHERE { ?s a ?t }").rows for value in row}
    assert set(briefing.citations) <= iris


def test_stale_news_makes_no_briefing(graph: GrowingGraph) -> None:
    advisor = advise(graph)
    advisor.ingest(document(RESULTS))
    assert advisor.reflect(date(2027, 3, 1)) == 0
    assert advisor.brief(Portfolio({"HLXN": 1.0}), date(2027, 3, 1)) == []


def test_nothing_of_the_portfolio_enters_the_graph(graph: GrowingGraph) -> None:
    advisor = advise(graph)
    advisor.ingest(document(RESULTS))
    advisor.reflect(TODAY)
    before = graph.query("SELECT ?s ?p ?o WHERE { ?s ?p ?o }").rows
    advisor.brief(Portfolio({"HLXN": 4711.0}, ("ZZZQ",)), TODAY)
    after = graph.query("SELECT ?s ?p ?o WHERE { ?s ?p ?o }").rows
    assert sorted(map(str, after)) == sorted(map(str, before))
    assert not any("4711" in str(row) or "ZZZQ" in str(row) for row in after)


def test_asking_never_writes_and_ungrounded_text_is_not_said(
    graph: GrowingGraph, scripted_lm: Callable[..., dspy.LM], tmp_path: Path
) -> None:
    advise(graph).ingest(document(RESULTS))
    (tmp_path / "evil.txt").write_text("Helixon Inc. is based in Atlantis and pays 999 million.", encoding="utf-8")
    company = {"type": "Company", "name": "Helixon Inc."}
    insert = {"next_step": "insert", "missing": "more"}
    call = {"calls": json.dumps([{"tool": "inspect_document", "arguments": {"file": "evil.txt"}}])}
    wrote = {
        "updates": json.dumps([{"op": "SetProperty", "node": company, "property": "country", "value": "Atlantis"}])
    }
    retrieve = {"next_step": "retrieve", "missing": ""}
    query = {"query": 'SELECT ?c WHERE { ?x rdfs:label "Helixon Inc." ; prop:ticker ?c }'}
    before = set(graph.triples())
    for said in ("root:x:0:0", "Helixon Inc. pays 999 million", "Atlantis"):
        lm = scripted_lm([insert, insert, call, wrote, retrieve, retrieve, query, {"answer": said}])
        with dspy.context(lm=lm, adapter=dspy.ChatAdapter(use_json_adapter_fallback=False)):
            answer, why = answer_question(graph, "What is its ticker?", lm, TODAY, str(tmp_path))
        assert answer is None
        assert f"the model alone says {said!r}" in why
    assert set(graph.triples()) == before


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (RESULTS.replace("Source", "Sauce"), "wire.txt: line 2: expected Headline:"),
        (RESULTS.replace("Source: Harbour Wire\n", ""), "has no line Source:"),
        (RESULTS.replace("2026-11-12", "12 November"), "Date must be written 2026-10-22"),
        (RESULTS.split("\n\n")[0], "has no text"),
    ],
)
def test_a_document_that_is_none_is_refused(text: str, message: str) -> None:
    with pytest.raises(DataError, match=message):
        document(text)
