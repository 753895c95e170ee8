"""Events of companies, in wordings of their own: their kinds and their directions."""

from __future__ import annotations

import pytest

from kg.growing import AddNode, GrowingGraph, Origin
from kg.investments import NewsRules, investment_schema
from kg.investments.documents import parse_document
from kg.news.frame_reader import FrameReader
from kg.news.reader import read_news
from kg.news.reported import ReportedEvent
from kg.sentences import Directory, event_frames


def events(body: str) -> tuple[ReportedEvent, ...]:
    """The events of a text of 4 May 2026."""
    text = f"News of the day\n\nCHICAGO, May 4, 2026 (Wire) - {body}"
    return read_news(parse_document(text, "a.txt"), Directory()).events


@pytest.mark.parametrize(
    ("text", "kind", "direction"),
    [
        ("Thornbury Foods plc has trimmed its full-year profit outlook.", "guidance", "negative"),
        ("Thornbury Foods plc's outlook was lowered again.", "guidance", "negative"),
        ("Thornbury Foods plc lifted its annual sales guidance.", "guidance", "positive"),
        ("Thornbury Foods plc issued a profit warning.", "guidance", "negative"),
        ("Shares in Thornbury Foods Inc. tumbled 17% on Tuesday.", "share_price", "negative"),
        ("Thornbury Foods plc's stock climbed to a three-year high.", "share_price", "positive"),
        ("The news sent shares of Thornbury Foods plc down more than 9%.", "share_price", "negative"),
        ("A blaze tore through a bakery of Thornbury Foods plc.", "accident", "negative"),
        ("A freight train operated by Dunmore Rail Corp. derailed outside Memphis.", "accident", "negative"),
        ("Thornbury Foods plc will put up the price of its bread.", "price_change", "positive"),
        ("Thornbury Foods plc slashed prices of its frozen meals.", "price_change", "negative"),
        ("Moody's lowered Thornbury Foods plc's credit rating to junk.", "rating", "negative"),
        ("Analysts at Greyfriars upgraded Thornbury Foods plc to buy from hold.", "rating", "positive"),
        ("Britain's food watchdog is examining the labels of Thornbury Foods plc.", "investigation", "negative"),
        ("Thornbury Foods plc is recalling bread that may hold plastic.", "recall", "negative"),
        ("About 300 bakers at Thornbury Foods plc walked out on Thursday.", "strike", "negative"),
        ("Thornbury Foods plc has settled its patent dispute with Hexa Drives AG.", "lawsuit", "neutral"),
        ("A judge dismissed the lawsuit against Thornbury Foods plc.", "lawsuit", "positive"),
        ("Customers have filed a class action against Thornbury Foods plc.", "lawsuit", "negative"),
        ("A judge threw out a patent suit against Thornbury Foods plc.", "lawsuit", "positive"),
        ("Oil leaked from a tank of Thornbury Foods plc.", "accident", "negative"),
        ("Thornbury Foods plc landed an order from the navy.", "contract", "positive"),
        ("Thornbury Foods plc lost a contract with the army.", "contract", "negative"),
        ("The chief executive of Thornbury Foods plc has stepped down.", "management", "neutral"),
        ("Thornbury Foods plc ousted its chairman on Friday.", "management", "negative"),
        ("Thornbury Foods plc cancelled its interim dividend.", "dividend", "negative"),
        ("Thornbury Foods plc will eliminate 4% of its workforce.", "layoff", "negative"),
    ],
)
def test_an_event_has_its_kind_and_direction_for_the_company(text: str, kind: str, direction: str) -> None:
    found = [(one.company.split()[0], one.direction) for one in events(text) if one.kind == kind]
    assert found in ([("Thornbury", direction)], [("Dunmore", direction)])


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Thornbury Foods plc left its full-year forecast unchanged.", "guidance"),
        ("Thornbury Foods plc may cut its forecast.", "guidance"),
        ("Unions called off a strike at Thornbury Foods plc.", "strike"),
        ("Thornbury Foods plc could lose a contract with the army.", "contract"),
        ("Thornbury Foods plc denied that its chief executive had resigned.", "management"),
        ("Thornbury Foods plc replaces hoses that could leak.", "accident"),
        ("Thornbury Foods plc hopes to win a contract.", "contract"),
        ("Thornbury Foods plc is not under investigation, the regulator said.", "investigation"),
        ("Thornbury Foods plc sued Hexa Drives AG.", "lawsuit"),
    ],
)
def test_what_did_not_happen_to_the_company_is_no_event_of_it(text: str, kind: str) -> None:
    assert "Thornbury Foods plc" not in [one.company for one in events(text) if one.kind == kind]


def test_a_higher_figure_is_good_only_for_some_kinds() -> None:
    (event,) = (one for one in events("Thornbury Foods plc will cut 900 jobs, up from 400 jobs.") if one.measure)
    assert (event.direction, event.value, event.measure) == ("negative", "900", "cuts_jobs")


def test_each_kind_is_one_of_the_schema() -> None:
    rule = investment_schema().node_type("MarketEvent").properties_schema["properties"]["type"]
    assert {frame.event for frame in event_frames()} <= set(rule["enum"])


def test_an_event_by_a_rule_hides_no_other_event_of_the_document() -> None:
    rule = {"type": "merger", "direction": "neutral", "phrase": "agreed to buy {NAME}"}
    graph = GrowingGraph(None, investment_schema())
    graph.apply([AddNode("Company", "Thornbury Foods plc")], Origin("a"))
    text = "Thornbury Foods plc agreed to buy Hexa Drives AG. Thornbury Foods plc will cut 300 jobs."
    document = parse_document(f"Headline: News\nSource: Wire\nDate: 2026-05-04\n\n{text}", "a.txt")
    updates = FrameReader(graph, NewsRules.model_validate({"events": [rule]})).read(document).updates
    found = [one.properties["type"] for one in updates if isinstance(one, AddNode) and one.type == "MarketEvent"]
    assert found == ["merger", "layoff"]


@pytest.mark.parametrize(
    ("text", "company", "kind", "direction"),
    [
        ("Sable Plc has abandoned its takeover bid for Kintor Plc.", "Kintor Plc", "merger", "negative"),
        ("Sable Plc withdrew its offer for Kintor Plc.", "Kintor Plc", "merger", "negative"),
        ("The offer for Kintor Plc lapsed on Monday.", "Kintor Plc", "merger", "negative"),
        ("Sable Plc said its proposed takeover of Kintor Plc had collapsed.", "Kintor Plc", "merger", "negative"),
        ("Sable Plc said its proposed takeover of Kintor Plc had collapsed.", "Sable Plc", "merger", "neutral"),
        ("Kintor Plc rejected an improved offer from Sable Plc.", "Kintor Plc", "merger", "negative"),
        ("Sable Plc's bid for Kintor Plc was rejected by its board.", "Kintor Plc", "merger", "negative"),
        ("Sable Plc suspended its $75 million share buyback.", "Sable Plc", "buyback", "negative"),
        ("Sable Plc postponed its stock market listing in Oslo.", "Sable Plc", "offering", "negative"),
        ("Sable Plc scrapped its dividend.", "Sable Plc", "dividend", "negative"),
        ("Sable Plc shelved plans to lay off 300 workers.", "Sable Plc", "layoff", "positive"),
    ],
)
def test_an_act_that_was_given_up_has_the_opposite_direction(
    text: str, company: str, kind: str, direction: str
) -> None:
    found = [one for one in events(text) if one.company == company]
    assert [(one.kind, one.direction, one.ended) for one in found] == [(kind, direction, True)]


@pytest.mark.parametrize(
    "text",
    [
        "Sable Plc did not withdraw its offer for Kintor Plc.",
        "Sable Plc may withdraw its offer for Kintor Plc.",
        "Sable Plc denied that it made a bid for Kintor Plc.",
        "Sable Plc has no plans for a share buyback.",
    ],
)
def test_a_denial_or_possibility_is_no_end(text: str) -> None:
    assert not [one for one in events(text) if one.ended]


def test_a_withdrawn_offer_is_no_recall() -> None:
    assert not [one for one in events("Sable Plc withdrew its offer for Kintor Plc.") if one.kind == "recall"]


@pytest.mark.parametrize(
    ("text", "kind", "day"),
    [
        ("The Harbour Authority fined Sable Plc $640,000 in 2023.", "fine", "2023-01-01"),
        ("In 2023, the Harbour Authority fined Sable Plc $640,000.", "fine", "2023-01-01"),
        ("A fire at a plant of Sable Plc on 9 March destroyed a shop.", "accident", "2026-03-09"),
        ("Sable Plc won an order from the navy last month.", "contract", "2026-04-01"),
        ("Sable Plc won an order from the navy on Monday.", "contract", ""),
        ("Sable Plc won an order from the navy.", "contract", ""),
        ("Sable Plc rejected the offer from Hask Plc announced on 5 March 2026.", "merger", ""),
        ("Sable Plc earned a net profit of $3 million in March.", "earnings", ""),
        ("Sable Plc will cut 30 jobs, and sold a mill in 2024.", "layoff", ""),
    ],
)
def test_an_event_has_the_earlier_day_that_its_sentence_states(text: str, kind: str, day: str) -> None:
    assert {one.day for one in events(text) if one.kind == kind} == {day}


def test_a_fire_is_no_layoff_of_those_whom_it_injured() -> None:
    found = events("Sable Plc makes robots. The fire destroyed a shop of Sable Plc and injured two workers.")
    assert {one.kind for one in found} == {"accident"}


def test_a_refusal_by_another_company_ends_no_bid_of_the_subject() -> None:
    found = events("Sable Plc raised its offer for Kintor Plc after the pump maker rejected a lower proposal.")
    assert not [one for one in found if one.company == "Sable Plc" and one.ended]


@pytest.mark.parametrize(
    ("text", "people"),
    [
        ("Chief executive Morwen Tull told the Courier the company would hire 60 apprentices.", []),
        ("Chief executive Morwen Tull said on Monday that the company would leave the market.", []),
        ("Chief executive Morwen Tull hired 60 apprentices.", []),
        ("Chief executive Morwen Tull will hire a finance director.", []),
        ("Chief executive Morwen Tull said she would step down.", ["Morwen Tull"]),
        ("Morwen Tull was named chief executive.", ["Morwen Tull"]),
        ("Morwen Tull becomes chief executive.", ["Morwen Tull"]),
        ("Sable Plc named Morwen Tull as chief executive.", ["Morwen Tull"]),
    ],
)
def test_what_a_chief_says_is_no_change_of_management(text: str, people: list[str]) -> None:
    found = events(f"Sable Plc makes robots. {text}")
    assert [one.party for one in found if one.kind == "management" and one.party] == people


def test_currencies_and_boards_are_no_companies_of_events() -> None:
    text = """Sable Plc rejects an offer

    CHICAGO, May 4, 2026 (Wire) - The Board of Sable Plc has rejected an offer from Hask Plc. Net profit of Sable Plc
    fell to NOK 305 million from NOK 388 million, after an outage in August."""
    found = read_news(parse_document(text, "a.txt"), Directory()).events
    assert {one.company for one in found} <= {"Sable Plc", "Hask Plc"}
    assert ("Sable Plc", "merger") in {(one.company, one.kind) for one in found}
