"""Names in texts: several words in any case, with or without an article; those that end with a common noun."""

from __future__ import annotations

from datetime import date

import pytest

from kg.sentences import Directory, DocumentNames, name_pattern


@pytest.mark.parametrize(
    ("name", "text", "found"),
    [
        ("the Derby group", "Who runs the Derby group?", "the Derby group"),
        ("the Derby group", "Derby Group's profit", "Derby Group"),
        ("Derby group", "The  derby group grew", "The  derby group"),
        ("The Guardian", "What did Guardian report?", "Guardian"),
        ("The Guardian", "a guardian of it", None),
        ("Nova", "the Nova plant", "Nova"),
        ("Nova", "a nova", None),
        ("Nova", "Nova-based", None),
        ("A", "A", "A"),
    ],
)
def test_a_name_is_matched(name: str, text: str, found: str | None) -> None:
    match = name_pattern(name).search(text)
    assert (match[0] if match is not None else None) == found


def test_a_name_that_ends_with_a_common_noun_is_one_name_of_a_document() -> None:
    directory = Directory()
    directory.add("company", "Derwent Manufacturing plc", ["the Derby group", "Derwent plc"])
    directory.add("company", "Derby Telecom plc")
    assert list(directory.phrases) == ["derby group"]
    sentence = "The Derby group sued Derby Telecom plc."
    mentions = DocumentNames([sentence], directory).mentions(0, sentence, date(2026, 3, 2))
    assert [(one.text, one.value) for one in mentions] == [
        ("Derby group", "Derwent Manufacturing plc"),
        ("Derby Telecom plc", "Derby Telecom plc"),
    ]
