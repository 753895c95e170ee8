"""What a relation scorer sees of questions and relations."""

from __future__ import annotations

import pytest

from kg.paths.features import (
    LIKENESS,
    QuestionView,
    RelationFeatures,
    RelationNames,
    relation_words,
)


@pytest.mark.parametrize(
    ("question", "topics", "before", "after"),
    [
        ("the dad of Mary_Boleyn 's son ?", ["Mary_Boleyn"], ["the", "dad", "of"], ["'s", "son"]),
        ("the dad of mary boleyn's son", ["Mary_Boleyn"], ["the", "dad", "of"], ["'s", "son"]),
        ("who wrote [Alien]", ["Alien"], ["who", "wrote"], []),
        ("who wrote Aliens", ["Alien"], [], ["who", "wrote", "aliens"]),
        ("films by Ann Lee and Lee", ["Lee", "Ann Lee"], ["films", "by"], ["and"]),
        ("what is (x+y)?", ["(x+y)"], ["what", "is"], []),
        ("who?", [""], [], ["who"]),
    ],
)
def test_a_question_is_split_at_the_mention(
    question: str, topics: list[str], before: list[str], after: list[str]
) -> None:
    view = QuestionView.of(question, topics)
    assert (list(view.before), list(view.after)) == (before, after)


def test_nothing_is_learned_of_the_entity_itself() -> None:
    found = [RelationFeatures.of(f"the dad of {name} 's son", [name]) for name in ("Mary_Boleyn", "Bo")]
    assert found[0].at_depth(1) == found[1].at_depth(1)


def test_content_words_come_in_the_order_in_which_they_are_nested() -> None:
    features = RelationFeatures.of("the place of birth of spouse of X 's other half 's dad ?", ["X"])
    assert features.outward == (("other", "half"), ("dad",), ("spouse",), ("birth",), ("place",))
    assert features.inward == (("spouse",), ("birth",), ("place",), ("other", "half"), ("dad",))
    assert {"o0 dad", "o1 spouse", "o-1 other half", "o2 birth"} <= set(features.at_depth(1))
    assert "spouse|o0 dad" in features.after(["spouse"])


@pytest.mark.parametrize(
    ("name", "own", "rest"),
    [
        ("people.person.place_of_birth", ("place", "of", "birth"), ("people", "person")),
        ("^starred_actors", ("starred", "actors"), ()),
        ("http://x.org/ns#birthPlace", ("birth", "place"), ()),
        ("http://x.org/ns/birthPlace/", ("birth", "place"), ()),
        ("P19", ("p", "19"), ()),
        ("", (), ()),
    ],
)
def test_names_are_taken_apart(name: str, own: tuple[str, ...], rest: tuple[str, ...]) -> None:
    assert relation_words(name) == (own, rest)


def test_likeness_is_the_share_of_the_name_that_the_question_has() -> None:
    names = RelationNames(["place_of_birth", "^place_of_birth", "gender", "people.person.gender", "x"])
    question = RelationFeatures.of("what is the gender of the person born at the birth place of X", ["X"])
    found = names.likeness(question, 0)
    assert found.shape == (5, len(LIKENESS))
    assert found[0, 0] == found[1, 0] == found[2, 0] == 1.0
    assert found[4].max() == 0
    assert 0 < found[3, 3] < 1
    assert ((found >= 0) & (found <= 1)).all()
    assert list(names.is_inverse) == [False, True, False, False, False]
    # Next to X stand "birth place", so "gender" is not what comes first.
    assert (found[2, 1], found[2, 2]) == (0, 0)
    assert found[0, 1] > 0
