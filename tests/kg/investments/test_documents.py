from __future__ import annotations

from datetime import date

import pytest

from kg.errors import DataError
from kg.investments import parse_document

TODAY = date(2026, 11, 22)


@pytest.mark.parametrize(
    ("text", "headline", "published", "inferred"),
    [
        ("Orvane grows\n\nOSLO, March 3, 2026 (Wire) - It sold more.", "Orvane grows", date(2026, 3, 3), False),
        ("OSLO, March 3, 2026 (Wire) - Orvane sold more. It said so.", "Orvane sold more.", date(2026, 3, 3), False),
        ("OSLO, Oct 24 (Wire) - Orvane said on Thursday it sold more.", None, date(2024, 10, 24), True),
        ("OSLO, Oct 24 (Wire) - Orvane said it sold more.", None, date(2026, 10, 24), True),
        ("Orvane grows\n12 December\n\nIt sold more.", "Orvane grows", date(2025, 12, 12), True),
        ("Orvane grows\n\nOn Monday, 29 February, it sold more.", "Orvane grows", date(2016, 2, 29), True),
        ("Orvane grows\n\nIt sold more.", "Orvane grows", TODAY, True),
    ],
)
def test_a_text_as_it_was_published(text: str, headline: str | None, published: date, inferred: bool) -> None:
    document = parse_document(text, "a.txt", TODAY)
    assert (document.published, document.day_inferred) == (published, inferred)
    assert document.headline == (headline or document.sentences[0])
    assert "sold more" in document.text
    assert "Wire" not in document.text


def test_an_empty_file_is_refused() -> None:
    with pytest.raises(DataError, match=r"a\.txt: has no text"):
        parse_document("\ufeff\n", "a.txt")


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("Ada Stroud, 1938-2026\nAda Stroud, born on 4 June 1938, died on 3 February 2026.", date(2026, 2, 3)),
        ("A gift\nIn spring 2026 it was bought. It was shown on 18 April and will go on 1 October.", date(2026, 4, 18)),
        ("A ride\nThe club rode on 4 August 2025. The offer ends on 31 December 2025.", date(2025, 8, 4)),
        ("A letter\nOver half of them voted in March 2026, and will again by June 2026.", date(2026, 3, 1)),
        ("A vote\nVALPIANA, 21/01/2026. The members voted.", date(2026, 1, 21)),
        ("A vote\nVALPIANA, 01/21/2026. The members voted.", date(2026, 1, 21)),
        ("A sale\nBERN, 28.10.2025 (Wire) - It was sold.", date(2025, 10, 28)),
    ],
)
def test_a_text_is_of_a_day_that_it_tells_of(text: str, day: date) -> None:
    assert parse_document(text, "a.txt", TODAY).published == day


def test_a_day_in_a_sentence_stays_in_it() -> None:
    document = parse_document("A ride\nOn 4 August 2025 we rode to the coast. It rained.", "a.txt", TODAY)
    assert document.sentences == ["On 4 August 2025 we rode to the coast.", "It rained."]
    document = parse_document("A clock\n(Geneva, 3 March 2026) The clock was sold.", "a.txt", TODAY)
    assert document.sentences == ["The clock was sold."]


@pytest.mark.parametrize("text", ["Orvane grows\n\nIt sold more.", "OSLO, Oct 24 (Wire) - Orvane sold more."])
def test_a_text_without_a_full_date_is_the_same_document_on_each_day(text: str) -> None:
    first, second = (parse_document(text, "a.txt", day) for day in (TODAY, date(2027, 11, 30)))
    assert first.published != second.published
    assert first.sha256 == second.sha256


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("A walk\n\nIt took ten days and 12 euros.\n\nPublished on 10 May 2026 by Saoirse Quinn", date(2026, 5, 10)),
        ("A race\n\nOkonedo won on Sunday.\n\n(19 July 2026)", date(2026, 7, 19)),
        ("The Brief - Friday, November 13, 2026\n\nThe county called a meeting for November 17.", date(2026, 11, 13)),
        ("A sale\n\nOn June 1, 2026 it was sold.\n\nPosted: 2 June 2026", date(2026, 6, 2)),
    ],
)
def test_a_day_below_the_text_or_in_the_headline_is_that_of_the_document(text: str, day: date) -> None:
    document = parse_document(text, "a.txt", date(2026, 11, 22))
    assert (document.published, document.day_inferred) == (day, False)


def test_a_line_that_says_when_a_text_was_published_is_no_sentence() -> None:
    text = "Fund sues Pellworth\nPublished: Fri, 23 Oct 2026 09:12 GMT\nA pension fund filed a lawsuit on Thursday."
    document = parse_document(text, "a.txt")
    assert (document.published, document.text) == (date(2026, 10, 23), "A pension fund filed a lawsuit on Thursday.")
