"""Documents that a model reads: rows are held to the document and the schema; insights, briefings, and undoing."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from datetime import date
from typing import Any

import dspy
import pytest

from kg.growing import GrowingGraph, NodeKey, node_term
from kg.investments import events_by_company, insights_about, investment_schema
from kg.news import known_names, parse_document, stored_facts, stored_passages
from programs.advisor import (
    Advisor,
    DrawInsights,
    OrderByProfile,
    Portfolio,
    ReadDocuments,
    briefings,
    symbol_problems,
    take_back,
)
from programs.advisor.reading import validate

TODAY = date(2026, 11, 6)
WIRE = """Orvane buys Brightlane
2026-01-14

BOISE - Orvane Semiconductor Corp. agreed to buy laser maker Brightlane Photonics for $340 million. Closing is planned \
for 4 May 2026. It praised the staff of the Élan works, who were paid late.
"""


@pytest.fixture
def graph() -> GrowingGraph:
    return GrowingGraph(None, investment_schema())


def fact(sentence: int, subject: str, relation: str, value: str, kind: str = "company") -> dict[str, Any]:
    return {"sentence": sentence, "subject": subject, "subject_kind": kind, "relation": relation, "object": value}


def event(sentence: int, company: str, kind: str, direction: str, **further: Any) -> dict[str, Any]:
    return {"sentence": sentence, "company": company, "kind": kind, "direction": direction, **further}


def reply(*facts: dict[str, Any], events: tuple[dict[str, Any], ...] = ()) -> dspy.Prediction:
    return ReadDocuments.recorded({"facts": facts, "events": events})


@pytest.mark.parametrize(
    ("given", "row"),
    [
        (
            fact(2, "Orvane Semiconductor Corp.", "acquires", "Brightlane Photonics"),
            ("company", "acquires", "Brightlane Photonics", "company"),
        ),
        (
            fact(2, "Brightlane Photonics", "deal value", "340,000,000"),
            ("company", "deal_value", "$340 million", "money"),
        ),
        (
            fact(3, "Brightlane Photonics", "completed on", "2026-05-04"),
            ("company", "completed_on", "2026-05-04", "date"),
        ),
        (
            fact(4, "Orvane Semiconductor Corp.", "praised staff of", "Élan works"),
            ("company", "praised staff of", "Élan works", "text"),
        ),
        (fact(4, "the staff", "were paid", "late", "thing"), ("name", "were paid", "late", "text")),
    ],
)
def test_a_fact_has_its_kinds_and_its_sentence(given: dict[str, Any], row: tuple[str, ...]) -> None:
    document = parse_document(WIRE, "wire.txt")
    [one], _, refused = validate(document, {}, reply(given))
    assert refused == []
    assert (one.subject, one.subject_kind, one.relation, one.value, one.value_kind) == (given["subject"], *row)
    assert one.sentence == document.sentences[given["sentence"] - 2]


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        (fact(9, "Orvane", "acquires", "Brightlane"), "there is no sentence 9"),
        (fact(2, "Apple", "acquires", "Brightlane"), "the document does not have 'Apple'"),
        (fact(3, "Brightlane Photonics", "deal value", "$340 million"), "the sentence does not have the object"),
        (fact(2, "Boise", "employees", "$340 million", "place"), "employees has no subject of the kind place"),
        (fact(2, "Brightlane Photonics", "completed on", "laser"), "'laser' is no day"),
        (fact(2, "Orvane Semiconductor", "sued", "Brightlane Photonics"), "of the schema or of the sentence"),
        (fact(2, "Orvane Semiconductor", "acquires", "Orvane Semiconductor Corp."), "has two ends"),
    ],
)
def test_a_fact_that_the_document_or_the_schema_does_not_hold_is_refused(given: dict[str, Any], problem: str) -> None:
    facts, _, [refused] = validate(parse_document(WIRE, "wire.txt"), {}, reply(given))
    assert facts == []
    assert problem in refused


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        (event(2, "Orvane", "party", "positive"), "the kind of an event must be one of"),
        (event(2, "Apple", "merger", "positive"), "does not have 'Apple'"),
        (event(2, "Orvane", "merger", "positive", figure="$350 million"), "does not have the figure '$350 million'"),
    ],
)
def test_an_event_that_the_document_or_the_schema_does_not_hold_is_refused(given: dict[str, Any], problem: str) -> None:
    _, events, [refused] = validate(parse_document(WIRE, "wire.txt"), {}, reply(events=(given,)))
    assert events == []
    assert problem in refused


def test_a_known_name_is_written_in_full(graph: GrowingGraph) -> None:
    advisor = Advisor(graph)
    advisor.ingest(parse_document(WIRE, "a.txt"), reply(fact(2, "Orvane Semiconductor Corp.", "ticker", "BOISE")))
    later = parse_document("Orvane Semiconductor grows\n2026-02-03\n\nOrvane Semiconductor has 300 staff.", "b.txt")
    facts, _, _ = validate(later, known_names(graph), reply(fact(2, "Orvane Semiconductor", "employees", "300")))
    assert [one.subject for one in facts] == ["Orvane Semiconductor Corp."]


def test_a_model_reads_a_document_once(graph: GrowingGraph, scripted_lm: Callable[..., dspy.LM]) -> None:
    rows = [
        fact(2, "Orvane Semiconductor Corp.", "acquires", "Brightlane Photonics"),
        fact(2, "Apple", "acquires", "Orvane"),
    ]
    written = {
        "facts": json.dumps(rows),
        "events": json.dumps([event(2, "Brightlane Photonics", "merger", "positive")]),
    }
    document, advisor = parse_document(WIRE, "wire.txt"), Advisor(graph)
    assert advisor.ingest(document).applied.nodes > 0  # sentences alone
    with dspy.context(lm=scripted_lm([written]), adapter=dspy.ChatAdapter(use_json_adapter_fallback=False)):
        stated = ReadDocuments()(document=document)
    result = advisor.ingest(document, stated)
    assert (result.facts, result.events, result.refused) == (1, 1, ("the document does not have 'Apple'",))
    assert advisor.knows(document, facts=True)
    assert advisor.ingest(document, stated).known
    assert [(one.relation, one.value) for one in stored_facts(graph)] == [("acquires", "Brightlane Photonics")]
    assert graph.node(NodeKey("Company", "Apple")) is None


def test_a_reply_that_cannot_be_read_gives_no_facts(scripted_lm: Callable[..., dspy.LM]) -> None:
    adapter = dspy.ChatAdapter(use_json_adapter_fallback=False)
    with dspy.context(lm=scripted_lm([{"facts": "a list", "events": "[]"}]), adapter=adapter):
        stated = ReadDocuments()(document=parse_document(WIRE, "wire.txt"))
    assert (stated.facts, len(stated.refused)) == ([], 1)


def jobs(name: str, publisher: str, day: int, figure: str, text: str) -> tuple[Any, dspy.Prediction]:
    head = f"Headline: News {name}\nSource: {publisher}\nDate: 2026-11-0{day}\n\n"
    rows = [fact(2, "Calderstone plc", "ticker", "CLDS")] if "CLDS" in text else []
    stated = event(2, "Calderstone plc", "layoff", "negative", figure=figure)
    return parse_document(head + text, name), reply(*rows, events=(stated,))


FIRST = jobs("a.txt", "Harbour Wire", 3, "1,200", "Calderstone plc (CLDS) will cut 1,200 jobs in Leeds.")
SECOND = jobs("b.txt", "Quay Post", 4, "900", "Calderstone plc is to shed 900 jobs by the spring.")


def test_two_documents_about_one_event_are_one_event_with_both_figures(graph: GrowingGraph) -> None:
    advisor = Advisor(graph)
    for document, stated in (FIRST, SECOND):
        assert advisor.ingest(document, stated).refused == ()
    (briefing,) = briefings(graph, Portfolio({"CLDS": 10.0}), TODAY)
    assert briefing.text == "You hold 10 CLDS. Calderstone plc: 1 events"
    (found,) = briefing.events
    assert (found.day, found.kind, found.direction) == ("2026-11-03", "layoff", "negative")
    assert [(one.document, one.publisher, one.day) for one in found.sources] == [
        ("a.txt", "Harbour Wire", "2026-11-03"),
        ("b.txt", "Quay Post", "2026-11-04"),
    ]
    assert found.differing == "1,200 (Harbour Wire) / 900 (Quay Post)"
    assert any("900 jobs" in line for line in found.lines)
    assert found.citations == briefing.citations
    assert briefings(graph, Portfolio({"CLDS": 10.0}), date(2027, 6, 1)) == []
    assert symbol_problems(graph, Portfolio({"CLDS": 1.0}, ("XYZ",))) == ["no company of the graph has the symbol XYZ"]


CALDERSTONE = NodeKey("Company", "Calderstone plc")
GOOD: dict[str, Any] = {
    "kind": "signal",
    "action": "sell",
    "reason": "It sheds up to 1,200 jobs.",
    "events": [1],
    "strength": 0.7,
}


@pytest.fixture
def reflect(graph: GrowingGraph, scripted_lm: Callable[..., dspy.LM]) -> Callable[..., Any]:
    """Lets a model with written replies draw insights about a company with one event of two reports."""
    advisor = Advisor(graph)
    for document, stated in (FIRST, SECOND):
        advisor.ingest(document, stated)

    def run(*replies: Any) -> Any:
        adapter = dspy.ChatAdapter(use_json_adapter_fallback=False)
        with dspy.context(lm=scripted_lm([{"insight": json.dumps(one)} for one in replies]), adapter=adapter):
            return advisor.reflect([CALDERSTONE, NodeKey("Company", "Nobody")], TODAY)

    return run


def test_an_insight_cites_reports_of_the_graph(graph: GrowingGraph, reflect: Callable[..., Any]) -> None:
    assert reflect(GOOD) == []
    assert reflect() == [], "the same events are not shown again"
    (briefing,) = briefings(graph, Portfolio({"CLDS": 10.0}), TODAY)
    assert briefing.text.endswith("Calderstone plc: signal to sell (strength 0.7): It sheds up to 1,200 jobs.")
    assert (briefing.kind, briefing.action, briefing.strength) == ("signal", "sell", 0.7)
    ((insight, grounds),) = insights_about(graph, CALDERSTONE, TODAY)
    assert {key.type for key in grounds} == {"MarketEvent"}
    assert len(grounds) == len(briefing.events[0].citations) == 2
    assert briefing.citations[0] == node_term(insight.key).value
    assert set(briefing.events[0].citations) == set(briefing.citations[1:])


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"events": [2]}, r"must cite events from 1 to 1, got \[2\]"),
        ({"events": []}, "must cite events"),
        ({"action": "none"}, "a signal has an action"),
        ({"kind": "observation"}, "nothing else has one, got observation sell"),
        ({"kind": "pattern", "action": "none"}, "a pattern must cite two events"),
        ({"reason": "It sheds 1,300 jobs."}, "do not have the figure 1300"),
        ({"strength": 7}, "the reply could not be read"),
    ],
)
def test_an_insight_that_breaks_a_rule_is_not_stored(
    graph: GrowingGraph, reflect: Callable[..., Any], changed: dict[str, Any], problem: str
) -> None:
    [refused] = reflect({**GOOD, **changed})
    assert insights_about(graph, CALDERSTONE, TODAY) == []
    assert re.search(problem, refused)


def test_insights_are_compiled_by_an_optimizer_of_dspy(
    graph: GrowingGraph, reflect: Callable[..., Any], scripted_lm: Callable[..., dspy.LM]
) -> None:
    events = events_by_company(graph, lambda _: True)[CALDERSTONE]
    example = dspy.Example(company="Calderstone plc", events=events, today=TODAY).with_inputs(
        "company", "events", "today"
    )
    with dspy.context(lm=scripted_lm([{"insight": json.dumps(GOOD)}]), adapter=dspy.ChatAdapter()):
        optimizer = dspy.BootstrapFewShot(metric=lambda _, drawn, __: drawn.insight.action == "sell")
        compiled = optimizer.compile(DrawInsights(), trainset=[example])
    [demo] = compiled.draw.demos
    assert "2026-11-03 layoff, negative: Calderstone plc: Calderstone plc (CLDS) will cut 1,200 jobs" in demo.events


def test_a_document_is_undone_with_the_insights_about_it(graph: GrowingGraph, reflect: Callable[..., Any]) -> None:
    advisor = Advisor(graph)
    reflect(GOOD)
    undone = take_back(graph, "b.txt")
    assert {entry.document for entry in undone} >= {"b.txt", "insights"}
    assert {one.document for one in stored_passages(graph)} == {"a.txt"}
    assert not advisor.knows(SECOND[0])
    assert advisor.ingest(*SECOND).events == 1
    assert reflect(GOOD) == []
    assert insights_about(graph, CALDERSTONE, TODAY)


def test_a_model_orders_briefings_by_the_profile(
    graph: GrowingGraph, reflect: Callable[..., Any], scripted_lm: Callable[..., dspy.LM]
) -> None:
    text = "Headline: Pay\nSource: Wire\nDate: 2026-11-05\n\nOsprey Rail Ltd (OSPR) declared a dividend."
    rows = reply(
        fact(2, "Osprey Rail Ltd", "ticker", "OSPR"), events=(event(2, "Osprey Rail Ltd", "dividend", "positive"),)
    )
    Advisor(graph).ingest(parse_document(text, "c.txt"), rows)
    given = briefings(graph, Portfolio({"CLDS": 7.0, "OSPR": 1.0}), TODAY)
    lm = scripted_lm([{"order": "[2, 9]", "notes": '["income"]'}])
    with dspy.context(lm=lm, adapter=dspy.ChatAdapter()):
        ordered = OrderByProfile()(given, "goals: income").briefings
    assert [(one.symbol, one.note) for one in ordered] == [("OSPR", "income"), ("CLDS", "")]
    assert "goals: income" in (prompt := lm.history[-1]["messages"][-1]["content"])
    assert "You hold" not in prompt


@pytest.mark.parametrize(
    ("sentence", "day", "stored"),
    [
        ("Orvane opened a works in October.", "2026-10", "2026-10"),
        ("Orvane opened a works in October.", "2026-10-15", "2026-10"),
        ("Orvane opened a works on 17 October.", "2026-10-17", "2026-10-17"),
        ("Orvane opened a works.", "", "2026-11-03"),
        ("Orvane opened a works in October.", "2026-09", None),
    ],
)
def test_an_event_is_of_the_day_that_its_sentence_has(sentence: str, day: str, stored: str | None) -> None:
    document = parse_document(f"Headline: Works\nSource: Wire\nDate: 2026-11-03\n\n{sentence}", "a.txt")
    _, events, refused = validate(document, {}, reply(events=(event(2, "Orvane", "site", "positive", day=day),)))
    assert [pair[0].properties["occurred_at"] for pair in events[:1]] == ([stored] if stored else [])
    assert bool(refused) == (stored is None)


@pytest.mark.parametrize(
    ("company", "party"), [("Harbour Wire", ""), ("Orvane", "Harbour Wire"), ("LISBON", ""), ("Lisbon", "")]
)
def test_a_publisher_or_a_dateline_is_no_party(company: str, party: str) -> None:
    for dateline in ("LISBON - ", "Lisbon, 3 Nov (Harbour Wire) - "):
        head = "Headline: Works\nSource: Harbour Wire\nDate: 2026-11-03\n\n"
        text = f"{head}{dateline}Orvane closed a works, it told Harbour Wire."
        row = event(2, company, "site", "negative", party=party)
        _, events, [refused] = validate(parse_document(text, "a.txt"), {}, reply(events=(row,)))
        assert events == []
        assert "does not have" in refused
