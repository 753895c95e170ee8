"""A program with a ranker of paths, saved and read."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from experiments import saved
from kg.arrays import FloatArray
from kg.errors import TrackingError
from kg.graphs import GraphIndex
from kg.paths import LearnedRelationScorer, PathConfig, PathRanker, QuestionMemory
from programs.kgqa import KGQA

GRAPH = GraphIndex.from_triples([("Alien", "directed_by", "Scott"), ("Alien", "starred", "Weaver")])


class Letters:
    """An encoder whose vectors count letters."""

    sha256 = "letters"

    def vectors(self, texts: Sequence[str]) -> FloatArray:
        counts = np.array([[text.count(letter) + 0.1 for letter in "abcdeimnorstw"] for text in texts])
        found: FloatArray = (counts / np.linalg.norm(counts, axis=1, keepdims=True)).astype(np.float32)
        return found


TINY = Letters()


def test_a_ranker_is_saved_with_its_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(saved, "shipped_encoder", lambda: TINY)
    (vector,) = TINY.vectors(["who made it"])
    memory = QuestionMemory(np.array([vector]), (((("directed_by",), 1.0),),), (("Big",),))
    ranker = PathRanker(TINY.vectors, {"same path": 20.0}, memory)
    program = KGQA(LearnedRelationScorer.untrained(), PathConfig(max_depth=1), ranker=ranker)
    config = saved._write_kgqa(program, tmp_path)
    read = saved._read_kgqa(tmp_path, {**config, "files": {saved.RANKER: ""}})
    assert read(question="who made Alien?", graph=GRAPH, topics=["Alien"]).answers[0][0] == "Scott"
    del config["ranker_encoder_sha256"]
    with pytest.raises(TrackingError, match="another encoder"):
        saved._read_kgqa(tmp_path, {**config, "files": {saved.RANKER: ""}})
    kept = saved._read_kgqa(tmp_path, {**config, "files": {}})
    assert kept.ranker is None
