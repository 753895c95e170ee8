"""The files that one reads to follow a command: those outside ``kg`` of which a function runs, without ``__init__``."""

from __future__ import annotations

import inspect
import json
import sys
import threading
import tomllib
from collections.abc import Sequence
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from experiments.commands import main as cli
from experiments.console import SAMPLE_FOLDER

ROOT = Path(__file__).resolve().parent.parent
FAST = ["--set", "scorer.form_steps=1", "--set", "scorer.folds=0", "--set", "scorer.ensemble=1"]
WALKS = {
    "compile": ["compile", "beam", "--optimizer", "scorer", *FAST, "--train", "few.json"],
    "evaluate": ["evaluate", "beam", "--data", "sample:dev", "--limit", "1"],
}
MOST = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["finpath"]["walks"]


def files_of(arguments: Sequence[str]) -> set[Path]:
    """The files of the four rooms that a command visits."""
    codes: set[str] = set()

    def visit(frame: FrameType, _event: str, _argument: Any) -> None:
        if frame.f_code.co_flags & inspect.CO_OPTIMIZED:  # no module, no body of a class
            codes.add(frame.f_code.co_filename)

    threading.settrace(visit)
    sys.settrace(visit)
    try:
        assert cli.main(list(arguments)) == 0
    finally:
        sys.settrace(None)
        threading.settrace(None)
    rooms = tuple(ROOT / room for room in ("signatures", "programs", "optimize", "experiments"))
    files = (Path(name) for name in codes)
    return {file for file in files if file.name != "__init__.py" and any(map(file.is_relative_to, rooms))}


@pytest.mark.parametrize("walk", WALKS)
def test_a_walk_visits_few_files(walk: str, tracking_uri: str, tmp_path: Path) -> None:
    conversations = json.loads((SAMPLE_FOLDER / "train.json").read_text(encoding="utf-8"))
    (tmp_path / "few.json").write_text(json.dumps(conversations[:12]), encoding="utf-8")
    files = sorted(str(file.relative_to(ROOT)) for file in files_of(WALKS[walk]))
    assert "programs/beam.py" in files
    assert len(files) <= MOST[walk], f"{len(files)} files: {', '.join(files)}"
