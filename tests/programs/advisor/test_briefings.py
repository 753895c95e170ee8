"""Briefings cite documents, and show what these state differently."""

from __future__ import annotations

from datetime import date

import pytest

from kg.growing import GrowingGraph, TypeProposals
from kg.investments import NewsDocument, investment_schema
from kg.news import FrameReader
from programs.advisor import Advisor, Briefing, Portfolio, by_symbol

TODAY = date(2026, 11, 6)
FIRST = "Calderstone plc (CLDS) will cut 1,200 jobs in Leeds."
SECOND = "Calderstone plc is to shed 900 jobs by the spring."


def document(name: str, publisher: str, day: int, text: str) -> NewsDocument:
    return NewsDocument(name, f"News {name}", publisher, date(2026, 11, day), text)


@pytest.fixture
def advisor() -> Advisor:
    graph = GrowingGraph(None, investment_schema())
    return Advisor(graph, FrameReader(graph), TypeProposals(graph, "never"))


def briefed(advisor: Advisor, *documents: NewsDocument) -> list[Briefing]:
    for one in documents:
        advisor.ingest(one)
    advisor.reflect(TODAY)
    return advisor.brief(Portfolio({"CLDS": 10.0}), TODAY)


def test_two_documents_about_one_event_are_one_event_with_both_figures(advisor: Advisor) -> None:
    found = briefed(advisor, document("a.txt", "Harbour Wire", 3, FIRST), document("b.txt", "Quay Post", 4, SECOND))
    (briefing,) = found
    assert "0 good and 1 bad of 1 events" in briefing.text
    (event,) = briefing.events
    assert (event.day, event.kind, event.direction) == ("2026-11-03", "layoff", "negative")
    assert [(one.document, one.publisher, one.day, one.sentence) for one in event.sources] == [
        ("a.txt", "Harbour Wire", "2026-11-03", FIRST),
        ("b.txt", "Quay Post", "2026-11-04", SECOND),
    ]
    assert event.differing == ("1,200 (Harbour Wire, 3 Nov) / 900 (Quay Post, 4 Nov)",)
    assert event.lines[1:3] == (
        "    the sources differ: 1,200 (Harbour Wire, 3 Nov) / 900 (Quay Post, 4 Nov)",
        "    source: a.txt, Harbour Wire, 2026-11-03",
    )
    assert briefing.as_record()["events"][0]["sources"][1]["publisher"] == "Quay Post"
    assert set(event.citations) == set(briefing.citations[1:])


def test_figures_that_agree_do_not_differ(advisor: Advisor) -> None:
    further = "Calderstone plc will cut 1,200 jobs, it said. Some 300 jobs will go at Calderstone plc in Hull."
    (briefing,) = briefed(
        advisor, document("a.txt", "Harbour Wire", 3, FIRST), document("b.txt", "Quay Post", 4, further)
    )
    (event,) = briefing.events
    assert event.differing == ()
    assert {one.document for one in event.sources} == {"a.txt", "b.txt"}


def test_a_publisher_is_known_for_each_document_of_one_headline(advisor: Advisor) -> None:
    given = [NewsDocument(f"{name}.txt", "Jobs go", name, date(2026, 11, 3), FIRST) for name in ("Post", "Wire")]
    (briefing,) = briefed(advisor, *given)
    assert {(one.document, one.publisher) for one in briefing.events[0].sources} == {
        ("Post.txt", "Post"),
        ("Wire.txt", "Wire"),
    }


def test_what_has_no_content_is_kept_and_makes_no_briefing(advisor: Advisor) -> None:
    text = "Calderstone plc (CLDS) teamed up with Harlow Industries."
    assert briefed(advisor, document("a.txt", "Harbour Wire", 3, text)) == []
    assert len(list(advisor.graph.nodes("MarketEvent"))) == 1


def test_an_edited_document_is_one_source_and_its_newer_text_holds(advisor: Advisor) -> None:
    head = "Calderstone plc (CLDS) opened a plant in Leeds."
    first = document("a.txt", "Harbour Wire", 3, f"{head} Shares in Calderstone plc fell 14%.")
    briefed(advisor, first)
    newer = document("a.txt", "Harbour Wire", 3, f"{head} Shares in Calderstone plc fell 12%.")
    (briefing,) = by_symbol(briefed(advisor, newer))
    (event,) = [one for one in briefing.events if one.kind == "share_price"]
    assert event.text == "Shares in Calderstone plc fell 12%."
    assert (len(event.sources), event.differing) == (1, ())
    reversed_text = document("a.txt", "Harbour Wire", 3, f"{head} Shares in Calderstone plc rose 12%.")
    (briefing,) = by_symbol(briefed(advisor, reversed_text))
    assert [one.direction for one in briefing.events if one.kind == "share_price"] == ["positive"]


def test_all_differences_of_an_event_are_shown(advisor: Advisor) -> None:
    texts = [
        f"Calderstone plc (CLDS) reported revenue of ${revenue} million and net profit of ${profit} million."
        for revenue, profit in ((412, 31), (397, 24))
    ]
    given = [document(f"{name}.txt", name, 3, text) for name, text in zip(("Post", "Wire"), texts, strict=True)]
    (briefing,) = briefed(advisor, *given)
    (event,) = [one for one in briefing.events if one.kind == "earnings"]
    assert set(event.differing) == {
        "$412 million (Post, 3 Nov) / $397 million (Wire, 3 Nov)",
        "$31 million (Post, 3 Nov) / $24 million (Wire, 3 Nov)",
    }


def test_an_event_has_no_line_of_place_and_day_and_a_file_is_no_publisher(advisor: Advisor) -> None:
    (briefing,) = briefed(advisor, document("a.txt", "a.txt", 3, f"LEEDS, Nov 3 - {FIRST}"))
    (event,) = briefing.events
    assert event.lines == (f"2026-11-03 layoff, negative: {FIRST}", "    source: a.txt, no publisher, 2026-11-03")
    assert [one.key.name for one in advisor.graph.nodes("MarketEvent")] == [f"Calderstone plc: {FIRST}"]
