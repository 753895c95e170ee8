from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from experiments import promote as module
from experiments.data import ConversationRecord, LoadedData
from experiments.evaluation import EvaluationConfig, ReportQuestions, evaluate
from experiments.promote import promote
from experiments.runs import RunRecord
from experiments.saved import SavedProgram, find_program
from experiments.tracking import Tracker
from kg.errors import TrackingError

Make = Callable[..., SavedProgram]


@pytest.fixture
def many(conversation_maker: Callable[..., ConversationRecord]) -> LoadedData:
    """Eight conversations of one turn each, so that a gain can hold."""
    conversations = tuple(conversation_maker(number, {f"q{number}?": "5"}) for number in range(8))
    return LoadedData(conversations, (), "cd" * 32, "dev.json", "dev")


@pytest.fixture
def run(make_saved: Make, many: LoadedData, tracker: Tracker) -> Callable[[str, int], RunRecord]:
    def evaluated(name: str, right: int) -> RunRecord:
        saved = make_saved(name)
        saved.program.programs = {f"q{n}?": "5" if n < right else "6" for n in range(8)}
        evaluate(saved, ReportQuestions(many), EvaluationConfig(), tracker=tracker, run_name=name)
        return tracker.find(name)

    return evaluated


Versions = list[dict[str, str]]


@pytest.fixture
def registered(monkeypatch: pytest.MonkeyPatch, tracker: Tracker) -> Versions:
    """Registers without MLflow's models, which a scripted program cannot be; gives the tags of each version."""
    versions: Versions = []
    aliases: dict[tuple[str, str], SimpleNamespace] = {}

    def register(_: Tracker, uri: str, name: str, tags: dict[str, str]) -> int:
        assert (uri, name) == ("models:/m-1", "scripted")
        versions.append(tags)
        return len(versions)

    def set_alias(name: str, alias: str, version: str) -> None:
        aliases[name, alias] = SimpleNamespace(version=version, tags=versions[int(version) - 1])

    monkeypatch.setattr(module, "_register", register)
    monkeypatch.setattr(tracker.client, "set_registered_model_alias", set_alias)
    monkeypatch.setattr(module, "_aliased", lambda _, name: aliases.get((name, "champion")))
    monkeypatch.setattr(module, "_model_of", lambda *_: "models:/m-1")
    return versions


def test_a_gain_that_holds_is_promoted(
    run: Callable[[str, int], RunRecord], tracker: Tracker, registered: Versions
) -> None:
    first, better, same = run("first", 1), run("better", 8), run("same", 8)
    done = promote(better, tracker, against=first)
    assert (done["promoted"], done["forced"]) == (True, False)
    assert done["difference"] == pytest.approx(7 / 8)
    assert done["mcnemar_p"] == pytest.approx(2 / 2**7)
    assert tracker.find("better").tags["finpath.promotion_forced"] == "false"
    refused = promote(same, tracker)  # against the champion now
    assert not refused["promoted"]
    assert refused["reason"].startswith("the gain does not hold: +0.0 points")
    assert tracker.find("same").tags["finpath.promotion"].startswith("refused as scripted@champion")
    assert len(registered) == 1
    assert promote(better, tracker)["reason"] == "it is champion already"


def test_force_is_said_on_the_run_and_on_the_version(
    run: Callable[[str, int], RunRecord], tracker: Tracker, registered: Versions
) -> None:
    record = run("only", 2)
    assert "nothing has the alias champion yet" in promote(record, tracker)["reason"]
    done = promote(record, tracker, force=True)
    assert (done["promoted"], done["forced"]) == (True, True)
    tags = tracker.find("only").tags
    assert tags["finpath.promotion_forced"] == "true"
    assert "FORCED" in tags["finpath.promotion"]
    assert "FORCED" in registered[0]["finpath.promotion"]


def test_runs_on_different_turns_do_not_promote(
    run: Callable[[str, int], RunRecord], make_saved: Make, many: LoadedData, tracker: Tracker, registered: Any
) -> None:
    first = run("first", 1)
    part = make_saved("part")
    part.program.programs = {f"q{n}?": "5" for n in range(8)}
    evaluate(part, ReportQuestions(many), EvaluationConfig(limit=7), tracker=tracker, run_name="part")
    refused = promote(tracker.find("part"), tracker, against=first)
    assert not refused["promoted"]
    assert "different turns (1 are not shared)" in refused["reason"]


def test_a_run_that_did_not_finish_is_refused(run: Callable[[str, int], RunRecord], tracker: Tracker) -> None:
    stopped = dataclasses.replace(run("a", 1), status="KILLED")
    with pytest.raises(TrackingError, match="did not finish"):
        promote(stopped, tracker)


@pytest.mark.slow
def test_the_champion_loads_as_a_program(tracker: Tracker, tmp_path: Path) -> None:
    from experiments.data import load_conversations

    data = load_conversations("sample:dev")
    evaluate(
        find_program("beam"), ReportQuestions(data), EvaluationConfig(limit=1), tracker=tracker, run_name="shipped"
    )
    done = promote(tracker.find("shipped"), tracker, force=True)
    assert done["promoted"]
    found = tracker.client.get_model_version_by_alias("beam", "champion")
    loaded = find_program("models:/beam@champion", tracker)
    assert loaded.program.ontology.sha256 == find_program("beam").program.ontology.sha256
    assert done["version"] == int(found.version)


@pytest.mark.slow
def test_a_stopped_promotion_leaves_the_evaluation_finished(tracker: Tracker, monkeypatch: pytest.MonkeyPatch) -> None:
    """A kill while the model is logged must not make the evaluation look unfinished."""
    import mlflow

    from experiments.data import load_conversations

    data = load_conversations("sample:dev")
    evaluate(
        find_program("beam"), ReportQuestions(data), EvaluationConfig(limit=1), tracker=tracker, run_name="shipped"
    )
    statuses = []

    def stopped(*_: Any, **__: Any) -> None:
        statuses.append(tracker.client.get_run(tracker.find("shipped").id).info.status)
        raise KeyboardInterrupt

    monkeypatch.setattr(mlflow.pyfunc, "log_model", stopped)
    with pytest.raises(KeyboardInterrupt):
        promote(tracker.find("shipped"), tracker, force=True)
    assert statuses == ["FINISHED"]
    assert tracker.find("shipped").status == "FINISHED"


def test_a_gain_on_few_turns_does_not_hold(
    run: Callable[[str, int], RunRecord], tracker: Tracker, registered: Versions
) -> None:
    first, little = run("first", 5), run("little", 8)
    refused = promote(little, tracker, against=first)  # 3 turns better, none worse: p = 0.25
    assert not refused["promoted"]
    assert "p = 0.25" in refused["reason"]
    assert registered == []
