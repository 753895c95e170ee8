"""The history of a growing graph, and ``finpath ingest --undo``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from experiments.commands import main as cli
from kg.growing import GrowingGraph, Origin
from kg.news import Fact, fact_updates, parse_document, passage_updates

NOVATEK = "Novatek Semiconductors Inc"
WIRE = "Headline: Novatek opens plant\nSource: Wire\nDate: 2026-03-02\n\nNova reported profit of $3 million."
ROWS = ((NOVATEK, "ticker", "NVTK", "ticker"), (NOVATEK, "acquires", "Lumax Photonics", "company"))


@pytest.fixture
def graph(tmp_path: Path) -> str:
    """A graph with the facts that a model states of a document."""
    document = parse_document(WIRE, "wire.txt")
    day = document.published.isoformat()
    facts = [Fact(one, "company", relation, value, kind, WIRE, "wire.txt", day) for one, relation, value, kind in ROWS]
    (tmp_path / "wire.txt").write_text(WIRE, encoding="utf-8")
    path = str(tmp_path / "knowledge")
    assert cli.main(["ingest", str(tmp_path / "wire.txt"), "--graph", path]) == 0
    with GrowingGraph(path) as opened:
        updates = [*passage_updates(document), *fact_updates(opened, facts, document)]
        opened.apply([update for update, _ in updates], Origin("wire.txt"))
    return path


def run(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    capsys.readouterr()
    assert cli.main([*words, "--json", "-"]) == 0
    figures: dict[str, Any] = json.loads(capsys.readouterr().out)
    return figures


def test_companies_and_the_history_are_shown(graph: str, capsys: pytest.CaptureFixture[str]) -> None:
    figures = run(capsys, "graph", "show", graph, "--history")
    assert {NOVATEK, "Lumax Photonics"} <= set(figures["companies"])
    assert {entry["document"] for entry in figures["history"]} == {"wire.txt"}


def test_an_update_and_a_document_are_taken_back(graph: str, capsys: pytest.CaptureFixture[str]) -> None:
    before = run(capsys, "graph", "show", graph, "--history")
    last = before["history"][-1]["number"]
    assert run(capsys, "ingest", "--graph", graph, "--undo", str(last))["undone"] == [last]
    after = run(capsys, "ingest", "--graph", graph, "--undo", "wire.txt")
    assert after["facts"] < before["facts"]
    assert not run(capsys, "graph", "show", graph)["companies"]
    assert cli.main(["ingest", "--graph", graph, "--undo", "wire.txt"]) == 1
    assert cli.main(["ingest", "--graph", graph]) == 2
