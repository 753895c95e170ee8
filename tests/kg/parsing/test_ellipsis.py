"""Follow-ups that leave out what the turns before said: differences, ranks, ages and "list them"."""

from datetime import date
from decimal import Decimal

import pytest

from experiments.readers import shipped_encoder
from kg.graphs import FactGraph, read_table
from kg.parsing import DialogueTurn, Parse, QuestionReader

_TODAY = date(2026, 11, 22)
_BRIDGES = """
Elm Road,type,Bridge
Mill Lane,type,Bridge
Ford Street,type,Bridge
Elm Road,installed,1990-05-01
Mill Lane,installed,1975-03-01
Ford Street,installed,2001-01-01
Elm Road,span,30
Mill Lane,span,42
Ford Street,span,20
Elm Road,keeper,Ida Holm
Mill Lane,keeper,Ola Berg
Ida Holm,type,Person
Ola Berg,type,Person
Ida Holm,born,1980-02-01
Ola Berg,born,1970-02-01
"""


@pytest.fixture(scope="module")
def reader() -> QuestionReader:
    graph = FactGraph.build(read_table("subject,predicate,object" + _BRIDGES, what="bridges"))
    return QuestionReader(graph, shipped_encoder().vectors)


def _last(reader: QuestionReader, questions: list[str]) -> Parse:
    """The answer of the last question of a conversation, after the likeliest answers of those before."""
    past: list[DialogueTurn] = []
    for question in questions:
        found = reader.read(question, past, today=_TODAY)
        past.append(DialogueTurn(found.canonical, found.asks, found.parses[0], found.named, found.confidence))
    return found.parses[0]


@pytest.mark.parametrize(
    ("questions", "number"),
    [
        (["what is the span of Elm Road?", "and of Mill Lane?", "what is the difference?"], 12),
        (["which bridge has the longest span?", "how much longer is that than Elm Road?"], 12),
        (["how old is Elm Road?"], 36),
        (["who keeps Elm Road?", "what age is she?"], 46),
        (["who keeps Elm Road?", "and her age?"], 46),
        (
            [
                "what is the difference between the spans of Elm Road and Mill Lane?",
                "and of Mill Lane and Ford Street?",
            ],
            22,
        ),
    ],
)
def test_a_calculation_takes_up_what_was_asked(reader: QuestionReader, questions: list[str], number: int) -> None:
    assert _last(reader, questions).number == Decimal(number)


@pytest.mark.parametrize(
    ("questions", "names"),
    [
        (["how many bridges have no keeper?", "list them"], {"Ford Street"}),
        (["how many bridges have a keeper?", "which ones?"], {"Elm Road", "Mill Lane"}),
        (["which bridge has the longest span?", "and the second?"], {"Elm Road"}),
        (["which bridge has the longest span?", "which comes third?"], {"Ford Street"}),
        (["which of Elm Road and Mill Lane has the longer span?", "and of Elm Road and Ford Street?"], {"Elm Road"}),
    ],
)
def test_names_are_asked_for_after_a_count_or_a_superlative(
    reader: QuestionReader, questions: list[str], names: set[str]
) -> None:
    assert {reader.graph.name(node) for node in _last(reader, questions).nodes} == names


def test_what_was_checked_is_checked_of_others(reader: QuestionReader) -> None:
    assert _last(reader, ["does Ida Holm keep Elm Road?", "what about Ola Berg?"]).holds is False


def test_an_answer_is_no_surer_than_what_it_refers_to(reader: QuestionReader) -> None:
    first = reader.read("who keeps Elm Road?", today=_TODAY)
    sure, unsure = (
        reader.read(
            "when was she born?",
            [DialogueTurn(first.canonical, "who", first.parses[0], first.named, own)],
            today=_TODAY,
        )
        for own in (1.0, 0.3)
    )
    assert unsure.parses[0].nodes == sure.parses[0].nodes
    assert unsure.confidence < sure.confidence
