"""Sentences of documents in a graph; a text that has changed is compared with what was read before."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

import pytest

from kg.growing import AddNode, GrowingGraph, Origin, Update
from kg.investments import NewsDocument, investment_schema
from kg.news import EarlierText, add_news_types, earlier_text, passage_updates

DOCUMENT = NewsDocument("a.txt", "Keld", "Wire", date(2026, 2, 3), "One. Two. Three.")


def updates(document: NewsDocument) -> list[Update]:
    news = AddNode("News", document.headline, {"published_at": document.published.isoformat()})
    return [news, *(update for update, _ in passage_updates(document, document.sentences))]


@pytest.fixture
def graph() -> GrowingGraph:
    made = GrowingGraph(None, investment_schema())
    add_news_types(made)
    made.apply(updates(DOCUMENT), Origin("a.txt"))
    return made


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        (DOCUMENT, None),
        (replace(DOCUMENT, name="b.txt"), None),
        (replace(DOCUMENT, text="One. Zwei. Three. Four."), EarlierText(1, 3)),
        (replace(DOCUMENT, text="One. Two. Three. Four."), EarlierText(0, 4)),
        (replace(DOCUMENT, text="One."), EarlierText(0, 4)),
        (replace(DOCUMENT, published=date(2026, 2, 4)), EarlierText(4, 0)),
    ],
)
def test_a_changed_text_is_compared(graph: GrowingGraph, changed: NewsDocument, expected: EarlierText | None) -> None:
    assert earlier_text(graph, updates(changed)) == expected


def test_what_becomes_of_a_text_is_worded_by_number() -> None:
    assert str(EarlierText(1, 3)) == "1 sentence is replaced, and 3 kept"
    assert str(EarlierText(0, 4)) == "0 sentences are replaced, and 4 kept"
