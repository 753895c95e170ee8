from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.slow
def test_the_demo_goes_the_whole_way(tmp_path: Path, tracking_uri: str) -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "finpath.py"), "demo", "--json", "out.json"],
        capture_output=True,
        text=True,
        timeout=300,
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    assert "seconds of each stage:" in done.stdout
    assert "compiled against uncompiled" in done.stdout
    assert "next:" in done.stdout
    figures = json.loads((tmp_path / "out.json").read_text())
    assert len(figures["runs"]) == 3
    assert figures["difference"] > 0
    assert sum(figures["stages"].values()) < 240
