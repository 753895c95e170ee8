"""Lines by their words."""

from __future__ import annotations

from kg.text import WordIndex, search_words

LINES = ["net sales of 2019", "net income", "net income of Harbour Inc. in 2018", "goodwill"]


def _index() -> WordIndex:
    return WordIndex(map(search_words, LINES))


def test_lines_with_rare_words_come_first_and_others_not_at_all() -> None:
    assert _index().best(search_words("What were the net sales?")) == [0, 1, 2]
    assert _index().best(search_words("net sales"), most=1) == [0]
    assert _index().best(["harbour"]) == [2]
    assert _index().best(["unknown"]) == []


def test_a_year_in_a_date_is_a_word() -> None:
    assert _index().best(search_words("on 12/31/18?")) == [2]


def test_a_weight_counts() -> None:
    assert _index().best({"sale": 0.1, "goodwill": 1.0}) == [3, 0]


def test_an_index_without_lines_has_no_best() -> None:
    assert WordIndex([]).best(["a"]) == []
    assert WordIndex([[], []]).best(["a"]) == []
