"""The figures of a large attack, in the file that FINPATH_ATTACK_FIGURES names: a stopped attack goes on from there."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path


def _file() -> Path | None:
    named = os.environ.get("FINPATH_ATTACK_FIGURES")
    return Path(named) if named else None


def _read(path: Path) -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    return found


def figures_of(name: str) -> dict[str, int]:
    """Returns the figures of a part, none where there are none."""
    path = _file()
    return _read(path).get(name, {}) if path is not None else {}


def is_done(name: str, tries: int) -> bool:
    """Whether the figures of a part are there, without a failure."""
    known = figures_of(name)
    return known.get("tries", 0) >= tries and not known.get("failed", 0)


def write_figures(name: str, figures: Mapping[str, int]) -> None:
    """Adds the figures of a part to the file."""
    path = _file()
    if path is not None:
        whole = {**_read(path), name: dict(figures)}
        written = path.with_suffix(".part")
        written.write_text(json.dumps(whole, indent=1) + "\n", encoding="utf-8")
        written.replace(path)
