"""Creation of the local tracking store: completely or not at all, by one process at a time.

    create_store(TrackingConfig("sqlite:///mlflow.db"))

The database is made under another name and renamed. MLflow creates tables one by one: a database whose creation was
stopped cannot be opened again.
"""

from __future__ import annotations

import os
from pathlib import Path

from experiments.console import say, without_password
from experiments.files import why_unwritable
from experiments.tracking.records import TrackingConfig
from kg.errors import TrackingError
from kg.files import folder_beside, sync_folder
from kg.locks import BusyError, locked

_LONGEST = 200
_DATABASES = ("postgresql", "mysql", "mssql", "sqlite")
_UNFINISHED = ("already exists", "no such table", "no such column")
"""Words of SQLite for a database that lacks some of MLflow's tables."""


def create_store(config: TrackingConfig) -> None:
    """Creates the local database of a store if it is not there.

    Raises:
        TrackingError: Its folder cannot be written.
    """
    path = config.new_store
    if path is None:
        return
    lock = path.with_name(f".{path.name}.lock")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with locked(lock, wait=False, remove=True):
                _create(path, config)
        except BusyError:
            say(f"* another process creates the tracking store {path}; waiting for it")
            with locked(lock, remove=True):
                _create(path, config)
    except OSError as error:
        raise TrackingError(f"the tracking store {path} cannot be created: {error.strerror}") from error


def check_writable(config: TrackingConfig) -> None:
    """Raises TrackingError if the local database of a store cannot be written, or the driver of another is missing.

    MLflow would try for two minutes.
    """
    path = config.local_file
    if path is None:
        _check_driver(config)
        return
    reason = why_unwritable(path)
    if reason is not None:
        raise TrackingError(f"the tracking store {path} cannot be written: {reason}")
    if path.exists() and not os.access(path, os.W_OK):
        raise TrackingError(f"the tracking store {path} cannot be written: no permission for {path}")


def _check_driver(config: TrackingConfig) -> None:
    from sqlalchemy.engine import make_url
    from sqlalchemy.exc import SQLAlchemyError

    if config.uri.partition(":")[0].partition("+")[0] not in _DATABASES:
        return
    try:
        make_url(config.uri).get_dialect().import_dbapi()
    except (SQLAlchemyError, ImportError, ValueError) as error:
        raise TrackingError(store_problem(config, error)) from error


def store_problem(config: TrackingConfig, error: Exception) -> str:
    """Returns the reason why a store cannot be opened, in one line without passwords, with advice."""
    reason = without_password(" ".join(str(error).partition("\n")[0].split()))
    short = reason if len(reason) <= _LONGEST else f"{reason[:_LONGEST]} …"
    path = config.local_file
    advice = ""
    if path is not None and any(sign in reason for sign in _UNFINISHED):
        advice = f"; its creation was stopped: move {path} away, and the next run creates it again"
    return f"the tracking store {without_password(config.uri)} cannot be opened: {short}{advice}"


def _create(path: Path, config: TrackingConfig) -> None:
    if path.exists():
        return  # another process has created it meanwhile
    from mlflow import MlflowClient

    say(f"* creating the tracking store {path} (once, some seconds)")
    with folder_beside(path) as folder:
        new = folder / path.name
        client = MlflowClient(f"sqlite:///{new.absolute()}")
        if client.get_experiment_by_name(config.experiment) is None:
            client.create_experiment(config.experiment)
        client._tracking_client.store.engine.dispose()
        new.rename(path)
    sync_folder(path.parent)
