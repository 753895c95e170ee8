"""Facts of news by frames, in wordings of their own."""

from __future__ import annotations

import pytest

from kg.investments.documents import parse_document
from kg.news.reader import NewsReading, read_news
from kg.sentences import Directory


def read(body: str, headline: str = "News of the day") -> NewsReading:
    """The reading of a text of 4 May 2026, a Monday."""
    return read_news(parse_document(f"{headline}\n\nCHICAGO, May 4, 2026 (Wire) - {body}", "a.txt"), Directory())


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        (
            "Vexal Instruments filed a lawsuit against Quorate Devices on Monday.",
            "Vexal Instruments -> sues -> Quorate Devices",
        ),
        ("Quorate Devices was sued by Vexal Systems.", "Vexal Systems -> sues -> Quorate Devices"),
        ("Lumora Energy has raised $60 million in a Series B round.", "Lumora Energy -> raises -> $60 million"),
        (
            "Headquartered in Austin, Texas, Quorate Devices has 2,300 employees.",
            "Quorate Devices -> headquartered_in -> Austin",
        ),
        ("Quorate Devices will lay off 210 workers.", "Quorate Devices -> cuts_jobs -> 210"),
        ("Shares of Quorate Devices closed 4.5% lower.", "Quorate Devices -> share_change -> -4.5%"),
        (
            "Koolan Resources sold its unit Tanami Mining to Barrow Metals for $220 million.",
            "Barrow Metals -> acquires -> Tanami Mining",
        ),
        ("Koolan Resources (NYSE: KOOL) fell 3%.", "Koolan Resources -> ticker -> KOOL"),
        (
            "Koolan Resources was founded in 2016 by sisters Mara and Lena Holt.",
            "Koolan Resources -> founded_by -> Mara Holt",
        ),
        (
            "Haversham Partners lifted its rating on Palomar Rubber to buy.",
            "Haversham Partners -> upgrades -> Palomar Rubber",
        ),
    ],
)
def test_a_fact_in_other_words(text: str, fact: str) -> None:
    assert fact in [str(one) for one in read(text).facts]


def test_a_fact_has_its_sentence_its_day_and_a_confidence() -> None:
    (fact,) = [
        one for one in read("Lumora Energy has raised $60 million from investors.").facts if one.relation == "raises"
    ]
    assert fact.sentence == "Lumora Energy has raised $60 million from investors."
    assert (fact.document, fact.published) == ("a.txt", "2026-05-04")
    assert 0 < fact.confidence <= 1


def test_a_pronoun_stands_for_the_person_named_before() -> None:
    found = read("Marlowe Stores has named Dominic Pryce as its chief executive. He will start on September 1.").facts
    starts = [one for one in found if one.relation == "start_date"]
    assert [(one.subject, one.object, one.role) for one in starts] == [
        ("Dominic Pryce", "2026-09-01", "chief executive")
    ]


def test_sentences_without_facts_are_counted() -> None:
    reading = read("Lumora Energy has raised $60 million from investors. The weather was fine.")
    assert (reading.understood, len(reading.sentences)) == (1, 2)


def test_a_change_has_its_direction_and_the_value_before() -> None:
    (fact,) = [
        one
        for one in read("Helvion Group's net income rose to 88 million francs from 71 million francs.").facts
        if one.relation == "reports_profit"
    ]
    assert (fact.object, fact.previous, fact.direction) == ("88 million francs", "71 million francs", "up")


def test_a_company_that_has_moved_is_no_longer_at_its_former_seat() -> None:
    facts = [str(fact) for fact in read("Quorate Devices has moved its headquarters from Leeds to Austin.").facts]
    assert "Quorate Devices -> headquartered_in -> Austin" in facts
    assert "Quorate Devices -> headquartered_in -> Leeds" not in facts
