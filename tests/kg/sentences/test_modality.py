"""The status of acts by their verb groups, in wordings of their own."""

from __future__ import annotations

import re

import pytest

from kg.sentences import asks_of_plans, status_of


def status(text: str) -> str:
    """The status of the act in brackets; a noun is in round ones."""
    match = re.search(r"[\[(](.*?)[\])]", text)
    assert match is not None
    plain = text[: match.start()] + match[1] + text[match.end() :]
    return status_of(plain, match.start(), match.start() + len(match[1]), match[0].startswith("("))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Orvane has [bought] Tarn", ""),
        ("Orvane completed its (takeover) of Tarn", ""),
        ("Orvane managed to [buy] Tarn", ""),
        ("Orvane went on to [buy] Tarn", ""),
        ("Orvane did not only [buy] Tarn", ""),
        ("After [buying] Tarn, Orvane grew", ""),
        ("Orvane ended the year with a (loss)", ""),
        ("Orvane paid $5 million to [settle] a claim", ""),
        ("Orvane agreed on Monday to [acquire] Tarn", "pending"),
        ("Orvane is to [merge] with Tarn", "pending"),
        ("Orvane is [buying] Tarn for $3 million", "pending"),
        ("Orvane, which abandoned oil, plans to [buy] Tarn", "pending"),
        ("Orvane dropped a claim and agreed to [buy] Tarn", "pending"),
        ("Orvane reached a deal to [sell] Tarn", "pending"),
        ("Orvane offered $5 a share to [buy] Tarn", "pending"),
        ("its proposed (merger) with Tarn", "pending"),
        ("Orvane may [sell] Tarn", "possible"),
        ("Orvane may agree to [buy] Tarn", "possible"),
        ("Orvane is in talks to [buy] Tarn", "possible"),
        ("Orvane is considering [buying] Tarn", "possible"),
        ("If Orvane [buys] Tarn, prices will rise", "possible"),
        ("Orvane is weighing a [bid] for Tarn", "possible"),
        ("Orvane hopes to [buy] Tarn", "possible"),
        ("Orvane is not under (investigation)", "failed"),
        ("Orvane failed to [buy] Tarn", "failed"),
        ("Orvane did not agree to [buy] Tarn", "failed"),
        ("Orvane could not [buy] Tarn", "failed"),
        ("Orvane called off its (takeover) of Tarn", "failed"),
        ("Orvane called off a $2,100 million deal to [buy] Tarn", "failed"),
        ("The deal to [buy] Tarn collapsed", "failed"),
        ("The (takeover) of Tarn by Orvane was blocked on Monday", "failed"),
        ("Orvane has no plans to [buy] Tarn", "failed"),
        ("Orvane denied [buying] Tarn", "failed"),
        ("A court barred Orvane from [buying] Tarn", "failed"),
    ],
)
def test_an_act_has_the_status_of_its_verb_group(text: str, expected: str) -> None:
    assert status(text) == expected


def test_a_question_may_ask_for_plans() -> None:
    assert asks_of_plans("Is Orvane buying Tarn?")
    assert asks_of_plans("Did Orvane agree to buy Tarn?")
    assert not asks_of_plans("Has Orvane bought Tarn?")
