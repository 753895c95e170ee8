from __future__ import annotations

from pathlib import Path

import pytest

from experiments.lms import reader
from experiments.lms.catalogue import Model
from kg.errors import LMError


@pytest.fixture
def missing(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """No weights are there; the models that are fetched."""
    fetched: list[str] = []

    def pull_model(model: Model, *, mirror: bool) -> Path:
        assert mirror
        fetched.append(model.name)
        raise LMError("no disk")

    monkeypatch.setattr(reader, "installed_parts", lambda: None)
    monkeypatch.setattr(reader, "pull_model", pull_model)
    return fetched


def test_weights_are_fetched_where_the_extra_is_installed(
    missing: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(reader, "find_spec", lambda _: object())
    reader.fetch_reader()
    assert missing == ["all-mpnet-base-v2"]
    assert "the reader is missing: no disk" in capsys.readouterr().err


def test_a_missing_extra_is_named(
    missing: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(reader, "find_spec", lambda _: None)
    reader.fetch_reader()
    assert missing == []
    assert "finpath[news]" in capsys.readouterr().err


def test_weights_that_are_there_are_not_fetched(
    missing: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(reader, "installed_parts", lambda: [Path("part")])
    reader.fetch_reader()
    assert (missing, capsys.readouterr().err) == ([], "")
