"""The imports of ``finpath evaluate``; ``tests/test_walks.py`` follows the files that it visits."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
MOST_MODULES = 200
"""Modules of finpath (186 when this was written)."""

COUNTED = """
import sys
from experiments.commands.main import main
assert main(["evaluate", "beam", "--data", "sample:dev", "--lm", "none", "--limit", "1"]) == 0
rooms = ("kg", "signatures", "programs", "optimize", "experiments")
print(*sorted(name for name in sys.modules if name.split(".")[0] in rooms))
"""


def test_evaluating_reports_imports_few_modules(tracking_uri: str, tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "MLFLOW_TRACKING_URI": tracking_uri}
    environment["FINPATH_CACHE"] = str(tmp_path / "cache")
    command = [sys.executable, "-c", COUNTED]
    done = subprocess.run(command, env=environment, cwd=tmp_path, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    modules = done.stdout.splitlines()[-1].split()
    others = ("experiments.commands.thoughts", "experiments.tasks.kgqa", "programs.thoughts")
    assert not [name for name in modules if name.startswith(others)]
    assert len(modules) <= MOST_MODULES, modules
