"""Documents that a language model reads for a question: quotes alone count."""

from __future__ import annotations

import re
from datetime import date

import pytest

from kg.clauses import SentenceEncoder, SentenceParser
from kg.comprehension import ClauseAnswers
from kg.news import Passage
from programs.worlds.news.documents import NearDocument, near_documents
from programs.worlds.news.quoting import reply_grammar, span_rules

TEXTS = {
    ("wool-1", date(2026, 2, 3)): [
        "Tarrant Mills to cut 240 jobs",
        "Textile maker Tarrant Mills will eliminate 240 positions at its weaving plant in Keld, it said on Tuesday.",
        "Chief executive Nora Feldt blamed the price of wool.",
    ],
    ("wool-2", date(2026, 5, 6)): [
        "Ardent buys Tarrant Mills",
        "Ardent Holdings has bought Tarrant Mills from the Ruddock family for at least $85 million.",
        "The acquisition was completed on 4 May 2026.",
    ],
    ("ship-1", date(2026, 6, 9)): [
        "Oriel Shipping fined",
        "The Harbour Board fined Oriel Shipping 3 million euros over an oil spill.",
    ],
}
NOT_STATED = "not stated"


@pytest.fixture(scope="module")
def clauses() -> ClauseAnswers:
    parser = SentenceParser.load() if SentenceEncoder.load() is not None else None
    if parser is None:
        pytest.skip("the extra 'news' is not installed")
    return ClauseAnswers(
        [
            Passage(document, day, place, text)
            for (document, day), texts in TEXTS.items()
            for place, text in enumerate(texts, -1)
        ],
        parser,
    )


def documents(clauses: ClauseAnswers, question: str) -> list[NearDocument]:
    return near_documents(clauses.parse(question), clauses.library)


def matches(grammar: str, text: str) -> bool:
    """Whether a grammar of literals, alternatives and options has a text."""
    rules = dict(line.split(" ::= ", 1) for line in grammar.splitlines())

    def pattern(name: str) -> str:
        parts = re.split(r'("(?:[^"\\]|\\.)*"|[a-z]\w*)', rules[name])
        kinds = {'"': lambda part: re.escape(part[1:-1])}
        return "".join(
            kinds['"'](part) if part[:1] == '"' else f"(?:{pattern(part)})" if part in rules else part.replace(" ", "")
            for part in parts
        )

    return re.fullmatch(pattern("root"), text) is not None


@pytest.mark.parametrize(
    ("text", "held"),
    [
        ("Dr. Ada Quill", True),
        ("$340 million", True),
        ("12.5%", True),
        ("not stated", True),
        ("Quill paid", True),
        ("Quill million", False),
        ("$340 billion", False),
        ("Orvane", False),
        ("million", True),
        ("million Keld", False),  # of two sentences
        ("", False),
    ],
)
def test_a_reply_is_a_span_of_one_sentence(text: str, held: bool) -> None:
    grammar = reply_grammar(["Dr. Ada Quill paid $340 million", "Keld keeps 12.5%."], NOT_STATED)
    assert matches(grammar, text) is held


def test_several_spans_are_listed_only_where_several_are_asked_for() -> None:
    sentences = ["Ada and Keld signed."]
    assert matches(reply_grammar(sentences, NOT_STATED, between=", "), "Ada, Keld")
    assert not matches(reply_grammar(sentences, NOT_STATED), "Ada, Keld")


def test_the_grammar_grows_with_the_text() -> None:
    assert len(span_rules(["word " * 200])) == 201
    assert span_rules(['a | b; c "d"'])["w0"] == '"a"'  # marks that divide facts end a span


def test_the_nearest_documents_are_shown_whole(clauses: ClauseAnswers) -> None:
    first, *others = documents(clauses, "How much did Ardent pay for the mills?")
    assert first.text.name == "wool-2"
    assert first.shown.startswith("Ardent buys Tarrant Mills\n2026-05-06\n\nArdent Holdings has bought")
    assert first.shown.endswith("completed on 4 May 2026.")
    assert "ship-1" not in [one.text.name for one in others]


@pytest.mark.parametrize(
    ("span", "value"),
    [
        ("on 4 May 2026", "2026-05-04"),
        ("at least $85 million", "$85 million"),
        ("Ruddock family", "Ruddock family"),
        ("for at", "for at"),
    ],
)
def test_a_span_becomes_a_value(clauses: ClauseAnswers, span: str, value: str) -> None:
    found = documents(clauses, "When did Ardent buy Tarrant Mills?")[0].located(span)
    assert found is not None
    assert found.value == value
    assert span in found.passage.text


def test_a_span_that_is_not_there_has_no_place(clauses: ClauseAnswers) -> None:
    assert documents(clauses, "When did Ardent buy Tarrant Mills?")[0].located("$86 million") is None
