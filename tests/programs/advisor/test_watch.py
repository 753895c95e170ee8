from __future__ import annotations

import json
from datetime import date
from pathlib import Path

import pytest

from experiments.files import SAMPLE_FOLDER
from kg.growing import GrowingGraph, TypeProposals
from kg.investments import NewsDocument, investment_schema, load_rules
from kg.news import FrameReader
from programs.advisor import Advisor, Portfolio, Watch

TODAY = date(2026, 6, 6)


def _document(name: str, text: str) -> NewsDocument:
    return NewsDocument(name, text.split(".")[0], "Wool Wire", date(2026, 6, 4), text)


CUT = _document(
    "a.txt", "Tarrant Mills plc (TMLS) on Monday lowered its forecast for 2026 revenue to 80 million pounds."
)
FINE = _document("b.txt", "The River Agency fined Tarrant Mills plc 2 million pounds over a spill.")


@pytest.fixture
def advisor(tmp_path: Path) -> Advisor:
    graph = GrowingGraph(tmp_path / "graph", investment_schema())
    return Advisor(graph, FrameReader(graph), TypeProposals(graph, "never"))


def test_each_alert_is_given_once(advisor: Advisor, tmp_path: Path) -> None:
    path = tmp_path / "alerts.jsonl"
    watch = Watch(advisor, Portfolio({"TMLS": 10}), path)
    first = watch.step([CUT], TODAY)
    assert [alert.symbol for alert in first.alerts] == ["TMLS"]
    assert watch.step([CUT], TODAY).alerts == ()
    again = Watch(advisor, Portfolio({"TMLS": 10}), path)
    assert again.step([CUT], TODAY).ingested == ()
    assert len(again.step([CUT, FINE], TODAY).alerts) == 1
    assert len(path.read_text().splitlines()) == 2


def test_an_alert_that_a_kill_cut_is_given_again(advisor: Advisor, tmp_path: Path) -> None:
    path = tmp_path / "alerts.jsonl"
    watch = Watch(advisor, Portfolio({"TMLS": 10}), path)
    watch.step([CUT], TODAY)
    path.write_bytes(path.read_bytes()[:-20])
    assert len(watch.step([CUT], TODAY).alerts) == 1
    assert [json.loads(line)["symbol"] for line in path.read_text().splitlines()] == ["TMLS"]


def test_events_that_grow_old_are_no_alert(advisor: Advisor, tmp_path: Path) -> None:
    watch = Watch(advisor, Portfolio({"TMLS": 10}), tmp_path / "alerts.jsonl")
    assert len(watch.step([CUT, FINE], TODAY).alerts) == 1
    assert watch.step([CUT, FINE], date(2026, 7, 25)).alerts == ()


def test_what_waits_for_a_type_is_news_once(tmp_path: Path) -> None:
    rules = load_rules(SAMPLE_FOLDER / "advisor" / "rules.json")
    graph = GrowingGraph(tmp_path / "graph", investment_schema())
    watch = Watch(
        Advisor(graph, FrameReader(graph, rules), TypeProposals(graph, "never")),
        Portfolio({}),
        tmp_path / "alerts.jsonl",
    )
    rule = _document("c.txt", "Rule 12 of the Alpine Markets Authority restricts late payment of claims.")
    assert [one.left_out for one in watch.step([rule], TODAY).ingested] == [3]
    assert watch.step([rule], TODAY).ingested == ()
