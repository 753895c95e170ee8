from __future__ import annotations

from typing import Any

import dspy
from dspy.teleprompt import Teleprompter
from dspy.utils.hasher import Hasher

from optimize.prompts.base import Bound


class _Hashes(Teleprompter):
    """Keeps the hashes of the training set and of equal examples made of other objects."""

    def compile(self, student: dspy.Module, *, trainset: list[dspy.Example]) -> dspy.Module:
        again = [dspy.Example(**{name: "".join(list(value)) for name, value in one.items()}) for one in trainset]
        self.found = [Hasher.hash(tuple(one)) for one in (trainset, again, trainset[:1])]
        return student


def test_equal_demonstrations_have_one_hash_whichever_objects_they_are_made_of() -> None:
    page = "total assets"
    examples: list[Any] = [dspy.Example(page=page, answer=page), dspy.Example(page=page, answer="3")]
    hashes = _Hashes()
    hashes.compile(dspy.Predict("page -> answer"), trainset=examples)
    assert hashes.found[0] != hashes.found[1], "DSPy hashes by content now: Bound need not"
    before = Hasher.hash(1)
    Bound(hashes).compile(dspy.Predict("page -> answer"), trainset=examples)
    assert hashes.found[0] == hashes.found[1] != hashes.found[2]
    assert Hasher.hash(1) == before
