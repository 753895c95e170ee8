"""What a conversation has spoken of, whatever its referents are."""

from __future__ import annotations

import pytest

from kg.discourse import LEAD, Discourse, Spoken, Traits, disagreement


def test_subjects_of_which_the_same_was_asked_are_a_set() -> None:
    turns = [Spoken(("a",), ("x",), ("size",)), Spoken(("b",), ("y",), ("size",))]
    assert Discourse(turns).asked_alike() == ["a", "b"]
    assert Discourse(turns).latest_set() == (None, ["a", "b"])
    assert Discourse([turns[0], Spoken(("b",), ("y",), ("age",))]).asked_alike() == ["b"]


def test_the_latest_set_is_of_the_last_turn_with_several_that_fit() -> None:
    turns = [Spoken((1,), (2, 3, 4), ("parts",)), Spoken((2,), (5,), ("owner",))]
    assert Discourse(turns).latest_set() == (0, [2, 3, 4])
    assert Discourse(turns).latest_set(lambda one: one > 2) == (0, [3, 4])


def test_a_pair_is_of_one_turn_or_of_the_last_two_subjects_alike() -> None:
    assert Discourse([Spoken((1,), (7, 8))]).pair() == [7, 8]
    turns = [Spoken((1,)), Spoken((2,)), Spoken((30,))]
    assert Discourse(turns).pair() == [2, 30]
    assert Discourse([*turns[:2], Spoken((3,))], lambda one, other: one % 2 == other % 2).pair() == [1, 3]


def test_the_other_is_of_the_latest_two_spoken_of_together() -> None:
    turns = [Spoken((1,), (7, 8)), Spoken((7, 8), (8,))]
    assert Discourse([turns[0], Spoken((1,), (8,))]).other() == 7
    assert Discourse(turns).other() == 7
    assert Discourse([turns[0]]).other() is None


def test_the_latest_subjects_come_once_and_last_first() -> None:
    assert Discourse([Spoken(("2007", "2008")), Spoken(("2008",))]).latest(2) == ["2008", "2007"]
    assert Discourse([]).pair() is None


@pytest.mark.parametrize("text", ["and in 2008?", "no, I meant Spain", "Sorry, what about Spain?", "same for Spain"])
def test_follow_ups_and_corrections_begin_alike(text: str) -> None:
    found = LEAD.match(text)
    assert found is not None
    assert text[found.end() :].lower().startswith(("in 2008", "spain"))


@pytest.mark.parametrize(
    ("word", "better", "worse"),
    [
        ("she", Traits(is_person=True, gender="female"), Traits(is_person=True, gender="male")),
        ("he", Traits(is_person=True), Traits()),
        ("he", Traits(), Traits(is_person=False)),
        ("it", Traits(is_person=False), Traits(is_person=True)),
        ("there", Traits(is_place=True), Traits()),
        ("they", Traits(is_person=False), Traits(is_person=True)),
    ],
)
def test_a_pronoun_agrees_with_what_is_known_of_a_referent(word: str, better: Traits, worse: Traits) -> None:
    assert disagreement(word, better) < disagreement(word, worse)
