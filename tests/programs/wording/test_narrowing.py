"""Choices built call by call: no name outside the report's graph can be returned."""

from __future__ import annotations

from typing import get_args

import pytest
from dspy.utils.exceptions import AdapterParseError

from programs.lm.adapter import ShortPromptAdapter, layout_of
from programs.lm.grammar import lines_grammar
from programs.wording.narrowing import pick_among
from signatures.aggregate import Aggregate


def test_a_choice_is_one_of_the_candidates_or_none() -> None:
    narrowed = pick_among(Aggregate, 3)
    assert get_args(narrowed.output_fields["choice"].annotation) == (0, 1, 2, 3)
    assert ShortPromptAdapter().parse(narrowed, "choice: 3\nconfidence: 0.5")["choice"] == 3
    with pytest.raises(AdapterParseError):
        ShortPromptAdapter().parse(narrowed, "choice: 4\nconfidence: 0.5")
    assert pick_among(Aggregate, 3) is narrowed, "made once"


def test_choices_among_fewer_candidates_begin_with_the_same_prompt() -> None:
    adapter = ShortPromptAdapter()
    few, many = (pick_among(Aggregate, count, most=10) for count in (3, 10))
    assert adapter.format_system_message(few) == adapter.format_system_message(many)
    assert "choice is one of 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10" in adapter.format_system_message(few)
    with pytest.raises(AdapterParseError):
        adapter.parse(few, "choice: 4\nconfidence: 90")
    assert adapter.parse(many, "choice: 10\nconfidence: 90") == {"choice": 10, "confidence": 90.0}
    assert '"10"' not in lines_grammar(layout_of(few).schema)
    assert few == pick_among(Aggregate, 3, most=10)
    assert get_args(pick_among(Aggregate, 3).output_fields["choice"].annotation) == (0, 1, 2, 3)
