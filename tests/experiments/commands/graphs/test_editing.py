"""``finpath advisor set`` and ``alias``: changes by hand, which the history keeps and takes back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from experiments.commands import main as cli
from kg.growing import GrowingGraph, NodeKey
from kg.news import directory_of, stored_facts

NOVATEK = "Company/Novatek Semiconductors Inc"
TEXT = """Novatek Semiconductors Inc. opens plant
2026-03-02

PORTO - Novatek Semiconductors Inc. (NVTK), a chipmaker based in Porto, bought Lumax Photonics for $40 million.
Nova reported profit of $3 million.
"""


@pytest.fixture
def graph(tmp_path: Path) -> str:
    (tmp_path / "wire.txt").write_text(TEXT, encoding="utf-8")
    path = str(tmp_path / "knowledge")
    assert cli.main(["advisor", "ingest", str(tmp_path / "wire.txt"), "--graph", path]) == 0
    return path


def run(graph: str, *words: str) -> dict[str, Any]:
    out = Path(graph).with_name("out.json")
    assert cli.main(["advisor", *words, "--graph", graph, "--json", str(out)]) == 0
    found: dict[str, Any] = json.loads(out.read_text(encoding="utf-8"))
    return found


def earners(graph: str) -> list[str]:
    """The subjects of the profit that the text reports."""
    with GrowingGraph(graph, read_only=True) as opened:
        return [fact.subject for fact in stored_facts(opened) if fact.relation == "reports_profit"]


def resolved(graph: str, name: str) -> str:
    with GrowingGraph(graph, read_only=True) as opened:
        found = directory_of(opened).find(name)
    return found[1] if found is not None else ""


def test_a_name_is_joined_taken_back_and_joined_again(graph: str) -> None:
    assert earners(graph) == ["Nova"]
    joined = run(graph, "alias", "Nova", NOVATEK)
    assert earners(graph) == ["Novatek Semiconductors Inc"]
    assert resolved(graph, "Nova") == "Novatek Semiconductors Inc"
    assert {"alias": "Nova", "node": "Company(Novatek Semiconductors Inc)"} in run(graph, "alias")["aliases"]
    apart = run(graph, "alias", "Nova", NOVATEK, "--remove")
    assert (earners(graph), resolved(graph, "Nova")) == (["Nova"], "Nova")
    assert [one["alias"] for one in run(graph, "alias")["aliases"]] == ["NVTK"]
    run(graph, "undo", str(apart["changes"][0]))
    assert earners(graph) == ["Novatek Semiconductors Inc"]
    run(graph, "undo", str(joined["changes"][0]))
    assert earners(graph) == ["Nova"]


def test_a_name_that_was_taken_back_stays_apart(graph: str, capsys: pytest.CaptureFixture[str]) -> None:
    run(graph, "alias", "NVTK", NOVATEK, "--remove")
    further = Path(graph).with_name("later.txt")
    further.write_text(TEXT.replace("opens plant", "adds staff").replace("03-02", "03-09"), encoding="utf-8")
    run(graph, "ingest", str(further))
    assert run(graph, "alias")["aliases"] == []
    assert cli.main(["advisor", "alias", "NVTK", NOVATEK, "--graph", graph]) == 1
    assert "'NVTK' was taken back from" in capsys.readouterr().err


def test_a_property_is_set_and_undone(graph: str, capsys: pytest.CaptureFixture[str]) -> None:
    key = NodeKey("Company", "Novatek Semiconductors Inc")
    run(graph, "set", NOVATEK, "country", "Malta")
    changed = run(graph, "set", NOVATEK, "country", "Chile")
    assert "country 'Malta' (by hand) -> 'Chile'" in capsys.readouterr().out
    run(graph, "undo", str(changed["changes"][0]))
    with GrowingGraph(graph, read_only=True) as opened:
        node = opened.node(key)
    assert node is not None
    assert node.properties["country"] == "Malta"
    run(graph, "set", NOVATEK, "country", "--remove")
    for words, problem in (
        ((NOVATEK, "colour", "red"), "Company has no property 'colour'"),
        ((f"{NOVATEK}.", "country", "Peru"), "there is Company(Novatek Semiconductors Inc)"),
        (("Novatek", "country", "Peru"), "must be written Company/Helixon Inc."),
    ):
        assert cli.main(["advisor", "set", *words, "--graph", graph]) == 1
        assert problem in capsys.readouterr().err
