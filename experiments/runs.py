"""Runs in MLflow, read back.

tracker.find("latest").metrics["exe_accuracy"]      # 0.71
tracker.table(tracker.find("latest"), "turns")      # [{"question": "...", "exact": True, ...}, ...]
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from kg.errors import TrackingError
from kg.secrets import without_secrets

KIND_TAG = "finpath.kind"
REPORT_TAG, CONVERSATION_TAG, TURN_TAG = "finpath.report", "finpath.conversation", "finpath.turn"

_RUN_ID = re.compile(r"[0-9a-f]{32}")
_LATEST = re.compile(r"latest(?:~(\d{1,9}))?")
_MOST_BACK = 10_000


@dataclass(frozen=True)
class RunRecord:
    """A run as it was logged.

    Attributes:
        id: MLflow's 32 hexadecimal digits.
        name: The run's name.
        kind: One of :data:`RunKind`.
        status: ``FINISHED``, ``FAILED``, ``KILLED`` or ``RUNNING``.
        params: Settings, as texts.
        metrics: Figures under their names in MLflow.
        tags: Hashes, versions and everything else.
    """

    id: str
    name: str
    kind: str
    status: str
    params: Mapping[str, str]
    metrics: Mapping[str, float]
    tags: Mapping[str, str]


class RunReader:
    """The runs of an experiment in a tracking store, read back.

    Attributes:
        config: The store, as :class:`experiments.tracking.TrackingConfig` describes it.
        client: MLflow's client on it.
        experiment: Returns the id of the experiment of a kind of run.
    """

    config: Any
    client: Any
    experiment: Any

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
            raise TrackingError(f"{wanted} in {without_secrets(self.config.uri)} (newest there: {names})")
        return record

    def search(
        self,
        kinds: Sequence[str],
        *,
        limit: int = 50,
        tags: Mapping[str, str] | None = None,
        name: str | None = None,
        without: Sequence[str] = ("RUNNING", "FAILED"),
    ) -> list[RunRecord]:
        """Runs of these kinds with these tags and this name, newest first; by default none that runs or has failed."""
        if self.config.new_store is not None:
            return []
        tags = {**(tags or {}), **({"mlflow.runName": name} if name is not None else {})}
        if any("'" in value for value in tags.values()):
            raise TrackingError(f"a run's name cannot hold a quote: {name!r}")
        where = [f"attributes.status != '{status}'" for status in without]
        where += [f"tags.`{key}` = '{value}'" for key, value in tags.items()]
        records: list[RunRecord] = []
        for kind in kinds:
            runs = self.client.search_runs(
                [self.experiment(kind)],
                filter_string=" and ".join([*where, f"tags.`{KIND_TAG}` = '{kind}'"]),
                max_results=limit,
                order_by=["attributes.start_time DESC"],
            )
            records += map(_record, runs)
        return records[:limit]

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
        return next(iter(self.search(kinds, limit=1, tags={"mlflow.parentRunId": record.id})), None)

    def table(self, run: RunRecord, name: str) -> list[dict[str, Any]]:
        """The rows that :meth:`Run.log_table` wrote.

        Raises:
            TrackingError: The run has no such table.
        """
        payload = json.loads(self.download(f"runs:/{run.id}/{name}.json").read_text(encoding="utf-8"))
        return [dict(zip(payload["columns"], row, strict=True)) for row in payload["data"]]

    def right_turns(self, run: RunRecord) -> list[list[tuple[dict[str, Any], dict[str, Any]]]]:
        """Inputs and outputs of the calls of predictors in each question of a run that was answered right.

        A question is right if a verdict in MLflow is ``True``, of an evaluation or of a person, and none is ``False``.
        """
        search = partial(self.client.search_traces, locations=[self.experiment(run.kind)], run_id=run.id)
        traces = page = search()
        while page.token:
            traces = [*traces, *(page := search(page_token=page.token))]
        return [
            [(span.inputs, span.outputs) for span in trace.data.spans if span.span_type == "LLM" and span.outputs]
            for trace in traces
            if {own.value for own in trace.info.assessments if isinstance(own.value, bool)} == {True}
        ]

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
            raise TrackingError(f"{uri} cannot be had from {without_secrets(self.config.uri)}: {error}") from error


def _record(run: Any) -> RunRecord:
    tags = run.data.tags
    kind, name = tags.get(KIND_TAG, ""), run.info.run_name or ""
    return RunRecord(run.info.run_id, name, kind, run.info.status, run.data.params, run.data.metrics, tags)
