"""``finpath schema``: what waits for a person, the versions of types, and the nodes of older ones."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from experiments import cli
from kg.growing import GrowingGraph, Origin
from kg.investment import investment_schema
from kg.schema import NodeType
from kg.type_proposals import TypeProposals
from kg.updates import AddNode

REGULATION = NodeType(
    "Regulation",
    "A rule of a public authority that firms must follow.",
    {"type": "object", "properties": {"authority": {"type": "string"}}},
    {"authority": "EU"},
    created_by="agent",
    justification="the documents speak of rules, and no type holds them",
)


@pytest.fixture
def graph(tmp_path: Path) -> str:
    """A graph in which a type waits, with two companies."""
    path = str(tmp_path / "knowledge")
    with GrowingGraph(path, investment_schema()) as made:
        TypeProposals(made, "review").propose(REGULATION)
        made.apply([AddNode("Company", "Helixon", {"country": "USA"}), AddNode("Company", "Osprey")], Origin("wire"))
    return path


def run(graph: str, tmp_path: Path, *words: str) -> dict[str, Any]:
    """What a command that succeeds wrote as JSON."""
    out = tmp_path / "out.json"
    assert cli.main(["schema", *words, "--graph", graph, "--json", str(out)]) == 0
    content: dict[str, Any] = json.loads(out.read_text(encoding="utf-8"))
    return content


def types(graph: str, tmp_path: Path) -> set[str]:
    return {kind["name"] for kind in run(graph, tmp_path, "list")["types"]}


def test_what_waits_is_shown_with_why(graph: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    [waiting] = run(graph, tmp_path, "review")["pending"]
    assert (waiting["name"], waiting["created_by"]) == ("Regulation", "agent")
    assert "why: the documents speak of rules" in capsys.readouterr().out
    assert "Regulation" not in types(graph, tmp_path)


def test_what_is_accepted_is_a_type_and_waits_no_more(graph: str, tmp_path: Path) -> None:
    assert run(graph, tmp_path, "accept", "Regulation") == {"accepted": "Regulation"}
    assert "Regulation" in types(graph, tmp_path)
    assert run(graph, tmp_path, "review") == {"pending": []}


def test_what_is_refused_is_gone(graph: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(graph, tmp_path, "refuse", "Regulation") == {"refused": "Regulation"}
    assert "Regulation" not in types(graph, tmp_path)
    run(graph, tmp_path, "review")
    assert "no type waits" in capsys.readouterr().out
    assert cli.main(["schema", "accept", "Regulation", "--graph", graph]) == 1


def test_a_revised_type_has_a_version_and_nodes_are_moved_when_asked(graph: str, tmp_path: Path) -> None:
    with GrowingGraph(graph) as opened:
        old = opened.schema.node_type("Company").properties_schema
    file = tmp_path / "company.json"
    file.write_text(json.dumps({"properties_schema": {**old, "required": ["country"]}, "example": {"country": "USA"}}))
    revised = run(graph, tmp_path, "revise", "Company", str(file))
    assert (revised["type"], revised["version"], revised["outdated"]) == ("Company", 2, 2)
    shown = run(graph, tmp_path, "migrate")
    assert (shown["outdated"], shown["fitting"], shown["applied"]) == (2, 1, False)
    assert run(graph, tmp_path, "migrate")["outdated"] == 2, "showing changes nothing"
    done = run(graph, tmp_path, "migrate", "--apply")
    assert (done["fitting"], done["applied"]) == (1, True)
    left = run(graph, tmp_path, "migrate")
    assert left["outdated"] == 1
    [problem] = left["problems"].items()
    assert "Osprey" in problem[0]
    assert "country" in problem[1]


@pytest.mark.parametrize("content", ["{", "[]", '{"name": "Firm"}', "{}"])
def test_a_file_that_is_no_revision_is_refused(
    graph: str, tmp_path: Path, content: str, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "company.json"
    file.write_text(content, encoding="utf-8")
    assert cli.main(["schema", "revise", "Company", str(file), "--graph", graph]) == 1
    assert "company.json" in capsys.readouterr().err
