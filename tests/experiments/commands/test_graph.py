"""``finpath graph check | show`` and ``finpath ontology build``, through the command line's own parser."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from experiments.commands.main import finpath
from experiments.data import load_conversations
from experiments.tracking import Tracker, TrackingConfig
from kg.errors import ConfigError
from kg.reports.ontology import Ontology

GOOD = {
    "id": "good",
    "pre_text": ["cash was $ 118 million in 2009 ."],
    "post_text": [],
    "table": [["", "2009", "2008"], ["net income ( loss )", "$ 103", "$ -26 ( 26 )"], ["margin", "4.5%", "5%"]],
    "annotation": {"dialogue_break": ["income?"], "turn_program": ["103"], "exe_ans_list": [103.0]},
}


def _file(folder: Path, *records: Any, name: str = "reports.json") -> str:
    path = folder / name
    path.write_text(json.dumps(records))
    return str(path)


def _run(*arguments: str) -> int:
    with finpath.make_context("finpath", list(arguments)) as context:
        return finpath.invoke(context) or 0


def test_a_report_is_checked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("pyshacl")
    table, out = tmp_path / "income.csv", tmp_path / "out.json"
    table.write_text("item,2020,2019\nnet sales,120,100\nzorblax wuggles,5,4\n")
    assert _run("graph", "check", str(table), "--json", str(out)) == 0
    figures = json.loads(out.read_text())
    assert (figures["coverage"], figures["unmapped"], figures["violations"]) == (0.5, ["zorblax wuggles"], [])
    assert "not in the ontology: zorblax wuggles" in capsys.readouterr().out


def test_a_report_is_drawn_with_the_places_of_its_figures(tmp_path: Path) -> None:
    table, page = tmp_path / "income.csv", tmp_path / "graph.html"
    table.write_text('item,2020\nnet sales,120\n</script><b>costs,"1,100"\n')
    assert _run("graph", "show", str(table), "--html", str(page)) == 0
    text = page.read_text()
    nodes, edges = (json.JSONDecoder().raw_decode(text.split(f"{name} = ")[1])[0] for name in ("nodes", "edges"))
    [figure] = [number for number, (name, _) in enumerate(nodes) if name == "120 net_sales"]
    assert 'cell B2, row "net sales", column "2020": [120]' in nodes[figure][1]
    assert any((relation, end) == ("net_sales", figure) for _, relation, end in edges)
    assert text.count("</script>") == 1


def test_an_ontology_is_built_written_logged_and_shown(
    tracking_uri: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source, turtle, out = _file(tmp_path, GOOD, 7), tmp_path / "ontology.ttl", tmp_path / "out.json"
    assert _run("ontology", "build", source, "--out", str(turtle), "--json", str(out)) == 0
    figures = json.loads(out.read_text())
    ontology = Ontology.from_turtle(turtle.read_text())
    assert figures["sha256"] == ontology.sha256
    assert (figures["reports"], figures["properties"]) == (1, 2)
    assert "left out: reports.json: conversation number 2" in capsys.readouterr().err
    run = Tracker(TrackingConfig(uri=tracking_uri)).find("latest", ["ontology"])
    assert run.metrics["properties"] == 2
    assert _run("graph", "show", "--json", str(out)) == 0
    assert "IncomeStatement" in capsys.readouterr().out
    assert json.loads(out.read_text())["classes"] > 5
    with pytest.raises(ConfigError, match="history is of a growing graph"):
        _run("graph", "show", "--history")


def test_the_sample_that_ships_is_whole_and_its_splits_share_no_report() -> None:
    splits = [load_conversations(name) for name in ("sample:train", "sample:dev")]
    assert [split.problems for split in splits] == [(), ()], "every program executes to its answer"
    reports = [[one.report for one in split.conversations] for split in splits]
    pages = [{report.id for report in split} for split in reports]
    texts = [{text for report in split for text in report.sentences} for split in reports]
    assert not pages[0] & pages[1]
    assert not texts[0] & texts[1]
