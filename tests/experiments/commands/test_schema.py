"""``finpath schema``: types are listed, reviewed, changed and migrated on the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from experiments.commands import main as cli
from experiments.tasks.advisor import SAMPLE
from kg.growing.graph import GrowingGraph, Origin
from kg.growing.updates import SetProperty
from kg.growing.view import entity_view
from kg.schema import EdgeType

RULE = str(SAMPLE / "documents" / "12-rule.txt")
RESULTS = str(SAMPLE / "documents" / "01-helixon-results.txt")


@pytest.fixture
def graph(tmp_path: Path) -> str:
    """A graph in which two types wait."""
    path = str(tmp_path / "knowledge")
    assert cli.main(["advisor", "ingest", RULE, RESULTS, "--graph", path]) == 0
    return path


def run(graph: str, tmp_path: Path, *words: str) -> tuple[int, dict[str, Any]]:
    out = tmp_path / "out.json"
    out.unlink(missing_ok=True)
    code = cli.main(["schema", *words, "--graph", graph, "--json", str(out)])
    return code, json.loads(out.read_text(encoding="utf-8")) if out.exists() else {}


def revised(graph: str, tmp_path: Path, name: str, content: object) -> tuple[int, dict[str, Any]]:
    file = tmp_path / "change.json"
    file.write_text(json.dumps(content), encoding="utf-8")
    return run(graph, tmp_path, "revise", name, str(file))


def test_types_are_listed_with_their_words(graph: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, found = run(graph, tmp_path, "list")
    shown = capsys.readouterr().out
    assert (code, len(found["types"])) == (0, 37)
    assert "Also called: event, happening, development" in shown
    assert "The other way round: issued, issues" in shown
    assert "country (based, based in" in shown
    event = next(kind for kind in found["types"] if kind["name"] == "MarketEvent")
    assert event["labels"] == ["event", "happening", "development"]


def test_what_waits_is_taken_or_dropped(graph: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, found = run(graph, tmp_path, "review")
    assert [kind["name"] for kind in found["pending"]] == ["Regulation", "made_by"]
    assert "why: A rule lasts, an event happens once." in capsys.readouterr().out
    assert run(graph, tmp_path, "accept", "Regulation") == (0, {"accepted": "Regulation"})
    assert run(graph, tmp_path, "refuse", "made_by") == (0, {"refused": "made_by"})
    _, found = run(graph, tmp_path, "review")
    assert found["pending"] == []
    assert "no type waits" in capsys.readouterr().out
    assert cli.main(["schema", "accept", "made_by", "--graph", graph]) == 1
    assert "no type 'made_by' waits for review" in capsys.readouterr().err


def test_an_edge_is_taken_after_its_ends(graph: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["schema", "accept", "made_by", "--graph", graph]) == 1
    assert "there is no node type 'Regulation'" in capsys.readouterr().err


def test_labels_are_versions_like_everything_else(graph: str, tmp_path: Path) -> None:
    code, found = revised(graph, tmp_path, "issued_by", {"labels": ["brought out by"], "inverse_labels": ["floated"]})
    assert (code, found["version"]) == (0, 2)
    with GrowingGraph(graph) as opened:
        old, new = (opened.schema.edge_type("issued_by", version=version) for version in (1, 2))
        assert (old.inverse_labels, new.inverse_labels) == (("issued", "issues"), ("floated",))
        assert isinstance(new, EdgeType)
        view = entity_view(opened)
    tag = next(tag for tag in view.lexicon.tags("Who floated HLXN?") if tag.inverses)
    assert tag.text == "floated"


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("Company", {"labels": "firm"}, "labels of 'Company' must be a list of at most 20 labels"),
        ("Company", {"labels": [""]}, "a label is a text of 1 to 60 characters, got ''"),
        ("Company", {"inverse_labels": ["x"]}, "which only an edge type has"),
        ("Company", {"name": "Firm"}, "must be an object with any of"),
        ("Nothing", {"description": "x"}, "there is no node type 'Nothing'"),
    ],
)
def test_a_change_that_breaks_a_rule_is_refused(
    graph: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, content: object, message: str
) -> None:
    assert revised(graph, tmp_path, name, content)[0] == 1
    assert message in capsys.readouterr().err


def test_nodes_of_an_older_version_are_shown_and_moved(graph: str, tmp_path: Path) -> None:
    with GrowingGraph(graph) as opened:
        rules = dict(opened.schema.node_type("Company").properties_schema)
    changed = {**rules, "required": ["name", "city"], "properties": {**rules["properties"], "city": {"type": "string"}}}
    example = {"name": "Orbex Ltd", "city": "Valletta"}
    code, found = revised(graph, tmp_path, "Company", {"properties_schema": changed, "example": example})
    assert (code, found["outdated"]) == (0, 1)
    _, found = run(graph, tmp_path, "migrate")
    assert (found["outdated"], found["fitting"], found["applied"]) == (1, 0, False)
    assert "'city' is a required property" in found["problems"]["Company(Helixon Inc.)"]
    with GrowingGraph(graph) as opened:
        companies = [node.key for node in opened.nodes("Company")]
        opened.apply([SetProperty(key, "city", "Ulm") for key in companies], Origin("by hand"))
    _, found = run(graph, tmp_path, "migrate", "--apply")
    assert (found["outdated"], found["problems"]) in ((0, {}), (1, {}))
    _, found = run(graph, tmp_path, "migrate")
    assert found["outdated"] == 0


def test_a_file_that_is_no_json_is_named(graph: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "bad.json").write_text("{", encoding="utf-8")
    assert cli.main(["schema", "revise", "Company", str(tmp_path / "bad.json"), "--graph", graph]) == 1
    assert "bad.json: is not JSON" in capsys.readouterr().err
