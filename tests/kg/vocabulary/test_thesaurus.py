from __future__ import annotations

from pathlib import Path

import pytest

from experiments.saved import shipped_thesaurus
from kg.errors import DataError
from kg.vocabulary import Similarity, Thesaurus


def test_words_of_one_meaning_are_near() -> None:
    thesaurus = shipped_thesaurus()
    assert thesaurus.likeness("doctor", "physician") > 0.9
    assert thesaurus.likeness("bought", "purchased") > 0.8
    assert thesaurus.likeness("taught", "teacher") > 0.8
    assert thesaurus.likeness("salary", "weight") == 0
    assert thesaurus.likeness("zzz", "weight") == 0


def test_lemmas_of_regular_and_irregular_forms() -> None:
    thesaurus = shipped_thesaurus()
    assert thesaurus.lemmas("taught") == ["teach"]
    assert "carry" in thesaurus.lemmas("carried")
    assert "stop" in thesaurus.lemmas("stopped")


def test_a_damaged_table_is_named(tmp_path: Path) -> None:
    (tmp_path / "t.npz").write_bytes(b"x")
    with pytest.raises(DataError, match="the thesaurus cannot be read"):
        Thesaurus.read(tmp_path / "t.npz")


def test_similarity_with_and_without_a_thesaurus() -> None:
    plain, knowing = Similarity(), Similarity(thesaurus=shipped_thesaurus())
    assert plain.matrix(["doctor"], ["physician"])[0, 0] == 0
    assert knowing.matrix(["doctor"], ["physician"])[0, 0] > 0.8
    assert plain.matrix(["buildings"], ["building"])[0, 0] == 1
    assert plain.matrix([], ["building"]).shape == (0, 1)
