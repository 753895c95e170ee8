"""Adapters of embedded models in saved programs, and by the name of a model."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

import finpath
from experiments.lms import LMConfig
from experiments.lms.catalogue import models_folder
from experiments.lms.config import SHIPPED_ADAPTERS, lm_settings, make_lm
from experiments.saved import find_program
from kg.errors import LMError
from programs.evidence import EvidencePlan
from programs.lm import adapter_files, file_sha256, write_card

MODEL = "qwen2.5-coder-0.5b"
PLAN = EvidencePlan("brief")


@pytest.fixture
def base(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("FINPATH_CACHE", str(tmp_path / "cache"))
    path = models_folder() / f"{MODEL}-instruct-q4_k_m.gguf"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"weights")
    files = adapter_files(path, "mine")
    files.weights.parent.mkdir()
    files.weights.write_bytes(b"adapter")
    write_card(files, path, {})
    return path


def test_a_program_takes_its_adapter_along(base: Path, tmp_path: Path) -> None:
    program = find_program("beam").program
    plans = {**program.evidence.plans, f"local/{MODEL}+mine": PLAN, f"local/{MODEL}+gone": PLAN}
    program.evidence = replace(program.evidence, plans=plans)
    finpath.save(program, tmp_path / "saved")
    files = adapter_files(base, "mine")
    assert (tmp_path / "saved" / "adapters" / files.weights.name).read_bytes() == b"adapter"
    for one in (files.weights, files.card):
        one.unlink()
    read = finpath.load(str(tmp_path / "saved"))
    assert read.evidence.plans[f"local/{MODEL}+mine"] == PLAN
    assert files.weights.read_bytes() == b"adapter"


def test_an_adapter_that_is_there_is_not_replaced(base: Path, tmp_path: Path) -> None:
    program = find_program("beam").program
    program.evidence = replace(program.evidence, plans={f"local/{MODEL}+mine": PLAN})
    finpath.save(program, tmp_path / "saved")
    files = adapter_files(base, "mine")
    files.weights.write_bytes(b"newer")
    write_card(files, base, {})
    finpath.load(str(tmp_path / "saved"))
    assert files.weights.read_bytes() == b"newer"


def test_a_model_is_named_with_its_adapter(base: Path) -> None:
    lm = lm_settings(LMConfig(f"local/{MODEL}+mine", threads=1))["lm"]
    assert lm.model == f"local/{MODEL}+mine"
    assert lm.engine.settings.adapter == adapter_files(base, "mine").weights
    with pytest.raises(LMError, match="no adapter 'other'"):
        lm_settings(LMConfig(f"local/{MODEL}+other", threads=1))


def test_the_shipped_adapters_are_those_of_their_cards() -> None:
    cards = {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in SHIPPED_ADAPTERS.glob("*.json")}
    assert {stem.partition("+")[2] for stem in cards} == {"news", "reports"}
    for stem, card in cards.items():
        weights = SHIPPED_ADAPTERS / f"{stem}.gguf"
        assert (file_sha256(weights), card["name"]) == (card["sha256"], stem.partition("+")[2])
        assert weights.stat().st_size < 16_000_000
        assert card["base"]["file"] == f"{stem.partition('+')[0]}.gguf"


def test_a_shipped_adapter_is_found_for_the_model_without_it(base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shipped = base.parent / "shipped"
    (base.parent / "adapters").rename(shipped)
    monkeypatch.setattr("experiments.lms.config.SHIPPED_ADAPTERS", shipped)
    monkeypatch.setattr("experiments.lms.weights.find_weights", lambda _: (MODEL, base))
    lm = make_lm(LMConfig(f"local/{MODEL}", threads=3))
    assert lm is not None
    adapted = lm.copy(model=f"local/{MODEL}+mine")
    assert adapted.engine.settings.adapter == shipped / adapter_files(base, "mine").weights.name
