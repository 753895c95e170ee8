"""Runs and traces in MLflow, written while a command works.

    tracker = Tracker(TrackingConfig.from_environment())
    with tracker.run("evaluate", "beam on dev.json") as run, autologged(run):
        run.log_params({"seed": 0})
        with traced(run, "page 7, turn 1", {"question": "..."}) as span:     # the calls inside are spans below it
            span.set_outputs({"answer": "5"})
        run.log_metrics({"exe_accuracy": 0.71})
        run.log_table("turns", rows)

A run that an exception ends is marked ``FAILED``, one that Ctrl-C ends ``KILLED``; both keep what was logged until
then. Every run and saved program records the versions and the revision of the code.
"""

from __future__ import annotations

import contextlib
import dataclasses
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
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import cache, cached_property
from importlib import metadata
from pathlib import Path
from typing import Any, Literal

from experiments.console import why_unwritable
from experiments.runs import CONVERSATION_TAG, KIND_TAG, TURN_TAG, RunReader
from kg.errors import TrackingError
from kg.files import locked
from kg.secrets import without_secrets
from programs.turns import plain
from programs.worlds.base import Search

RunKind = Literal["ontology", "compile", "evaluate", "compare", "kgqa", "ask"]

PACKAGES = ("dspy", "rdflib", "numpy", "mlflow", "datasets")
"""The packages whose versions can change a result."""

MODEL_TAG = "finpath.model_uri"

REVISION_TAG = "mlflow.source.git.commit"
"""MLflow's own tag for the revision of the code."""

_OBJECTS = 5
_NO_SESSION = re.compile(r"[^\w.-]+")

_DETAIL = re.compile(
    r"seed|limit|.+_(?:low|high)|recall_at_.+|exe_accuracy_.+|(?:failures|stage|difference|lm)_.+"
    r"|.*(?:tokens|seconds|calls|problems|unreadable|resumed).*"
)


def headlines(figures: Mapping[str, object]) -> dict[str, object]:
    """Returns the figures that are metrics of a run; intervals, counts and costs are in its table alone.

    >>> headlines({"exe_accuracy": 0.7, "exe_accuracy_low": 0.6})
    {'exe_accuracy': 0.7}
    """
    return {name: value for name, value in figures.items() if not _DETAIL.fullmatch(name)}


@cache
def describe_environment() -> dict[str, Any]:
    """Versions, and the commit of finpath's checkout, ``-dirty`` where files were changed; ``None`` without git."""
    packages, folder, revision = {name: metadata.version(name) for name in PACKAGES}, Path(__file__).parents[1], None
    command = ["git", "-C", str(folder), "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"]
    if (folder / ".git").exists():
        with contextlib.suppress(OSError, subprocess.SubprocessError):
            done = subprocess.run(command, capture_output=True, text=True, timeout=10, check=True)
            revision = done.stdout.strip()
    versions = {"finpath": metadata.version("finpath"), "python": platform.python_version()}
    return {**versions, "packages": packages, "git_revision": revision}


@dataclass(frozen=True)
class TrackingConfig:
    """The store of runs.

    Attributes:
        uri: An MLflow tracking URI; a ``sqlite:///`` path is relative to the working folder.
        experiment: Name of the MLflow experiments, one for each kind of run: ``finpath-evaluate``.
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
    """A data set as a run records it: the file, its hash, its use in the run, and the number of conversations used."""

    name: str
    sha256: str
    context: str
    conversations: int


class Run:
    """A run that is being written; made by :meth:`Tracker.run`. Without a tracker it logs nothing, and has no id."""

    def __init__(self, tracker: Tracker | None, run_id: str | None, name: str, kind: RunKind = "evaluate") -> None:
        self.tracker, self.id, self.name, self.kind = tracker, run_id, name, kind
        self.model_id: str | None = None
        self._data: tuple[str, str] | None = None
        self._tables: list[dict[str, str]] = []

    def log_params(self, params: Mapping[str, object]) -> None:
        """Logs settings."""
        from mlflow.entities import Param

        texts = {key: text if isinstance(text, str) else json.dumps(text, default=str) for key, text in params.items()}
        self._log("log_batch", params=[Param(key, text) for key, text in texts.items()])

    def log_metrics(self, metrics: Mapping[str, object]) -> None:
        """Figures; what is not a finite number is left out."""
        from mlflow.entities import Metric

        now = int(time.time() * 1000)
        numbers = {
            key: float(value)
            for key, value in metrics.items()
            if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
        }
        about = (self.model_id, *self._data) if self.model_id and self._data else ()
        self._log("log_batch", metrics=[Metric(key, value, now, 0, *about) for key, value in numbers.items()])

    def log_figures(self, figures: Mapping[str, object]) -> None:
        """Logs the headlines as metrics, and all figures with their intervals as the table ``figures``."""
        self.log_metrics(headlines(figures))
        own = {name: value for name, value in figures.items() if isinstance(value, int | float) and value == value}
        rows = [
            {"figure": name, "value": value, "low": own.get(f"{name}_low"), "high": own.get(f"{name}_high")}
            for name, value in own.items()
            if not name.endswith(("_low", "_high"))
        ]
        self.log_table("figures", rows)

    def log_tags(self, tags: Mapping[str, str]) -> None:
        """Logs hashes, versions and other searchable facts."""
        from mlflow.entities import RunTag

        self._log("log_batch", tags=[RunTag(key, value) for key, value in tags.items()])

    def _log(self, method: str, *arguments: Any, **named: Any) -> None:
        if self.tracker is not None:
            getattr(self.tracker.client, method)(self.id, *arguments, **named)

    def log_description(self, text: str) -> None:
        """A text table for the run's page in MLflow."""
        self.log_tags({"mlflow.note.content": f"```\n{text}\n```"})

    def log_data(self, data: DataInput) -> None:
        """A data set that the run used, with its hash."""
        from mlflow.entities import Dataset, DatasetInput, InputTag
        from mlflow.exceptions import MlflowException

        source = json.dumps({"name": data.name, "sha256": data.sha256})
        profile = json.dumps({"conversations": data.conversations})
        self._data = data.name, data.sha256[:16]
        dataset = Dataset(*self._data, "finpath", source, profile=profile)
        inputs = [DatasetInput(dataset, [InputTag("mlflow.data.context", data.context)])]
        try:
            self._log("log_inputs", datasets=inputs)
        except MlflowException as error:
            # MLflow looks a data set up and then adds it: two runs that begin at once on the same one collide.
            if "IntegrityError" not in str(error):
                raise
            self._log("log_inputs", datasets=inputs)

    def log_model_input(self, model_id: str) -> None:
        """The model that the run evaluates; the metrics that follow are linked to it."""
        from mlflow.entities import LoggedModelInput

        self.model_id = model_id
        self._log("log_inputs", models=[LoggedModelInput(model_id)])
        self.log_tags({MODEL_TAG: f"models:/{model_id}"})

    def log_records(self, data: DataInput, records: Sequence[Mapping[str, Any]]) -> None:
        """Makes turns with their gold a data set of evaluations in MLflow, to which its pages add; once for a file."""
        if self.tracker is None:
            return
        client, place = self.tracker.client, self.tracker.experiment(self.kind)
        kept = [(dataset.name, dataset.tags.get("sha256")) for dataset in client.search_datasets([place])]
        if (data.name, data.sha256) in kept:
            return
        with at_store(self.tracker):
            client.create_dataset(data.name, [place], {"sha256": data.sha256}).merge_records(plain(records))

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
        self._log("log_text", text, path)

    def log_folder(self, folder: Path, name: str) -> None:
        """A folder among the run's artifacts: ``runs:/ID/name`` gives it back."""
        self._log("log_artifacts", str(folder), name)


class Tracker(RunReader):
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
            with locked(new.with_name(f".{new.name}.lock"), remove=True) if new else nullcontext():
                client = MlflowClient(self.config.uri, registry_uri=self.config.uri)
                client.search_experiments(max_results=1)
        # The last two are of a database without its driver, and of an address that is none.
        except (MlflowException, SQLAlchemyError, ImportError, ValueError) as error:
            reason = without_secrets(" ".join(str(error).partition("\n")[0].split()))[:200]
            raise TrackingError(
                f"the tracking store {without_secrets(self.config.uri)} cannot be opened: {reason}"
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

    @cache  # noqa: B019 - a tracker lives as long as its command
    def experiment(self, kind: str) -> str:
        """The id of the experiment of a kind of run; it is created where it is not there."""
        from mlflow.exceptions import MlflowException

        name = f"{self.config.experiment}-{kind}"
        if self.client.get_experiment_by_name(name) is None:
            with contextlib.suppress(MlflowException):  # another process may have created it meanwhile
                self.client.create_experiment(name)
        experiment = self.client.get_experiment_by_name(name)
        if experiment is None or experiment.lifecycle_stage != "active":
            rule = "cannot be created, or was deleted: name another in MLFLOW_EXPERIMENT_NAME, or restore it"
            raise TrackingError(f"the experiment {name!r} {rule}")
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
            TrackingError: The store cannot be written, or another process has finished the resumed run.
        """
        versions = describe_environment()
        own = {"finpath.version": versions["finpath"], "finpath.python": versions["python"]}
        own["finpath.packages"] = json.dumps(versions["packages"])
        own |= {KIND_TAG: kind, "mlflow.source.name": f"finpath {kind}", **(tags or {})}
        own |= {REVISION_TAG: revision} if (revision := versions["git_revision"]) else {}
        if resumed is not None:
            known = self.client.get_run(resumed).info
            if known.status == "FINISHED":
                raise TrackingError(f"the run {resumed} was finished by another process")
            run = Run(self, resumed, known.run_name or "", kind)
            run.log_tags(own)
            self.client.update_run(resumed, status="RUNNING")
        else:
            self.check()
            if parent is not None and parent.id is not None:
                own["mlflow.parentRunId"] = parent.id
            created = self.client.create_run(self.experiment(kind), run_name=name, tags=own)
            run = Run(self, created.info.run_id, name, kind)
        status = "FINISHED"
        try:
            yield run
        except KeyboardInterrupt as stop:
            status = "KILLED"
            stop.add_note(f"finished work is kept on the run {run.id} (an evaluation continues with --resume)")
            raise
        except BaseException as error:
            status = "FAILED"
            run.log_tags({"finpath.error": without_secrets(f"{type(error).__name__}: {error}"[:500])})
            raise
        finally:
            self.client.set_terminated(run.id, status)


def open_run(
    tracker: Tracker | None, kind: RunKind, name: str, **options: Any
) -> contextlib.AbstractContextManager[Run]:
    """Returns a run of ``tracker``, or for ``None`` one that logs nothing."""
    return nullcontext(Run(None, None, name)) if tracker is None else tracker.run(kind, name, **options)


def quiet_mlflow() -> None:
    """Silences MLflow's messages, and keeps it from reading pickles unless the user's environment allows it."""
    settings = {
        "MLFLOW_ALLOW_PICKLE_DESERIALIZATION": "false",  # MLflow's own default runs what it loads
        "MLFLOW_DISABLE_TELEMETRY": "true",
        "MLFLOW_LOGGING_LEVEL": "ERROR",
        "GIT_PYTHON_REFRESH": "quiet",
        "MLFLOW_ENABLE_ARTIFACTS_PROGRESS_BAR": "false",
        "MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT": "true",  # standard output is for results
        "LITELLM_LOCAL_MODEL_COST_MAP": "true",  # no wait for a price list where there is no network
        "MLFLOW_ENABLE_ASYNC_TRACE_LOGGING": "false",  # its threads wait for two seconds at the end of each run
        "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "3",  # its 7 take minutes to report a server that is down
    }
    for name, value in settings.items():
        os.environ.setdefault(name, value)
    for name in ("alembic", "alembic.runtime.migration", "mlflow.tracing"):
        logging.getLogger(name).setLevel(logging.WARNING)
    # It writes a traceback with the statement's values for each error, and then raises the error.
    logging.getLogger("mlflow.store.db.utils").setLevel(logging.CRITICAL)


@contextlib.contextmanager
def autologged(run: Run, **settings: bool) -> Iterator[None]:
    """Lets MLflow record DSPy's calls as spans while the context lasts; nothing for a run without a tracker.

    Args:
        run: The run, which is active in MLflow meanwhile.
        settings: Those of ``mlflow.dspy.autolog``.
    """
    if run.tracker is None:
        yield
        return
    with at_store(run.tracker):
        import mlflow

        try:
            with _recorded(run.tracker, settings), mlflow.start_run(run_id=run.id) if settings else nullcontext():
                yield
        finally:
            mlflow.flush_trace_async_logging()
            mlflow.dspy.autolog(disable=True, silent=True)


@contextlib.contextmanager
def at_store(tracker: Tracker) -> Iterator[None]:
    """Makes a tracker's store that of MLflow's own functions while the context lasts."""
    quiet_mlflow()
    import mlflow

    previous = mlflow.get_tracking_uri()
    mlflow.set_tracking_uri(tracker.config.uri)
    try:
        yield
    finally:
        mlflow.set_tracking_uri(previous)


def _recorded(tracker: Tracker, settings: Mapping[str, bool]) -> contextlib.AbstractContextManager[None]:
    """Returns DSPy's context with MLflow's callback, with these settings of ``mlflow.dspy.autolog``."""
    import dspy
    import mlflow

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # MLflow's advice on types
        mlflow.dspy.autolog(silent=True, **settings)
        from mlflow.dspy.callback import MlflowCallback
    if tracker.config.local_file is not None:
        mlflow.tracing.enable()
        _write_whole_traces()
    # MLflow adds its callback to DSPy's settings, which a context that is open already does not see.
    callbacks = [callback for callback in dspy.settings.callbacks if not isinstance(callback, MlflowCallback)]
    return dspy.context(callbacks=[*callbacks, _readable_spans()])  # type: ignore[no-any-return]


def _write_whole_traces() -> None:
    """Lets MLflow write a trace and then its spans; span by span, the database merges each row of the trace again."""
    try:
        from mlflow.tracing.provider import _get_trace_exporter

        exporter: Any = _get_trace_exporter()
        write_trace, write_spans = exporter._log_trace, exporter._log_spans
    except (ImportError, AttributeError):  # another version of MLflow: its traces are the same, and slower
        return

    def log_whole_trace(trace: Any, *rest: Any, **named: Any) -> None:
        trace.info.tags["mlflow.trace.spansLocation"] = "TRACKING_STORE"
        write_trace(trace, *rest, **named)
        write_spans(trace.info.experiment_id, trace.data.spans)

    if "_log_trace" not in vars(exporter):  # it may be that of an earlier run
        exporter._log_trace, exporter._export_spans_incrementally = log_whole_trace, lambda _: None


def _readable_spans() -> Any:
    """Returns MLflow's callback with inputs and outputs for readers; whole objects take most of a trace's time."""
    from mlflow.dspy.callback import MlflowCallback

    spans: Any = MlflowCallback()
    start, end = getattr(spans, "_start_span", None), getattr(spans, "_end_span", None)
    if start and end:  # another version of MLflow may lack them: its traces hold whole objects
        spans._start_span = lambda call, name, span_type, inputs, **more: start(
            call,
            name="search" if (of_world := name.endswith("World.forward")) else name.removesuffix(".forward"),
            span_type="RETRIEVER" if of_world else span_type,
            inputs=readable({"question": inputs["question"]} if of_world else inputs),
            **more,
        )
        spans._end_span = lambda call, outputs, *rest: end(call, _retrieved(outputs), *rest)
    return spans


def _retrieved(value: Any) -> Any:
    """Returns the candidates of a search as documents, which MLflow shows as those of a retriever."""
    if not isinstance(value, Search):
        return readable(value)
    texts = [json.dumps(readable(candidate), ensure_ascii=False) for candidate in value.candidates[:_OBJECTS]]
    return [{"page_content": text, "id": str(place)} for place, text in enumerate(texts, start=1)]


def readable(value: Any) -> Any:
    """Returns a value as JSON, to be read: five objects of a list at most, and the class of one without a text."""
    if value is None or isinstance(value, bool | int | float):
        return plain(value)
    if isinstance(value, Mapping):
        return {str(name): readable(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [readable(item) for item in (value[:_OBJECTS] if any(map(dataclasses.is_dataclass, value)) else value)]
    if isinstance(getattr(value, "id", None), str):
        return f"{type(value).__name__} {value.id}"
    if dataclasses.is_dataclass(value) and type(value).__str__ is object.__str__:
        return {field.name: readable(getattr(value, field.name)) for field in dataclasses.fields(value)}
    return type(value).__name__ if " object at 0x" in (text := str(value)) else text


@contextlib.contextmanager
def traced(run: Run, title: str) -> Iterator[Any]:
    """Yields the first span of a question's trace, below which the calls inside are; ``None`` without a tracker."""
    if run.tracker is None:
        yield None
        return
    import mlflow
    from mlflow.entities.trace_location import MlflowExperimentLocation

    destination = MlflowExperimentLocation(run.tracker.experiment(run.kind))
    with mlflow.start_span(title, "CHAIN", trace_destination=destination, run_id=run.id) as span:
        yield span


@dataclass(frozen=True)
class TraceFacts:
    """The parts of a question's trace in addition to its calls.

    Attributes:
        inputs: The question and its subject.
        outputs: The answer and its basis; those that are ``None`` are left out.
        tags: To search by; texts.
        error: The error, if it is the reason of a missing answer.
        verdicts: Scores of the answer by name, each with its reason: MLflow shows and filters them as assessments.
        expected: The gold by name, as assessments too.
    """

    inputs: Mapping[str, Any]
    outputs: Mapping[str, Any]
    tags: Mapping[str, str] = field(default_factory=dict)
    error: str | None = None
    verdicts: Mapping[str, tuple[bool | float, str]] = field(default_factory=dict)
    expected: Mapping[str, Any] = field(default_factory=dict)


def write_trace(span: Any, run: Run, item: str, index: int, facts: TraceFacts) -> None:
    """Completes the trace of a span that is open; its session in MLflow is the conversation."""
    import mlflow
    from mlflow.entities import SpanStatus

    span.set_inputs(plain(facts.inputs))
    span.set_outputs(plain({name: value for name, value in facts.outputs.items() if value is not None}))
    if facts.error is not None:
        span.set_status(SpanStatus("ERROR", facts.error))
    # MLflow's pages put the session into an address.
    mlflow.update_current_trace(
        tags={CONVERSATION_TAG: item, TURN_TAG: str(index), "finpath.run": str(run.id), **facts.tags},
        model_id=run.model_id,
        session_id=_NO_SESSION.sub("-", f"{str(run.id)[:8]}-{item}"),
        request_preview=str(facts.inputs.get("question") or ""),
        response_preview=str(facts.outputs.get("answer") or facts.outputs.get("failure") or ""),
    )
    for name, (value, reason) in facts.verdicts.items():
        mlflow.log_feedback(trace_id=span.trace_id, name=name, value=value, rationale=reason)
    for name, value in facts.expected.items():
        if value is not None:
            mlflow.log_expectation(trace_id=span.trace_id, name=name, value=value)
