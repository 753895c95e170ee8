"""Sentences of English texts: points that end none, and capitals of other alphabets that begin one."""

from __future__ import annotations

import pytest

from kg.text import split_sentences


@pytest.mark.parametrize(
    "text",
    [
        "Led by Capt. Ahab, she left.",
        "Mr. and Mrs. Stroud sold it to J. P. Morgan.",
        "It is No. 7 of the U.S. Army.",
        "1. The bid was higher.",
        "Corvex Ltd. Holdings paid $3.5 million.",
        "It opens on Sept. 4.",
    ],
)
def test_a_point_may_end_no_sentence(text: str) -> None:
    assert split_sentences(text) == [text]


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("It won in 2019. It lost.", 2),
        ("It grew. Élan plc fell. Ørsted rose.", 3),
        ("It burned. 36 people were hurt.", 2),
        ('"He left." She stayed. “Why?” Nobody knows.', 4),
        ("It grew (by 3%). It fell.", 2),
    ],
)
def test_a_sentence_begins_with_a_capital_a_figure_or_a_quote(text: str, count: int) -> None:
    found = split_sentences(text)
    assert len(found) == count
    assert " ".join(found) == text
