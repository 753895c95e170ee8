"""The graph of the sample's news, ingested once for all commands that read it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from experiments.commands import main as cli


@pytest.fixture(scope="session")
def ingested(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    """A graph of the twelve documents, which no test changes, and the figures of its ingestion."""
    folder = tmp_path_factory.mktemp("advisor")
    words = ["ingest", "sample:news", "--today", "2026-11-20", "--graph", str(folder / "knowledge")]
    assert cli.main([*words, "--json", str(folder / "out.json")]) == 0
    return folder / "knowledge", json.loads((folder / "out.json").read_text(encoding="utf-8"))


@pytest.fixture
def graph(ingested: tuple[Path, dict[str, Any]], tmp_path: Path) -> str:
    """A copy of that graph for the test alone."""
    return str(shutil.copytree(ingested[0], tmp_path / "knowledge"))
