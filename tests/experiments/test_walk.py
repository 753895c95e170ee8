"""The way of the data of ``finpath evaluate``: the files outside of kg of which a function runs, and the imports."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]

MOST_FILES = 48
"""Files outside of kg with a function that runs, without ``__init__``; to be lowered to 15."""

MOST_MODULES = 246
"""Modules of finpath that are imported; to be lowered to 200."""

TRACED = """
import json, sys, threading

root, files = sys.argv[1], set()

def note(frame, event, _):
    code = frame.f_code
    if event == "call" and code.co_flags & 1 and code.co_filename.startswith(root):  # no body of a class or module
        files.add(code.co_filename[len(root) + 1:])

sys.setprofile(note)
threading.setprofile(note)
from experiments.commands.main import main
code = main(["evaluate", "beam", "--data", "sample:dev", "--lm", "none", "--limit", "3"])
sys.setprofile(None)
rooms = ("kg", "signatures", "programs", "optimize", "experiments")
ours = sorted(name for name in files if name.endswith(".py") and not name.endswith("__init__.py"))
modules = [name for name in sys.modules if name.split(".")[0] in rooms]
print(json.dumps({"code": code, "files": [one for one in ours if one.split("/")[0] in rooms[1:]], "modules": modules}))
"""


def test_evaluating_a_report_walks_through_few_files(tracking_uri: str, tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "MLFLOW_TRACKING_URI": tracking_uri}
    environment["FINPATH_CACHE"] = str(tmp_path / "cache")
    command = [sys.executable, "-c", TRACED, str(ROOT)]
    done = subprocess.run(command, env=environment, cwd=tmp_path, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    walk = json.loads(done.stdout.splitlines()[-1])
    assert walk["code"] == 0
    assert len(walk["files"]) <= MOST_FILES, walk["files"]
    assert len(walk["modules"]) <= MOST_MODULES, walk["modules"]
