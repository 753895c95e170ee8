"""News as files: header lines, or a text as it was published."""

from __future__ import annotations

from datetime import date

import pytest

from kg.errors import DataError
from kg.news import parse_document

TODAY = date(2026, 11, 22)


@pytest.mark.parametrize(
    ("text", "headline", "published", "inferred"),
    [
        ("Orvane grows\n\nOSLO, March 3, 2026 (Wire) - It sold more.", "Orvane grows", date(2026, 3, 3), False),
        ("OSLO, March 3, 2026 (Wire) - Orvane sold more. It said so.", "Orvane sold more.", date(2026, 3, 3), False),
        ("OSLO, on Oct 24 (Wire) - Orvane said it sold more.", None, date(2026, 10, 24), True),
        ("Orvane grows\n\nIt sold more.", "Orvane grows", TODAY, True),
    ],
)
def test_a_text_as_it_was_published(text: str, headline: str | None, published: date, inferred: bool) -> None:
    document = parse_document(text, "a.txt", TODAY)
    assert (document.published, document.day_inferred) == (published, inferred)
    assert document.headline == (headline or document.sentences[0])
    assert "sold more" in document.text


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("Ada Stroud, 1938-2026\nAda Stroud, born on 4 June 1938, died on 3 February 2026.", date(2026, 2, 3)),
        ("A vote\nVALPIANA, 21/01/2026. The members voted.", date(2026, 1, 21)),
        ("A sale\nBERN, 28.10.2025 (Wire) - It was sold.", date(2025, 10, 28)),
        ("A walk\n\nIt took ten days and 12 euros.\n\nPublished on 10 May 2026 by Saoirse Quinn", date(2026, 5, 10)),
        ("A race\n\nOkonedo won on Sunday.\n\n(19 July 2026)", date(2026, 7, 19)),
        ("The Brief - Friday, November 13, 2026\n\nThe county called a meeting for November 17.", date(2026, 11, 13)),
        ("A sale\n\nOn June 1, 2026 it was sold.\n\nPosted: 2 June 2026", date(2026, 6, 2)),
    ],
)
def test_the_day_of_a_text(text: str, day: date) -> None:
    assert parse_document(text, "a.txt", TODAY).published == day


def test_a_day_in_a_sentence_stays_in_it() -> None:
    document = parse_document("A ride\nOn 4 August 2025 we rode to the coast. It rained.", "a.txt", TODAY)
    assert document.sentences == ["On 4 August 2025 we rode to the coast.", "It rained."]
    document = parse_document("A clock\n(Geneva, 3 March 2026) The clock was sold.", "a.txt", TODAY)
    assert document.sentences == ["The clock was sold."]


def test_a_text_without_a_full_date_is_the_same_document_on_each_day() -> None:
    first, second = (
        parse_document("Orvane grows\n\nIt sold more.", "a.txt", day) for day in (TODAY, date(2027, 11, 30))
    )
    assert first.published != second.published
    assert first.sha256 == second.sha256


def test_a_line_that_says_when_a_text_was_published_is_no_sentence() -> None:
    text = "Fund sues Pellworth\nPublished: Fri, 23 Oct 2026 09:12 GMT\nA pension fund filed a lawsuit on Thursday."
    document = parse_document(text, "a.txt")
    assert (document.published, document.text) == (date(2026, 10, 23), "A pension fund filed a lawsuit on Thursday.")


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("\ufeff\n", "has no text"),
        ("Headline: A\nSource: B\nDate: 1 May\n\nText.", "Date must be written"),
        ("Headline: A\nSource: B\n\nText.", "has no line Date"),
    ],
)
def test_a_file_that_is_none_is_refused(text: str, rule: str) -> None:
    with pytest.raises(DataError, match=rule):
        parse_document(text, "a.txt")
