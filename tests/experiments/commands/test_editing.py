"""``finpath graph edit``: changes by hand, which the history keeps and takes back."""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from experiments.commands import main as cli
from kg.growing import GrowingGraph, NodeKey, Origin
from kg.news import Fact, fact_updates, known_names, parse_document, passage_updates, plain_name, stored_facts

NOVATEK = "Company/Novatek Semiconductors Inc"
WIRE = "Headline: Novatek opens plant\nSource: Wire\nDate: 2026-03-02\n\nNova reported profit of $3 million."
ROWS = (
    (NOVATEK.partition("/")[2], "ticker", "NVTK", "ticker"),
    (NOVATEK.partition("/")[2], "acquires", "Lumax Photonics", "company"),
    ("Nova", "reports_profit", "$3 million", "money"),
)


@pytest.fixture
def graph(tmp_path: Path) -> str:
    (tmp_path / "wire.txt").write_text(WIRE, encoding="utf-8")
    path = str(tmp_path / "knowledge")
    assert cli.main(["ingest", str(tmp_path / "wire.txt"), "--graph", path]) == 0
    state(path, "wire.txt", *ROWS)
    return path


def state(graph: str, name: str, *rows: tuple[str, str, str, str]) -> None:
    """Writes facts as a model states them: subject, relation, object and its kind."""
    document = parse_document(WIRE, name)
    day = document.published.isoformat()
    facts = [Fact(one, "company", relation, value, kind, WIRE, name, day) for one, relation, value, kind in rows]
    with GrowingGraph(graph) as opened:
        updates = [*passage_updates(document), *fact_updates(opened, facts, document)]
        opened.apply([update for update, _ in updates], Origin(name))


def edited(graph: str, *words: str) -> list[int]:
    """The numbers of the entries that a change by hand made."""
    changes: list[int] = run("graph", "edit", graph, *words)["changes"]
    return changes


def undo(graph: str, number: int) -> None:
    assert run("graph", "edit", graph, "--undo", str(number))["undone"] == [number]


def shown(graph: str) -> dict[str, Any]:
    return run("graph", "show", graph, "--history")


def run(*words: str) -> dict[str, Any]:
    with TemporaryDirectory() as folder:
        out = Path(folder) / "out.json"
        assert cli.main([*words, "--json", str(out)]) == 0
        figures: dict[str, Any] = json.loads(out.read_text(encoding="utf-8"))
    return figures


def earners(graph: str) -> list[str]:
    """The subjects of the profit that the text reports."""
    with GrowingGraph(graph, read_only=True) as opened:
        return [fact.subject for fact in stored_facts(opened) if fact.relation == "reports_profit"]


def resolved(graph: str, name: str) -> str:
    with GrowingGraph(graph, read_only=True) as opened:
        return known_names(opened).get(plain_name(name), ("", ""))[1]


def test_a_name_is_joined_and_the_change_is_undone(graph: str) -> None:
    assert earners(graph) == ["Nova"]
    joined = edited(graph, NOVATEK, "--alias", "Nova")
    assert earners(graph) == ["Novatek Semiconductors Inc"]
    assert resolved(graph, "Nova") == resolved(graph, "the nova") == "Novatek Semiconductors Inc"
    assert shown(graph)["aliases"]["Nova"] == "Company(Novatek Semiconductors Inc)"
    undo(graph, joined[0])
    assert earners(graph) == ["Nova"]


def test_a_name_stands_for_one_node(graph: str, capsys: pytest.CaptureFixture[str]) -> None:
    edited(graph, NOVATEK, "--alias", "Nova")
    for alias in ("the nova", "NVTK"):
        assert cli.main(["graph", "edit", graph, "Company/Lumax Photonics", "--alias", alias]) == 1
        problem = f"{alias!r} stands for Company(Novatek Semiconductors Inc) and cannot also stand for "
        assert f"{problem}Company(Lumax Photonics)" in capsys.readouterr().err


def test_companies_are_listed_with_their_names(graph: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert set(shown(graph)["companies"]) == {"Lumax Photonics", "Nova", "Novatek Semiconductors Inc"}
    edited(graph, NOVATEK, "--alias", "Nova")
    capsys.readouterr()
    assert shown(graph)["companies"] == {"Lumax Photonics": [], "Novatek Semiconductors Inc": ["NVTK", "Nova"]}
    assert "Novatek Semiconductors Inc; also NVTK, Nova" in capsys.readouterr().out.splitlines()


def test_what_is_there_already_makes_no_entry(graph: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert len(edited(graph, NOVATEK, "country=Malta")) == 1
    capsys.readouterr()
    for again in ("country=Malta", "sector="):
        assert edited(graph, NOVATEK, again) == []
        assert "nothing new: it is so already" in capsys.readouterr().out
    assert len(edited(graph, NOVATEK, "--alias", "Nova")) == 1
    assert edited(graph, NOVATEK, "--alias", "Nova") == []


def test_the_history_shows_changes(graph: str, capsys: pytest.CaptureFixture[str]) -> None:
    edited(graph, NOVATEK, "country=Malta", "--alias", "Novatek")
    capsys.readouterr()
    entries = shown(graph)["history"]
    lines = capsys.readouterr().out.splitlines()
    assert f"{entries[-2]['number']}  by hand: Company(Novatek Semiconductors Inc) country: none -> 'Malta'" in lines
    assert f"{entries[-1]['number']}  by hand: alias Novatek of Company(Novatek Semiconductors Inc)" in lines


def test_a_node_that_is_unknown_is_refused_with_near_names(graph: str, capsys: pytest.CaptureFixture[str]) -> None:
    for node, near in (
        ("Company/Novatek", "Novatek Semiconductors Inc"),
        ("Company/Lumax Fotonics", "Lumax Photonics"),
    ):
        assert cli.main(["graph", "edit", graph, node, "country=Peru"]) == 1
        assert f"there is no node Company({node.partition('/')[2]}); the nearest are: {near}" in capsys.readouterr().err
    assert cli.main(["graph", "edit", graph, "Compny/Novatek", "country=Peru"]) == 1
    assert "there is no node type 'Compny'; the nearest are: Company" in capsys.readouterr().err


def test_a_property_is_set_and_undone(graph: str, capsys: pytest.CaptureFixture[str]) -> None:
    key = NodeKey("Company", "Novatek Semiconductors Inc")
    edited(graph, NOVATEK, "country=Malta")
    changed = edited(graph, NOVATEK, "country=Chile")
    assert "country: 'Malta' (by hand) -> 'Chile'" in capsys.readouterr().out
    undo(graph, changed[0])
    with GrowingGraph(graph, read_only=True) as opened:
        node = opened.node(key)
    assert node is not None
    assert node.properties["country"] == "Malta"
    edited(graph, NOVATEK, "country=")
    for words, problem in (
        ((NOVATEK, "colour=red"), "Company has no property 'colour'"),
        (("Novatek", "country=Peru"), "must be written Company/Helixon Inc."),
        ((NOVATEK, "country"), "a value must be written KEY=VALUE, got 'country'"),
    ):
        assert cli.main(["graph", "edit", graph, *words]) == 1
        assert problem in capsys.readouterr().err
    assert cli.main(["graph", "edit", graph]) == cli.main(["graph", "edit", graph, NOVATEK]) == 2


def test_the_name_of_a_node_is_not_set_and_another_name_of_it_is_taken(
    graph: str, capsys: pytest.CaptureFixture[str]
) -> None:
    edited(graph, NOVATEK, "--alias", "Novo")
    capsys.readouterr()
    assert cli.main(["graph", "edit", graph, "Company/Novo", "name=Novatek plc"]) == 1
    assert "cannot change; --alias adds another name" in capsys.readouterr().err
    edited(graph, "Company/novo", "--alias", "Novatek plc")
    assert resolved(graph, "Novatek plc") == "Novatek Semiconductors Inc"
