"""Runs in MLflow: written while a command works, read back by later ones.

    tracker = Tracker(TrackingConfig.from_environment())
    with tracker.run("evaluate", "beam on dev.json") as run:
        run.log_params({"seed": 0})
        run.log_metrics({"exe_accuracy": 0.71})
        run.log_table("turns", rows)
    tracker.find("latest").metrics["exe_accuracy"]      # 0.71

A run that an exception ends is marked ``FAILED``, one that Ctrl-C ends ``KILLED``; both keep what was logged until
then. Everything goes through MLflow's client and never through its global state, so runs may nest and threads may log.
Each run has a lock in the user's cache while it is written. A run that is still marked as running, whose lock is free,
was killed. Every run and saved program records the versions and the revision of the code.
"""

from __future__ import annotations

import contextlib
import json
import logging
import math
import os
import platform
import re
import subprocess
import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import metadata
from pathlib import Path
from typing import Any, Literal

from experiments.console import why_unwritable, without_password
from kg.errors import TrackingError
from kg.files import cache_folder
from kg.locks import BusyError, FileLock, locked

RunKind = Literal["compile", "evaluate", "compare", "kgqa", "answers", "ask"]
EVALUATIONS: tuple[RunKind, ...] = ("evaluate", "kgqa", "answers")
"""The kinds of runs that are evaluations."""

PACKAGES = ("dspy", "rdflib", "numpy", "mlflow", "datasets")
"""The packages whose versions can change a result."""

REVISION_TAG = "mlflow.source.git.commit"
"""MLflow's own tag for the revision of the code."""

_RUN_ID = re.compile(r"[0-9a-f]{32}")
_LATEST = re.compile(r"latest(?:~(\d{1,9}))?")
_KIND_TAG = "finpath.kind"
_MOST_BACK = 10_000
_ATTEMPTS = 3
_UNFINISHED = ("already exists", "no such table", "no such column")
"""Words of SQLite for a database that lacks some of MLflow's tables."""

_SECTIONS = tuple(
    (re.compile(pattern), name)
    for pattern, name in (
        (r"(.+_(?:low|high))", r"ci/\1"),
        (r"recall_(at_\d+)", r"recall/\1"),
        (r"exe_accuracy_turn_(\d+)", r"by_turn/exe_accuracy_\1"),
        (r"(failures|stage|difference)_(.+)", r"\1/\2"),
        (r"(lm_.+|.*tokens.*|.*seconds.*|.*calls.*)", r"cost/\1"),
        (r"((?:data|graph)_problems|unreadable_questions|resumed_turns)", r"data/\1"),
    )
)


def sectioned(figures: Mapping[str, object]) -> dict[str, object]:
    """Returns figures under MLflow's sections, so that the first section of a run's page has the headlines alone.

    >>> sectioned({"exe_accuracy": 0.7, "exe_accuracy_low": 0.6, "recall_at_10": 0.9})
    {'exe_accuracy': 0.7, 'ci/exe_accuracy_low': 0.6, 'recall/at_10': 0.9}
    """
    return {metric_name(name): value for name, value in figures.items() if name not in ("seed", "limit")}


def metric_name(name: str) -> str:
    """Returns the name of a figure in MLflow; a headline figure keeps its own."""
    matches = ((pattern.fullmatch(name), section) for pattern, section in _SECTIONS)
    return next((match.expand(section) for match, section in matches if match), name)


@dataclass(frozen=True)
class Environment:
    """Versions and revision.

    Attributes:
        finpath: Version of finpath.
        python: Version of Python.
        packages: Version of each of :data:`PACKAGES`.
        git_revision: The commit of finpath's checkout, followed by ``-dirty`` where files differ from it. ``None`` if
            finpath is installed or git is missing.
    """

    finpath: str
    python: str
    packages: dict[str, str]
    git_revision: str | None

    def tags(self) -> dict[str, str]:
        """Returns the tags that every run has."""
        return {
            "finpath.version": self.finpath,
            "finpath.packages": json.dumps(self.packages),
            "finpath.python": self.python,
            **({REVISION_TAG: self.git_revision} if self.git_revision else {}),
        }


@cache
def describe_environment() -> Environment:
    """The environment of this process."""
    packages = {name: metadata.version(name) for name in PACKAGES}
    revision = _git_revision(Path(__file__).resolve().parents[1])
    return Environment(metadata.version("finpath"), platform.python_version(), packages, revision)


def _git_revision(folder: Path) -> str | None:
    command = ["git", "-C", str(folder), "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=10, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip() if (folder / ".git").exists() else None


@dataclass(frozen=True)
class TrackingConfig:
    """The store of runs.

    Attributes:
        uri: An MLflow tracking URI; a ``sqlite:///`` path is relative to the working folder.
        experiment: Name of the MLflow experiment.
    """

    uri: str = "sqlite:///mlflow.db"
    experiment: str = "finpath"

    @classmethod
    def from_environment(cls) -> TrackingConfig:
        """``MLFLOW_TRACKING_URI`` and ``MLFLOW_EXPERIMENT_NAME``, or the defaults where they are not set."""
        uri, experiment = map(os.environ.get, ("MLFLOW_TRACKING_URI", "MLFLOW_EXPERIMENT_NAME"))
        return cls(uri or cls.uri, experiment or cls.experiment)

    @property
    def local_file(self) -> Path | None:
        """The database file, if it is a local one."""
        return Path(self.uri.removeprefix("sqlite:///").split("?")[0]) if self.uri.startswith("sqlite:///") else None

    @property
    def is_on(self) -> bool:
        """Whether single questions are logged without an order to: a store is named or is there."""
        return bool(os.environ.get("MLFLOW_TRACKING_URI")) or self.new_store is None

    @property
    def new_store(self) -> Path | None:
        """The database file that the first run will create, if it is a local one that is not there yet."""
        path = self.local_file
        return path if path is not None and not path.exists() else None


@dataclass(frozen=True)
class DataInput:
    """A data set as a run records it.

    Attributes:
        name: As the user would recognise it: ``dev.json``.
        sha256: Hash of its content.
        context: Its use in the run: ``train`` or ``dev``.
        conversations: The number of used conversations.
    """

    name: str
    sha256: str
    context: str
    conversations: int


@dataclass(frozen=True)
class RunRecord:
    """A run as it was logged.

    Attributes:
        id: MLflow's 32 hexadecimal digits.
        name: The run's name.
        kind: One of :data:`RunKind`.
        status: ``FINISHED``, ``FAILED``, ``KILLED`` or ``RUNNING``.
        params: Settings, as texts.
        metrics: Figures under their stable names.
        tags: Hashes, versions and everything else.
    """

    id: str
    name: str
    kind: str
    status: str
    params: Mapping[str, str]
    metrics: Mapping[str, float]
    tags: Mapping[str, str]


class Run:
    """A run that is being written; made by :meth:`Tracker.run`. Without a client it logs nothing, and has no id."""

    def __init__(self, client: Any, run_id: str | None, name: str) -> None:
        self.client, self.id, self.name = client, run_id, name
        self._tables: list[dict[str, str]] = []

    def log_params(self, params: Mapping[str, object]) -> None:
        """Logs settings."""
        from mlflow.entities import Param

        texts = {key: one if isinstance(one, str) else json.dumps(one, default=str) for key, one in params.items()}
        self._log_batch(params=[Param(key, text) for key, text in texts.items()])

    def log_metrics(self, metrics: Mapping[str, object], step: int = 0) -> None:
        """Figures; what is not a finite number is left out."""
        from mlflow.entities import Metric

        now = int(time.time() * 1000)
        numbers = {
            key: float(value)
            for key, value in metrics.items()
            if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
        }
        self._log_batch(metrics=[Metric(key, value, now, step) for key, value in numbers.items()])

    def log_tags(self, tags: Mapping[str, str]) -> None:
        """Logs hashes, versions and other searchable facts."""
        from mlflow.entities import RunTag

        self._log_batch(tags=[RunTag(key, value) for key, value in tags.items()])

    def _log_batch(self, **batch: Any) -> None:
        if self.id is not None:
            self.client.log_batch(self.id, **batch)

    def log_description(self, text: str) -> None:
        """A text table for the run's page in MLflow."""
        self.log_tags({"mlflow.note.content": f"```\n{text}\n```"})

    def log_data(self, data: DataInput) -> None:
        """A data set that the run used, with its hash."""
        from mlflow.entities import Dataset, DatasetInput, InputTag
        from mlflow.exceptions import MlflowException

        source = json.dumps({"name": data.name, "sha256": data.sha256})
        profile = json.dumps({"conversations": data.conversations})
        dataset = Dataset(data.name, data.sha256[:16], "finpath", source, profile=profile)
        inputs = [DatasetInput(dataset, [InputTag("mlflow.data.context", data.context)])]
        for attempt in range(_ATTEMPTS if self.id is not None else 0):
            try:
                self.client.log_inputs(self.id, datasets=inputs)
                return
            except MlflowException as error:
                # MLflow looks a data set up and then adds it: two runs that begin at once on the same one collide.
                if "IntegrityError" not in str(error) or attempt == _ATTEMPTS - 1:
                    raise

    def log_table(self, name: str, rows: Sequence[Mapping[str, object]]) -> None:
        """Rows, empty where a key is missing: MLflow's own table view shows them, ``Tracker.table`` reads them back."""
        columns = list(dict.fromkeys(column for row in rows for column in row))
        payload = {"columns": columns, "data": [[row.get(column) for column in columns] for row in rows]}
        # MLflow's log_table uses pandas, which turns a 3 into 3.0 in a column with a None.
        self.log_text(f"{name}.json", json.dumps(payload, ensure_ascii=False, allow_nan=False))
        self._tables.append({"path": f"{name}.json", "type": "table"})
        self.log_tags({"mlflow.loggedArtifacts": json.dumps(self._tables)})

    def log_text(self, path: str, text: str) -> None:
        """A text file among the run's artifacts."""
        if self.id is not None:
            self.client.log_text(self.id, text, path)

    def log_folder(self, folder: Path, name: str) -> None:
        """A folder among the run's artifacts: ``runs:/ID/name`` gives it back."""
        if self.id is not None:
            self.client.log_artifacts(self.id, str(folder), name)


class Tracker:
    """A tracking store and one experiment in it.

    Args:
        config: Where; nothing is opened before the first run is written or looked up.
    """

    def __init__(self, config: TrackingConfig) -> None:
        self.config = config

    @cached_property
    def client(self) -> Any:
        """MLflow's client on the store."""
        quiet_mlflow()
        from mlflow import MlflowClient
        from mlflow.exceptions import MlflowException
        from sqlalchemy.exc import SQLAlchemyError

        if self.config.local_file is not None:
            self.check()
        new = self.config.new_store
        try:
            # Two processes that create the tables at once would both fail.
            with locked(new.with_name(f".{new.name}.lock"), remove=True) if new else contextlib.nullcontext():
                client = MlflowClient(self.config.uri, registry_uri=self.config.uri)
                client.search_experiments(max_results=1)
        # The last two are of a database without its driver, and of an address that is none.
        except (MlflowException, SQLAlchemyError, ImportError, ValueError) as error:
            reason = without_password(" ".join(str(error).partition("\n")[0].split()))[:200]
            if self.config.local_file is not None and any(sign in reason for sign in _UNFINISHED):
                reason += f"; its creation was stopped: move {self.config.local_file} away"
            raise TrackingError(
                f"the tracking store {without_password(self.config.uri)} cannot be opened: {reason}"
            ) from error
        return client

    def check(self) -> None:
        """Raises TrackingError where the store cannot be written or opened; a local one is not opened or created.

        MLflow would try for two minutes to write a local database.
        """
        path = self.config.local_file
        if path is None:
            _ = self.client
            return
        reason = why_unwritable(path)
        if reason is None and path.exists() and not os.access(path, os.W_OK):
            reason = f"no permission for {path}"
        if reason is not None:
            raise TrackingError(f"the tracking store {path} cannot be written: {reason}")

    def open(self) -> None:
        """Opens the store now, and creates it where it is not there; otherwise that happens with the first run."""
        _ = self.experiment_id

    @cached_property
    def experiment_id(self) -> str:
        """The experiment's id; it is created where it is not there."""
        from mlflow.exceptions import MlflowException

        name = self.config.experiment
        experiment = self.client.get_experiment_by_name(name)
        if experiment is None:
            try:
                return str(self.client.create_experiment(name))
            except MlflowException:  # another process may have created it meanwhile
                experiment = self.client.get_experiment_by_name(name)
                if experiment is None:
                    raise
        if experiment.lifecycle_stage != "active":
            raise TrackingError(
                f"the experiment {name!r} was deleted; restore it with `mlflow experiments restore "
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

        Raises:
            TrackingError: The store cannot be written, or another process writes the resumed run or has finished it.
        """
        own = (
            {_KIND_TAG: kind, "mlflow.source.name": f"finpath {kind}"}
            | describe_environment().tags()
            | dict(tags or {})
        )
        if resumed is not None:
            lock = _lock_of(resumed, wait=False)
            if self.client.get_run(resumed).info.status == "FINISHED":
                lock.release(remove=True)
                raise TrackingError(f"the run {resumed} was finished by another process")
            run = Run(self.client, resumed, self.client.get_run(resumed).info.run_name or "")
            run.log_tags(own)
            self.client.update_run(resumed, status="RUNNING")
        else:
            self.check()
            if parent is not None and parent.id is not None:
                own["mlflow.parentRunId"] = parent.id
            created = self.client.create_run(self.experiment_id, run_name=name, tags=own)
            run = Run(self.client, created.info.run_id, name)
            lock = _lock_of(created.info.run_id)
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
            lock.release(remove=True)

    def mark_killed(self) -> list[RunRecord]:
        """Marks the runs of this machine whose process is gone as killed, and returns them."""
        records = self.search(("compile", *EVALUATIONS, "compare", "ask"), without=("FINISHED", "FAILED", "KILLED"))
        killed = [record for record in records if lock_file(record.id).exists() and not is_written(record.id)]
        for record in killed:
            self.client.set_terminated(record.id, "KILLED")
            lock_file(record.id).unlink(missing_ok=True)
        return killed

    def adding(self, record: RunRecord) -> Run:
        """Returns a run that has ended, to log more to it; its status stays."""
        return Run(self.client, record.id, record.name)

    def find(self, reference: str, kinds: Sequence[str] = ("evaluate",)) -> RunRecord:
        """The run that ``reference`` means.

        Args:
            reference: A run's id, its name (the newest of that name), ``latest``, or ``latest~N`` for the N-th before
                it. Where ``kinds`` names evaluations, a compile run means its final evaluation.
            kinds: The kinds of run that will do.

        Raises:
            TrackingError: There is none.
        """
        wanted = f"no {' or '.join(kinds)} run {reference!r}"
        if self.config.new_store is not None:
            raise TrackingError(f"{wanted}: there is no {self.config.new_store} yet")
        record = self._look_up(reference, kinds)
        if record is None:
            names = ", ".join(run.name for run in self.search(kinds, limit=5)) or "none yet"
            raise TrackingError(f"{wanted} in {without_password(self.config.uri)} (newest there: {names})")
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
        if self.config.new_store is not None:
            return []
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
            runs = self.client.search_runs(
                [self.experiment_id],
                filter_string=" and ".join([*where, f"tags.`{_KIND_TAG}` = '{kind}'"]),
                max_results=limit,
                order_by=["attributes.start_time DESC"],
            )
            found += [_record(run) for run in runs]
        return found[:limit]

    def _look_up(self, reference: str, kinds: Sequence[str]) -> RunRecord | None:
        if match := _LATEST.fullmatch(reference):
            back = min(int(match[1] or 0), _MOST_BACK)
            return next(iter(self.search(kinds, limit=back + 1)[back:]), None)
        if _RUN_ID.fullmatch(reference):
            from mlflow.exceptions import MlflowException

            try:
                record = _record(self.client.get_run(reference))
            except MlflowException:
                return None
            return record if record.kind in kinds else self._part_of(record, kinds)
        if named := self.search(kinds, limit=1, name=reference):
            return named[0]
        compiled = self.search(["compile"], limit=1, name=reference) if "evaluate" in kinds else []
        return self._part_of(compiled[0], kinds) if compiled else None

    def _part_of(self, record: RunRecord, kinds: Sequence[str]) -> RunRecord | None:
        return next(iter(self.search(kinds, limit=1, parent=record.id)), None)

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
        if self.config.new_store is not None or "'" in name:
            return None
        versions = self.client.search_model_versions(f"name = '{name}'")
        return f"models:/{name}/{max(int(one.version) for one in versions)}" if versions else None


def lock_file(run_id: str) -> Path:
    """Returns the lock of a run, which exists while a process of this machine writes it, or after it was killed."""
    return cache_folder() / "runs" / f"{run_id}.lock"


def is_written(run_id: str) -> bool:
    """Returns whether a process of this machine writes a run at the moment."""
    if not lock_file(run_id).exists():
        return False
    try:
        FileLock(lock_file(run_id), wait=False).release()
    except BusyError:
        return True
    return False


def _lock_of(run_id: str, *, wait: bool = True) -> FileLock:
    path = lock_file(run_id)
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        return FileLock(path, wait=wait)
    except BusyError as error:
        raise TrackingError(f"the run {run_id} is written by another process") from error


def open_run(
    tracker: Tracker | None, kind: RunKind, name: str, **options: Any
) -> contextlib.AbstractContextManager[Run]:
    """Returns a run of ``tracker``, or for ``None`` one that logs nothing."""
    return contextlib.nullcontext(Run(None, None, name)) if tracker is None else tracker.run(kind, name, **options)


def _record(run: Any) -> RunRecord:
    tags = run.data.tags
    kind, name = tags.get(_KIND_TAG, ""), run.info.run_name or ""
    return RunRecord(run.info.run_id, name, kind, run.info.status, run.data.params, run.data.metrics, tags)


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
def autologged(tracker: Tracker | None, run: Run) -> Iterator[None]:
    """Lets MLflow record DSPy's optimizers on a run while the context lasts: evaluations, programs and calls."""
    if tracker is None or run.id is None:
        yield
        return
    quiet_mlflow()
    import mlflow

    previous = mlflow.get_tracking_uri()
    mlflow.set_tracking_uri(tracker.config.uri)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # MLflow's advice on types
        mlflow.dspy.autolog(log_compiles=True, log_evals=True, log_traces_from_compile=True, silent=True)
    try:
        with mlflow.start_run(run_id=run.id):
            yield
    finally:
        mlflow.flush_trace_async_logging()
        mlflow.dspy.autolog(disable=True, silent=True)
        mlflow.set_tracking_uri(previous)
