"""Questions to the graph of the advisor's demonstration: in other words than those of the demonstration, about other
entities.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from experiments.data import news_rules, read_documents
from experiments.saved import question_reader
from kg.growing.graph import GrowingGraph
from kg.growing.proposals import TypeProposals
from kg.investments.rules import RuleReader
from kg.investments.schema import investment_schema
from programs.advisor import Advisor, GraphAnswers, TypedAnswers
from tests.demonstrations import ADVISOR, TODAY, ask_advisor, names_all

VARIANTS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("Where is Vantor Devices plc based?", ("Ireland",)),
    ("Where is Varna Terminals headquartered?", ("Bulgaria",)),
    ("What is the home country of Nordlys Energi ASA?", ("Norway",)),
    ("Which companies are headquartered in Ireland?", ("Calder Foods plc", "Vantor Devices plc")),
    ("What is the industry of Calder Foods?", ("Food",)),
    ("Which firms operate in the banking industry?", ("Brightmoor Bank plc",)),
    ("Which company is the issuer of the security TMPW?", ("Tamarack Power Corp.",)),
    ("Who issued BRMB?", ("Brightmoor Bank plc",)),
    ("By which company was OSPR issued?", ("Osprey Rail Ltd",)),
    ("Which security did Quillon Pharma issue?", ("QLPH",)),
    ("What is Meridian Re's ticker symbol?", ("MRDN",)),
    ("In which industry does the issuer of CLDR operate?", ("Food",)),
    ("In which country is the issuer of VRNT based?", ("Bulgaria",)),
    ("What is the sector of the company that insures Varna Terminals AD?", ("Insurance",)),
    ("Which asset class does the sector of the company that issued NRDL belong to?", ("Equities",)),
    ("In which country is the insurer of Varna Terminals?", ("Switzerland",)),
    ("Which sectors are part of Equities?", ("Banking", "Energy", "Insurance", "Semiconductor")),
    (
        "Which articles cover Meridian Re AG?",
        ("Meridian Re fined over late claims", "Storm closes the terminals of Varna"),
    ),
    ("In which news is Vantor Devices plc mentioned?", ("Helixon to build a plant in Porto",)),
    (
        "Which stories from Alpenpost mention the Alpine Markets Authority?",
        ("Authority tightens rule on late claims", "Meridian Re fined over late claims"),
    ),
    ('Who is the publisher of the article "Osprey Rail pays more"?', ("Harbour Wire",)),
    ('When did the news "Pension fund sues Brightmoor Bank" appear?', ("2026-11-13",)),
    ("Which news did City Ledger publish after 1 November 2026?", ("Pension fund sues Brightmoor Bank",)),
    ("How many articles did Fjord Financial publish?", ("2",)),
    ("How many events have affected Quillon Pharma SA?", ("3",)),
    ("How many companies are in the energy sector?", ("2",)),
    ("Which events hit Meridian Re AG?", ("Meridian Re AG was fined by the Alpine Markets Authority",)),
    ('What kind of event is "Osprey Rail Ltd declared a dividend of 0.42 pounds a share"?', ("dividend",)),
    ('When did the event "Calder Foods plc cut its outlook for the full year" happen?', ("2026-11-05",)),
    ("Which ratings affect Quillon Pharma SA?", ("Larkfield Securities upgraded Quillon Pharma SA to buy",)),
    ("Which companies have been affected by earnings since 1 November 2026?", ("Calder Foods plc",)),
    ("Which guidance events took place in October 2026?", ("Helixon Inc. raised its outlook for the full year",)),
    (
        "Since 12 November 2026, which events affected companies based in Great Britain?",
        (
            "Brightmoor Bank plc was sued by the pension fund Elmstead Trust",
            "Larkfield Securities downgraded Brightmoor Bank plc to sell",
        ),
    ),
    ("What is the most recent article from Harbour Wire?", ("Calder Foods cuts its outlook",)),
    ("Which companies are rivals of Vantor Devices plc?", ("Helixon Inc.",)),
    ("Which other companies are based in the country of Osprey Rail Ltd?", ("Brightmoor Bank plc",)),
    ("Which authority affects Fixed Income?", ("Nordic Central Bank",)),
    ("Is the Nordic Central Bank based in Norway?", ("yes",)),
    ("Was Rule 12 made by the Alpine Markets Authority?", ("yes",)),
    (
        'Which insight is derived from the event "Nordlys Energi ASA agreed to buy Tamarack Power Corp."?',
        ("Nordlys Energi ASA: 0 good and 0 bad of 1 events from 2026-11-10 to 2026-11-10",),
    ),
)
"""Questions with their answers."""


def _graph() -> GrowingGraph:
    graph = GrowingGraph(None, investment_schema())
    advisor = Advisor(graph, RuleReader(graph, news_rules()), TypeProposals(graph, "auto"))
    documents, problems = read_documents([str(ADVISOR / "documents")])
    assert not problems
    for document in documents:
        advisor.ingest(document)
    advisor.reflect(TODAY)
    return graph


@pytest.fixture(scope="module")
def answers() -> Iterator[GraphAnswers]:
    with _graph() as graph:
        yield GraphAnswers(graph, TypedAnswers(question_reader, 0.72))


def test_the_demonstration() -> None:
    figures = ask_advisor()
    assert all(row["before"] is None for row in figures["rows"])
    assert figures["answered_after"] >= 28
    assert [figures[name] for name in ("facts_before", "facts_after", "briefings", "types_created")] == [0, 345, 5, 4]


def test_most_other_wordings_and_entities_are_answered_and_none_wrongly(answers: GraphAnswers) -> None:
    right = wrong = 0
    for question, expected in VARIANTS:
        values = answers.answer(question).values
        is_right = names_all("; ".join(values), list(expected))
        right, wrong = right + is_right, wrong + (bool(values) and not is_right)
    print(right, wrong)
    assert right >= 30
    assert wrong <= 2
