"""The page of prompts is what the code sends."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from experiments.saved import find_program
from signatures.aggregation import PickCandidate
from signatures.page import ReadPage
from signatures.understanding import Understand

ROOT = Path(__file__).resolve().parent.parent
TOOL = ROOT / "tools" / "prompts_page.py"


def test_the_page_is_what_the_code_sends() -> None:
    done = subprocess.run([sys.executable, str(TOOL), "--check"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_prompt_stands_there_once() -> None:
    page = (ROOT / "docs" / "reference" / "prompts.md").read_text(encoding="utf-8")
    for instruction in (
        "Say what the last question of a conversation",
        "Choose the calculation that answers",
        "Write the calculation that answers the last question.",
        "Say whether the calculation answers the last question",
        "Plan how to answer the last question",
        "Answer the last question of a conversation about a financial report with tools",
        "No candidate seemed right",
        "List the figures of the sentences",
        "Choose the paths through",
        "Rate which steps through",
        "Decide whether the graph holds",
        "Choose the tool calls",
        "Decide whether the available types",
        "Write what the information states",
        "Write the SPARQL SELECT query",
        "Decide whether what was retrieved",
        "Answer the question as well as",
        "Explain in one to three",
        "Answer the question from the news. Quote",
    ):
        assert page.count(f"--- system\n{instruction}") == 1
    for instruction in ("Answer the question from the numbered sentences", "List all facts that the sentences"):
        assert page.count(instruction) == 1  # after the fields, as DSPy's adapter has them


def test_the_shipped_program_sends_the_documented_prompts() -> None:
    turn = find_program("beam").program.turn
    sent = {"understand": Understand, "read_page": ReadPage, "aggregate": PickCandidate}
    for name, signature in sent.items():
        stored = getattr(turn, name).signature
        assert stored.instructions == signature.instructions, name
        described = [[one.json_schema_extra["desc"] for one in of.fields.values()] for of in (stored, signature)]
        assert described[0] == described[1], name
