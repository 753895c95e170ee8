"""The start of a command: the modules that it imports, and its processor time."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
ROOMS = ("kg", "signatures", "programs", "optimize", "experiments")
LIBRARIES = ("mlflow", "datasets", "pandas", "spacy", "torch", "bs4")
QUESTION = ("ask", "MRLW/2020/page_49.pdf", "what was the net income in 2020?", "--no-track")
RUN = """
import json, resource, sys
import finpath
code = finpath.main() if sys.argv[1:] else 0
used = resource.getrusage(resource.RUSAGE_SELF)
print(json.dumps([code, used.ru_utime + used.ru_stime, sorted(sys.modules)]))
"""


def _run(folder: Path, *words: str) -> tuple[float, list[str]]:
    """The processor seconds of a command in a process of its own, and the modules at its end."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-c", RUN, *words]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=True)
    code, seconds, modules = json.loads(done.stdout.splitlines()[-1])
    assert code == 0, done.stderr
    return seconds, modules


def _ours(modules: list[str]) -> list[str]:
    return [name for name in modules if name.partition(".")[0] in ROOMS]


def test_an_import_of_finpath_imports_no_room(tmp_path: Path) -> None:
    seconds, modules = _run(tmp_path)
    assert _ours(modules) == []
    assert seconds < 1


def test_a_question_on_a_page_imports_what_its_world_needs(tmp_path: Path) -> None:
    seconds, modules = _run(tmp_path, *QUESTION)
    assert [name for name in LIBRARIES if name in modules] == []
    assert len(_ours(modules)) <= 200
    assert seconds < 5  # twice the target


@pytest.mark.slow
def test_an_evaluation_of_a_conversation_imports_few_modules(tmp_path: Path) -> None:
    conversations = json.loads((ROOT / "experiments" / "sample" / "dev.json").read_text(encoding="utf-8"))
    (tmp_path / "one.json").write_text(json.dumps(conversations[:1]), encoding="utf-8")
    _, modules = _run(tmp_path, "evaluate", "beam", "--data", "one.json", "--lm", "none", "--no-track")
    assert len(_ours(modules)) <= 200
