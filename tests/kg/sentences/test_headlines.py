"""Names in headlines in title case."""

from __future__ import annotations

from kg.sentences.headlines import names_in_title


def test_a_short_part_keeps_the_words_that_the_text_leaves_out() -> None:
    assert names_in_title("Palomar Systems To Close Mills", (0, 15), {"Palomar": True}) == [(0, 15)]


def test_a_long_part_has_only_names_of_the_text() -> None:
    headline = "Norvane Foods Reports Third Quarter Results"
    assert names_in_title(headline, (0, len(headline)), {"Norvane Foods": True}) == [(0, 13)]
