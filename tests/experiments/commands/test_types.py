"""``finpath ingest --types FILE``: the types of a growing graph as JSON that a person edits."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from experiments.commands import main as cli
from kg.growing.graph import GrowingGraph


def types_of(graph: str, tmp_path: Path) -> dict[str, Any]:
    out = tmp_path / "types.json"
    assert cli.main(["graph", "show", graph, "--json", str(out)]) == 0
    types: dict[str, Any] = json.loads(out.read_text(encoding="utf-8"))
    return types


def use(graph: str, tmp_path: Path, types: object) -> int:
    file = tmp_path / "edited.json"
    file.write_text(json.dumps(types), encoding="utf-8")
    return cli.main(["ingest", "--types", str(file), "--graph", graph])


def test_a_new_type_is_taken(graph: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    schema = {"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}}}
    node = {"name": "Rule", "description": "A rule.", "properties_schema": schema, "example": {"name": "Rule 7"}}
    assert use(graph, tmp_path, {"node_types": [node], "edge_types": []}) == 0
    assert "1 types are new or changed" in capsys.readouterr().out
    assert "Rule" in {kind["name"] for kind in types_of(graph, tmp_path)["node_types"]}


def test_a_type_that_changes_is_taken(graph: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    types = types_of(graph, tmp_path)
    kept = {"node_types": types["node_types"], "edge_types": types["edge_types"]}
    capsys.readouterr()
    assert use(graph, tmp_path, kept) == 0
    assert "0 types are new or changed" in capsys.readouterr().out
    issued = next(kind for kind in kept["edge_types"] if kind["name"] == "issued_by")
    issued |= {"labels": ["brought out by"], "inverse_labels": ["floated"]}
    assert use(graph, tmp_path, kept) == 0
    with GrowingGraph(graph) as opened:
        assert opened.schema.edge_type("issued_by").inverse_labels == ("floated",)


def test_a_type_that_does_not_fit_what_is_stored_is_refused(
    graph: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    company = next(kind for kind in types_of(graph, tmp_path)["node_types"] if kind["name"] == "Company")
    company["properties_schema"]["required"] = ["name", "city"]
    company["properties_schema"]["properties"]["city"] = {"type": "string"}
    company["example"] = {"name": "Orbex Ltd", "city": "Valletta"}
    assert use(graph, tmp_path, {"node_types": [company]}) == 1
    assert "does not fit its changed type" in capsys.readouterr().err
    assert company not in types_of(graph, tmp_path)["node_types"]


def test_a_file_that_breaks_a_rule_is_refused(graph: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for content in ({"node_types": [{"name": "Firm"}]}, {"types": []}, []):
        assert use(graph, tmp_path, content) == 1
        assert "node_types" in capsys.readouterr().err
    assert cli.main(["ingest", "--graph", graph]) == 2, "documents or types must be given"
