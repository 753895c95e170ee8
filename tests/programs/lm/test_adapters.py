"""Adapters of embedded models: found beside the model, and refused where they do not fit."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kg.errors import ConfigError, LMError
from programs.lm import EmbeddedEngine, EngineSettings, file_sha256, find_adapter


@pytest.fixture
def base(tmp_path: Path) -> Path:
    path = tmp_path / "model.gguf"
    path.write_bytes(b"weights")
    return path


def _make(base: Path, name: str) -> Path:
    weights = base.parent / "adapters" / f"{base.stem}+{name}.gguf"
    weights.parent.mkdir(exist_ok=True)
    weights.write_bytes(b"adapter")
    card = {"sha256": file_sha256(weights), "base": {"file": base.name, "size": base.stat().st_size}}
    weights.with_suffix(".json").write_text(json.dumps(card))
    return weights


def test_an_adapter_is_found_beside_its_model_or_in_a_further_folder(base: Path, tmp_path: Path) -> None:
    made = _make(base, "mine")
    assert find_adapter(base, "mine") == made
    other = tmp_path / "other"
    made.parent.rename(other)
    with pytest.raises(LMError, match="no adapter 'mine'"):
        find_adapter(base, "mine")
    assert find_adapter(base, "mine", (other,)) == other / made.name


def test_an_engine_takes_an_adapter_by_the_models_name(base: Path) -> None:
    made = _make(base, "mine")
    engine = EmbeddedEngine(EngineSettings(base, "local/model")).with_adapter("local/model+mine")
    assert (engine.name, engine.settings.adapter) == ("local/model+mine", made)
    with pytest.raises(LMError, match="no adapter of local/model"):
        engine.with_adapter("local/other+mine")


def test_a_changed_adapter_is_refused(base: Path) -> None:
    _make(base, "mine").write_bytes(b"another")
    with pytest.raises(LMError, match="its hash differs"):
        find_adapter(base, "mine")


def test_an_adapter_of_other_weights_is_refused(base: Path) -> None:
    _make(base, "mine")
    base.write_bytes(b"other weights")
    with pytest.raises(LMError, match="their size differs"):
        find_adapter(base, "mine")


@pytest.mark.parametrize("name", ["", "../mine", "Mine", "a b"])
def test_a_name_is_no_path(base: Path, name: str) -> None:
    with pytest.raises(ConfigError, match="adapter's name"):
        find_adapter(base, name)
