"""Registered models in MLflow: versions of a program under a name, and aliases of versions.

version = register(tracker, "models:/m-...", "beam", {"finpath.evaluation_run": run_id})
set_alias(tracker, "beam", "champion", version)
aliased(tracker, "beam", "champion").tags["finpath.evaluation_run"]
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from experiments.tracking.tracker import Tracker, quiet_mlflow
from kg.errors import TrackingError


@dataclass(frozen=True)
class ModelVersion:
    """A version of a registered model.

    Attributes:
        name: The model's name.
        version: Its number, from 1.
        tags: Its tags.
    """

    name: str
    version: int
    tags: Mapping[str, str]

    @property
    def uri(self) -> str:
        """``models:/NAME/VERSION``."""
        return f"models:/{self.name}/{self.version}"


def register(tracker: Tracker, model_uri: str, name: str, tags: Mapping[str, str]) -> ModelVersion:
    """The version of ``name`` that a logged model is; a new one, where it is none yet, with these tags.

    Raises:
        TrackingError: There is no such logged model, or the name cannot be one.
    """
    quiet_mlflow()
    import mlflow
    from mlflow.exceptions import MlflowException

    model_id = _id_of(model_uri)
    try:
        known = next((one for one in _versions(tracker, name) if model_id in (one.model_id, _id_of(one.source))), None)
        if known is None:
            previous = mlflow.get_tracking_uri(), mlflow.get_registry_uri()
            mlflow.set_tracking_uri(tracker.config.uri)
            mlflow.set_registry_uri(tracker.config.uri)
            try:
                known = mlflow.register_model(model_uri, name)
            finally:
                mlflow.set_tracking_uri(previous[0])
                mlflow.set_registry_uri(previous[1])
        for key, value in tags.items():
            tracker.client.set_model_version_tag(name, known.version, key, value)
    except MlflowException as error:
        raise TrackingError(f"{model_uri} cannot be registered as {name!r}: {error}") from error
    return ModelVersion(name, int(known.version), {**dict(known.tags or {}), **tags})


def aliased(tracker: Tracker, name: str, alias: str) -> ModelVersion | None:
    """The version that an alias means, if it is set."""
    from mlflow.exceptions import MlflowException

    try:
        found = tracker.client.get_model_version_by_alias(name, alias)
    except MlflowException:
        return None  # neither the model nor its alias need be there
    return ModelVersion(name, int(found.version), dict(found.tags or {}))


def set_alias(tracker: Tracker, name: str, alias: str, version: ModelVersion) -> None:
    """Lets an alias mean a version from now on."""
    tracker.client.set_registered_model_alias(name, alias, str(version.version))


def _versions(tracker: Tracker, name: str) -> list[Any]:
    if "'" in name:
        raise TrackingError(f"a model's name cannot hold a quote: {name!r}")
    return list(tracker.client.search_model_versions(f"name = '{name}'"))


def _id_of(uri: str) -> str:
    return str(uri).rpartition("/")[2]
