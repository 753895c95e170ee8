"""A sample of the benchmark of files, and a table that lacks what is asked for."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import finpath

ROOT = Path(__file__).resolve().parents[1]


def test_small_files_are_answered_or_the_program_abstains() -> None:
    command = [sys.executable, str(ROOT / "benchmarks" / "bench_files.py"), "8"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    figures = ast.literal_eval(done.stdout.splitlines()[-1])
    assert figures["right"] >= 7
    assert figures["abstained_right"] >= 0.75


def test_what_a_small_table_lacks(tmp_path: Path) -> None:
    path = tmp_path / "sales.csv"
    path.write_text("item,2023,2022\nNet sales,4120,3980\nCost of sales,2610,2544\nGross profit,1510,1436\n")
    missing = (
        "How many employees were there in 2023?",
        "What dividends were paid in 2023?",
        "number of shops in 2022?",
    )
    assert finpath.ask(path, "What were net sales in 2022?").answer == "3980"
    assert [finpath.ask(path, question).answer for question in missing] == [None, None, None]
