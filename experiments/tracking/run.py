"""A run while it is being written; :class:`experiments.tracking.tracker.Tracker` makes them.

with tracker.run("evaluate", "beam on dev.json") as run:
    run.log_metrics({"exe_accuracy": 0.71})
    run.log_table("turns", rows)
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from experiments.tracking.records import DataInput

_PARAM_LIMIT = 6000
_ATTEMPTS = 3


class Run:
    """A run that is being written; made by :meth:`experiments.tracking.tracker.Tracker.run`."""

    def __init__(self, client: Any, run_id: str, name: str) -> None:
        self.client = client
        self.id: str | None = run_id
        self.name = name
        self._tables: list[dict[str, str]] = []

    def log_params(self, params: Mapping[str, object]) -> None:
        """Logs settings; a value that MLflow would cut is also a whole artifact under ``params/``."""
        from mlflow.entities import Param

        short: list[Any] = []
        for key, value in params.items():
            text = value if isinstance(value, str) else json.dumps(value, default=str)
            if len(text) > _PARAM_LIMIT:
                self.log_text(f"params/{key}.txt", text)
                text = f"see params/{key}.txt"
            short.append(Param(key, text))
        self.client.log_batch(self.id, params=short)

    def log_metrics(self, metrics: Mapping[str, object], step: int = 0) -> None:
        """Figures; what is not a finite number is left out."""
        import time

        from mlflow.entities import Metric

        now = int(time.time() * 1000)
        numbers = {
            key: float(value)
            for key, value in metrics.items()
            if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
        }
        self.client.log_batch(self.id, metrics=[Metric(key, value, now, step) for key, value in numbers.items()])

    def log_tags(self, tags: Mapping[str, str]) -> None:
        """Logs hashes, versions and other searchable facts."""
        from mlflow.entities import RunTag

        self.client.log_batch(self.id, tags=[RunTag(key, value) for key, value in tags.items()])

    def log_description(self, text: str) -> None:
        """A text table for the run's page in MLflow."""
        self.log_tags({"mlflow.note.content": f"```\n{text}\n```"})

    def log_data(self, data: DataInput) -> None:
        """A data set that the run used, with its hash."""
        from mlflow.entities import Dataset, DatasetInput, InputTag
        from mlflow.exceptions import MlflowException

        entity = Dataset(
            name=data.name,
            digest=data.sha256[:16],
            source_type="finpath",
            source=json.dumps({"name": data.name, "sha256": data.sha256}),
            profile=json.dumps({"conversations": data.conversations}),
        )
        tag = InputTag("mlflow.data.context", data.context)
        for attempt in range(_ATTEMPTS):
            try:
                self.client.log_inputs(self.id, datasets=[DatasetInput(entity, [tag])])
                return
            except MlflowException as error:
                # MLflow looks a data set up and then adds it: two runs that begin at once on the same one collide.
                if "IntegrityError" not in str(error) or attempt == _ATTEMPTS - 1:
                    raise

    def log_table(self, name: str, rows: Sequence[Mapping[str, object]]) -> None:
        """Rows with the same keys: MLflow's own table view shows them, ``Tracker.table`` reads them back."""
        columns = list(rows[0]) if rows else []
        payload = {"columns": columns, "data": [[row[column] for column in columns] for row in rows]}
        # MLflow's log_table uses pandas, which turns a 3 into 3.0 in a column with a None.
        self.log_text(f"{name}.json", json.dumps(payload, ensure_ascii=False, allow_nan=False))
        self._tables.append({"path": f"{name}.json", "type": "table"})
        self.log_tags({"mlflow.loggedArtifacts": json.dumps(self._tables)})

    def log_text(self, path: str, text: str) -> None:
        """A text file among the run's artifacts."""
        self.client.log_text(self.id, text, path)

    def log_folder(self, folder: Path, name: str) -> None:
        """A folder among the run's artifacts: ``runs:/ID/name`` gives it back."""
        self.client.log_artifacts(self.id, str(folder), name)


class UntrackedRun(Run):
    """Takes the place of a run when nothing is to be tracked."""

    def __init__(self, name: str) -> None:
        super().__init__(_NoClient(), "", name)
        self.id = None


class _NoClient:
    """Accepts every call of MLflow's client and does nothing."""

    def __getattr__(self, name: str) -> Any:
        def keep_nothing(*_: object, **__: object) -> None:
            return None

        return keep_nothing
