"""Facts of news by frames, in wordings of their own."""

from __future__ import annotations

import pytest

from kg.investments.documents import parse_document
from kg.news.answers import NewsAnswers
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
        ("Koolan Resources (KOOL LN) fell 3%.", "Koolan Resources -> ticker -> KOOL"),
        (
            "Koolan Resources was founded in 2016 by sisters Mara and Lena Holt.",
            "Koolan Resources -> founded_by -> Mara Holt",
        ),
        (
            "Haversham Partners lifted its rating on Palomar Rubber to buy.",
            "Haversham Partners -> upgrades -> Palomar Rubber",
        ),
        (
            "Analysts at Haversham Partners cut their rating on Palomar Rubber to hold.",
            "Haversham Partners -> downgrades -> Palomar Rubber",
        ),
        ("Palomar Rubber has bought Esbro Tools A/S.", "Palomar Rubber -> acquires -> Esbro Tools A/S"),
        (
            "Palomar Rubber said it had moved its headquarters from Akron to Dublin.",
            "Palomar Rubber -> headquartered_in -> Dublin",
        ),
        ("Palomar Rubber, of Akron, Ohio, said it would appeal.", "Palomar Rubber -> headquartered_in -> Akron"),
        (
            "Palomar Rubber raised its dividend to 9 cents from 8 cents and sees margins of 2 million euros.",
            "Palomar Rubber -> dividend -> 9 cents",
        ),
        ("Palomar Rubber will close a plant with the loss of 90 jobs.", "Palomar Rubber -> cuts_jobs -> 90"),
        ("Haversham Ratings downgraded Palomar Rubber to BB from BBB-minus.", "Palomar Rubber -> rating -> BB"),
        ("The Central Bank of Lorvia held its key rate at 3.5%.", "Central Bank of Lorvia -> key_rate -> 3.5%"),
        ("The Bank of Lorvia held its key rate at 3.5%.", "Bank of Lorvia -> key_rate -> 3.5%"),
        (
            "Palomar Rubber's chief executive Rowan Pike will be succeeded by finance chief Dita Marek.",
            "Dita Marek -> appointed_at -> Palomar Rubber",
        ),
        (
            "The European Medicines Agency approved the medicine Calmexa on Friday.",
            "Calmexa -> approved_by -> European Medicines Agency",
        ),
        (
            "Palomar Rubber, a tyre company founded in 2009 by Mara Holt, hired advisers from Haversham Partners.",
            "Palomar Rubber -> founded_by -> Mara Holt",
        ),
    ],
)
def test_a_fact_in_other_words(text: str, fact: str) -> None:
    assert fact in [str(one) for one in read(text).facts]


@pytest.mark.parametrize(
    ("text", "relation"),
    [
        ("Palomar Rubber said it had moved its headquarters from Akron to Dublin.", "headquartered_in -> Akron"),
        (
            "Palomar Rubber, which makes cutting machines, expects profit of 4 million euros and has 30 staff.",
            "cuts_jobs",
        ),
        ("Chief executive Mara Holt said Palomar Rubber had started to grow.", "founded_by"),
        ("Palomar Rubber did not acquire Tanami Mining.", "acquires"),
        ("Palomar Rubber will pay 6 million euros for Tanami Mining, which employs 40 people.", "jobs_created"),
    ],
)
def test_what_a_sentence_does_not_state_is_no_fact(text: str, relation: str) -> None:
    assert not [one for one in read(text).facts if relation in str(one)]


def test_an_earlier_value_belongs_to_the_amount_beside_it() -> None:
    facts = read("Palomar Rubber's profit fell to $21 million from $27 million, on revenue of $310 million.").facts
    previous = {one.relation: one.previous for one in facts}
    assert (previous["reports_profit"], previous["reports_revenue"]) == ("$27 million", "")


def test_a_fact_that_is_only_considered_is_less_certain() -> None:
    (sure,) = (f for f in read("Palomar Rubber made a bid for Tanami Mining.").facts if f.relation == "bids_for")
    (unsure,) = (
        f for f in read("Palomar Rubber is weighing a bid for Tanami Mining.").facts if f.relation == "bids_for"
    )
    assert unsure.confidence < sure.confidence


@pytest.mark.parametrize(
    ("act", "status"),
    [
        ("has bought", ""),
        ("agreed to acquire", "pending"),
        ("plans to buy", "pending"),
        ("may buy", "possible"),
        ("failed to buy", None),
        ("called off its takeover of", None),
        ("denied that it would buy", None),
    ],
)
def test_an_act_that_is_still_to_come_has_a_status_and_one_that_failed_is_no_fact(act: str, status: str | None) -> None:
    facts = [one for one in read(f"Palomar Rubber {act} Tanami Mining.").facts if one.relation == "acquires"]
    assert [one.status for one in facts] == ([] if status is None else [status])


@pytest.mark.parametrize(
    ("before", "owner", "is_certain"),
    [
        ("Palomar Rubber opened a plant.", "Palomar Rubber", True),
        ("Palomar Rubber supplies Tanami Mining.", "Palomar Rubber", False),
        ("Palomar Rubber and Tanami Mining met.", "Palomar Rubber", False),
        ("On Monday, Palomar Rubber supplied parts to Tanami Mining.", "Palomar Rubber", False),
        ("Calderstone supplies Tanami Mining.", None, False),
        ("In Leeds, Calderstone supplies parts to Tanami Mining.", None, False),
    ],
)
def test_it_is_the_subject_of_the_sentence_before(before: str, owner: str | None, is_certain: bool) -> None:
    reading = read(f"{before} It had revenue of $4 million.")
    found = [(one.subject, one.is_certain) for one in reading.facts if one.relation == "reports_revenue"]
    assert found == ([] if owner is None else [(owner, is_certain)])
    assert ("earnings" in {event.kind for event in reading.events}) == is_certain


def test_it_is_the_subject_of_its_own_sentence() -> None:
    text = "Tanami Mining is in Leeds. Palomar Rubber supplies steel, and it had revenue of $4 million."
    (fact,) = (one for one in read(text).facts if one.relation == "reports_revenue")
    assert fact.subject == "Palomar Rubber"


def test_who_is_succeeded_held_the_office_of_the_successor() -> None:
    facts = read("Palomar Rubber named Mara Holt as chief executive. Holt succeeds Dennis Ash.").facts
    assert [f.role for f in facts if (f.subject, f.relation) == ("Dennis Ash", "departs")] == ["chief executive"]


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("Workers at Palomar Rubber called a strike for Friday.", "2026-05-08"),
        ("Workers at Palomar Rubber went on strike on Friday.", "2026-05-01"),
    ],
)
def test_a_weekday_is_past_or_to_come(text: str, day: str) -> None:
    assert day in [one.object for one in read(text).facts if one.relation == "strike_on"]


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


@pytest.mark.parametrize(
    ("headline", "body", "company"),
    [
        (
            "Summit Dairy Reports Third Quarter Results",
            "Summit Dairy, Inc. (NYSE: SMDR) reported sales.",
            "Summit Dairy",
        ),
        ("SUMMIT DAIRY REPORTS QUARTERLY RESULTS", "Summit Dairy, Inc. (NYSE: SMDR) reported sales.", "Summit Dairy"),
        ("Shares Of Summit Dairy Fall After Results", "Summit Dairy (SMDR) fell 4%.", "Summit Dairy"),
        ("Summit Group Cuts Annual Forecast", "Summit (SMDR) cut its forecast on Monday.", "Summit Group"),
        ("Summit Dairy Reports", "Summit Dairy Reports (SMDR) publishes a magazine.", "Summit Dairy Reports"),
        ("Summit Dairy cuts annual forecast", "Summit (SMDR) cut its forecast on Monday.", "Summit Dairy"),
    ],
)
def test_a_headline_in_title_case_is_read_with_the_names_of_the_text(headline: str, body: str, company: str) -> None:
    facts = [str(fact) for fact in read(body, headline).facts if fact.relation == "ticker"]
    assert facts == [f"{company} -> ticker -> SMDR"]


@pytest.mark.parametrize(
    ("question", "values"),
    [
        ("Has Sable acquired Kintor Plc?", ()),
        ("Did Sable buy Kintor?", ()),
        ("Is Sable buying Kintor?", ()),
        ("Has Sable offered to buy Kintor?", ("yes",)),
        ("Is Sable trying to buy Kintor?", ("yes",)),
        ("Who bought Kintor?", ()),
        ("Did Lodden buy Wexcombe?", ()),
        ("Did Ormley buy Tansley?", ("yes",)),
    ],
)
def test_a_bid_is_no_acquisition(question: str, values: tuple[str, ...]) -> None:
    reading = read(
        "Sable Plc has offered 90 million pounds for Kintor Plc. Lodden Plc raised its takeover offer for Wexcombe Plc."
        " Ormley Plc has bought Tansley Plc."
    )
    directory = Directory()
    for kind, name, aliases in reading.entities:
        directory.add(kind, name, aliases)
    assert NewsAnswers(reading.facts, directory).answer(question).values == values
