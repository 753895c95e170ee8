"""The examples and the notebook run as they are."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.experiments.openai_server import ScriptedServer

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
SAID = {
    "own_data.py": ("right: 1.0", "right | what was the change in net sales from 2022 to 2023? | 140 | 140"),
    "own_graph.py": ("-> Mara Stenhouse", "where was she born? -> Tern Bay", "tonnage of the Larkspur? -> no answer"),
    "assistant.py": ("-> 4,120", "-> 3,980", 'row "Net sales", column "2022"'),
}


def run(code: list[str], folder: Path) -> str:
    environment = {**os.environ, "PYTHONPATH": str(EXAMPLES.parent), "MLFLOW_TRACKING_URI": "sqlite:///mlflow.db"}
    done = subprocess.run(
        [sys.executable, *code], cwd=folder, env=environment, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("name", SAID)
def test_an_example(name: str, tmp_path: Path) -> None:
    text = run([str(EXAMPLES / name)], tmp_path)
    assert [part for part in SAID[name] if part not in text] == [], text


def test_a_model_of_ones_own(tmp_path: Path) -> None:
    with ScriptedServer([{"reasoning": "r", "calculation": "[r2c2]"}] * 3) as server:
        assert "prompts: 1" in run([str(EXAMPLES / "own_model.py"), "openai/any", server.url], tmp_path)
        assert "net income" in str(server.heard)


def test_the_notebook(tmp_path: Path) -> None:
    cells = json.loads((EXAMPLES / "quickstart.ipynb").read_text())["cells"]
    code = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
    text = run(["-c", code], tmp_path)
    assert "what percentage change is that? -> an increase of 32.5%" in text
    assert "shipped against mine" in text
    assert (tmp_path / "graph.html").is_file()
