"""What is planned, possible or failed is no yes to a question for what has happened."""

from __future__ import annotations

from datetime import date

import pytest

from kg.clauses import SentenceParser
from kg.comprehension import ClauseAnswers
from kg.comprehension.polar import read_polar
from kg.encoders.installed import installed_parts
from kg.news import Passage

pytest.importorskip("spacy")
pytestmark = pytest.mark.skipif(installed_parts() is None, reason="needs the reader's weights")

TEXTS = (
    "Ardent Holdings has bought Tarrant Mills.",
    "Harlow Industries agreed to buy Tarn Valves.",
    "Corlan Foods failed to buy Keld Dairies.",
    "Norvik Line may sell Halden Ferries.",
    "Sable Plc has offered 90 million pounds for Kintor Plc.",
    "Lodden Plc made a bid for Wexcombe Plc.",
)


@pytest.fixture(scope="module")
def answers(parser: SentenceParser) -> ClauseAnswers:
    passages = [Passage(f"{number}.txt", date(2026, 5, 4), 0, text) for number, text in enumerate(TEXTS)]
    return ClauseAnswers(passages, parser)


@pytest.mark.parametrize(
    ("question", "values"),
    [
        ("Has Ardent Holdings bought Tarrant Mills?", ("yes",)),
        ("Has Harlow Industries bought Tarn Valves?", ()),
        ("Did Corlan Foods buy Keld Dairies?", ("no",)),
        ("Did Norvik Line sell Halden Ferries?", ()),
        ("Has Sable acquired Kintor?", ()),
        ("Did Sable buy Kintor?", ()),
        ("Did Lodden acquire Wexcombe?", ()),
    ],
)
def test_only_what_happened_is_a_yes(answers: ClauseAnswers, question: str, values: tuple[str, ...]) -> None:
    assert answers.answer(question).values == values


def test_the_reader_says_no_yes_by_what_is_agreed(answers: ClauseAnswers) -> None:
    asked = answers.parse("Has Harlow Industries bought Tarn Valves?")
    assert read_polar(asked, answers.library) is None
    assert read_polar(answers.parse("Has Harlow Industries agreed to buy Tarn Valves?"), answers.library) is not None
