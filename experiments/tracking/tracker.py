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
import os
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from experiments.console import without_password
from experiments.tracking.environment import this_process
from experiments.tracking.records import PROCESS_TAG, DataInput, RunKind, RunRecord, TrackingConfig
from experiments.tracking.run import Run, UntrackedRun
from experiments.tracking.store import check_writable, create_store, store_problem
from kg.errors import TrackingError

__all__ = ["DataInput", "Run", "RunRecord", "Tracker", "TrackingConfig", "UntrackedRun", "open_run", "temporary_folder"]

_RUN_ID = re.compile(r"[0-9a-f]{32}")
_LATEST = re.compile(r"latest(?:~(\d{1,9}))?")
_KIND_TAG = "finpath.kind"
_MOST_BACK = 10_000


class Tracker:
    """A tracking store and one experiment in it.

    Args:
        config: Where; nothing is opened before the first run is written or looked up.
    """

    def __init__(self, config: TrackingConfig) -> None:
        self.config = config

    @cached_property
    def client(self) -> Any:
        """MLflow's client on the store; for the modules ``experiments.tracking.tracker*`` only."""
        quiet_mlflow()
        from mlflow import MlflowClient
        from mlflow.exceptions import MlflowException
        from sqlalchemy.exc import SQLAlchemyError

        create_store(self.config)
        try:
            client = MlflowClient(self.config.uri, registry_uri=self.config.uri)
            client.search_experiments(max_results=1)
        # The last two are of a database without its driver, and of an address that is none.
        except (MlflowException, SQLAlchemyError, ImportError, ValueError) as error:
            raise TrackingError(store_problem(self.config, error)) from error
        return client

    def check(self) -> None:
        """Raises TrackingError where the store cannot be written or has no driver; nothing is opened or created."""
        check_writable(self.config)

    def open(self) -> None:
        """Opens the store now, and creates it where it is not there; otherwise that happens with the first run."""
        _ = self.experiment_id

    @cached_property
    def experiment_id(self) -> str:
        """The experiment's id; it is created where it is not there."""
        from mlflow.exceptions import MlflowException

        experiment = self.client.get_experiment_by_name(self.config.experiment)
        if experiment is None:
            try:
                return str(self.client.create_experiment(self.config.experiment))
            except MlflowException:  # another process may have created it meanwhile
                experiment = self.client.get_experiment_by_name(self.config.experiment)
                if experiment is None:
                    raise
        if experiment.lifecycle_stage != "active":
            raise TrackingError(
                f"the experiment {self.config.experiment!r} was deleted; restore it with `mlflow experiments restore "
                f"-x {experiment.experiment_id}`, or name another in MLFLOW_EXPERIMENT_NAME"
            )
        return str(experiment.experiment_id)

    @contextlib.contextmanager
    def run(
        self,
        kind: RunKind,
        name: str,
        *,
        parent: Run | None = None,
        tags: Mapping[str, str] | None = None,
        resumed: str | None = None,
    ) -> Iterator[Run]:
        """Yields a new or resumed run, which ends with the block: finished, failed, or killed by Ctrl-C.

        Args:
            kind: The kind of run.
            name: Shown in MLflow, and a way to find the run again.
            parent: The run that this one is a part of.
            tags: Further tags, set from the start.
            resumed: The id of a stopped run to resume, with its name and its parent.
        """
        all_tags = {_KIND_TAG: kind, PROCESS_TAG: this_process(), "mlflow.source.name": f"finpath {kind}"}
        all_tags |= tags or {}
        if parent is not None and parent.id is not None:
            all_tags["mlflow.parentRunId"] = parent.id
        run = self._again(resumed, all_tags) if resumed is not None else self._new(name, all_tags)
        status = "FINISHED"
        try:
            yield run
        except KeyboardInterrupt as stop:
            status = "KILLED"
            stop.add_note(f"finished work is kept on the run {run.id} (an evaluation continues with --resume)")
            raise
        except BaseException as error:
            status = "FAILED"
            run.log_tags({"finpath.error": without_password(f"{type(error).__name__}: {error}"[:500])})
            raise
        finally:
            self.client.set_terminated(run.id, status)

    @contextlib.contextmanager
    def closing(self, record: RunRecord, status: str) -> Iterator[Run]:
        """Yields a run that its own process did not end, for final records; it then ends as ``status``."""
        yield Run(self.client, record.id, record.name)
        self.client.set_terminated(record.id, status)

    @contextlib.contextmanager
    def adding(self, record: RunRecord) -> Iterator[Run]:
        """A run that has ended, to log more to it; its status stays."""
        yield Run(self.client, record.id, record.name)

    def _new(self, name: str, tags: Mapping[str, str]) -> Run:
        check_writable(self.config)
        created = self.client.create_run(self.experiment_id, run_name=name, tags=dict(tags))
        return Run(self.client, created.info.run_id, name)

    def _again(self, run_id: str, tags: Mapping[str, str]) -> Run:
        known = self.client.get_run(run_id)
        run = Run(self.client, run_id, known.info.run_name or "")
        run.log_tags({key: value for key, value in tags.items() if key != "mlflow.parentRunId"})
        self.client.update_run(run_id, status="RUNNING")
        return run

    def find(self, reference: str, kinds: Sequence[str] = ("evaluate",)) -> RunRecord:
        """The run that ``reference`` means.

        Args:
            reference: A run's id, its name (the newest of that name), ``latest``, or ``latest~N`` for the N-th before
                it. Where ``kinds`` names evaluations, a compile run means its final evaluation.
            kinds: The kinds of run that will do.

        Raises:
            TrackingError: There is none.
        """
        if self.config.new_store is not None:
            raise TrackingError(f"no {' or '.join(kinds)} run {reference!r}: there is no {self.config.new_store} yet")
        record = self._lookup(reference, kinds)
        if record is None:
            names = ", ".join(run.name for run in self.search(kinds, limit=5)) or "none yet"
            store = without_password(self.config.uri)
            raise TrackingError(f"no {' or '.join(kinds)} run {reference!r} in {store} (newest there: {names})")
        return record

    def search(
        self,
        kinds: Sequence[str],
        *,
        limit: int = 50,
        name: str | None = None,
        parent: str | None = None,
        tags: Mapping[str, str] | None = None,
        without: Sequence[str] = ("RUNNING", "FAILED"),
    ) -> list[RunRecord]:
        """Runs of these kinds, newest first; by default those that finished or were killed.

        Args:
            kinds: The kinds of run that will do.
            limit: At most this many.
            name: Only runs of this name.
            parent: Only parts of this run.
            tags: Only runs that have these tags.
            without: Not the runs of these statuses.
        """
        where = [f"attributes.status != '{status}'" for status in without]
        where += [f"tags.`{key}` = '{value}'" for key, value in (tags or {}).items()]
        if name is not None:
            if "'" in name:
                raise TrackingError(f"a run's name cannot hold a quote: {name!r}")
            where.append(f"attributes.run_name = '{name}'")
        if parent is not None:
            where.append(f"tags.`mlflow.parentRunId` = '{parent}'")
        found: list[RunRecord] = []
        for kind in kinds:
            found_runs = self.client.search_runs(
                [self.experiment_id],
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
        _ = self.client
        import mlflow.artifacts
        from mlflow.exceptions import MlflowException

        try:
            return Path(mlflow.artifacts.download_artifacts(artifact_uri=uri, tracking_uri=self.config.uri))
        except (MlflowException, OSError) as error:
            raise TrackingError(f"{uri} cannot be had from {without_password(self.config.uri)}: {error}") from error

    def latest_model(self, name: str) -> str | None:
        """The URI of the newest version of a registered model, or ``None`` if there is none of that name."""
        if self.config.new_store is not None:
            return None
        versions = self.client.search_model_versions(f"name = '{name}'") if "'" not in name else []
        if not versions:
            return None
        return f"models:/{name}/{max(int(version.version) for version in versions)}"

    def _lookup(self, reference: str, kinds: Sequence[str]) -> RunRecord | None:
        if match := _LATEST.fullmatch(reference):
            back = min(int(match[1] or 0), _MOST_BACK)
            found = self.search(kinds, limit=back + 1)
            return found[back] if len(found) > back else None
        if _RUN_ID.fullmatch(reference):
            from mlflow.exceptions import MlflowException

            try:
                record = _record(self.client.get_run(reference))
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
    """Returns a run of ``tracker``, or for ``None`` one that logs nothing."""
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


def quiet_mlflow() -> None:
    """Silences MLflow's messages, and keeps it from reading pickles unless the user's environment allows it."""
    os.environ.setdefault("MLFLOW_ALLOW_PICKLE_DESERIALIZATION", "false")  # MLflow's own default runs what it loads
    os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")
    os.environ.setdefault("GIT_PYTHON_REFRESH", "quiet")
    os.environ.setdefault("MLFLOW_ENABLE_ARTIFACTS_PROGRESS_BAR", "false")
    os.environ.setdefault("MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT", "true")  # standard output is for results
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "true")  # no wait for a price list where there is no network
    os.environ.setdefault("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "3")  # its 7 take minutes to report a server that is down
    for name in ("alembic", "alembic.runtime.migration"):
        logging.getLogger(name).setLevel(logging.WARNING)
    # It writes a traceback with the statement's values for each error, and then raises the error.
    logging.getLogger("mlflow.store.db.utils").setLevel(logging.CRITICAL)


@contextlib.contextmanager
def temporary_folder() -> Iterator[Path]:
    """A folder that is gone when the block ends."""
    with tempfile.TemporaryDirectory(prefix="finpath-") as folder:
        yield Path(folder)
