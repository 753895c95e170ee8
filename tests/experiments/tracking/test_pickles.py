"""Planted pickles in MLflow models: finpath's process does not read them."""

from __future__ import annotations

import os
import pickle
from pathlib import Path
from typing import Any

import pytest

from experiments.tracking import quiet_mlflow


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
@pytest.mark.parametrize(("allowed", "runs"), [(None, False), ("true", True)])
def test_a_model_s_pickle_is_read_only_where_the_user_allows_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, allowed: str | None, runs: bool
) -> None:
    import mlflow

    name = "MLFLOW_ALLOW_PICKLE_DESERIALIZATION"
    monkeypatch.setenv(name, allowed or "")
    if allowed is None:
        monkeypatch.delenv(name)
    quiet_mlflow()
    planted = tmp_path / "run"
    with pytest.raises((mlflow.exceptions.MlflowException, AttributeError)):
        mlflow.dspy.load_model(str(_model(tmp_path, planted)))
    assert planted.exists() is runs
    assert os.environ[name] == (allowed or "false")
