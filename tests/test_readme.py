"""The output that the pages show is the output that the commands print.

Figures of a fit may differ by one turn of 127 on another processor, which is 0.8 points; times may differ freely.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
NUMBER = re.compile(r"[-+]?\d[\d,]*(?:\.\d+)?(?:e-\d+)?")
TIME = re.compile(r"^seconds a turn")
POINTS = 1.3
"""Two figures are the same up to this difference: one turn, also at the ends of an interval."""


def finpath(arguments: Sequence[str], folder: Path) -> tuple[str, str]:
    """Standard output and standard error of a command."""
    environment = {name: text for name, text in os.environ.items() if not name.startswith(("MLFLOW_", "FINPATH_LM"))}
    command = [sys.executable, str(ROOT / "finpath.py"), *arguments]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=500)
    assert done.returncode == 0, done.stderr
    return done.stdout, done.stderr


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> str:
    written, printed = finpath(["demo", "--json", "-"], tmp_path_factory.mktemp("demo"))
    figures = json.loads(written)  # alone on standard output
    assert len(figures["runs"]) == 3
    assert figures["difference"] > 0
    return printed


def block(page: str, beginning: str) -> str:
    """The block of output on a page that begins with a text."""
    blocks = re.findall(r"^```(?:text|console)\n(.*?)^```$", (ROOT / page).read_text(encoding="utf-8"), re.M | re.S)
    [found] = [text for text in blocks if text.lstrip().startswith(beginning)]
    return str(found)


def words(line: str) -> str:
    return " ".join(NUMBER.sub("#", line).split())


def numbers(line: str) -> list[float]:
    return [float(number.replace(",", "")) for number in NUMBER.findall(line)]


def differences(shown: str, printed: str) -> list[str]:
    """The lines of a page that the output does not have, or has with other figures."""
    output: dict[str, list[str]] = {}
    for line in printed.splitlines():
        output.setdefault(words(line), []).append(line)
    found = []
    for line in filter(re.compile(r"\w").search, shown.splitlines()):
        others = output.get(words(line), [])
        if not others or not (TIME.search(line) or any(is_close(line, other) for other in others)):
            found.append(f"{line!r} is not printed, but {others}")
    return found


def is_close(shown: str, printed: str) -> bool:
    pairs = zip(numbers(shown), numbers(printed), strict=True)
    return all(abs(mine - its) <= POINTS for mine, its in pairs)


@pytest.mark.parametrize("page", ["README.md", "docs/guide/evaluating.md"])
def test_the_table_of_the_demo_is_what_it_prints(page: str, demo: str) -> None:
    assert differences(block(page, "uncompiled "), demo) == []


def test_the_answers_on_the_first_page_are_what_ask_prints(tmp_path: Path) -> None:
    command, _, shown = block("README.md", "$ finpath ask").partition("\n")
    printed, _ = finpath(shlex.split(command.removeprefix("$ finpath ")), tmp_path)
    assert differences(shown, printed) == []
    assert shown.count("\nA  ") + shown.startswith("A  ") == printed.count("\nA  ")
