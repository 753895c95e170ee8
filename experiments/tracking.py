"""Runs in MLflow: written while a command works, read back by later ones. The only module that touches MLflow.

    tracker = Tracker(TrackingConfig.from_environment())
    with tracker.run("evaluate", "beam on dev.json") as run:
        run.log_params({"seed": 0})
        run.log_metrics({"exe_accuracy": 0.71})
        run.log_table("turns", rows)
    tracker.find("latest").metrics["exe_accuracy"]      # 0.71

A run that an exception ends is marked ``FAILED``, one that Ctrl-C ends ``KILLED``; both keep what was logged until
then. Everything goes through MLflow's client and never through its global state, so runs may nest and threads may log.
"""

from __future__ import annotations

import contextlib
import json
import logging
import math
import os
import re
import tempfile
import warnings
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from experiments.console import say
from experiments.runs import DataInput, RunKind, RunRecord, TrackingConfig
from kg.errors import TrackingError

__all__ = ["DataInput", "Run", "RunRecord", "Tracker", "TrackingConfig", "UntrackedRun", "open_run", "temporary_folder"]

_PARAM_LIMIT = 6000
_RUN_ID = re.compile(r"[0-9a-f]{32}")
_LATEST = re.compile(r"latest(?:~(\d+))?")
_NO_MODEL_NAME = re.compile(r"[^\w -]+")
_KIND_TAG = "finpath.kind"


class Run:
    """A run that is being written; made by :meth:`Tracker.run`."""

    def __init__(self, client: Any, run_id: str, name: str) -> None:
        self._client = client
        self.id: str | None = run_id
        self.name = name
        self._tables: list[dict[str, str]] = []

    def log_params(self, params: Mapping[str, object]) -> None:
        """Settings; a value that MLflow would cut is kept whole as an artifact under ``params/``."""
        from mlflow.entities import Param

        short: list[Any] = []
        for key, value in params.items():
            text = value if isinstance(value, str) else json.dumps(value, default=str)
            if len(text) > _PARAM_LIMIT:
                self.log_text(f"params/{key}.txt", text)
                text = f"see params/{key}.txt"
            short.append(Param(key, text))
        self._client.log_batch(self.id, params=short)

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
        self._client.log_batch(self.id, metrics=[Metric(key, value, now, step) for key, value in numbers.items()])

    def log_tags(self, tags: Mapping[str, str]) -> None:
        """Hashes, versions and everything else that is worth searching for."""
        from mlflow.entities import RunTag

        self._client.log_batch(self.id, tags=[RunTag(key, value) for key, value in tags.items()])

    def log_description(self, text: str) -> None:
        """A text table for the run's page in MLflow."""
        self.log_tags({"mlflow.note.content": f"```\n{text}\n```"})

    def log_data(self, data: DataInput) -> None:
        """A data set that the run used, with its hash."""
        from mlflow.entities import Dataset, DatasetInput, InputTag

        entity = Dataset(
            name=data.name,
            digest=data.sha256[:16],
            source_type="finpath",
            source=json.dumps({"name": data.name, "sha256": data.sha256}),
            profile=json.dumps({"conversations": data.conversations}),
        )
        tag = InputTag("mlflow.data.context", data.context)
        self._client.log_inputs(self.id, datasets=[DatasetInput(entity, [tag])])

    def log_table(self, name: str, rows: Sequence[Mapping[str, object]]) -> None:
        """Rows with the same keys, shown by MLflow's own table view and read back by :meth:`Tracker.table`."""
        columns = list(rows[0]) if rows else []
        payload = {"columns": columns, "data": [[row[column] for column in columns] for row in rows]}
        # MLflow's log_table goes through pandas, which makes 3.0 of the 3 beside a None.
        self.log_text(f"{name}.json", json.dumps(payload, ensure_ascii=False, allow_nan=False))
        self._tables.append({"path": f"{name}.json", "type": "table"})
        self.log_tags({"mlflow.loggedArtifacts": json.dumps(self._tables)})

    def log_text(self, path: str, text: str) -> None:
        """A text file among the run's artifacts."""
        self._client.log_text(self.id, text, path)

    def log_folder(self, folder: Path, name: str) -> None:
        """A folder among the run's artifacts: ``runs:/ID/name`` gives it back."""
        self._client.log_artifacts(self.id, str(folder), name)


class UntrackedRun(Run):
    """Takes the place of a run when nothing is to be tracked."""

    def __init__(self, name: str) -> None:
        super().__init__(_NoClient(), "", name)
        self.id = None


class _NoClient:
    """Accepts every call of MLflow's client and keeps nothing."""

    def __getattr__(self, name: str) -> Any:
        def keep_nothing(*_: object, **__: object) -> None:
            return None

        return keep_nothing


class Tracker:
    """A tracking store and one experiment in it.

    Args:
        config: Where; nothing is opened before the first run is written or looked up.
    """

    def __init__(self, config: TrackingConfig) -> None:
        self.config = config

    @cached_property
    def _client(self) -> Any:
        _quiet_mlflow()
        from mlflow import MlflowClient
        from mlflow.exceptions import MlflowException
        from sqlalchemy.exc import SQLAlchemyError

        if self.config.new_store is not None:
            say(f"* creating the tracking store {self.config.new_store} (once, some seconds)")
        try:
            client = MlflowClient(self.config.uri)
            client.search_experiments(max_results=1)
        except (MlflowException, SQLAlchemyError) as error:
            raise TrackingError(f"the tracking store {self.config.uri} cannot be opened: {error}") from error
        return client

    def open(self) -> None:
        """Opens the store now, and creates it where it is not there; otherwise that happens with the first run."""
        _ = self._experiment_id

    @cached_property
    def _experiment_id(self) -> str:
        experiment = self._client.get_experiment_by_name(self.config.experiment)
        if experiment is None:
            return str(self._client.create_experiment(self.config.experiment))
        if experiment.lifecycle_stage != "active":
            raise TrackingError(
                f"the experiment {self.config.experiment!r} was deleted; restore it with `mlflow experiments restore "
                f"-x {experiment.experiment_id}`, or name another in MLFLOW_EXPERIMENT_NAME"
            )
        return str(experiment.experiment_id)

    @contextlib.contextmanager
    def run(
        self, kind: RunKind, name: str, *, parent: Run | None = None, tags: Mapping[str, str] | None = None
    ) -> Iterator[Run]:
        """A new run, ended when the block ends: finished, failed, or killed by Ctrl-C.

        Args:
            kind: What the run is.
            name: Shown in MLflow, and a way to find the run again.
            parent: The run that this one is a part of.
            tags: Further tags, set from the start.
        """
        all_tags = {_KIND_TAG: kind, "mlflow.source.name": f"finpath {kind}", **(tags or {})}
        if parent is not None and parent.id is not None:
            all_tags["mlflow.parentRunId"] = parent.id
        created = self._client.create_run(self._experiment_id, run_name=name, tags=all_tags)
        run = Run(self._client, created.info.run_id, name)
        status = "FINISHED"
        try:
            yield run
        except KeyboardInterrupt:
            status = "KILLED"
            raise
        except BaseException as error:
            status = "FAILED"
            run.log_tags({"finpath.error": f"{type(error).__name__}: {error}"[:500]})
            raise
        finally:
            self._client.set_terminated(run.id, status)

    def log_model(self, run: Run, program: Any, folder: Path, packages: Mapping[str, str]) -> str:
        """Logs a program as an MLflow model of the ``dspy`` flavour, with its saved folder beside it.

        Returns:
            Its URI, ``models:/m-…``.
        """
        _quiet_mlflow()
        import mlflow

        previous = mlflow.get_tracking_uri()
        mlflow.set_tracking_uri(self.config.uri)
        try:
            with mlflow.start_run(run_id=run.id), _quiet_while_saving():
                logged = mlflow.dspy.log_model(
                    program,
                    name=_NO_MODEL_NAME.sub("-", run.name) or "model",
                    pip_requirements=[f"{name}=={version}" for name, version in packages.items()],
                    use_dspy_model_save=True,
                )
        finally:
            mlflow.set_tracking_uri(previous)
        self._client.log_model_artifacts(logged.model_id, str(folder))
        return str(logged.model_uri)

    def find(self, reference: str, kinds: Sequence[str] = ("evaluate",)) -> RunRecord:
        """The run that ``reference`` means.

        Args:
            reference: A run's id, its name (the newest of that name), ``latest``, or ``latest~N`` for the N-th before
                it. A compile run stands for the evaluation it ended with where ``kinds`` asks for evaluations.
            kinds: The kinds of run that will do.

        Raises:
            TrackingError: There is none.
        """
        if self.config.new_store is not None:
            raise TrackingError(f"no {' or '.join(kinds)} run {reference!r}: there is no {self.config.new_store} yet")
        record = self._lookup(reference, kinds)
        if record is None:
            names = ", ".join(run.name for run in self.search(kinds, limit=5)) or "none yet"
            raise TrackingError(
                f"no {' or '.join(kinds)} run {reference!r} in {self.config.uri} (newest there: {names})"
            )
        return record

    def search(
        self, kinds: Sequence[str], *, limit: int = 50, name: str | None = None, parent: str | None = None
    ) -> list[RunRecord]:
        """Runs of these kinds that finished or were killed, newest first.

        Args:
            kinds: The kinds of run that will do.
            limit: At most this many.
            name: Only runs of this name.
            parent: Only parts of this run.
        """
        where = ["attributes.status != 'RUNNING'", "attributes.status != 'FAILED'"]
        if name is not None:
            if "'" in name:
                raise TrackingError(f"a run's name cannot hold a quote: {name!r}")
            where.append(f"attributes.run_name = '{name}'")
        if parent is not None:
            where.append(f"tags.`mlflow.parentRunId` = '{parent}'")
        found: list[RunRecord] = []
        for kind in kinds:
            found_runs = self._client.search_runs(
                [self._experiment_id],
                filter_string=" and ".join([*where, f"tags.`{_KIND_TAG}` = '{kind}'"]),
                max_results=limit,
                order_by=["attributes.start_time DESC"],
            )
            found += [_record(run) for run in found_runs]
        return found[:limit]

    def table(self, run: RunRecord, name: str) -> list[dict[str, Any]]:
        """The rows that :meth:`Run.log_table` wrote.

        Raises:
            TrackingError: The run has no such table.
        """
        payload = json.loads(self.text(run, f"{name}.json"))
        return [dict(zip(payload["columns"], row, strict=True)) for row in payload["data"]]

    def text(self, run: RunRecord, path: str) -> str:
        """A text file among the run's artifacts.

        Raises:
            TrackingError: The run has no such file.
        """
        return self.download(f"runs:/{run.id}/{path}").read_text(encoding="utf-8")

    def download(self, uri: str) -> Path:
        """The local copy of ``runs:/ID/path`` or ``models:/…``; local stores are read in place.

        Raises:
            TrackingError: There is no such run, model or artifact.
        """
        if self.config.new_store is not None:
            raise TrackingError(f"{uri} cannot be had: there is no {self.config.new_store} yet")
        _ = self._client
        import mlflow.artifacts
        from mlflow.exceptions import MlflowException

        try:
            return Path(mlflow.artifacts.download_artifacts(artifact_uri=uri, tracking_uri=self.config.uri))
        except (MlflowException, OSError) as error:
            raise TrackingError(f"{uri} cannot be had from {self.config.uri}: {error}") from error

    def latest_model(self, name: str) -> str | None:
        """The URI of the newest version of a registered model, or ``None`` if there is none of that name."""
        if self.config.new_store is not None:
            return None
        versions = self._client.search_model_versions(f"name = '{name}'") if "'" not in name else []
        if not versions:
            return None
        return f"models:/{name}/{max(int(version.version) for version in versions)}"

    def _lookup(self, reference: str, kinds: Sequence[str]) -> RunRecord | None:
        if match := _LATEST.fullmatch(reference):
            back = int(match[1] or 0)
            found = self.search(kinds, limit=back + 1)
            return found[back] if len(found) > back else None
        if _RUN_ID.fullmatch(reference):
            from mlflow.exceptions import MlflowException

            try:
                record = _record(self._client.get_run(reference))
            except MlflowException:
                return None
            if record.kind in kinds:
                return record
            return next(iter(self.search(kinds, limit=1, parent=record.id)), None)
        if named := self.search(kinds, limit=1, name=reference):
            return named[0]
        if "evaluate" in kinds and (compiled := self.search(["compile"], limit=1, name=reference)):
            return next(iter(self.search(kinds, limit=1, parent=compiled[0].id)), None)
        return None


def open_run(
    tracker: Tracker | None, kind: RunKind, name: str, **options: Any
) -> contextlib.AbstractContextManager[Run]:
    """A run of ``tracker``, or one that keeps nothing when it is ``None``."""
    return contextlib.nullcontext(UntrackedRun(name)) if tracker is None else tracker.run(kind, name, **options)


def _record(run: Any) -> RunRecord:
    return RunRecord(
        id=run.info.run_id,
        name=run.info.run_name or "",
        kind=run.data.tags.get(_KIND_TAG, ""),
        status=run.info.status,
        params=dict(run.data.params),
        metrics=dict(run.data.metrics),
        tags=dict(run.data.tags),
    )


def _quiet_mlflow() -> None:
    """MLflow tells of every table it makes in its store; a user of finpath has not asked about its tables."""
    os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")
    os.environ.setdefault("GIT_PYTHON_REFRESH", "quiet")
    os.environ.setdefault("MLFLOW_ENABLE_ARTIFACTS_PROGRESS_BAR", "false")
    os.environ.setdefault("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "3")  # its 7 take minutes to say that a server is down
    for name in ("mlflow.store.db.utils", "alembic", "alembic.runtime.migration"):
        logging.getLogger(name).setLevel(logging.WARNING)


@contextlib.contextmanager
def _quiet_while_saving() -> Iterator[None]:
    """Without the advice on pickled models and missing signatures: finpath loads the JSON state beside them."""
    names = ("mlflow.models.model", "mlflow.dspy.save", "mlflow.utils.environment", "dspy.primitives.base_module")
    loggers = [logging.getLogger(name) for name in (*names, "dspy.dsp.utils.settings")]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)


@contextlib.contextmanager
def temporary_folder() -> Iterator[Path]:
    """A folder that is gone when the block ends."""
    with tempfile.TemporaryDirectory(prefix="finpath-") as folder:
        yield Path(folder)
