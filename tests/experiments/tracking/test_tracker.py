from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import pytest

from experiments.tracking import DataInput, Tracker, TrackingConfig, quiet_mlflow
from kg.errors import TrackingError


def test_a_run_is_found_by_id_name_and_age(tracker: Tracker) -> None:
    ids = []
    for name in ("one", "two"):
        with tracker.run("evaluate", name) as run:
            ids.append(run.id)
    assert tracker.find("latest").id == ids[1]
    assert tracker.find("latest~1").id == ids[0]
    assert tracker.find("one").id == ids[0]
    assert tracker.find(str(ids[0])).name == "one"
    with pytest.raises(TrackingError, match=r"no evaluate run 'three' .*newest there: two, one"):
        tracker.find("three")
    for far in ("latest~2", "latest~100000", "latest~99999999999999999999"):
        with pytest.raises(TrackingError, match=far):
            tracker.find(far)


def test_a_compile_run_stands_for_its_evaluation(tracker: Tracker) -> None:
    with tracker.run("compile", "mine") as parent, tracker.run("evaluate", "mine on dev", parent=parent) as child:
        pass
    assert tracker.find("mine").id == child.id
    assert tracker.find(str(parent.id)).id == child.id
    assert tracker.find("mine", kinds=("compile",)).id == parent.id


def test_the_end_of_a_run_is_marked(tracker: Tracker) -> None:
    with pytest.raises(ValueError, match="bad"), tracker.run("evaluate", "fails") as failed:
        raise ValueError("bad")
    with pytest.raises(KeyboardInterrupt), tracker.run("evaluate", "killed"):
        raise KeyboardInterrupt
    assert tracker.find("killed").status == "KILLED"
    record = tracker.find(str(failed.id))
    assert record.status == "FAILED"
    assert record.tags["finpath.error"] == "ValueError: bad"


def test_what_is_logged_is_read_back(tracker: Tracker, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "a.txt").write_text("inside")
    with tracker.run("evaluate", "run", tags={"extra": "1"}) as run:
        run.log_params({"lm": "none", "limit": None, "long": "x" * 70})
        run.log_metrics({"turns": 3, "missing": None, "bad": float("nan"), "flag": True})
        run.log_table("turns", [{"rank": 3, "text": "é"}, {"text": ""}])
        run.log_table("empty", [])
        run.log_data(DataInput("dev.json", "ab" * 32, "dev", 4))
        run.log_folder(tmp_path / "folder", "program")
    record = tracker.find("run")
    assert record.params == {"lm": "none", "limit": "null", "long": "x" * 70}
    assert record.metrics == {"turns": 3.0}
    assert record.tags["extra"] == "1"
    assert [one["path"] for one in json.loads(record.tags["mlflow.loggedArtifacts"])] == ["turns.json", "empty.json"]
    assert tracker.table(record, "turns") == [{"rank": 3, "text": "é"}, {"rank": None, "text": ""}]
    assert tracker.table(record, "empty") == []
    assert (tracker.download(f"runs:/{record.id}/program") / "a.txt").read_text() == "inside"
    inputs = tracker.client.get_run(record.id).inputs.dataset_inputs
    assert [(one.dataset.name, one.dataset.digest) for one in inputs] == [("dev.json", "ab" * 8)]


def test_what_is_not_there_is_named(tracker: Tracker) -> None:
    with tracker.run("evaluate", "run"):
        pass
    with pytest.raises(TrackingError, match=r"turns\.json cannot be had"):
        tracker.table(tracker.find("run"), "turns")
    with pytest.raises(TrackingError, match="runs:/"):
        tracker.download("runs:/" + "0" * 32 + "/program")


def test_looking_something_up_creates_no_store(tmp_path: Path) -> None:
    tracker = Tracker(TrackingConfig(f"sqlite:///{tmp_path}/mlflow.db"))
    for look_up in (tracker.find, lambda name: tracker.download(f"runs:/{name}/program")):
        with pytest.raises(TrackingError, match=r"there is no .*mlflow\.db yet"):
            look_up("latest")
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_is_no_store_is_said(tmp_path: Path) -> None:
    (tmp_path / "bad.db").write_text("no database")
    with pytest.raises(TrackingError, match=r"bad\.db cannot be opened: .*file is not a database"):
        Tracker(TrackingConfig(f"sqlite:///{tmp_path}/bad.db")).find("latest")


def test_a_store_that_cannot_be_opened_is_reported_without_its_password() -> None:
    for uri in ("postgresql://ann:hunter2@localhost:1/x", "postgresql://ann:hunter2@localhost:abc/x"):
        with pytest.raises(TrackingError, match="cannot be opened") as failed:
            _ = Tracker(TrackingConfig(uri)).client
        assert "hunter2" not in str(failed.value)


class _Planted:
    """An object whose reading makes a file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (self.path,)


def _model(folder: Path, planted: Path) -> Path:
    model = folder / "model"
    (model / "data").mkdir(parents=True)
    (model / "MLmodel").write_text(
        "flavors:\n  dspy:\n    model_path: data/model.pkl\n  python_function:\n    loader_module: mlflow.dspy\n"
        "    data: data\nmlflow_version: 3.5.0\nmodel_id: m-1\n",
        encoding="utf-8",
    )
    (model / "data" / "model.pkl").write_bytes(pickle.dumps(_Planted(planted)))
    return model


@pytest.mark.filterwarnings("ignore::UserWarning")  # of an import of MLflow
def test_a_model_s_pickle_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import mlflow

    monkeypatch.delenv("MLFLOW_ALLOW_PICKLE_DESERIALIZATION", raising=False)
    quiet_mlflow()
    planted = tmp_path / "run"
    with pytest.raises((mlflow.exceptions.MlflowException, AttributeError)):
        mlflow.dspy.load_model(str(_model(tmp_path, planted)))
    assert not planted.exists()
