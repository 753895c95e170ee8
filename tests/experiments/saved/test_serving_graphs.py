"""Programs about graphs as MLflow models: logged, loaded by another client, and asked with JSON."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import pytest

from experiments.commands import main as cli
from experiments.lms import LMConfig
from experiments.saved import ServedAdvisor, ServedGraphProgram
from experiments.tracking import Tracker, TrackingConfig
from kg.errors import ConfigError, DataError
from kg.growing import AddNode, GrowingGraph, Origin, SetProperty
from kg.growing.updates import NodeKey
from kg.investments import investment_schema
from kg.paths import LearnedRelationScorer
from programs.kgqa import KGQA

TRIPLES = [["Alien", "directed_by", "Ridley Scott"], ["Duel", "directed_by", "Steven Spielberg"]]


@pytest.fixture
def grown() -> GrowingGraph:
    graph = GrowingGraph(None, investment_schema())
    graph.apply([AddNode("Company", "Helixon Inc.", {"country": "Malta"})], Origin("wire-1"))
    graph.apply([SetProperty(NodeKey("Company", "Helixon Inc."), "country", "Cyprus")], Origin("wire-2"))
    return graph


def test_a_model_without_a_graph_takes_triples_with_the_request() -> None:
    served = ServedGraphProgram(KGQA(LearnedRelationScorer.untrained()), None, LMConfig())
    with pytest.raises(ConfigError, match="triples must be given"):
        served(questions=["who directed Alien?"])
    [row] = served(questions=["who directed Alien?"], topics=["Alien"], triples=TRIPLES).toDict()["answers"]
    assert (row["answers"], row["abstained"]) == (["Ridley Scott"], False)
    json.dumps(row)


def test_a_graph_returns_from_its_text_with_its_types_and_its_history(grown: GrowingGraph) -> None:
    with GrowingGraph.restored(grown.serialized()) as again:
        assert list(again.nodes()) == list(grown.nodes())
        assert again.schema == grown.schema
        assert [str(entry) for entry in again.history()] == [str(entry) for entry in grown.history()]
        again.undo(2)
        node = again.node(NodeKey("Company", "Helixon Inc."))
        assert node is not None
        assert node.properties["country"] == "Malta"
    with pytest.raises(DataError, match="cannot be read as a growing graph"):
        GrowingGraph.restored(b"no quads")


def test_the_advisors_model_answers_from_the_graph_as_it_was(grown: GrowingGraph) -> None:
    served = pickle.loads(pickle.dumps(ServedAdvisor(grown.serialized(), LMConfig())))
    found = served(questions=["Where is Helixon based?", "Who insures Helixon?"]).toDict()["answers"]
    assert [(row["answers"], row["abstained"]) for row in found] == [(["Cyprus"], False), ([], True)]


def test_published_and_trained_programs_load_by_pyfunc(
    tracking_uri: str, tmp_path: Path, grown: GrowingGraph, monkeypatch: pytest.MonkeyPatch
) -> None:
    import mlflow

    monkeypatch.setenv("MLFLOW_ALLOW_PICKLE_DESERIALIZATION", "true")
    path, out = str(tmp_path / "knowledge"), tmp_path / "out.json"
    with GrowingGraph(path, investment_schema()) as stored:
        stored.apply([AddNode("Company", "Helixon Inc.", {"country": "Cyprus"})], Origin("wire"))
    assert cli.main(["advisor", "publish", "--graph", path, "--json", str(out)]) == 0
    model = mlflow.pyfunc.load_model(json.loads(out.read_text(encoding="utf-8"))["model_uri"])
    [row] = model.predict({"questions": ["Where is Helixon based?"]})["answers"]
    assert row["answers"] == ["Cyprus"]

    words = ["--graph", "sample:graph", "--questions", "sample:train", "--format", "metaqa"]
    assert cli.main(["compile", "kgqa", *words, "--limit", "20", "--out", str(tmp_path / "mine")]) == 0
    tracker = Tracker(TrackingConfig(tracking_uri))
    [record] = tracker.search(["kgqa"], limit=1)
    loaded = mlflow.pyfunc.load_model(record.tags["finpath.model_uri"])
    [row] = loaded.predict({"questions": ["from which year is The Crimson Orchard"]})["answers"]
    assert (row["answers"], row["abstained"]) == (["1599"], False)
    assert row["paths"]
