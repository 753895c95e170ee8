"""What a relation scorer sees of questions and relations."""

from __future__ import annotations

import pytest

from kg.paths.features import QuestionView, RelationFeatures


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
    found = [RelationFeatures.of(f"the dad of {name} 's son", (name,)) for name in ("Mary_Boleyn", "Bo")]
    assert found[0].at_depth(1) == found[1].at_depth(1)
