"""Runs and their store, as plain records; :mod:`experiments.tracking.tracker` fills them from MLflow.

TrackingConfig.from_environment()      # TrackingConfig(uri='sqlite:///mlflow.db', experiment='finpath')
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from experiments.files import TRACKING_URI

DEFAULT_EXPERIMENT = "finpath"
RunKind = Literal[
    "ontology", "compile", "evaluate", "compare", "kgqa", "conversations", "answers", "advisor", "thoughts", "ask"
]

PROCESS_TAG = "finpath.process"
"""The tag with the process that writes a run."""


@dataclass(frozen=True)
class TrackingConfig:
    """The store of runs.

    Attributes:
        uri: An MLflow tracking URI; a ``sqlite:///`` path is relative to the working folder.
        experiment: Name of the MLflow experiment.
    """

    uri: str = TRACKING_URI
    experiment: str = DEFAULT_EXPERIMENT

    @classmethod
    def from_environment(cls) -> TrackingConfig:
        """``MLFLOW_TRACKING_URI`` and ``MLFLOW_EXPERIMENT_NAME``, or the defaults where they are not set."""
        return cls(
            uri=os.environ.get("MLFLOW_TRACKING_URI") or TRACKING_URI,
            experiment=os.environ.get("MLFLOW_EXPERIMENT_NAME") or DEFAULT_EXPERIMENT,
        )

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
