"""Spans of a sentence that are no name, amount or date."""

import pytest

from kg.clauses import SentenceParser
from kg.clauses.spans import spans_of
from kg.sentences import Mention


@pytest.fixture(scope="module")
def parser() -> SentenceParser:
    found = SentenceParser.load()
    if found is None:
        pytest.skip("the model of the extra 'news' is not installed")
    return found


@pytest.mark.parametrize(
    ("sentence", "spans"),
    [
        (
            "It sold a workshop in Bergen because of a lack of fitters.",
            ["workshop", "workshop in Bergen", "lack of fitters"],
        ),
        ("The retired headteacher gave the club an elm boat.", ["retired headteacher", "headteacher", "elm boat"]),
        ("The union wants the firm to rehire the drivers.", ["rehire the drivers", "drivers"]),
        ("The trial lasted 47 minutes.", ["47 minutes"]),
        ("Some 300 people came this year.", ["300", "this year"]),
    ],
)
def test_phrases_of_a_sentence_may_answer(parser: SentenceParser, sentence: str, spans: list[str]) -> None:
    found = [span.text for span in spans_of(parser.parse([sentence])[0], [])]
    assert set(spans) <= set(found)
    assert len(found) == len(set(found))


def test_both_amounts_of_a_change_may_answer(parser: SentenceParser) -> None:
    text = "Arden raised its target from $80 to $95."
    change = Mention("money", "$80 to $95", text.index("$80"), text.index("."))
    found = spans_of(parser.parse([text])[0], [change])
    assert {span.text for span in found if span.kind == "money"} >= {"$80", "$95"}
    assert change.text not in {span.text for span in found}
